//! What a run knows of the node's packages, read once and again only after something may have changed them.
//!
//! One table a manager. Whoever changes packages, or may have, calls [`PackageCache::invalidate`]; a reading that was under way at that moment is
//! not kept. What verifies a change is never told what was read before ([`PackageCache::read_anew`]), but what it has read is known from then on.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::backend::backend;
use super::table::Table;
use super::together::{Queue, Ticket};
use super::tools::Tools;
use super::{Changed, Manager, Subject};
use crate::error::CallError;
use crate::objects::Domain;

/// How often a lock of the host's own is tried.
const INTERVAL: Duration = Duration::from_millis(5);

/// Where the managers have their settings, and the databases that other tools may write to.
const SETTINGS: [&[u8]; 15] = [
    b"/etc/apt",
    b"/etc/dnf",
    b"/etc/yum",
    b"/etc/zypp",
    b"/etc/pacman",
    b"/etc/apk",
    b"/var/lib/dpkg",
    b"/var/lib/apt",
    b"/var/lib/rpm",
    b"/usr/lib/sysimage",
    b"/var/lib/pacman",
    b"/lib/apk",
    b"/usr/lib/apk",
    b"/var/cache/dnf",
    b"/var/cache/zypp",
];

/// What is known of the packages of one node.
#[derive(Debug, Default)]
pub(crate) struct PackageCache {
    /// Counts what may have changed packages.
    generation: AtomicU64,
    known: Mutex<BTreeMap<Manager, Known>>,
    /// Names of packages that resources of this run may touch: whoever asks for the candidate of one has those of all looked up with it.
    announced: Mutex<BTreeSet<String>>,
    /// When this run fetched a manager's index last: some keep nothing on disk that would tell.
    fetched: Mutex<BTreeMap<Manager, Instant>>,
    /// Held by the one transaction that runs at a time.
    transaction: Mutex<()>,
    /// Transactions that wait for it.
    queue: Queue,
}

/// Who makes a transaction.
pub(super) enum Turn<'c> {
    /// Whoever asked, with those that are to be taken along, its own first.
    Own(MutexGuard<'c, ()>, Vec<Arc<Ticket>>),
    /// Another one has: these packages are changed.
    Made(Vec<Changed>),
}

#[derive(Debug)]
struct Known {
    generation: u64,
    table: Arc<Table>,
    candidates: BTreeMap<Subject, Option<String>>,
}

/// Packages as they are, and the candidates that were asked for.
pub(super) struct Reading {
    pub table: Arc<Table>,
    /// In the order of the subjects; empty if they were not asked for.
    pub candidates: Vec<Option<String>>,
}

impl PackageCache {
    /// Forgets everything: packages may have changed.
    pub(crate) fn invalidate(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes what resources of this run may touch, as domain and key.
    pub(crate) fn announce<'e>(&self, objects: impl IntoIterator<Item = (&'e str, &'e [u8])>) {
        let packages = objects.into_iter().filter(|(domain, _)| *domain == Domain::Package.word());
        let names = packages.filter_map(|(_, key)| std::str::from_utf8(key).ok()).map(str::to_owned);
        self.announced.lock().unwrap_or_else(PoisonError::into_inner).extend(names);
    }

    /// Notes that the index of a manager has just been fetched.
    pub(crate) fn note_fetched(&self, manager: Manager) {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner).insert(manager, Instant::now());
    }

    /// How long ago this run fetched the index of a manager, if it did.
    pub(crate) fn fetched(&self, manager: Manager) -> Option<Duration> {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner).get(&manager).map(Instant::elapsed)
    }

    /// Forgets everything if a file is one of a manager's settings: they decide which version it would install.
    pub(crate) fn file_changed(&self, path: &[u8]) {
        if SETTINGS.iter().any(|folder| path.starts_with(folder)) {
            self.invalidate();
        }
    }

    /// Waits until no other transaction of this run is under way.
    ///
    /// # Errors
    /// `deadline`.
    pub(super) fn begin(&self, deadline: Instant) -> Result<MutexGuard<'_, ()>, CallError> {
        acquire(&self.transaction, deadline)
    }

    /// Waits until no other transaction of this run is under way, or another one has made this one along with its own.
    ///
    /// # Errors
    /// `deadline`.
    pub(super) fn begin_or_join(&self, ticket: &Arc<Ticket>) -> Result<Turn<'_>, CallError> {
        self.queue.join(ticket);
        loop {
            let turn = match self.transaction.try_lock() {
                Ok(guard) => Some(guard),
                Err(TryLockError::Poisoned(poisoned)) => Some(PoisonError::into_inner(poisoned)),
                Err(TryLockError::WouldBlock) => None,
            };
            if let Some(changed) = ticket.made() {
                return Ok(Turn::Made(changed));
            }
            match turn {
                Some(guard) => return Ok(Turn::Own(guard, self.queue.take_with(ticket))),
                // Who was taken along is awaited: it ends with the first deadline of all.
                None if Instant::now() >= ticket.deadline && self.queue.leave(ticket) => return Err(CallError::Deadline),
                None => std::thread::sleep(INTERVAL),
            }
        }
    }

    /// What is known, read if it is not.
    pub(super) fn read(
        &self,
        tools: &dyn Tools,
        manager: Manager,
        subjects: &[Subject],
        with_candidates: bool,
    ) -> Result<Reading, CallError> {
        let mut known = acquire(&self.known, tools.deadline())?;
        let generation = self.generation.load(Ordering::SeqCst);
        if known.get(&manager).is_none_or(|known| known.generation != generation) {
            let table = Arc::new(backend(manager).read(tools)?);
            known.insert(manager, Known { generation, table, candidates: BTreeMap::new() });
        }
        let Some(entry) = known.get_mut(&manager) else { return Err(CallError::Other("what was read is gone".into())) };
        let candidates = if with_candidates { self.candidates(entry, tools, manager, subjects)? } else { Vec::new() };
        Ok(Reading { table: Arc::clone(&entry.table), candidates })
    }

    /// What is there now, whatever was read before.
    pub(super) fn read_anew(
        &self,
        tools: &dyn Tools,
        manager: Manager,
        subjects: &[Subject],
        with_candidates: bool,
    ) -> Result<Reading, CallError> {
        let generation = self.generation.load(Ordering::SeqCst);
        let table = Arc::new(backend(manager).read(tools)?);
        let candidates = if with_candidates { backend(manager).candidates(tools, subjects)? } else { Vec::new() };
        self.keep(manager, generation, &table);
        Ok(Reading { table, candidates })
    }

    /// Keeps a table whose reading began at `generation`, unless something may have changed since. Whoever reads at this moment goes on.
    fn keep(&self, manager: Manager, generation: u64, table: &Arc<Table>) {
        let Ok(mut known) = self.known.try_lock() else { return };
        if self.generation.load(Ordering::SeqCst) != generation {
            return;
        }
        match known.get_mut(&manager) {
            Some(entry) if entry.generation == generation => entry.table = Arc::clone(table),
            _ => {
                known.insert(manager, Known { generation, table: Arc::clone(table), candidates: BTreeMap::new() });
            }
        }
    }

    /// The candidates of these subjects. With those that are not known, the ones of everything that was announced are looked up in the same call.
    fn candidates(
        &self,
        known: &mut Known,
        tools: &dyn Tools,
        manager: Manager,
        subjects: &[Subject],
    ) -> Result<Vec<Option<String>>, CallError> {
        let missing: BTreeSet<&Subject> = subjects.iter().filter(|subject| !known.candidates.contains_key(subject)).collect();
        if !missing.is_empty() {
            let asked = self.with_announced(known, manager, &missing);
            let found = backend(manager).candidates(tools, &asked)?;
            known.candidates.extend(asked.into_iter().zip(found));
        }
        Ok(subjects.iter().map(|subject| known.candidates.get(subject).cloned().flatten()).collect())
    }

    /// These subjects, and of the same architectures whatever else was announced and is not known.
    fn with_announced(&self, known: &Known, manager: Manager, missing: &BTreeSet<&Subject>) -> Vec<Subject> {
        let announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        let architectures: BTreeSet<&Option<String>> = missing.iter().map(|subject| &subject.architecture).collect();
        // What this manager could not have by any name was announced for another one.
        let names: Vec<&String> = announced.iter().filter(|name| manager.check_name(name).is_ok()).collect();
        let of = |architecture: &Option<String>| {
            let subject = |name: &&String| Subject { name: (*name).clone(), architecture: architecture.clone() };
            names.iter().map(subject).collect::<Vec<_>>()
        };
        let mut asked: BTreeSet<Subject> = architectures.into_iter().flat_map(of).collect();
        asked.retain(|subject| !known.candidates.contains_key(subject));
        asked.extend(missing.iter().copied().cloned());
        asked.into_iter().collect()
    }
}

fn acquire<T>(mutex: &Mutex<T>, deadline: Instant) -> Result<MutexGuard<'_, T>, CallError> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Ok(PoisonError::into_inner(poisoned)),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Err(CallError::Deadline),
            Err(TryLockError::WouldBlock) => std::thread::sleep(INTERVAL),
        }
    }
}
