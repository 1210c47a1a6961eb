//! The functions of `packages`.

use std::cell::Cell;
use std::sync::Arc;

use super::backend::{PackageFile, backend};
use super::cache::{Reading, Turn};
use super::files::WaitingFile;
use super::judge::Extra;
use super::together::{self, Ticket};
use super::tools::NodeTools;
use super::transaction::{self, Work};
use super::{Change, Changed, ConfigurationFiles, MAX_PACKAGES, Manager, State, Subject, Transaction};
use crate::assets::{AssetName, AssetNameError};
use crate::authorize::Rule;
use crate::bindings::runtime::host::packages;
use crate::call::HostCall;
use crate::context::HostContext;
use crate::error::CallError;
use crate::node::Node;
use crate::phase::Phase;

impl packages::Host for HostContext {
    fn query(
        &mut self,
        manager: packages::Manager,
        subjects: Vec<packages::Subject>,
        detail: packages::Detail,
    ) -> Result<Vec<packages::Observation>, CallError> {
        let manager = Manager::from(manager);
        check_count("query", subjects.len())?;
        let subjects: Vec<Subject> = subjects.into_iter().map(Subject::from).collect();
        let candidates = detail.contains(packages::Detail::CANDIDATE);
        self.authorize(&HostCall::PackagesQuery { manager, subjects: subjects.clone(), candidates })?;
        subjects.iter().try_for_each(|subject| check_subject(manager, subject))?;
        let node = Arc::clone(self.node());
        let tools = self.tools(&node);
        let reading = if matches!(self.phase(), Phase::Verify | Phase::Apply | Phase::Recover) {
            node.packages().read_anew(&tools, manager, &subjects, candidates)?
        } else {
            node.packages().read(&tools, manager, &subjects, candidates)?
        };
        Ok(observations(manager, &subjects, &reading))
    }

    fn index(&mut self, manager: packages::Manager) -> Result<packages::IndexState, CallError> {
        let manager = Manager::from(manager);
        self.authorize(&HostCall::PackagesIndex { manager })?;
        let on_disk = backend(manager).index().age(self.node().root())?;
        let age = [on_disk, self.node().packages().fetched(manager)].into_iter().flatten().min();
        Ok(packages::IndexState { age_seconds: age.map(|age| age.as_secs()) })
    }

    fn compare_versions(
        &mut self,
        manager: packages::Manager,
        left: String,
        right: String,
    ) -> Result<packages::Order, CallError> {
        let manager = Manager::from(manager);
        self.authorize(&HostCall::PackagesCompareVersions { manager })?;
        [&left, &right].into_iter().try_for_each(|version| manager.check_version(version))?;
        Ok(manager.compare(&left, &right).into())
    }

    fn apply(
        &mut self,
        manager: packages::Manager,
        transaction: packages::Transaction,
    ) -> Result<Vec<packages::Changed>, CallError> {
        let manager = Manager::from(manager);
        check_count("transaction", transaction.changes.len())?;
        let transaction = Transaction::from(transaction);
        let call = HostCall::PackagesApply { manager, transaction: transaction.clone() };
        self.authorize(&call)?;
        transaction::check(manager, &transaction).map_err(|error| self.refuse_words(&call, error))?;
        self.change_together(&call, manager, transaction)
    }

    fn install_file(
        &mut self,
        manager: packages::Manager,
        asset: String,
        change: packages::Change,
        configuration_files: packages::ConfigurationFiles,
    ) -> Result<Vec<packages::Changed>, CallError> {
        let manager = Manager::from(manager);
        let asset: AssetName = asset.parse().map_err(|error: AssetNameError| CallError::invalid(error.to_string()))?;
        let change = Change::from(change);
        let call = HostCall::PackagesInstallFile { manager, asset: asset.clone(), change: change.clone() };
        self.authorize(&call)?;
        transaction::check_change(manager, &change).map_err(|error| self.refuse_words(&call, error))?;
        if !change.verb.installs() {
            return Err(CallError::invalid(format!("a package file cannot be the subject of `{}`", change.verb)));
        }
        let AssetName::Plain(digest) = asset else {
            return Err(CallError::invalid("a package file cannot be sensitive"));
        };
        let node = Arc::clone(self.node());
        let staging = self.staging().map(ToString::to_string).unwrap_or_default();
        let name = format!("{staging}{}", backend(manager).file_suffix());
        let file = WaitingFile::write(node.root(), name, self.assets().as_ref(), &digest, self.deadline())?;
        let path = file.path();
        check_file(&change, manager, &backend(manager).inspect_file(&self.tools(&node), &path)?)?;
        let changes = vec![change];
        let transaction =
            Transaction { changes, configuration_files: configuration_files.into(), change_held: false, recommends: None };
        self.change(&call, &Work { manager, transaction: &transaction, file: Some(&path), begun: &Cell::new(false) })
    }

    fn refresh_index(&mut self, manager: packages::Manager) -> Result<(), CallError> {
        let manager = Manager::from(manager);
        self.authorize(&HostCall::PackagesRefreshIndex { manager })?;
        let node = Arc::clone(self.node());
        let tools = self.tools(&node);
        let _alone = node.packages().begin(self.deadline())?;
        super::lock::wait(&tools, backend(manager).lock_files())?;
        let index = backend(manager).index();
        let before = index.before(node.root())?;
        node.packages().invalidate();
        self.note_change();
        let fetched = backend(manager).refresh(&tools);
        node.packages().invalidate();
        fetched.inspect_err(|_| before.restore())?;
        node.packages().note_fetched(manager);
        index.mark_fetched(node.root())
    }
}

impl HostContext {
    fn tools<'n>(&self, node: &'n Node) -> NodeTools<'n> {
        NodeTools { root: node.root(), deadline: self.deadline() }
    }

    /// A change whose words the manager's grammar does not have is no mistake of the node: whoever asks for it wants something else.
    fn refuse_words(&mut self, call: &HostCall, error: CallError) -> CallError {
        match error {
            CallError::InvalidArgument(what) => self.deny(call, Rule::PackageWords { what }),
            other => other,
        }
    }

    /// A guest that was denied a change is about to be ended: what it asks for after that is not made.
    fn refuse_after_denial(&mut self, call: &HostCall) -> Result<(), CallError> {
        if self.denied_change().is_some() { Err(self.deny(call, Rule::AfterDenial)) } else { Ok(()) }
    }

    /// Makes the changes of an authorised call, together with those of other resources that wait to be made.
    fn change_together(
        &mut self,
        call: &HostCall,
        manager: Manager,
        transaction: Transaction,
    ) -> Result<Vec<packages::Changed>, CallError> {
        self.refuse_after_denial(call)?;
        let node = Arc::clone(self.node());
        let ticket = Ticket::new(manager, transaction, self.deadline());
        let (_alone, group) = match node.packages().begin_or_join(&ticket)? {
            Turn::Own(guard, group) => (guard, group),
            Turn::Made(changed) => {
                self.note_change();
                return Ok(changed.into_iter().map(Into::into).collect());
            }
        };
        if group.len() > 1 {
            let first = group.iter().map(|ticket| ticket.deadline).min().unwrap_or(ticket.deadline);
            node.packages().invalidate();
            let begun = together::make(&NodeTools { root: node.root(), deadline: first }, &group);
            node.packages().invalidate();
            if begun {
                self.note_change();
            }
            if let Some(changed) = ticket.made() {
                return Ok(changed.into_iter().map(Into::into).collect());
            }
        }
        self.change_alone(&Work { manager, transaction: &ticket.transaction, file: None, begun: &Cell::new(false) })
    }

    /// Makes the changes of an authorised call that has a package file.
    fn change(&mut self, call: &HostCall, work: &Work<'_>) -> Result<Vec<packages::Changed>, CallError> {
        self.refuse_after_denial(call)?;
        let node = Arc::clone(self.node());
        let _alone = node.packages().begin(self.deadline())?;
        self.change_alone(work)
    }

    /// Makes changes while no other transaction of this run is under way, and forgets what was known before.
    fn change_alone(&mut self, work: &Work<'_>) -> Result<Vec<packages::Changed>, CallError> {
        let node = Arc::clone(self.node());
        let tools = self.tools(&node);
        node.packages().invalidate();
        let manager = work.manager;
        let changed = transaction::apply(&tools, work, &mut |extras| {
            // What comes with it is held against the rights like a call of its own, so a denial names it.
            self.authorize(&HostCall::PackagesApply { manager, transaction: only(extras) })
        });
        node.packages().invalidate();
        if work.begun.get() {
            self.note_change();
        }
        Ok(changed?.into_iter().map(Into::into).collect())
    }
}

/// What a transaction brings with it, as one.
fn only(extras: &[Extra]) -> Transaction {
    let change = |extra: &Extra| Change {
        subject: Subject { name: extra.name.clone(), architecture: None },
        verb: extra.verb,
        version: None,
    };
    let changes = extras.iter().map(change).collect();
    Transaction { changes, configuration_files: ConfigurationFiles::Keep, change_held: false, recommends: None }
}

fn check_count(what: &str, count: usize) -> Result<(), CallError> {
    if count <= MAX_PACKAGES {
        return Ok(());
    }
    Err(CallError::TooLarge(format!("a {what} has at most {MAX_PACKAGES} packages, and this has {count}")))
}

fn check_subject(manager: Manager, subject: &Subject) -> Result<(), CallError> {
    manager.check_name(&subject.name)?;
    subject.architecture.iter().try_for_each(|architecture| manager.check_architecture(architecture))
}

/// Holds what a package file says of itself against the change that it is for.
fn check_file(change: &Change, manager: Manager, file: &PackageFile) -> Result<(), CallError> {
    let shown = crate::text::escape(&format!("{} {} ({})", file.name, file.version, file.architecture));
    let version = change.version.as_ref().is_none_or(|wanted| manager.compare(wanted, &file.version).is_eq());
    let architecture = change
        .subject
        .architecture
        .as_ref()
        .is_none_or(|wanted| *wanted == file.architecture || matches!(file.architecture.as_str(), "all" | "noarch" | "any"));
    if file.name == change.subject.name && version && architecture {
        return Ok(());
    }
    Err(CallError::invalid(format!("the package file is of {shown}, which is not what was declared")))
}

fn observations(manager: Manager, subjects: &[Subject], reading: &Reading) -> Vec<packages::Observation> {
    let observation = |(at, subject): (usize, &Subject)| {
        let found = reading.table.find(manager, subject);
        packages::Observation {
            name: subject.name.clone(),
            state: found.map_or(State::NotInstalled, |package| package.state).into(),
            detail: found.and_then(|package| package.detail.clone()),
            version: found.filter(|package| package.state != State::ConfigurationFiles).map(|package| package.version.clone()),
            architecture: found.map(|package| package.architecture.clone()).filter(|architecture| !architecture.is_empty()),
            held: reading.table.is_held(&subject.name),
            candidate: reading.candidates.get(at).cloned().flatten(),
        }
    };
    subjects.iter().enumerate().map(observation).collect()
}

impl From<Changed> for packages::Changed {
    fn from(changed: Changed) -> Self {
        let Changed { name, architecture, before, after, requested } = changed;
        Self { name, architecture, before, after, requested }
    }
}
