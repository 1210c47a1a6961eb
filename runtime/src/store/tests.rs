use std::collections::BTreeMap;

use super::*;
use crate::journal::{Resolution, random_run_id};
use crate::model::catalog::Claim;
use crate::model::digest::{BundleDigest, ComponentDigest};
use crate::model::ids::{OwnerName, ResourceId, RunId};
use crate::model::key::Key;
use crate::model::report::Summary;

pub(super) fn name(text: &str) -> OwnerName {
    text.parse().unwrap()
}

pub(super) fn id(text: &str) -> ResourceId {
    text.parse().unwrap()
}

pub(super) fn location(base: &Path) -> Location {
    let root = base.join("root");
    std::fs::create_dir_all(&root).unwrap();
    Location { folder: base.join("state"), root }
}

pub(super) fn begin(store: &mut Store, owner: &str) -> RunId {
    let run = random_run_id();
    store.begin_run(&RunStart { run: run.clone(), kind: RunKind::Apply, owner: Some(name(owner)), at: 1 }).unwrap();
    run
}

pub(super) fn receipt(owner: &str) -> Receipt {
    Receipt {
        owner: name(owner),
        bundle: BundleDigest::of(owner.as_bytes()),
        serial: 3,
        components: BTreeMap::from([("file".parse().unwrap(), ComponentDigest::of(b"c"))]),
        policy: r#"{"grants":[]}"#.into(),
        at: 5,
    }
}

/// A resource that claims `paths` and is to be as `desired` says.
pub(super) fn claimed(resource: &str, paths: &[&str], desired: &str) -> Claimed {
    let claim = |path: &&str| Claim { domain: "path".into(), key: Key::from(*path), qualifier: String::new() };
    Claimed {
        resource: id(resource),
        claims: paths.iter().map(claim).collect(),
        desired: Some(DesiredDigest::of(desired.as_bytes())),
        component: ComponentDigest::of(b"c"),
    }
}

pub(super) fn admit(store: &mut Store, owner: &str, resources: Vec<Claimed>, kept: &[&str]) -> Result<(), StoreError> {
    let run = begin(store, owner);
    let kept = kept.iter().map(|resource| id(resource)).collect();
    store.admit(&Admission { run, receipt: receipt(owner), resources, kept })
}

/// The release of what `owner` has, or of one path.
pub(super) fn release(owner: &str, path: Option<&str>) -> Release {
    let object = path.map(|path| Object { domain: "path".into(), key: Key::from(path) });
    Release { run: random_run_id(), owner: name(owner), object, at: 7 }
}

fn conflicts(result: Result<(), StoreError>) -> String {
    match result {
        Err(StoreError::Conflicts(conflicts)) => conflicts.to_string(),
        other => panic!("it must be refused for conflicts, not {other:?}"),
    }
}

#[test]
fn a_path_held_by_another_owner_is_refused_and_nothing_is_taken() {
    let base = tempfile::tempdir().unwrap();
    let mut store = Store::open(&location(base.path())).unwrap();
    admit(&mut store, "site", vec![claimed("file.motd", &["/etc/motd"], "a")], &[]).unwrap();
    let asked = vec![claimed("file.new", &["/etc/new"], "x"), claimed("file.hello", &["/etc/motd"], "b")];
    let refused = conflicts(admit(&mut store, "other", asked.clone(), &[]));
    insta::assert_snapshot!(refused, @"path `/etc/motd`, claimed by `file.hello` of `other`, is held by `file.motd` of `site`");
    assert_eq!(store.view().newest_receipt(&name("other")).unwrap(), None, "a refused bundle has no receipt");
    admit(&mut store, "third", vec![claimed("file.new", &["/etc/new"], "y")], &[]).expect("`/etc/new` was not taken");
    assert!(!store.view().conflicts(&name("other"), &asked, &[]).unwrap().is_empty(), "asking takes nothing");
}

#[test]
fn owners_share_what_is_equal_and_neither_can_then_change_it() {
    let base = tempfile::tempdir().unwrap();
    let mut store = Store::open(&location(base.path())).unwrap();
    admit(&mut store, "one", vec![claimed("file.a", &["/x"], "same")], &[]).unwrap();
    admit(&mut store, "two", vec![claimed("file.b", &["/x"], "same")], &[]).unwrap();
    conflicts(admit(&mut store, "one", vec![claimed("file.a", &["/x"], "new")], &[]));
    assert_eq!(store.release(&release("two", None)).unwrap().claims.len(), 1);
    admit(&mut store, "one", vec![claimed("file.a", &["/x"], "new")], &[]).unwrap();
}

#[test]
fn a_later_version_releases_what_it_no_longer_has_but_for_what_is_skipped() {
    let base = tempfile::tempdir().unwrap();
    let mut store = Store::open(&location(base.path())).unwrap();
    let first = vec![claimed("file.a", &["/a"], "1"), claimed("file.b", &["/b"], "1"), claimed("file.c", &["/c"], "1")];
    admit(&mut store, "site", first, &[]).unwrap();
    admit(&mut store, "site", vec![claimed("file.a", &["/a", "/a2"], "2")], &["file.b"]).unwrap();
    let other = |path| vec![claimed("file.x", &[path], "other")];
    for (path, is_free) in [("/a", false), ("/a2", false), ("/b", false), ("/c", true)] {
        let found = store.view().conflicts(&name("other"), &other(path), &[]).unwrap();
        assert_eq!(found.is_empty(), is_free, "{path}");
    }
    let taken = vec![claimed("file.d", &["/b"], "1")];
    let refused = conflicts(admit(&mut store, "site", taken, &["file.b"]));
    assert!(
        refused.contains("is held by `file.b` of `site`"),
        "what a skipped resource keeps is kept from its own owner too: {refused}"
    );
}

#[test]
fn what_was_begun_and_not_settled_keeps_its_claims() {
    let base = tempfile::tempdir().unwrap();
    let mut store = Store::open(&location(base.path())).unwrap();
    admit(&mut store, "site", vec![claimed("file.a", &["/a"], "1")], &[]).unwrap();
    let run = begin(&mut store, "site");
    let mut batch = store.batch().unwrap();
    let (intent, _) = batch.intend(&run, &hazard_tests::intention("file.a", 1)).unwrap();
    batch.commit().unwrap();
    admit(&mut store, "site", Vec::new(), &[]).unwrap();
    let other = vec![claimed("file.x", &["/a"], "2")];
    conflicts(admit(&mut store, "other", other.clone(), &[]));
    assert!(matches!(store.release(&release("site", None)), Err(StoreError::Blocked { .. })));
    let recovery = begin(&mut store, "site");
    store.resolve(&recovery, intent, Resolution::Abandoned, None).unwrap();
    admit(&mut store, "site", Vec::new(), &[]).unwrap();
    admit(&mut store, "other", other, &[]).expect("once that is settled, the next version lets go");
}

#[test]
fn two_resources_of_one_version_cannot_hold_the_same() {
    let base = tempfile::tempdir().unwrap();
    let mut store = Store::open(&location(base.path())).unwrap();
    let both = vec![claimed("file.a", &["/srv/**"], "same"), claimed("file.b", &["/srv/x"], "same")];
    insta::assert_snapshot!(
        conflicts(admit(&mut store, "site", both, &[])),
        @"path `/srv/x`, claimed by `file.b` of `site`, is held by `file.a` of `site` with path `/srv/**`"
    );
}

#[test]
fn a_hundred_thousand_claims_of_two_owners_are_admitted() {
    let base = tempfile::tempdir().unwrap();
    let mut store = Store::open(&location(base.path())).unwrap();
    let many = |folder: &str| {
        (0..1000)
            .map(|resource| {
                let paths: Vec<String> = (0..50).map(|file| format!("/srv/{folder}/{resource}/{file}")).collect();
                let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
                claimed(&format!("file.r{resource}"), &paths, "x")
            })
            .collect()
    };
    admit(&mut store, "one", many("one"), &[]).unwrap();
    admit(&mut store, "two", many("two"), &[]).unwrap();
    conflicts(admit(&mut store, "three", vec![claimed("tree.all", &["/srv/one/7/**"], "y")], &[]));
}

#[test]
fn receipts_runs_and_reports_come_back_as_they_went_in() {
    let base = tempfile::tempdir().unwrap();
    let location = location(base.path());
    let mut store = Store::open(&location).unwrap();
    let run = begin(&mut store, "site");
    let accepted = receipt("site");
    store.admit(&Admission { run: run.clone(), receipt: accepted.clone(), resources: Vec::new(), kept: Vec::new() }).unwrap();
    let counts = Summary { total: 3, changed: 2, skipped: 1, ..Summary::default() };
    store.put_report(&run, r#"{"old":1}"#, &Summary::default()).unwrap();
    store.put_report(&run, r#"{"new":1}"#, &counts).unwrap();
    store.end_run(&run, RunEnding::Converged, 9, Some("so")).unwrap();
    assert!(matches!(store.end_run(&run, RunEnding::Failed, 9, None), Err(StoreError::NotOnRecord { .. })), "it is over");
    let lost = begin(&mut store, "site");
    drop(store);

    let store = Store::open(&location).unwrap();
    let view = store.view();
    assert_eq!(view.newest_receipt(&name("site")).unwrap().unwrap(), accepted);
    assert_eq!(view.last_report(&name("site")).unwrap().unwrap(), (run.clone(), r#"{"new":1}"#.into()));
    assert_eq!(view.last_report(&name("other")).unwrap(), None);
    let runs = view.runs(None, 10).unwrap();
    assert_eq!((&runs[0].run, runs[0].ending, runs[0].bundle), (&lost, None, None));
    assert_eq!((&runs[1].run, runs[1].ending, runs[1].bundle), (&run, Some(RunEnding::Converged), Some(accepted.bundle)));
    assert_eq!((runs[0].summary, runs[1].summary), (None, Some(counts)));
    let entries = view.entries(&run).unwrap();
    let events: Vec<&str> = entries.iter().map(|entry| entry.event.as_str()).collect();
    assert_eq!(events, ["run_began", "admitted", "reported", "reported", "run_ended"]);
    assert_eq!(entries[4].detail.as_deref(), Some("so"));
    assert_eq!(view.runs_called(&lost.as_str()[..8], 9).unwrap(), runs[..1]);
    assert_eq!(view.runs_called("", 9).unwrap(), runs);
    assert_eq!(view.runs_called("zz", 9).unwrap(), []);
    assert_eq!(view.owners().unwrap(), [name("site")]);
}

#[test]
fn a_serial_that_sqlite_cannot_hold_is_refused() {
    let base = tempfile::tempdir().unwrap();
    let mut store = Store::open(&location(base.path())).unwrap();
    let run = begin(&mut store, "site");
    let receipt = Receipt { serial: u64::MAX, ..receipt("site") };
    let refused = store.admit(&Admission { run, receipt, resources: Vec::new(), kept: Vec::new() }).unwrap_err();
    assert_eq!(refused.to_string(), "serial 18446744073709551615 is greater than 9223372036854775807");
}
