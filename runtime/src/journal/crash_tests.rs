//! A process is killed before and after each event becomes durable, and another looks at what it left.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::tests::{begin, check_history, ended, intention, location, owner, recorded};
use super::*;
use crate::model::digest::{BundleDigest, ComponentDigest};
use crate::model::report::Summary;
use crate::store::hazard_tests::look_at;
use crate::store::{Admission, Claimed, Receipt, RunEnding, RunKind, Snapshot, Store, View};

const FOLDER: &str = "RUNTIME_TEST_CRASH_FOLDER";
const MOMENT: &str = "RUNTIME_TEST_CRASH_MOMENT";
const CHILD: &str = "journal::crash_tests::a_whole_run";

/// A whole run. `kill_at` is the moment at which the process kills itself, from 1.
fn run(base: &Path, kill_at: usize) -> usize {
    let mut store = Store::open(&location(base)).unwrap();
    let moments = Arc::new(AtomicUsize::new(0));
    let (count, durable) = (Arc::clone(&moments), base.join("durable"));
    store.observe(Arc::new(move |moment, entry| {
        if moment == Moment::AfterDurable {
            let mut log = std::fs::File::options().append(true).create(true).open(&durable).unwrap();
            writeln!(log, "{}", entry.sequence).unwrap();
        }
        if count.fetch_add(1, Ordering::SeqCst) + 1 == kill_at {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        }
    }));
    let run = begin(&mut store, RunKind::Apply);
    store.admit(&admission(&run)).unwrap();
    let journal = Journal::start(store, run.clone()).unwrap();
    let handle = journal.handle();
    for (resource, ending) in [("file.a", Ending::Done), ("file.b", Ending::Unknown), ("file.c", Ending::NotStarted)] {
        let token = handle.intend_blocking(intention(resource)).unwrap();
        // The change: it must never be found without its intent.
        std::fs::write(base.join("root").join(token.staging_name().as_str()), resource).unwrap();
        let record = (ending == Ending::Done).then(|| recorded(serde_json::json!({})));
        handle.settle(token, Settlement { record, ..ended(ending) }).unwrap();
    }
    let mut store = journal.finish().unwrap();
    store.put_report(&run, r#"{"report":1}"#, &Summary::default()).unwrap();
    store.end_run(&run, RunEnding::Failed, 2, None).unwrap();
    moments.load(Ordering::SeqCst)
}

fn admission(run: &crate::model::ids::RunId) -> Admission {
    Admission {
        run: run.clone(),
        receipt: Receipt {
            owner: owner(),
            bundle: BundleDigest::of(b"bundle"),
            serial: 7,
            components: BTreeMap::from([("file".parse().unwrap(), ComponentDigest::of(b"component"))]),
            policy: "{}".into(),
            at: 1,
        },
        resources: vec![Claimed {
            resource: "file.a".parse().unwrap(),
            claims: Vec::new(),
            desired: None,
            component: ComponentDigest::of(b"component"),
        }],
        kept: Vec::new(),
    }
}

/// The whole run to its end; the test below starts it in a process of its own that is killed on the way.
#[test]
fn a_whole_run() {
    match std::env::var_os(FOLDER) {
        Some(base) => {
            let kill_at = std::env::var(MOMENT).expect("a folder comes with a moment").parse().unwrap();
            run(Path::new(&base), kill_at);
        }
        None => {
            let base = tempfile::tempdir().unwrap();
            assert!(run(base.path(), 0) >= 20, "a run has at least ten events with two moments each");
        }
    }
}

fn killed_at(base: &Path, moment: usize) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", CHILD])
        .env(FOLDER, base)
        .env(MOMENT, moment.to_string())
        .output()
        .unwrap()
        .status;
    assert_eq!(status.signal(), Some(9), "it must die at moment {moment}: {status}");
}

#[test]
fn killed_at_each_event_the_state_is_whole_and_a_later_run_goes_on() {
    let whole = tempfile::tempdir().unwrap();
    let moments = run(whole.path(), 0);
    for moment in 1..=moments {
        let base = tempfile::tempdir().unwrap();
        killed_at(base.path(), moment);
        let seen = look_without_touching(base.path());
        let mut store = Store::open(&location(base.path())).expect("the lock died with its process, and the state is whole");
        check_what_it_left(&store, base.path(), moment);
        assert_eq!(entries(store.view()), seen, "moment {moment}: who only looked saw the same");
        let recovery = begin(&mut store, RunKind::Recover);
        for open in store.view().open_intents(None).unwrap() {
            store.resolve(&recovery, open.intent, Resolution::Recovered, None).unwrap();
        }
        assert_eq!(store.view().open_work().unwrap().intents, 0);
        store.end_run(&recovery, RunEnding::Converged, 3, None).unwrap();
        check_history(&store, statuses(&store));
        drop(store);
        assert_eq!(run(base.path(), 0), moments, "the next run is not hindered");
    }
}

fn statuses(store: &Store) -> BTreeMap<IntentId, Status> {
    store.view().all_intents().into_iter().map(|(intent, status, _)| (intent, status)).collect()
}

fn entries(view: &View) -> Vec<Entry> {
    view.runs(None, 10).unwrap().iter().flat_map(|run| view.entries(&run.run).unwrap()).collect()
}

fn look_without_touching(base: &Path) -> Vec<Entry> {
    let scratch = tempfile::tempdir().unwrap();
    let before = look_at(base);
    let seen = entries(Snapshot::open(&location(base), scratch.path()).unwrap().view());
    assert!(look_at(base) == before, "looking leaves everything as it is");
    seen
}

fn check_what_it_left(store: &Store, base: &Path, moment: usize) {
    check_history(store, statuses(store));
    let known: Vec<StagingName> = store.view().all_intents().into_iter().map(|(_, _, name)| name).collect();
    for entry in std::fs::read_dir(base.join("root")).unwrap() {
        let name: StagingName = entry.unwrap().file_name().to_str().unwrap().parse().unwrap();
        assert!(known.contains(&name), "moment {moment}: a change without its intent");
    }
    let on_disk: Vec<i64> = entries(store.view()).iter().map(|entry| entry.sequence).collect();
    let told = std::fs::read_to_string(base.join("durable")).unwrap_or_default();
    for sequence in told.lines() {
        assert!(on_disk.contains(&sequence.parse().unwrap()), "moment {moment}: event {sequence} was said to be durable");
    }
    assert!(on_disk.len() - told.lines().count() <= 2, "moment {moment}: what was not said to be durable is of one commit");
}
