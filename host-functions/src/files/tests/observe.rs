//! Looking and reading.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode};

use crate::bindings::runtime::host::files::{HostObject as _, Kind};
use crate::error::CallError;
use crate::testing::{Attempt, assert_error, attributes, digest_of};

#[test]
fn an_observation_tells_all_about_a_file() {
    let mut attempt = Attempt::new();
    attempt.write("/etc/motd", b"hello\n");
    chown(attempt.host("/etc/motd"), Some(12), Some(34)).unwrap();
    std::fs::set_permissions(attempt.host("/etc/motd"), std::fs::Permissions::from_mode(0o4751)).unwrap();
    std::fs::hard_link(attempt.host("/etc/motd"), attempt.host("/etc/other")).unwrap();
    let handle = attempt.open("/etc/motd").unwrap();
    let seen = attempt.digest(handle).unwrap().unwrap();
    assert_eq!((seen.kind, seen.owner, seen.group, seen.mode, seen.size, seen.links), (Kind::File, 12, 34, 0o4751, 6, 2));
    assert_eq!(seen.digest, Some(digest_of(b"hello\n").to_string()));
    assert_eq!(attempt.observe(handle).unwrap().unwrap().digest, None, "only if asked for");
}

#[test]
fn names_are_bytes() {
    let mut attempt = Attempt::new();
    let name = b"/caf\xe9\n\x1b".to_vec();
    let object = attempt.context.open(name).unwrap();
    attempt.context.make_directory(object, attributes(None, None, None)).unwrap();
    assert_eq!(std::fs::read_dir(attempt.folder.path()).unwrap().count(), 1);
}

#[test]
fn pipes_sockets_and_devices_are_seen_and_never_opened() {
    let mut attempt = Attempt::new();
    let make = |name: &str, kind, device| {
        rustix::fs::mknodat(CWD, attempt.host(name), kind, Mode::from_raw_mode(0o600), device).unwrap();
    };
    make("/fifo", FileType::Fifo, 0);
    make("/socket", FileType::Socket, 0);
    make("/tty", FileType::CharacterDevice, rustix::fs::makedev(5, 0));
    make("/loop", FileType::BlockDevice, rustix::fs::makedev(7, 250));
    for (path, kind) in
        [("/fifo", Kind::Fifo), ("/socket", Kind::Socket), ("/tty", Kind::CharacterDevice), ("/loop", Kind::BlockDevice)]
    {
        let handle = attempt.open(path).unwrap();
        let seen = attempt.digest(handle).unwrap().unwrap();
        assert_eq!((seen.kind, seen.digest), (kind, None));
        assert_error!(attempt.context.read(handle.borrow(), 0, 1), CallError::WrongKind(_));
        attempt.context.set_attributes(handle.borrow(), attributes(Some(7), Some(8), Some(0o640))).unwrap();
        let seen = attempt.observe(handle).unwrap().unwrap();
        assert_eq!((seen.owner, seen.group, seen.mode), (7, 8, 0o640), "{path}");
    }
}

#[test]
fn reading_is_by_offset_and_ends_with_nothing() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"0123456789");
    let handle = attempt.open("/f").unwrap();
    let mut read = |offset, length| attempt.context.read(handle.borrow(), offset, length).unwrap();
    assert_eq!(read(0, 4), b"0123");
    assert_eq!(read(8, 100), b"89");
    assert_eq!(read(10, 1), b"");
    assert_eq!(read(u64::MAX, u32::MAX), b"");
    assert_eq!(read(i64::MAX as u64, 1), b"");
    let missing = attempt.open("/none").unwrap();
    assert_error!(attempt.context.read(missing.borrow(), 0, 1), CallError::NotFound);
    attempt.write("/large", &vec![b'x'; 3 << 20]);
    let large = attempt.open("/large").unwrap();
    assert_eq!(attempt.context.read(large.borrow(), 0, u32::MAX).unwrap().len(), 1 << 20, "at most 1 MiB");
}

#[test]
fn refusal_is_not_absence() {
    let attempt = Attempt::new();
    attempt.write("/closed/file", b"x");
    attempt.write("/open/secret", b"x");
    std::fs::set_permissions(attempt.host("/closed"), std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::set_permissions(attempt.host("/open/secret"), std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::set_permissions(attempt.folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::thread::spawn(move || {
        let mut attempt = attempt;
        let nobody = rustix::fs::Uid::from_raw(65534);
        // Only this thread becomes somebody else, who keeps none of root's capabilities.
        rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
        for path in ["/closed/file", "/closed/none", "/closed/none/deeper"] {
            let handle = attempt.open(path).unwrap();
            assert_error!(attempt.observe(handle), CallError::PermissionDenied(_));
            assert_error!(attempt.context.remove(handle.borrow(), false), CallError::PermissionDenied(_));
        }
        let handle = attempt.open("/open/secret").unwrap();
        assert_error!(attempt.digest(handle), CallError::PermissionDenied(_));
        assert_error!(attempt.context.read(handle.borrow(), 0, 1), CallError::PermissionDenied(_));
        assert_eq!(attempt.observe(handle).unwrap().unwrap().size, 1, "what it is may be seen");
        assert_error!(attempt.stage(handle, b"x"), CallError::PermissionDenied(_));
        let missing = attempt.open("/open/none").unwrap();
        assert!(attempt.observe(missing).unwrap().is_none());
        attempt
    })
    .join()
    .unwrap();
}

#[test]
fn reading_leaves_the_access_time_alone() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"x");
    let times = rustix::fs::Timestamps {
        last_access: rustix::fs::Timespec { tv_sec: 1_000, tv_nsec: 0 },
        last_modification: rustix::fs::Timespec { tv_sec: 2_000, tv_nsec: 0 },
    };
    rustix::fs::utimensat(CWD, attempt.host("/f"), &times, rustix::fs::AtFlags::empty()).unwrap();
    let handle = attempt.open("/f").unwrap();
    attempt.digest(handle).unwrap();
    attempt.context.read(handle.borrow(), 0, 1).unwrap();
    assert_eq!(rustix::fs::stat(attempt.host("/f")).unwrap().st_atime, 1_000);
}

#[test]
fn nothing_is_done_after_the_deadline() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"x");
    let handle = attempt.observed("/f");
    attempt.context.set_deadline(Instant::now());
    assert_error!(attempt.digest(handle), CallError::Deadline);
    assert_error!(attempt.stage(handle, b"y"), CallError::Deadline);
    assert_eq!(attempt.names("/"), ["f"]);
}

#[test]
fn hashing_a_file_without_end_stops_at_the_deadline() {
    let mut attempt = Attempt::new();
    let file = std::fs::File::create(attempt.host("/huge")).unwrap();
    // Sparse: it would take minutes to hash, and takes no room.
    file.set_len(1 << 40).unwrap();
    let handle = attempt.open("/huge").unwrap();
    attempt.context.set_deadline(Instant::now() + Duration::from_millis(100));
    let start = Instant::now();
    assert_error!(attempt.digest(handle), CallError::Deadline);
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_guest_may_not_hold_handles_without_end() {
    let mut attempt = Attempt::new();
    for _ in 0..crate::context::MAX_HANDLES {
        attempt.open("/x").unwrap();
    }
    assert_error!(attempt.open("/x"), CallError::TooLarge(_));
}
