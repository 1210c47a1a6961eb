//! What must not go wrong when the world around the state does: other runs, other roots, other formats, damage, full and
//! read-only disks, unsafe folders.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::{Command, Stdio};

use rusqlite::config::DbConfig;

use super::tests::{begin, location, name};
use super::*;
use crate::journal::{Action, Ending, Intention, Journal, JournalError, Operation, Settlement};
use crate::model::digest::ComponentDigest;
use crate::model::report::Summary;

const HOLD: &str = "RUNTIME_TEST_HOLD_LOCK";

/// Everything that can be seen of a folder: names, kinds, rights, times and content.
pub(crate) fn look_at(folder: &Path) -> BTreeMap<PathBuf, (u32, u64, i64, i64, Vec<u8>)> {
    let mut seen = BTreeMap::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(path) = pending.pop() {
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        let content = if metadata.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        if metadata.is_dir() {
            pending.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        seen.insert(path, (metadata.mode(), metadata.ino(), metadata.mtime(), metadata.mtime_nsec(), content));
    }
    seen
}

/// Leaves the state as a lost run does: with a log.
fn lose(store: Store) {
    store.view.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    drop(store);
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn refused(result: Result<impl std::fmt::Debug, StoreError>) -> StoreError {
    result.expect_err("it must be refused")
}

/// Holds the lock while its parent wants it; on its own it sees that the lock is free again when dropped.
#[test]
fn a_run_that_holds_the_lock() {
    let Some(base) = std::env::var_os(HOLD) else {
        let base = tempfile::tempdir().unwrap();
        drop(Store::open(&location(base.path())).unwrap());
        drop(Store::open(&location(base.path())).expect("the lock is free again"));
        return;
    };
    let _store = Store::open(&location(Path::new(&base))).unwrap();
    println!("held");
    // Until the parent closes its end, or kills us.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn a_second_process_is_told_who_holds_the_lock_and_goes_on_when_that_dies() {
    let base = tempfile::tempdir().unwrap();
    let location = location(base.path());
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::hazard_tests::a_run_that_holds_the_lock", "--nocapture"])
        .env(HOLD, base.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(holder.stdout.take().unwrap()));
    assert!(lines.any(|line| line.unwrap().contains("held")), "the child takes the lock");
    for error in [refused(Store::open(&location)), refused(Snapshot::open(&location, scratch().path()))] {
        assert!(error.is_locked());
        let StoreError::Locked { pid, .. } = error else { panic!("it must say that it is locked: {error}") };
        assert_eq!(pid, Some(holder.id()));
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
    Store::open(&location).expect("the lock died with its process");
}

#[test]
fn lookers_share_and_keep_changers_out() {
    let base = tempfile::tempdir().unwrap();
    let location = location(base.path());
    drop(Store::open(&location).unwrap());
    let scratch = scratch();
    let one = Snapshot::open(&location, scratch.path()).unwrap();
    let two = Snapshot::open(&location, scratch.path()).unwrap();
    assert!(refused(Store::open(&location)).is_locked());
    drop((one, two));
    Store::open(&location).unwrap();
}

#[test]
fn looking_at_nothing_creates_nothing() {
    let base = tempfile::tempdir().unwrap();
    let location = location(base.path());
    let before = look_at(base.path());
    let snapshot = Snapshot::open(&location, scratch().path()).unwrap();
    assert_eq!(snapshot.view().open_work().unwrap(), OpenWork { intents: 0, obligations: 0 });
    assert_eq!(snapshot.view().recorded_of(&name("site")).unwrap(), BTreeMap::new());
    assert_eq!(look_at(base.path()), before);
    std::fs::create_dir(&location.folder).unwrap();
    let before = look_at(base.path());
    assert_eq!(Snapshot::open(&location, scratch().path()).unwrap().view().runs(None, 9).unwrap(), []);
    assert_eq!(look_at(base.path()), before);
}

#[test]
fn looking_leaves_the_folder_as_it_is_whether_its_last_run_ended_or_was_lost() {
    let base = tempfile::tempdir().unwrap();
    let location = Location { folder: base.path().join("state ?#%41"), ..location(base.path()) };
    let scratch = scratch();
    for is_lost in [false, true] {
        let mut store = Store::open(&location).unwrap();
        let run = begin(&mut store, "site");
        store.put_report(&run, r#"{"n":1}"#, &Summary::default()).unwrap();
        if is_lost {
            lose(store)
        } else {
            drop(store)
        }
        assert_eq!(location.folder.join("state.db-wal").exists(), is_lost);
        let before = look_at(base.path());
        let snapshot = Snapshot::open(&location, scratch.path()).unwrap();
        assert_eq!(snapshot.view().last_report(&name("site")).unwrap().unwrap().0, run, "the newest commit is seen");
        assert!(snapshot.view().raw("DELETE FROM reports").is_err(), "a snapshot cannot be written");
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "a copy has no name");
        drop(snapshot);
        assert_eq!(look_at(base.path()), before);
    }
}

#[test]
fn a_copy_is_made_neither_in_the_root_nor_in_the_state() {
    let base = tempfile::tempdir().unwrap();
    let location = location(base.path());
    lose(Store::open(&location).unwrap());
    let inside = location.root.join("tmp");
    std::fs::create_dir(&inside).unwrap();
    for scratch in [&inside, &location.folder] {
        let before = look_at(base.path());
        assert!(matches!(refused(Snapshot::open(&location, scratch)), StoreError::ScratchInside { .. }));
        assert_eq!(look_at(base.path()), before);
    }
}

#[test]
fn another_root_is_refused_and_so_is_one_that_was_made_again() {
    let base = tempfile::tempdir().unwrap();
    let location = location(base.path());
    drop(Store::open(&location).unwrap());
    let other = Location { root: base.path().join("other"), ..location.clone() };
    std::fs::create_dir(&other.root).unwrap();
    let error = refused(Store::open(&other));
    assert!(matches!(error, StoreError::OtherRoot { .. }), "{error}");
    assert!(error.to_string().contains(location.root.to_str().unwrap()), "it names the recorded root: {error}");
    assert!(matches!(refused(Snapshot::open(&other, scratch().path())), StoreError::OtherRoot { .. }));

    let through_link = Location { root: base.path().join("link"), ..location.clone() };
    symlink(&location.root, &through_link.root).unwrap();
    Store::open(&through_link).expect("the same root by another name");

    // Kept aside, so that the new one cannot get its inode.
    std::fs::rename(&location.root, base.path().join("aside")).unwrap();
    std::fs::create_dir(&location.root).unwrap();
    assert!(matches!(refused(Store::open(&location)), StoreError::OtherRoot { .. }));
    let missing = Location { root: base.path().join("missing"), ..location };
    assert!(matches!(refused(Store::open(&missing)), StoreError::File { .. }));
}

#[test]
fn another_format_is_refused_by_name_and_left_as_it_is() {
    let base = tempfile::tempdir().unwrap();
    let location = location(base.path());
    let mut store = Store::open(&location).unwrap();
    let run = begin(&mut store, "site");
    let mut batch = store.batch().unwrap();
    batch.intend(&run, &intention("file.a", 10)).unwrap();
    batch.commit().unwrap();
    store.view.connection.pragma_update(None, "user_version", 9).unwrap();
    lose(store);
    let before = look_at(&location.folder);
    for error in [refused(Store::open(&location)), refused(Snapshot::open(&location, scratch().path()))] {
        let text = error.to_string().replace(&*location.folder.to_string_lossy(), "STATE");
        insta::allow_duplicates! {
            insta::assert_snapshot!(text, @"the state in `STATE` has format 9, and this program has format 2 only; open in it: 1 intents and 0 obligations");
            insta::assert_snapshot!(error.hint().unwrap(), @"run `runtime recover` with the version that wrote it");
        }
    }
    assert_eq!(look_at(&location.folder), before);
}

#[test]
fn damage_and_foreign_files_are_refused_and_left_as_they_are() {
    let base = tempfile::tempdir().unwrap();
    let location = location(base.path());
    let mut store = Store::open(&location).unwrap();
    begin(&mut store, "site");
    drop(store);
    let path = location.folder.join("state.db");
    let whole = std::fs::read(&path).unwrap();
    let damage: [(&str, Vec<u8>); 5] = [
        ("no database at all", b"this is not a database, it is a letter to my aunt".repeat(100)),
        ("header gone", [&[0; 100], &whole[100..]].concat()),
        ("cut short", whole[..whole.len() / 2].to_vec()),
        ("a page overwritten", [&whole[..4096], &[0xff; 4096], &whole[8192..]].concat()),
        ("one byte of the tables' text", replaced(&whole, b"CREATE TABLE claims", b"CREATE TABLE klaims")),
    ];
    for (what, bytes) in damage {
        std::fs::write(&path, &bytes).unwrap();
        for error in [refused(Store::open(&location)), refused(Snapshot::open(&location, scratch().path()))] {
            assert!(matches!(error, StoreError::Damaged { .. }), "{what}: {error}");
            assert!(error.hint().is_some());
        }
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{what}: it is left as it is");
    }
    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    assert!(matches!(refused(Store::open(&location)), StoreError::Foreign { .. }));
    assert!(matches!(refused(Snapshot::open(&location, scratch().path())), StoreError::Foreign { .. }));
}

fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let at = bytes.windows(old.len()).position(|window| window == old).expect("it is in there");
    [&bytes[..at], new, &bytes[at + old.len()..]].concat()
}

#[test]
fn every_commit_waits_for_the_disk() {
    let base = tempfile::tempdir().unwrap();
    let location = location(base.path());
    for what in ["created", "opened again"] {
        let store = Store::open(&location).unwrap();
        let setting = |pragma| {
            store.view.connection.pragma_query_value(None, pragma, |row| row.get::<_, rusqlite::types::Value>(0)).unwrap()
        };
        assert_eq!(setting("synchronous"), rusqlite::types::Value::Integer(2), "{what}");
        assert_eq!(setting("journal_mode"), rusqlite::types::Value::Text("wal".into()), "{what}");
        assert_eq!(setting("foreign_keys"), rusqlite::types::Value::Integer(1), "{what}");
        let mut store = store;
        begin(&mut store, "site");
        assert!(!location.folder.join("state.db-shm").exists(), "{what}: no file that a reader would have to write");
    }
}

#[test]
fn a_creation_that_was_cut_off_is_made_good() {
    let base = tempfile::tempdir().unwrap();
    let location = location(base.path());
    std::fs::create_dir(&location.folder).unwrap();
    std::fs::write(location.folder.join("lock"), "").unwrap();
    std::fs::write(location.folder.join("state.db"), "").unwrap();
    assert_eq!(Snapshot::open(&location, scratch().path()).unwrap().view().runs(None, 9).unwrap(), []);
    begin(&mut Store::open(&location).unwrap(), "site");
    std::fs::remove_file(location.folder.join("lock")).unwrap();
    assert!(matches!(refused(Snapshot::open(&location, scratch().path())), StoreError::LockFileMissing { .. }));
    assert_eq!(Store::open(&location).unwrap().view().runs(None, 9).unwrap().len(), 1);
}

#[test]
fn the_folder_is_created_private_and_unsafe_ones_are_refused() {
    let base = tempfile::tempdir().unwrap();
    let deep = Location { folder: base.path().join("a/b/state"), ..location(base.path()) };
    drop(Store::open(&deep).unwrap());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&base.path().join("a")), mode(&deep.folder)), (0o700, 0o700));
    assert_eq!((mode(&deep.folder.join("state.db")), mode(&deep.folder.join("lock"))), (0o600, 0o600));

    let set = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let problem = |location: &Location| match refused(Store::open(location)) {
        StoreError::Unsafe { path, problem, .. } => (path, problem),
        other => panic!("it must be unsafe, not {other}"),
    };
    for mode in [0o770, 0o707, 0o1777] {
        set(&deep.folder, mode);
        assert_eq!(problem(&deep), (deep.folder.clone(), "can be written by other users".into()), "{mode:o}");
    }
    set(&deep.folder, 0o755);
    set(&base.path().join("a"), 0o777);
    assert_eq!(problem(&deep).0, base.path().join("a"));
    set(&base.path().join("a"), 0o1777);
    Store::open(&deep).expect("in a folder with the sticky bit nobody can touch what is ours");
    set(&deep.folder.join("state.db"), 0o666);
    assert_eq!(problem(&deep).0, deep.folder.join("state.db"));
    set(&deep.folder.join("state.db"), 0o600);
    std::fs::hard_link(deep.folder.join("state.db"), base.path().join("second")).unwrap();
    assert_eq!(problem(&deep).1, "has more than one name");
}

#[test]
fn folders_and_links_of_other_users_are_refused() {
    let base = tempfile::tempdir().unwrap();
    let theirs = base.path().join("theirs");
    std::fs::create_dir(&theirs).unwrap();
    std::os::unix::fs::chown(&theirs, Some(12345), None).expect("this test must be run as root");
    let location = Location { folder: theirs.join("state"), ..location(base.path()) };
    let error = refused(Store::open(&location));
    assert!(
        matches!(&error, StoreError::Unsafe { path, problem, .. } if *path == theirs && problem == "belongs to user id 12345"),
        "{error}"
    );
    assert_eq!(std::fs::read_dir(&theirs).unwrap().count(), 0, "nothing is created there");

    let link = base.path().join("link");
    symlink(base.path(), &link).unwrap();
    let through = Location { folder: link.join("state"), ..location.clone() };
    drop(Store::open(&through).expect("a link of our own is followed"));
    assert!(base.path().join("state/state.db").exists());
    std::os::unix::fs::lchown(&link, Some(12345), None).unwrap();
    assert!(matches!(refused(Store::open(&through)), StoreError::Unsafe { path, .. } if path == link));
    std::os::unix::fs::lchown(&link, Some(0), None).unwrap();
    std::fs::remove_file(&link).unwrap();
    symlink(&link, &link).unwrap();
    assert!(matches!(refused(Store::open(&through)), StoreError::Unsafe { .. }), "a link to itself leads nowhere");
}

/// A file system of its own.
struct Mount(tempfile::TempDir);

impl Mount {
    fn tmpfs(size: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::run("mount", &["-t", "tmpfs", "-o", &format!("size={size},mode=0700"), "tmpfs"], folder.path());
        Self(folder)
    }

    fn make_read_only(&self) {
        Self::run("mount", &["-o", "remount,ro"], self.path());
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(program: &str, arguments: &[&str], at: &Path) {
        let status = Command::new(program).args(arguments).arg(at).status().unwrap();
        assert!(status.success(), "`{program}` must work here: this test needs root and the right to mount");
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

#[test]
fn a_read_only_state_can_be_looked_at_and_not_changed() {
    let (base, mount) = (tempfile::tempdir().unwrap(), Mount::tmpfs("4m"));
    let location = Location { folder: mount.path().join("state"), ..location(base.path()) };
    let absent = Location { folder: mount.path().join("absent"), ..location.clone() };
    let scratch = scratch();
    for is_lost in [false, true] {
        let mut store = Store::open(&location).unwrap();
        begin(&mut store, "site");
        if is_lost {
            lose(store)
        } else {
            drop(store)
        }
        mount.make_read_only();
        let snapshot = Snapshot::open(&location, scratch.path()).unwrap();
        assert_eq!(snapshot.view().runs(None, 9).unwrap().len(), 1 + usize::from(is_lost));
        let error = refused(Store::open(&location));
        assert!(matches!(error, StoreError::File { .. } | StoreError::NotWritable { .. }), "{error:?}");
        assert!(matches!(refused(Store::open(&absent)), StoreError::File { doing: "create the folder", .. }));
        drop(snapshot);
        Mount::run("mount", &["-o", "remount,rw"], mount.path());
    }
}

pub(super) fn intention(resource: &str, size: usize) -> Intention {
    Intention {
        owner: name("site"),
        resource: resource.parse().unwrap(),
        component: ComponentDigest::of(b"c"),
        schema_version: 1,
        desired: "x".repeat(size),
        operation: Operation::Converge(Action::Update),
        subscribers: Vec::new(),
        cgroup: None,
    }
}

#[test]
fn on_a_full_disk_nothing_that_was_said_is_lost() {
    let (base, mount) = (tempfile::tempdir().unwrap(), Mount::tmpfs("2m"));
    let location = Location { folder: mount.path().join("state"), ..location(base.path()) };
    let mut store = Store::open(&location).unwrap();
    let run = begin(&mut store, "site");
    let journal = Journal::start(store, run).unwrap();
    let handle = journal.handle();
    let token = handle.intend_blocking(intention("file.before", 10)).unwrap();
    let ballast = fill(mount.path());

    let Err(JournalError::Store(error)) = handle.intend_blocking(intention("file.too_big", 100_000)) else {
        panic!("there is no space for it")
    };
    assert!(matches!(*error, StoreError::Full { .. }), "{error}");
    let detail = Some("y".repeat(100_000));
    handle.settle(token, Settlement { ending: Ending::Done, record: None, detail, closes: Vec::new() }).unwrap();
    let Err(JournalError::Store(error)) = handle.flush_blocking() else { panic!("there is no space for it") };
    assert!(error.to_string().starts_with("no space is left to"), "{error}");

    std::fs::remove_file(ballast).unwrap();
    handle.flush_blocking().expect("what was settled is still there to be written");
    let store = journal.finish().unwrap();
    assert_eq!(store.view().open_work().unwrap().intents, 0);
    assert_eq!(store.view().all_intents().len(), 1, "the refused intent has left nothing");
    drop(store);
    assert_eq!(Store::open(&location).unwrap().view().all_intents().len(), 1);
}

#[test]
fn a_state_that_has_no_room_at_all_is_refused_clearly() {
    let (base, mount) = (tempfile::tempdir().unwrap(), Mount::tmpfs("64k"));
    let location = Location { folder: mount.path().join("state"), ..location(base.path()) };
    let ballast = fill(mount.path());
    let error = refused(Store::open(&location));
    let text = format!("{error} {:?}", std::error::Error::source(&error));
    assert!(text.contains("no space") || text.contains("No space") || text.contains("StorageFull"), "{text}");
    std::fs::remove_file(ballast).unwrap();
    drop(mount);
}

fn fill(folder: &Path) -> PathBuf {
    let path = folder.join("ballast");
    let mut file = std::fs::File::create(&path).unwrap();
    while file.write_all(&[7; 4096]).is_ok() {}
    path
}
