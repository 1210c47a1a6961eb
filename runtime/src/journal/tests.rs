use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::model::canonical::CanonicalJson;
use crate::model::digest::ComponentDigest;
use crate::model::ids::{OwnerName, RunId};
use crate::model::report::Summary;
use crate::store::{Location, Recorded, RunEnding, RunKind, RunStart, Store, StoreError};

pub(super) fn owner() -> OwnerName {
    "site".parse().unwrap()
}

pub(super) fn location(base: &std::path::Path) -> Location {
    let root = base.join("root");
    std::fs::create_dir_all(&root).unwrap();
    Location { folder: base.join("state"), root }
}

pub(super) fn begin(store: &mut Store, kind: RunKind) -> RunId {
    let run = random_run_id();
    store.begin_run(&RunStart { run: run.clone(), kind, owner: Some(owner()), at: 0 }).unwrap();
    run
}

pub(super) fn intention(resource: &str) -> Intention {
    Intention {
        owner: owner(),
        resource: resource.parse().unwrap(),
        component: ComponentDigest::of(b"component"),
        schema_version: 1,
        desired: format!(r#"{{"path":"/{resource}"}}"#),
        operation: Operation::Converge(Action::Create),
        subscribers: Vec::new(),
        cgroup: None,
    }
}

pub(super) fn ended(ending: Ending) -> Settlement {
    Settlement { ending, record: None, detail: None, closes: Vec::new() }
}

pub(super) fn recorded(inputs: serde_json::Value) -> Recorded {
    Recorded {
        component: ComponentDigest::of(b"component"),
        schema_version: 1,
        inputs: CanonicalJson::new(&inputs).unwrap(),
        outputs: None,
        observed: Some(CanonicalJson::from_canonical(r#"{"mode":"0644"}"#)),
        configuration: None,
        secrets: None,
        converged: true,
    }
}

fn journal(base: &std::path::Path) -> (Journal, RunId) {
    let mut store = Store::open(&location(base)).unwrap();
    let run = begin(&mut store, RunKind::Apply);
    (Journal::start(store, run.clone()).unwrap(), run)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_intents_with_sixteen_in_flight_share_commits() {
    let base = tempfile::tempdir().unwrap();
    let (journal, _) = journal(base.path());
    let workers: Vec<_> = (0..16)
        .map(|worker| {
            let handle = journal.handle();
            tokio::spawn(async move {
                for number in 0..125 {
                    let token = handle.intend(intention(&format!("file.w{worker}_{number}"))).await.unwrap();
                    assert!(token.is_open());
                    tokio::task::yield_now().await;
                    handle.settle(token, ended(Ending::Done)).unwrap();
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let store = tokio::task::spawn_blocking(|| journal.finish()).await.unwrap().unwrap();
    assert_eq!(store.view().open_work().unwrap().intents, 0);
    assert!(store.commits() < 700, "{} commits for 2000 intents and as many settlements", store.commits());
}

#[test]
fn an_intent_is_on_disk_before_its_token_is_handed_out() {
    let base = tempfile::tempdir().unwrap();
    let mut store = Store::open(&location(base.path())).unwrap();
    let run = begin(&mut store, RunKind::Apply);
    let seen: Arc<Mutex<Vec<(Moment, Event)>>> = Arc::default();
    let log = Arc::clone(&seen);
    store.observe(Arc::new(move |moment, entry| log.lock().unwrap().push((moment, entry.event))));
    let journal = Journal::start(store, run).unwrap();
    let token = journal.handle().intend_blocking(intention("file.a")).unwrap();
    let intended = Event::Intent(IntentEvent::Intended);
    assert_eq!(*seen.lock().unwrap(), [(Moment::BeforeDurable, intended), (Moment::AfterDurable, intended)]);

    let witness = token.witness();
    assert!(witness.is_open());
    journal.handle().settle(token, ended(Ending::Done)).unwrap();
    assert!(!witness.is_open(), "no change may be made once it is settled");
    drop(journal.finish().unwrap());
    let done = Event::Intent(IntentEvent::Ended(Ending::Done));
    assert_eq!(seen.lock().unwrap()[2..], [(Moment::BeforeDurable, done), (Moment::AfterDurable, done)]);
}

#[test]
fn what_nobody_waits_for_is_written_all_the_same() {
    let base = tempfile::tempdir().unwrap();
    let (journal, _) = journal(base.path());
    let handle = journal.handle();
    let token = handle.intend_blocking(intention("file.a")).unwrap();
    handle.settle(token, ended(Ending::Done)).unwrap();
    drop(journal);
    assert!(matches!(handle.flush_blocking(), Err(JournalError::Closed)));
    let store = Store::open(&location(base.path())).unwrap();
    assert_eq!(store.view().open_work().unwrap().intents, 0);
}

#[test]
fn an_intent_that_nobody_waits_for_any_more_is_settled_as_not_started() {
    let base = tempfile::tempdir().unwrap();
    let mut store = Store::open(&location(base.path())).unwrap();
    let run = begin(&mut store, RunKind::Apply);
    let (give_up, given_up) = std::sync::mpsc::channel::<()>();
    let given_up = Mutex::new(given_up);
    store.observe(Arc::new(move |moment, entry| {
        if moment == Moment::BeforeDurable && entry.event == Event::Intent(IntentEvent::Intended) {
            given_up.lock().unwrap().recv().unwrap();
        }
    }));
    let journal = Journal::start(store, run.clone()).unwrap();
    let handle = journal.handle();
    let mut waiting = Box::pin(handle.intend(intention("file.a")));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(Future::poll(waiting.as_mut(), &mut context).is_pending());
    drop(waiting);
    give_up.send(()).unwrap();
    let store = journal.finish().unwrap();
    assert_eq!(store.view().open_work().unwrap().intents, 0);
    let events: Vec<&str> = store.view().entries(&run).unwrap().iter().map(|entry| entry.event.as_str()).collect();
    assert_eq!(events, ["run_began", "intended", "not_started"]);
}

#[test]
fn an_open_intent_blocks_its_resource_alone_until_recovery() {
    let base = tempfile::tempdir().unwrap();
    let (journal, first) = journal(base.path());
    let handle = journal.handle();
    drop(handle.intend_blocking(intention("file.a")).unwrap());
    let other = handle.intend_blocking(intention("file.b")).unwrap();
    handle.settle(other, ended(Ending::PartialUnknown)).unwrap();
    let Err(JournalError::Store(refused)) = handle.intend_blocking(intention("file.a")) else { panic!("it must be refused") };
    assert!(matches!(&*refused, StoreError::Blocked { resource, .. } if resource.to_string() == "file.a"), "{refused}");
    let free = handle.intend_blocking(intention("file.c")).expect("others go on");
    handle.settle(free, ended(Ending::Done)).unwrap();

    let mut store = journal.finish().unwrap();
    let open = store.view().open_intents(None).unwrap();
    assert_eq!(open.iter().map(|open| open.status).collect::<Vec<_>>(), [Status::Intended, Status::PartialUnknown]);
    assert_eq!(open[0].run, first);
    let run = begin(&mut store, RunKind::Recover);
    let journal = Journal::start(store, run).unwrap();
    let handle = journal.handle();
    for (open, resolution) in open.iter().zip([Resolution::Recovered, Resolution::Abandoned]) {
        let token = handle.adopt(open);
        assert_eq!(*token.staging_name(), open.staging_name);
        handle.resolve(token, resolution, None).unwrap();
    }
    let again = handle.intend_blocking(intention("file.a")).expect("recovery frees it, and what rides goes first");
    handle.settle(again, ended(Ending::Done)).unwrap();
    assert_eq!(journal.finish().unwrap().view().open_intents(None).unwrap(), []);
}

#[test]
fn a_second_settlement_comes_out_at_the_flush_and_spoils_nothing() {
    let base = tempfile::tempdir().unwrap();
    let (journal, _) = journal(base.path());
    let handle = journal.handle();
    let token = handle.intend_blocking(intention("file.a")).unwrap();
    let twin = IntentToken::new(token.intent(), token.resource().clone(), token.staging_name().clone());
    let other = handle.intend_blocking(intention("file.b")).unwrap();
    handle.settle(token, ended(Ending::Done)).unwrap();
    handle.settle(twin, ended(Ending::NotStarted)).unwrap();
    handle.settle(other, ended(Ending::Done)).unwrap();
    let Err(JournalError::Store(refused)) = handle.flush_blocking() else { panic!("it must be refused") };
    assert!(
        matches!(&*refused, StoreError::IllegalOrder { source, .. } if source.to_string() == "`not_started` cannot follow `done`")
    );
    handle.flush_blocking().expect("trouble is told once");
    assert_eq!(journal.finish().unwrap().view().open_work().unwrap().intents, 0);
}

#[test]
fn a_run_can_neither_recover_its_own_intents_nor_end_those_of_others() {
    let base = tempfile::tempdir().unwrap();
    let (journal, _) = journal(base.path());
    let handle = journal.handle();
    let own = handle.intend_blocking(intention("file.a")).unwrap();
    handle.resolve(own, Resolution::Recovered, None).unwrap();
    assert!(matches!(handle.flush_blocking(), Err(JournalError::Store(error)) if matches!(*error, StoreError::WrongRun { .. })));
    let mut store = journal.finish().unwrap();
    let open = store.view().open_intents(None).unwrap().remove(0);
    let run = begin(&mut store, RunKind::Apply);
    let journal = Journal::start(store, run).unwrap();
    let handle = journal.handle();
    handle.settle(handle.adopt(&open), ended(Ending::Done)).unwrap();
    assert!(matches!(handle.flush_blocking(), Err(JournalError::Store(error)) if matches!(*error, StoreError::WrongRun { .. })));
}

#[test]
fn state_is_recorded_with_the_settlement_and_counts_as_converged_until_the_next_intent() {
    let base = tempfile::tempdir().unwrap();
    let (journal, run) = journal(base.path());
    let handle = journal.handle();
    let token = handle.intend_blocking(intention("file.a")).unwrap();
    let inputs = serde_json::json!({"b": 1, "a": [1.5, null]});
    let record = recorded(inputs.clone());
    handle
        .settle(token, Settlement { ending: Ending::Done, record: Some(record.clone()), detail: None, closes: Vec::new() })
        .unwrap();
    handle.keep(&owner(), &"file.b".parse().unwrap(), record.clone()).unwrap();
    let store = journal.finish().unwrap();
    let all = store.view().recorded_of(&owner()).unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(all[&"file.a".parse().unwrap()], record);
    let (inputs, other) = (CanonicalJson::new(&inputs).unwrap(), CanonicalJson::from_canonical("{}"));
    assert!(record.difference_is_drift(&inputs, &record.component, None));
    assert!(!record.difference_is_drift(&other, &record.component, None));
    assert!(!record.difference_is_drift(&inputs, &ComponentDigest::of(b"other"), None));
    assert!(!record.difference_is_drift(&inputs, &record.component, Some("stamp")), "other sensitive values");

    let journal = Journal::start(store, run).unwrap();
    drop(journal.handle().intend_blocking(intention("file.a")).unwrap());
    let store = journal.finish().unwrap();
    let after = store.view().recorded(&owner(), &"file.a".parse().unwrap()).unwrap().unwrap();
    assert!(!after.converged, "a change was begun");
}

#[test]
fn obligations_are_owed_when_a_change_may_have_happened_and_survive_the_run() {
    let base = tempfile::tempdir().unwrap();
    let (journal, _) = journal(base.path());
    let handle = journal.handle();
    let statuses = [Ending::Done, Ending::NotStarted, Ending::Unknown].map(|ending| {
        let resource = format!("file.{ending}");
        let subscribers = vec!["service.web".parse().unwrap()];
        let token = handle.intend_blocking(Intention { subscribers, ..intention(&resource) }).unwrap();
        handle.settle(token, ended(ending)).unwrap();
        resource
    });
    let mut store = journal.finish().unwrap();
    let open = store.view().open_obligations(&owner()).unwrap();
    let because: Vec<String> = open.iter().map(|open| open.because_of.to_string()).collect();
    assert_eq!(because, [statuses[0].clone(), statuses[2].clone()]);
    assert!(open.iter().all(|open| open.status == ObligationStatus::Owed));
    store.close_obligation(open[0].obligation, Closing::Handled, Some("it was started")).unwrap();
    assert!(store.close_obligation(open[0].obligation, Closing::Refreshed, None).is_err(), "it is closed once");
    assert_eq!(store.view().open_work().unwrap().obligations, 1);
}

#[test]
fn the_database_itself_refuses_a_second_settlement() {
    let base = tempfile::tempdir().unwrap();
    let (journal, _) = journal(base.path());
    let handle = journal.handle();
    let token = handle.intend_blocking(intention("file.a")).unwrap();
    handle.settle(token, ended(Ending::Done)).unwrap();
    drop(handle.intend_blocking(intention("file.open")).unwrap());
    let store = journal.finish().unwrap();
    for forbidden in [
        "UPDATE intents SET status = 'abandoned' WHERE resource = 'file.a'",
        "INSERT INTO events (run, intent, event) SELECT run, intent, 'recovered' FROM intents WHERE resource = 'file.a'",
        "INSERT INTO events (run, intent, event) SELECT run, intent, 'intended' FROM intents WHERE resource = 'file.a'",
        "UPDATE events SET event = 'abandoned' WHERE event = 'done'",
        "DELETE FROM intents WHERE resource = 'file.open'",
        "INSERT INTO intents SELECT NULL, run, owner, resource, 'x', component, 1, '', reason, action, NULL, 'intended' \
         FROM intents WHERE resource = 'file.open'",
    ] {
        assert!(store.view().raw(forbidden).is_err(), "{forbidden}");
    }
}

/// What a random caller may ask for.
#[derive(Debug, Clone)]
enum Asked {
    Intend(usize),
    End(usize, Ending),
    Resolve(usize, Resolution),
    NewRun,
}

fn asked() -> impl Strategy<Value = Asked> {
    prop_oneof![
        3 => (0..3_usize).prop_map(Asked::Intend),
        4 => (0..8_usize, prop::sample::select(Ending::ALL)).prop_map(|(at, ending)| Asked::End(at, ending)),
        3 => (0..8_usize, prop::sample::select(Resolution::ALL)).prop_map(|(at, resolution)| Asked::Resolve(at, resolution)),
        1 => Just(Asked::NewRun),
    ]
}

/// What the journal should hold.
struct Expected {
    resource: usize,
    run: RunId,
    intent: IntentId,
    status: Status,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_is_asked_each_intent_is_settled_at_most_once(all in prop::collection::vec(asked(), 1..40)) {
        let base = tempfile::tempdir().unwrap();
        let mut store = Store::open(&location(base.path())).unwrap();
        let mut run = begin(&mut store, RunKind::Apply);
        let mut expected: Vec<Expected> = Vec::new();
        for asked in all {
            match asked {
                Asked::NewRun => run = begin(&mut store, RunKind::Apply),
                Asked::Intend(resource) => {
                    let blocked = expected.iter().any(|known| known.resource == resource && known.status.is_open());
                    let mut batch = store.batch().unwrap();
                    let answer = batch.intend(&run, &intention(&format!("file.r{resource}")));
                    batch.commit().unwrap();
                    prop_assert_eq!(answer.is_err(), blocked);
                    if let Ok((intent, _)) = answer {
                        expected.push(Expected { resource, run: run.clone(), intent, status: Status::Intended });
                    }
                }
                Asked::End(at, ending) => {
                    let Some(known) = expected.get_mut(at) else { continue };
                    let after = next(Some(known.status), IntentEvent::Ended(ending)).ok().filter(|_| known.run == run);
                    let mut batch = store.batch().unwrap();
                    let answer = batch.settle(&run, known.intent, &ended(ending));
                    batch.commit().unwrap();
                    prop_assert_eq!(answer.is_ok(), after.is_some());
                    known.status = after.unwrap_or(known.status);
                }
                Asked::Resolve(at, resolution) => {
                    let Some(known) = expected.get_mut(at) else { continue };
                    let after = next(Some(known.status), IntentEvent::Resolved(resolution)).ok().filter(|_| known.run != run);
                    prop_assert_eq!(store.resolve(&run, known.intent, resolution, None).is_ok(), after.is_some());
                    known.status = after.unwrap_or(known.status);
                }
            }
        }
        let open: Vec<(IntentId, Status)> =
            expected.iter().filter(|known| known.status.is_open()).map(|known| (known.intent, known.status)).collect();
        let found: Vec<_> = store.view().open_intents(None).unwrap().iter().map(|open| (open.intent, open.status)).collect();
        prop_assert_eq!(found, open);
        check_history(&store, expected.iter().map(|known| (known.intent, known.status)).collect());
    }
}

/// Every intent's events, in order, must lead to its status.
pub(super) fn check_history(store: &Store, expected: BTreeMap<IntentId, Status>) {
    let history = store.view().history();
    let mut reached: BTreeMap<IntentId, Status> = BTreeMap::new();
    for &(intent, event) in &history {
        let status = next(reached.get(&intent).copied(), event).expect("events on disk are in a legal order");
        reached.insert(intent, status);
    }
    assert_eq!(reached, expected);
    let settled = history
        .iter()
        .filter(|(_, event)| matches!(event, IntentEvent::Resolved(_) | IntentEvent::Ended(Ending::Done | Ending::NotStarted)));
    assert_eq!(settled.count(), expected.values().filter(|status| !status.is_open()).count());
}

#[test]
fn old_runs_are_dropped_with_their_journals_but_never_what_is_open() {
    let base = tempfile::tempdir().unwrap();
    let mut store = Store::open(&location(base.path())).unwrap();
    let first = begin(&mut store, RunKind::Apply);
    let mut batch = store.batch().unwrap();
    batch.intend(&first, &intention("file.a")).unwrap();
    batch.commit().unwrap();
    store.end_run(&first, RunEnding::Failed, 1, None).unwrap();
    let second = begin(&mut store, RunKind::Apply);
    store.put_report(&second, "{}", &Summary::default()).unwrap();
    store.end_run(&second, RunEnding::Converged, 1, None).unwrap();
    for _ in 0..crate::store::RUNS_KEPT {
        let run = begin(&mut store, RunKind::Apply);
        store.end_run(&run, RunEnding::Converged, 1, None).unwrap();
    }
    assert_eq!(store.view().report(&second).unwrap(), None, "it is too old");
    assert_eq!(store.view().entries(&second).unwrap(), []);
    assert_eq!(store.view().open_intents(None).unwrap()[0].run, first, "what is open keeps its run");
    assert_eq!(store.view().runs(Some(&owner()), 1000).unwrap().len(), crate::store::RUNS_KEPT as usize + 1);
}
