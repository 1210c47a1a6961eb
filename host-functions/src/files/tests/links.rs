//! Symbolic links in parents: followed only where nobody else could have put them, and never out of the root.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};

use crate::error::CallError;
use crate::testing::{Attempt, assert_error};

fn content_at(attempt: &mut Attempt, path: &str) -> Result<Vec<u8>, CallError> {
    let handle = attempt.open(path)?;
    crate::bindings::runtime::host::files::HostObject::read(&mut attempt.context, handle.borrow(), 0, 100)
}

#[test]
fn links_of_root_are_followed_however_they_are_written() {
    let mut attempt = Attempt::new();
    attempt.write("/srv/real/deep/file", b"here");
    for (target, link) in [
        ("/srv/real", "/absolute"),
        ("srv/real", "/relative"),
        ("./srv//real/", "/untidy"),
        ("srv/real/deep/..", "/back"),
        ("../../../../srv/real", "/above"),
        ("/relative", "/chain"),
        ("chain/deep/../../real", "/through"),
    ] {
        symlink(target, attempt.host(link)).unwrap();
        assert_eq!(content_at(&mut attempt, &format!("{link}/deep/file")).unwrap(), b"here", "{link} -> {target}");
    }
    attempt.put("/chain/new", b"x").unwrap();
    assert_eq!(std::fs::read(attempt.host("/srv/real/new")).unwrap(), b"x");
}

#[test]
fn a_link_that_leads_above_the_root_stays_in_it() {
    let mut attempt = Attempt::new();
    attempt.write("/etc/hostname", b"the node's own");
    symlink("/../../../../etc", attempt.host("/up")).unwrap();
    symlink("/etc", attempt.host("/absolute")).unwrap();
    assert_eq!(content_at(&mut attempt, "/up/hostname").unwrap(), b"the node's own");
    assert_eq!(content_at(&mut attempt, "/absolute/hostname").unwrap(), b"the node's own");
    // A part that exists on this machine, but not beneath the root.
    symlink("/usr/bin", attempt.host("/bin")).unwrap();
    let handle = attempt.open("/bin/env").unwrap();
    assert!(attempt.observe(handle).unwrap().is_none());
}

#[test]
fn links_that_others_could_have_put_there_are_not_followed() {
    let mut attempt = Attempt::new();
    attempt.write("/real/file", b"here");
    for mode in [0o777, 0o1777, 0o775, 0o757] {
        let folder = attempt.host(&format!("/open{mode:o}"));
        std::fs::create_dir(&folder).unwrap();
        symlink("/real", folder.join("link")).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_error!(content_at(&mut attempt, &format!("/open{mode:o}/link/file")), CallError::UnsafePath(_));
        assert_error!(attempt.put(&format!("/open{mode:o}/link/new"), b""), CallError::UnsafePath(_));
    }
    std::fs::create_dir(attempt.host("/home")).unwrap();
    symlink("/real", attempt.host("/home/link")).unwrap();
    chown(attempt.host("/home"), Some(1000), None).unwrap();
    assert_error!(content_at(&mut attempt, "/home/link/file"), CallError::UnsafePath(_));
    symlink("/real", attempt.host("/theirs")).unwrap();
    lchown(attempt.host("/theirs"), Some(1000), None).unwrap();
    assert_error!(content_at(&mut attempt, "/theirs/file"), CallError::UnsafePath(_));
    assert_eq!(attempt.names("/real"), ["file"]);
    // The folder itself may be writable by others: only its links are not to be trusted.
    attempt.put("/open777/plain", b"x").unwrap();
}

#[test]
fn a_link_at_the_path_itself_is_never_followed() {
    let mut attempt = Attempt::new();
    attempt.write("/target", b"kept");
    symlink("/target", attempt.host("/link")).unwrap();
    assert_error!(content_at(&mut attempt, "/link"), CallError::WrongKind(_));
    let handle = attempt.open("/link").unwrap();
    let seen = attempt.digest(handle).unwrap().unwrap();
    assert_eq!(seen.target.as_deref(), Some(&b"/target"[..]));
    assert_eq!(seen.digest, None);
    attempt.put("/link", b"a file now").unwrap();
    assert_eq!(std::fs::read(attempt.host("/target")).unwrap(), b"kept");
    assert!(std::fs::symlink_metadata(attempt.host("/link")).unwrap().is_file());
}

#[test]
fn circles_end() {
    let mut attempt = Attempt::new();
    symlink("/b", attempt.host("/a")).unwrap();
    symlink("/a", attempt.host("/b")).unwrap();
    symlink("grow/grow", attempt.host("/grow")).unwrap();
    for path in ["/a/x", "/grow/x"] {
        match content_at(&mut attempt, path) {
            Err(CallError::UnsafePath(text)) => assert!(text.contains("40 symbolic links"), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn dangling_links_and_files_on_the_way_are_absence() {
    let mut attempt = Attempt::new();
    attempt.write("/file", b"");
    symlink("/nowhere/at/all", attempt.host("/dangling")).unwrap();
    symlink("/file", attempt.host("/to-file")).unwrap();
    for path in ["/dangling/x", "/file/x", "/file/x/y", "/to-file/x", "/missing/x/y"] {
        let handle = attempt.open(path).unwrap();
        assert!(attempt.observe(handle).unwrap().is_none(), "{path}");
        crate::bindings::runtime::host::files::HostObject::remove(&mut attempt.context, handle.borrow(), false).unwrap();
    }
    assert_error!(attempt.put("/dangling/x", b""), CallError::NotFound);
    match attempt.put("/to-file/x", b"") {
        Err(CallError::WrongKind(text)) => assert_eq!(text, "`/file` is not a directory"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_owner_of_the_process_is_trusted_too() {
    let attempt = Attempt::new();
    attempt.write("/real/file", b"here");
    chown(attempt.folder.path(), Some(65534), Some(65534)).unwrap();
    symlink("/real", attempt.host("/link")).unwrap();
    lchown(attempt.host("/link"), Some(65534), None).unwrap();
    let root = attempt.folder.path().to_owned();
    let read = |uid: u32| {
        let root = root.clone();
        std::thread::spawn(move || {
            // Only this thread becomes somebody else.
            let uid = rustix::fs::Uid::from_raw(uid);
            rustix::thread::set_thread_res_uid(uid, uid, uid).unwrap();
            let root = crate::node::Root::open(&root).unwrap();
            root.read_file(b"/link/file", 100)
        })
        .join()
        .unwrap()
    };
    assert_eq!(read(65534).unwrap().unwrap(), b"here");
    assert_error!(read(0), CallError::UnsafePath(_));
    assert_eq!(std::fs::metadata(attempt.host("/real")).unwrap().uid(), 0);
}
