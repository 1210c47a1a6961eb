//! What lies at the limits: the longest names and paths, names that are no text, and files beyond four gigabytes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, mkdirat, openat};

use crate::bindings::runtime::host::files::HostObject as _;
use crate::error::CallError;
use crate::files::path::{MAX_NAME, MAX_PATH};
use crate::rights::Rights;
use crate::testing::{Attempt, all_rights, assert_error, attributes, digest_of, effect};

#[test]
fn a_name_may_have_as_many_bytes_as_the_system_lets_it() {
    let mut attempt = Attempt::new();
    let name = "n".repeat(MAX_NAME);
    let path = format!("/{name}");
    attempt.put(&path, b"old").unwrap();
    attempt.put(&path, b"new").unwrap();
    let handle = attempt.observed(&path);
    attempt.context.make_symlink(handle.borrow(), vec![b'x'; MAX_PATH - 1], attributes(None, None, None)).unwrap();
    assert_eq!(attempt.names("/"), [name]);
    assert_eq!(attempt.observe(handle).unwrap().unwrap().target.map(|target| target.len()), Some(MAX_PATH - 1));
    attempt.context.remove(handle.borrow(), false).unwrap();
    attempt.context.make_directory(handle.borrow(), attributes(None, None, None)).unwrap();
    assert_error!(attempt.open(&format!("/{}", "n".repeat(MAX_NAME + 1))).map(|_| ()), CallError::UnsafePath(_));
}

#[test]
fn the_name_of_what_is_kept_must_fit_too() {
    let path = format!("/{}", "n".repeat(MAX_NAME - 3));
    let names = (0..=1).map(|number| effect(&format!("{path}.~{number}~"), &["write"]));
    let effects = [effect(&path, &["read", "write"])].into_iter().chain(names).collect();
    let mut attempt = Attempt::with(Rights { effects, ..all_rights("file.n") });
    attempt.write(&path, b"old");
    let handle = attempt.observed(&path);
    let staged = attempt.stage(handle, b"new").unwrap();
    let kept = crate::bindings::runtime::host::files::HostStaged::commit_keeping(&mut attempt.context, staged.borrow());
    assert_error!(kept, CallError::UnsafePath(_));
    attempt.drop_staged(staged);
    assert_eq!(std::fs::read(attempt.host(&path)).unwrap(), b"old");
    assert_eq!(attempt.names("/").len(), 1);
}

/// The longest path that a guest may name. No single call of the system takes it whole with the folder of this test before it.
#[test]
fn a_path_may_have_as_many_bytes_as_the_system_lets_it() {
    let mut attempt = Attempt::new();
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = rustix::fs::open(attempt.folder.path(), flags, Mode::empty()).unwrap();
    let mut path = String::new();
    let name = "d".repeat(MAX_NAME - 1);
    for _ in 0..MAX_PATH / (MAX_NAME + 1) {
        mkdirat(&folder, &name, Mode::RWXU).unwrap();
        folder = openat(&folder, &name, flags, Mode::empty()).unwrap();
        path = format!("{path}/{name}");
    }
    let last = "f".repeat(MAX_PATH - 1 - path.len());
    path = format!("{path}/{last}");
    assert_eq!(path.len(), MAX_PATH);
    for content in [&b"old"[..], b"new"] {
        attempt.put(&path, content).unwrap();
        let handle = attempt.open(&path).unwrap();
        assert_eq!(attempt.digest(handle).unwrap().unwrap().digest, Some(digest_of(content).to_string()));
    }
    let file = openat(&folder, &last, OFlags::RDONLY, Mode::empty()).unwrap();
    assert_eq!(rustix::fs::fstat(&file).unwrap().st_size, 3);
    assert_error!(attempt.open(&format!("/{}", "d/".repeat(MAX_PATH))).map(|_| ()), CallError::TooLarge(_));
}

/// No manifest can name them, and yet they are there to be removed with a folder, or led to.
#[test]
fn names_that_are_no_text_are_taken_as_bytes() {
    let mut attempt = Attempt::new();
    let name = OsStr::from_bytes(b"caf\xe9\n\x1b[0m");
    let tree = attempt.host("/d");
    std::fs::create_dir_all(tree.join(name)).unwrap();
    std::fs::write(tree.join(name).join(name), b"x").unwrap();
    std::os::unix::fs::symlink(name, attempt.host("/link")).unwrap();
    let link = attempt.open("/link").unwrap();
    assert_eq!(attempt.observe(link).unwrap().unwrap().target, Some(name.as_bytes().to_vec()));
    let led = attempt.context.destination(link.borrow()).unwrap();
    assert_eq!(led, [b"/", name.as_bytes()].concat());
    let there = attempt.context.open(led).unwrap().rep();
    let there = || wasmtime::component::Resource::new_borrow(there);
    let nothing = attempt.context.observe(there(), crate::bindings::runtime::host::files::Detail::empty());
    assert!(nothing.unwrap().is_none());
    attempt.context.make_directory(there(), attributes(None, None, None)).unwrap();
    let handle = attempt.observed("/d");
    attempt.context.remove(handle.borrow(), true).unwrap();
    let left: Vec<_> = std::fs::read_dir(attempt.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2);
    assert!(left.iter().any(|left| left == name) && left.iter().any(|left| left == "link"));
}

/// Of four gigabytes of zeros and `end`.
const DIGEST: &str = "sha256:318e01702cd7413290bc5004d33f5a0bc296ca51e70ed23a0c41922589640900";

#[test]
fn a_file_beyond_four_gigabytes_is_seen_read_hashed_and_replaced() {
    let mut attempt = Attempt::new();
    attempt.context.set_deadline(Instant::now() + Duration::from_secs(600));
    let file = std::fs::File::create(attempt.host("/f")).unwrap();
    // Sparse: it takes no room.
    file.write_at(b"end", 4 << 30).unwrap();
    assert!(file.metadata().unwrap().blocks() < 1_000);
    let handle = attempt.open("/f").unwrap();
    let seen = attempt.digest(handle).unwrap().unwrap();
    assert_eq!((seen.size, seen.digest.as_deref()), ((4 << 30) + 3, Some(DIGEST)));
    assert_eq!(attempt.context.read(handle.borrow(), (4 << 30) - 1, 100).unwrap(), b"\0end");
    let staged = attempt.stage(handle, b"small").unwrap();
    attempt.commit(staged).unwrap();
    assert_eq!(std::fs::read(attempt.host("/f")).unwrap(), b"small");
    assert_eq!(file.metadata().unwrap().nlink(), 0, "the old one is gone with its last handle");
}

#[test]
fn holes_are_zeros_and_a_new_file_has_none() {
    let mut attempt = Attempt::new();
    let bytes = [vec![0; 1 << 20], b"end".to_vec()].concat();
    let sparse = std::fs::File::create(attempt.host("/f")).unwrap();
    sparse.write_at(b"end", 1 << 20).unwrap();
    let handle = attempt.open("/f").unwrap();
    assert_eq!(attempt.digest(handle).unwrap().unwrap().digest, Some(digest_of(&bytes).to_string()));
    let room = |attempt: &Attempt| std::fs::metadata(attempt.host("/f")).unwrap().blocks() * 512;
    assert!(room(&attempt) < 1 << 20);
    attempt.put("/f", &bytes[..1 << 20]).unwrap();
    assert!(room(&attempt) >= 1 << 20, "what is written is written in full");
}
