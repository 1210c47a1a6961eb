use super::super::hazard_tests::intention;
use super::super::tests::{admit, begin, claimed, id, location, name, release};
use super::*;
use crate::journal::{Ending, IntentId, ObligationStatus, Resolution, Settlement};
use crate::model::canonical::CanonicalJson;
use crate::store::{Recorded, Store};

/// A state in which `site` holds three paths for two resources, one of them shared with `other`.
fn held() -> (tempfile::TempDir, Store) {
    let base = tempfile::tempdir().unwrap();
    let mut store = Store::open(&location(base.path())).unwrap();
    admit(&mut store, "site", vec![claimed("file.a", &["/a", "/a2"], "x"), claimed("file.b", &["/b"], "same")], &[]).unwrap();
    admit(&mut store, "other", vec![claimed("file.o", &["/b"], "same")], &[]).unwrap();
    (base, store)
}

fn paths(claims: &[HeldClaim]) -> Vec<String> {
    claims.iter().map(|held| format!("{} {}", held.resource, held.claim.key)).collect()
}

fn left(store: &Store) -> Vec<String> {
    let told = |holding: Holding| format!("{} {} {}", holding.owner, holding.held.resource, holding.held.claim.key);
    store.view().holdings(None, None).unwrap().into_iter().map(told).collect()
}

/// Begins a change of `resource`, with `subscriber` to be refreshed after it; leaves it open.
fn intend(store: &mut Store, resource: &str, subscriber: Option<&str>) -> (RunId, IntentId) {
    let run = begin(store, "site");
    let mut batch = store.batch().unwrap();
    let subscribers = subscriber.into_iter().map(id).collect();
    let (intent, _) = batch.intend(&run, &crate::journal::Intention { subscribers, ..intention(resource, 1) }).unwrap();
    batch.commit().unwrap();
    (run, intent)
}

fn settle(store: &mut Store, (run, intent): &(RunId, IntentId)) {
    let record = Recorded {
        component: crate::model::digest::ComponentDigest::of(b"c"),
        schema_version: 1,
        inputs: CanonicalJson::from_canonical("{}"),
        outputs: None,
        observed: None,
        configuration: None,
        secrets: None,
        converged: true,
    };
    let settlement = Settlement { ending: Ending::Done, record: Some(record), detail: None, closes: Vec::new() };
    let mut batch = store.batch().unwrap();
    batch.settle(run, *intent, &settlement).unwrap();
    batch.commit().unwrap();
}

#[test]
fn an_owner_lets_go_of_all_it_has_and_the_journal_says_of_what() {
    let (_base, mut store) = held();
    let asked = release("site", None);
    assert_eq!(left(&store).len(), 4);
    let released = store.release(&asked).unwrap();
    assert_eq!(paths(&released.claims), ["file.a /a", "file.a /a2", "file.b /b"]);
    assert_eq!(left(&store), ["other file.o /b"], "what another owner holds too stays with it");
    let runs = store.view().runs_called(asked.run.as_str(), 2).unwrap();
    let [run] = runs.as_slice() else { panic!("the release is a run on record: {runs:?}") };
    assert_eq!((run.kind, run.ending, run.owner.clone()), (RunKind::Release, Some(RunEnding::Released), Some(name("site"))));
    let entries = store.view().entries(&asked.run).unwrap();
    let told: Vec<&str> = entries.iter().map(|entry| entry.event.as_str()).collect();
    assert_eq!(told, ["run_began", "released", "released", "released", "run_ended"]);
    let detail = entries[1].detail.as_deref().unwrap();
    insta::assert_snapshot!(detail, @r#"{"claim":{"domain":"path","key":"/a","qualifier":""},"resource":"file.a"}"#);
    assert_eq!(serde_json::from_str::<HeldClaim>(detail).unwrap(), released.claims[0]);
    admit(&mut store, "third", vec![claimed("file.c", &["/a"], "theirs")], &[]).expect("the path is free");
}

#[test]
fn one_object_is_let_go_of_with_what_was_recorded_of_its_resource_alone() {
    let (_base, mut store) = held();
    for resource in ["file.a", "file.b"] {
        let begun = intend(&mut store, resource, None);
        settle(&mut store, &begun);
    }
    let released = store.release(&release("site", Some("/a2"))).unwrap();
    assert_eq!(paths(&released.claims), ["file.a /a2"]);
    assert_eq!(released.forgotten, [id("file.a")]);
    assert_eq!(left(&store), ["other file.o /b", "site file.a /a", "site file.b /b"]);
    assert!(store.view().recorded(&name("site"), &id("file.b")).unwrap().is_some());
}

#[test]
fn nothing_to_let_go_of_leaves_no_trace() {
    let (_base, mut store) = held();
    let before = store.view().runs(None, 99).unwrap();
    let commits = store.commits();
    assert!(store.release(&release("site", Some("/none"))).unwrap().is_empty());
    assert!(store.release(&release("nobody", None)).unwrap().is_empty());
    assert_eq!((store.view().runs(None, 99).unwrap(), store.commits()), (before, commits));
}

#[test]
fn what_is_begun_and_not_settled_is_not_let_go_of() {
    let (_base, mut store) = held();
    let (_, intent) = intend(&mut store, "file.a", None);
    let refused = |path| store.view().releasable(&name("site"), release("site", path).object.as_ref()).unwrap_err();
    for path in [None, Some("/a")] {
        assert!(matches!(refused(path), StoreError::Blocked { resource, .. } if resource == id("file.a")), "{path:?}");
    }
    assert!(matches!(store.release(&release("site", None)), Err(StoreError::Blocked { .. })));
    assert_eq!(left(&store).len(), 4, "a refused release takes nothing back");
    assert_eq!(
        paths(&store.release(&release("site", Some("/b"))).unwrap().claims),
        ["file.b /b"],
        "another resource is not concerned"
    );
    let recovery = begin(&mut store, "site");
    store.resolve(&recovery, intent, Resolution::Recovered, None).unwrap();
    assert_eq!(paths(&store.release(&release("site", None)).unwrap().claims), ["file.a /a", "file.a /a2"]);
}

#[test]
fn refreshes_that_an_owner_owes_lapse_with_its_claims_and_those_of_one_object_do_not() {
    let (_base, mut store) = held();
    let begun = intend(&mut store, "file.a", Some("file.b"));
    settle(&mut store, &begun);
    assert_eq!(store.release(&release("site", Some("/b"))).unwrap().lapsed, [], "the next version still owes it");
    let released = store.release(&release("site", None)).unwrap();
    let lapsed: Vec<_> = released.lapsed.iter().map(|owed| (owed.subscriber.clone(), owed.status)).collect();
    assert_eq!(lapsed, [(id("file.b"), ObligationStatus::Owed)]);
    assert_eq!(store.view().open_work().unwrap().obligations, 0);
}
