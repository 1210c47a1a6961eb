//! Removing, and cleaning up after a lost run.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Instant;

use crate::bindings::runtime::host::files::{Host as _, HostObject as _};
use crate::error::CallError;
use crate::phase::Phase;
use crate::rights::Rights;
use crate::testing::{Attempt, Mount, STAGING, all_rights, assert_error, attributes, effect};

#[test]
fn what_is_there_is_removed_and_absence_is_success() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"x");
    attempt.write("/target", b"kept");
    symlink("/target", attempt.host("/link")).unwrap();
    for path in ["/f", "/link"] {
        let handle = attempt.observed(path);
        attempt.context.remove(handle.borrow(), false).unwrap();
        attempt.context.remove(handle.borrow(), false).unwrap();
    }
    assert_eq!(attempt.names("/"), ["target"]);
}

#[test]
fn what_changed_since_it_was_seen_stays() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"old");
    let handle = attempt.observed("/f");
    attempt.write("/f", b"theirs");
    assert_error!(attempt.context.remove(handle.borrow(), false), CallError::Changed(_));
    let new = attempt.observed("/new");
    attempt.write("/new", b"theirs");
    assert_error!(attempt.context.remove(new.borrow(), true), CallError::Changed(_));
    std::fs::create_dir(attempt.host("/d")).unwrap();
    let folder = attempt.observed("/d");
    std::fs::rename(attempt.host("/d"), attempt.host("/old-d")).unwrap();
    attempt.write("/d/f", b"theirs");
    assert_error!(attempt.context.remove(folder.borrow(), true), CallError::Changed(_));
    assert_eq!(attempt.names("/"), ["d", "f", "new", "old-d"]);
    assert_eq!(attempt.names("/d"), ["f"]);
}

#[test]
fn a_full_directory_needs_the_word() {
    let mut attempt = Attempt::new();
    attempt.write("/d/sub/f", b"x");
    attempt.write("/outside/f", b"kept");
    symlink("/outside", attempt.host("/d/link")).unwrap();
    symlink(attempt.host("/outside"), attempt.host("/d/absolute")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        attempt.host("/d/fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let handle = attempt.observed("/d");
    assert_error!(attempt.context.remove(handle.borrow(), false), CallError::NotEmpty);
    attempt.context.remove(handle.borrow(), true).unwrap();
    assert_eq!(attempt.names("/"), ["outside"]);
    assert_eq!(attempt.names("/outside"), ["f"], "links are removed, not followed");
}

#[test]
fn a_mount_beneath_keeps_everything() {
    let mut attempt = Attempt::new();
    attempt.write("/d/a", b"x");
    attempt.write("/d/sub/mounted/x", b"");
    attempt.write("/other/f", b"kept");
    // The same file system, so that only the mount tells.
    let source = attempt.host("/other");
    let mount = Mount::new(&["--bind", source.to_str().unwrap()], &attempt.host("/d/sub/mounted"));
    let handle = attempt.observed("/d");
    assert_error!(attempt.context.remove(handle.borrow(), true), CallError::UnsafePath(_));
    assert_eq!(attempt.names("/d"), ["a", "sub"], "nothing was removed in vain");
    assert_eq!(attempt.names("/other"), ["f"]);
    drop(mount);
    attempt.context.remove(handle.borrow(), true).unwrap();
}

#[test]
fn a_deep_tree_is_refused_whole() {
    let mut attempt = Attempt::new();
    let deep: PathBuf = std::iter::repeat_n("d", 200).collect();
    std::fs::create_dir_all(attempt.host("/top").join(deep)).unwrap();
    attempt.write("/top/f", b"x");
    let handle = attempt.observed("/top");
    assert_error!(attempt.context.remove(handle.borrow(), true), CallError::TooLarge(_));
    assert_eq!(attempt.names("/top"), ["d", "f"]);
}

#[test]
fn removing_a_tree_minds_the_deadline() {
    let mut attempt = Attempt::new();
    attempt.write("/d/f", b"x");
    let handle = attempt.observed("/d");
    attempt.context.set_deadline(Instant::now());
    assert_error!(attempt.context.remove(handle.borrow(), true), CallError::Deadline);
    assert_eq!(attempt.names("/d"), ["f"]);
}

#[test]
fn only_recovery_discards_and_only_the_recorded_name() {
    let mut attempt = Attempt::new();
    attempt.write(STAGING, b"half");
    attempt.write("/.runtime-other", b"of another operation");
    assert_error!(attempt.context.discard_staged(b"/f".to_vec(), STAGING.into()), CallError::Denied(_));
    attempt.context.set_phase(Phase::Recover);
    for name in [".runtime-other", "../x", "", "f"] {
        assert_error!(attempt.context.discard_staged(b"/f".to_vec(), name.into()), CallError::Denied(_));
    }
    assert!(attempt.context.discard_staged(b"/f".to_vec(), STAGING.into()).unwrap());
    assert!(!attempt.context.discard_staged(b"/f".to_vec(), STAGING.into()).unwrap());
    assert!(!attempt.context.discard_staged(b"/none/f".to_vec(), STAGING.into()).unwrap());
    std::fs::create_dir(attempt.host(STAGING)).unwrap();
    assert!(attempt.context.discard_staged(b"/d".to_vec(), STAGING.into()).unwrap());
    symlink("/x", attempt.host(STAGING)).unwrap();
    assert!(attempt.context.discard_staged(b"/d".to_vec(), STAGING.into()).unwrap());
    assert_eq!(attempt.names("/"), [".runtime-other"]);
}

#[test]
fn what_a_module_forgets_is_discarded_beside_each_path_that_it_may_write() {
    let effects = vec![effect("/a/f", &["read", "write"]), effect("/b/f", &["read"]), effect("/c/**", &["write"])];
    let mut attempt = Attempt::with(Rights { effects, ..all_rights("file.a") });
    for folder in ["a", "b", "c"] {
        attempt.write(&format!("/{folder}/{STAGING}"), b"half");
        attempt.write(&format!("/{folder}/.runtime-other"), b"of another operation");
    }
    attempt.context.discard_left_over();
    assert_eq!(attempt.names("/a").len(), 2, "in recovery alone");
    attempt.context.set_phase(Phase::Recover);
    attempt.context.discard_left_over();
    assert_eq!(attempt.names("/a"), [".runtime-other"]);
    assert_eq!((attempt.names("/b").len(), attempt.names("/c").len()), (2, 2), "what it may not write, or alone can know");
}

#[test]
fn a_directory_in_use_by_name_only_is_replaced_by_nothing() {
    let mut attempt = Attempt::new();
    let handle = attempt.open("/d").unwrap();
    attempt.context.make_directory(handle.borrow(), attributes(None, None, None)).unwrap();
    attempt.write("/d/late", b"x");
    assert_error!(attempt.context.remove(handle.borrow(), false), CallError::NotEmpty);
    attempt.context.remove(handle.borrow(), true).unwrap();
    assert!(attempt.names("/").is_empty());
}
