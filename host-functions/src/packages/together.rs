//! Transactions that wait for another one, made as one.
//!
//! Resources are independent of one another, and a manager is quicker with ten packages at once than ten times with one. Whoever finds a transaction
//! under way leaves its own in a queue, and whoever is next to make one takes along what waits there and fits. Nothing is waited for to come.
//! What cannot be made together, or fails together, is made by each for itself, so that each has its own failure.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::backend::backend;
use super::table::Table;
use super::tools::Tools;
use super::transaction::{self, Work};
use super::{Change, Changed, MAX_PACKAGES, Manager, State, Subject, Transaction, Verb};
use crate::error::CallError;

/// A transaction that one resource wants made.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(super) manager: Manager,
    pub(super) transaction: Transaction,
    pub(super) deadline: Instant,
    answer: Mutex<Answer>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answer {
    /// Nothing yet.
    Waiting,
    /// It is for its owner to make, with no other.
    Alone,
    /// It is made.
    Made(Vec<Changed>),
}

impl Ticket {
    pub(super) fn new(manager: Manager, transaction: Transaction, deadline: Instant) -> Arc<Self> {
        Arc::new(Self { manager, transaction, deadline, answer: Mutex::new(Answer::Waiting) })
    }

    /// The packages that it changed, once another has made it.
    pub(super) fn made(&self) -> Option<Vec<Changed>> {
        match &*self.answer.lock().unwrap_or_else(PoisonError::into_inner) {
            Answer::Made(changed) => Some(changed.clone()),
            Answer::Waiting | Answer::Alone => None,
        }
    }

    fn is_waiting(&self) -> bool {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) == Answer::Waiting
    }

    fn answer(&self, answer: Answer) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    }

    /// Whether the two can be one transaction, beside packages that both name.
    fn fits(&self, other: &Self) -> bool {
        let (a, b) = (&self.transaction, &other.transaction);
        self.manager == other.manager
            && (a.configuration_files, a.change_held, a.recommends) == (b.configuration_files, b.change_held, b.recommends)
    }

    fn names(&self) -> impl Iterator<Item = &Subject> {
        self.transaction.changes.iter().map(|change| &change.subject)
    }

    /// Whether everything that it asks for is so.
    fn is_done(&self, before: &Table, after: &Table) -> bool {
        self.transaction.changes.iter().all(|change| is_done(self.manager, change, before, after))
    }

    /// What of the changes is this one's: the packages that it names, and those that nobody does, which came along.
    fn share(&self, changed: &[Changed]) -> Vec<Changed> {
        let is_named = |changed: &Changed| self.names().any(|subject| subject.name == changed.name);
        let own = changed.iter().filter(|changed| is_named(changed) || !changed.requested);
        own.map(|changed| Changed { requested: is_named(changed), ..changed.clone() }).collect()
    }
}

fn is_done(manager: Manager, change: &Change, before: &Table, after: &Table) -> bool {
    let found = after.find(manager, &change.subject);
    let state = found.map_or(State::NotInstalled, |package| package.state);
    match change.verb {
        Verb::Install | Verb::Upgrade | Verb::Downgrade => {
            let Some(package) = found.filter(|_| state == State::Installed) else { return false };
            match &change.version {
                Some(version) => manager.compare(version, &package.version).is_eq(),
                None => before
                    .find(manager, &change.subject)
                    .is_none_or(|old| old.state != State::Installed || manager.compare(&package.version, &old.version).is_gt()),
            }
        }
        Verb::Remove => matches!(state, State::NotInstalled | State::ConfigurationFiles),
        Verb::Purge => state == State::NotInstalled,
        Verb::Hold => after.is_held(&change.subject.name),
        Verb::Unhold => !after.is_held(&change.subject.name),
    }
}

/// Those that wait.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<Vec<Arc<Ticket>>>);

impl Queue {
    /// Puts one in.
    pub(super) fn join(&self, ticket: &Arc<Ticket>) {
        self.waiting(|waiting| waiting.push(Arc::clone(ticket)));
    }

    /// Takes one out that nobody has taken yet. Whether it was there.
    pub(super) fn leave(&self, ticket: &Arc<Ticket>) -> bool {
        self.waiting(|waiting| {
            let before = waiting.len();
            waiting.retain(|other| !Arc::ptr_eq(other, ticket));
            waiting.len() != before
        })
    }

    /// Takes out one and all that can be made with it, in the order in which they came.
    pub(super) fn take_with(&self, ticket: &Arc<Ticket>) -> Vec<Arc<Ticket>> {
        let _ = self.leave(ticket);
        if !ticket.is_waiting() {
            return vec![Arc::clone(ticket)];
        }
        self.waiting(|waiting| {
            let mut taken = vec![Arc::clone(ticket)];
            let mut named: BTreeSet<String> = ticket.names().map(|subject| subject.name.clone()).collect();
            let mut count = ticket.transaction.changes.len();
            waiting.retain(|other| {
                let more = other.transaction.changes.len();
                let fits = ticket.fits(other)
                    && count + more <= MAX_PACKAGES
                    && other.names().all(|subject| !named.contains(&subject.name));
                if fits {
                    count += more;
                    named.extend(other.names().map(|subject| subject.name.clone()));
                    taken.push(Arc::clone(other));
                }
                !fits
            });
            taken
        })
    }

    fn waiting<T>(&self, act: impl FnOnce(&mut Vec<Arc<Ticket>>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Makes all of them in one transaction, and tells each what became of it. What could not be made so is left to each. Whether the manager was told
/// to begin: then something may have changed, whatever became of it.
///
/// `tools` must end with the first of their deadlines.
pub(super) fn make(tools: &dyn Tools, group: &[Arc<Ticket>]) -> bool {
    let begun = Cell::new(false);
    let answers = made(tools, group, &begun);
    for (at, ticket) in group.iter().enumerate() {
        let changed = answers.as_ref().ok().and_then(|answers| answers.get(at).cloned().flatten());
        ticket.answer(changed.map_or(Answer::Alone, Answer::Made));
    }
    begun.get()
}

/// For each what it has changed; none for those that are not done.
fn made(tools: &dyn Tools, group: &[Arc<Ticket>], begun: &Cell<bool>) -> Result<Vec<Option<Vec<Changed>>>, CallError> {
    let first = group.first().ok_or_else(|| CallError::Other("there is nothing to make".into()))?;
    let changes = group.iter().flat_map(|ticket| ticket.transaction.changes.iter().cloned()).collect();
    let transaction = Transaction { changes, ..first.transaction.clone() };
    let before = backend(first.manager).read(tools)?;
    let work = Work { manager: first.manager, transaction: &transaction, file: None, begun };
    // Whose rights what comes along would need cannot be told, so whatever needs one is made by each for itself.
    let all = transaction::apply(tools, &work, &mut |_| Err(CallError::Unsupported("this needs a right of one of them".into())));
    if let Ok(changed) = all {
        return Ok(group.iter().map(|ticket| Some(ticket.share(&changed))).collect());
    }
    let after = backend(first.manager).read(tools)?;
    let changed = before.changes(&after, &transaction);
    Ok(group.iter().map(|ticket| ticket.is_done(&before, &after).then(|| ticket.share(&changed))).collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::packages::{ConfigurationFiles, Package};

    fn change(verb: Verb, name: &str, version: Option<&str>) -> Change {
        let subject = Subject { name: name.into(), architecture: None };
        Change { subject, verb, version: version.map(str::to_owned) }
    }

    fn ticket(names: &[&str], change_held: bool) -> Arc<Ticket> {
        let changes = names.iter().map(|name| change(Verb::Install, name, None)).collect();
        let configuration_files = ConfigurationFiles::Keep;
        let transaction = Transaction { changes, configuration_files, change_held, recommends: None };
        Ticket::new(Manager::Apt, transaction, Instant::now() + Duration::from_secs(60))
    }

    fn table(packages: &[(&str, &str, State)]) -> Table {
        let package = |(name, version, state): &(&str, &str, State)| Package {
            name: (*name).to_owned(),
            architecture: "amd64".into(),
            version: (*version).to_owned(),
            state: *state,
            detail: None,
            held: false,
        };
        Table::new(packages.iter().map(package), None)
    }

    #[test]
    fn what_waits_and_fits_goes_along_in_its_order() {
        let queue = Queue::default();
        let [one, two, other, same] =
            [ticket(&["a"], false), ticket(&["b", "c"], false), ticket(&["d"], true), ticket(&["c"], false)];
        for ticket in [&one, &two, &other, &same] {
            queue.join(ticket);
        }
        let names = |group: &[Arc<Ticket>]| {
            group.iter().flat_map(|ticket| ticket.names().map(|subject| subject.name.clone())).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&queue.take_with(&one)), "a b c", "neither another way of doing it, nor a package twice");
        assert_eq!(names(&queue.take_with(&other)), "d");
        assert!(queue.leave(&same) && !queue.leave(&same));
        assert!(!queue.leave(&one), "it was taken");
    }

    #[test]
    fn what_failed_together_goes_alone() {
        let queue = Queue::default();
        let [one, two] = [ticket(&["a"], false), ticket(&["b"], false)];
        one.answer(Answer::Alone);
        queue.join(&two);
        assert_eq!(queue.take_with(&one).len(), 1);
        assert_eq!(queue.take_with(&two).len(), 1);
    }

    #[test]
    fn each_is_told_its_own_packages_and_what_came_along() {
        let changed = |name: &str, requested| Changed {
            name: name.into(),
            architecture: None,
            before: None,
            after: Some("1".into()),
            requested,
        };
        let all = [changed("a", true), changed("b", true), changed("lib", false)];
        assert_eq!(ticket(&["a"], false).share(&all), [changed("a", true), changed("lib", false)]);
    }

    #[test]
    fn what_is_done_is_told_from_what_is_there() {
        use State::{ConfigurationFiles, Installed, Partial};
        let before = table(&[("a", "1", Installed), ("r", "1", Installed)]);
        let done = |verb, name, version, after: &Table| is_done(Manager::Apt, &change(verb, name, version), &before, after);
        let after = table(&[("a", "1", Installed), ("b", "2", Installed), ("c", "1", Partial), ("r", "1", ConfigurationFiles)]);
        assert!(done(Verb::Install, "b", None, &after));
        assert!(done(Verb::Install, "b", Some("2"), &after));
        assert!(!done(Verb::Install, "b", Some("3"), &after));
        assert!(!done(Verb::Install, "c", None, &after), "it broke off");
        assert!(!done(Verb::Upgrade, "a", None, &after), "it is as it was");
        assert!(done(Verb::Upgrade, "a", None, &table(&[("a", "2", Installed)])));
        assert!(done(Verb::Remove, "r", None, &after));
        assert!(!done(Verb::Purge, "r", None, &after));
        assert!(!done(Verb::Hold, "a", None, &after) && done(Verb::Unhold, "a", None, &after));
    }
}
