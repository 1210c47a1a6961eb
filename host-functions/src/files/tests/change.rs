//! Changing: new files, attributes, directories, links, and what another process did in between.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::sync::atomic::Ordering;

use crate::bindings::runtime::host::files::{Content, HostObject as _};
use crate::error::CallError;
use crate::testing::{Attempt, Mount, STAGING, all_rights, assert_error, attributes, digest_of, run};

fn mode(attempt: &Attempt, path: &str) -> u32 {
    std::fs::symlink_metadata(attempt.host(path)).unwrap().permissions().mode() & 0o7777
}

fn owner(attempt: &Attempt, path: &str) -> (u32, u32) {
    let metadata = std::fs::symlink_metadata(attempt.host(path)).unwrap();
    (metadata.uid(), metadata.gid())
}

#[test]
fn a_new_file_is_whole_before_it_is_there() {
    let mut attempt = Attempt::new();
    let handle = attempt.observed("/motd");
    let staged =
        attempt.stage_with(handle, Content::Inline(b"hello".to_vec()), attributes(Some(12), Some(34), Some(0o4711))).unwrap();
    assert_eq!(attempt.names("/"), [STAGING]);
    assert_eq!((mode(&attempt, STAGING), owner(&attempt, STAGING)), (0o4711, (12, 34)));
    attempt.commit(staged).unwrap();
    assert_eq!(attempt.names("/"), ["motd"]);
    assert_eq!(std::fs::read(attempt.host("/motd")).unwrap(), b"hello");
    assert_error!(attempt.commit(staged), CallError::InvalidArgument(_));
    attempt.drop_staged(staged);
    assert_eq!(attempt.names("/"), ["motd"], "dropping a committed file removes nothing");
}

#[test]
fn a_new_file_is_readable_whatever_the_umask() {
    let mut attempt = Attempt::new();
    attempt.put("/f", b"").unwrap();
    let handle = attempt.open("/d").unwrap();
    attempt.context.make_directory(handle.borrow(), attributes(None, None, None)).unwrap();
    assert_eq!((mode(&attempt, "/f"), mode(&attempt, "/d")), (0o644, 0o755));
}

#[test]
fn a_replaced_file_keeps_what_is_not_given() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"old");
    chown(attempt.host("/f"), Some(12), Some(34)).unwrap();
    std::fs::set_permissions(attempt.host("/f"), std::fs::Permissions::from_mode(0o2750)).unwrap();
    attempt.put("/f", b"new").unwrap();
    assert_eq!((mode(&attempt, "/f"), owner(&attempt, "/f")), (0o2750, (12, 34)));
    let handle = attempt.observed("/f");
    let staged = attempt.stage_with(handle, Content::Inline(b"x".to_vec()), attributes(None, Some(56), None)).unwrap();
    attempt.commit(staged).unwrap();
    assert_eq!((mode(&attempt, "/f"), owner(&attempt, "/f")), (0o2750, (12, 56)));
    assert_eq!(attempt.names("/"), ["f"]);
}

#[test]
fn the_handle_knows_what_its_own_change_left() {
    let mut attempt = Attempt::new();
    let handle = attempt.observed("/f");
    for content in [b"1", b"2"] {
        let staged = attempt.stage(handle, content).unwrap();
        attempt.commit(staged).unwrap();
        attempt.context.set_attributes(handle.borrow(), attributes(None, None, Some(0o600))).unwrap();
    }
    attempt.context.make_symlink(handle.borrow(), b"/elsewhere".to_vec(), attributes(None, None, None)).unwrap();
    attempt.context.remove(handle.borrow(), false).unwrap();
    attempt.context.make_directory(handle.borrow(), attributes(None, None, None)).unwrap();
    attempt.context.set_attributes(handle.borrow(), attributes(None, None, Some(0o700))).unwrap();
    attempt.context.remove(handle.borrow(), false).unwrap();
    assert!(attempt.names("/").is_empty());
}

#[test]
fn assets_are_streamed_and_checked() {
    let large = vec![b'x'; 1 << 20];
    let mut attempt = Attempt::with_assets(all_rights("file.a"), &[&large]);
    let handle = attempt.observed("/f");
    let digest = digest_of(&large).to_string();
    let staged = attempt.stage_with(handle, Content::Asset(digest.clone()), attributes(None, None, None)).unwrap();
    attempt.commit(staged).unwrap();
    assert_eq!(attempt.digest(handle).unwrap().unwrap().digest, Some(digest));
    for bad in ["", "sha256:00", "x"] {
        assert_error!(
            attempt.stage_with(handle, Content::Asset(bad.into()), attributes(None, None, None)),
            CallError::InvalidArgument(_)
        );
    }
    let other = digest_of(b"another's").to_string();
    assert_error!(attempt.stage_with(handle, Content::Asset(other), attributes(None, None, None)), CallError::Denied(_));
}

#[test]
fn an_asset_with_other_bytes_is_not_put_in_place() {
    use crate::rights::Sensitivity;
    use crate::testing::{TestAssets, attempt_on};
    let attempt = Attempt::new();
    let promised = digest_of(b"promised");
    let mut rights = all_rights("file.a");
    rights.assets.insert(crate::assets::AssetName::Plain(promised), Sensitivity::Plain);
    let assets = TestAssets([(promised, b"other".to_vec())].into());
    let node = attempt.context.node().clone();
    let context = attempt_on(node, rights, std::sync::Arc::new(assets), attempt.gate.clone());
    let mut attempt = Attempt { context, gate: attempt.gate.clone(), folder: attempt.folder };
    let handle = attempt.observed("/f");
    let staged = attempt.stage_with(handle, Content::Asset(promised.to_string()), attributes(None, None, None));
    match staged {
        Err(CallError::Other(text)) => assert!(text.contains("other bytes than its digest"), "{text}"),
        other => panic!("{:?}", other.map(|_| ())),
    }
    assert!(attempt.names("/").is_empty());
}

#[test]
fn arguments_without_meaning_are_refused() {
    let mut attempt = Attempt::new();
    let handle = attempt.observed("/f");
    for bad in
        [attributes(None, None, Some(0o10000)), attributes(Some(u32::MAX), None, None), attributes(None, Some(u32::MAX), None)]
    {
        assert_error!(attempt.context.make_directory(handle.borrow(), bad), CallError::InvalidArgument(_));
        assert_error!(attempt.stage_with(handle, Content::Inline(vec![]), bad), CallError::InvalidArgument(_));
    }
    assert_error!(attempt.stage(handle, &vec![0; super::super::MAX_INLINE + 1]), CallError::TooLarge(_));
    for (target, long) in [(b"".to_vec(), false), (b"a\0b".to_vec(), false), (vec![b'x'; 4096], true)] {
        let error = attempt.context.make_symlink(handle.borrow(), target, attributes(None, None, None)).unwrap_err();
        assert_eq!(matches!(error, CallError::TooLarge(_)), long);
        assert_eq!(matches!(error, CallError::InvalidArgument(_)), !long);
    }
    assert!(attempt.names("/").is_empty());
}

#[test]
fn a_change_needs_a_look_first() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"kept");
    let handle = attempt.open("/f").unwrap();
    assert_error!(attempt.stage(handle, b"x"), CallError::InvalidArgument(_));
    assert_error!(attempt.context.remove(handle.borrow(), false), CallError::InvalidArgument(_));
    assert_error!(
        attempt.context.set_attributes(handle.borrow(), attributes(None, None, Some(0))),
        CallError::InvalidArgument(_)
    );
    assert_error!(
        attempt.context.make_symlink(handle.borrow(), b"/x".to_vec(), attributes(None, None, None)),
        CallError::InvalidArgument(_)
    );
    assert_eq!(std::fs::read(attempt.host("/f")).unwrap(), b"kept");
}

#[test]
fn what_another_process_put_there_is_not_lost() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"old");
    // Between observing and staging.
    let handle = attempt.observed("/f");
    attempt.write("/f", b"theirs");
    assert_error!(attempt.stage(handle, b"ours"), CallError::Changed(_));
    // Between staging and committing: changed in place, replaced, gone, and a directory.
    for change in ["write", "replace", "remove", "directory"] {
        attempt.write("/f", b"old");
        let handle = attempt.observed("/f");
        let staged = attempt.stage(handle, b"ours").unwrap();
        match change {
            "write" => attempt.write("/f", b"theirs"),
            "replace" => {
                attempt.write("/g", b"theirs");
                std::fs::rename(attempt.host("/g"), attempt.host("/f")).unwrap();
            }
            _ => std::fs::remove_file(attempt.host("/f")).unwrap(),
        }
        if change == "directory" {
            std::fs::create_dir(attempt.host("/f")).unwrap();
        }
        assert_error!(attempt.commit(staged), CallError::Changed(_));
        attempt.drop_staged(staged);
        match change {
            "remove" => assert!(attempt.names("/").is_empty()),
            "directory" => std::fs::remove_dir(attempt.host("/f")).unwrap(),
            _ => assert_eq!(std::fs::read(attempt.host("/f")).unwrap(), b"theirs", "{change}"),
        }
    }
    // Something where nothing was.
    let handle = attempt.observed("/new");
    let staged = attempt.stage(handle, b"ours").unwrap();
    attempt.write("/new", b"theirs");
    assert_error!(attempt.commit(staged), CallError::Changed(_));
    attempt.drop_staged(staged);
    assert_eq!(std::fs::read(attempt.host("/new")).unwrap(), b"theirs");
    assert_eq!(attempt.names("/"), ["new"]);
}

#[test]
fn a_replaced_folder_is_noticed() {
    let mut attempt = Attempt::new();
    attempt.write("/d/f", b"old");
    let handle = attempt.observed("/d/f");
    let staged = attempt.stage(handle, b"ours").unwrap();
    std::fs::rename(attempt.host("/d"), attempt.host("/was-d")).unwrap();
    attempt.write("/d/f", b"theirs");
    assert_error!(attempt.commit(staged), CallError::Changed(_));
    attempt.drop_staged(staged);
    assert_eq!(attempt.names("/was-d"), ["f"], "what was staged in the old folder is gone");
    assert_eq!(std::fs::read(attempt.host("/d/f")).unwrap(), b"theirs");
}

#[test]
fn attributes_are_set_on_what_was_seen() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"x");
    let handle = attempt.observed("/f");
    attempt.write("/f", b"other content does not matter");
    attempt.context.set_attributes(handle.borrow(), attributes(Some(12), Some(34), Some(0o640))).unwrap();
    assert_eq!((mode(&attempt, "/f"), owner(&attempt, "/f")), (0o640, (12, 34)));
    std::fs::remove_file(attempt.host("/f")).unwrap();
    assert_error!(attempt.context.set_attributes(handle.borrow(), attributes(None, None, Some(0))), CallError::NotFound);
    std::fs::create_dir(attempt.host("/f")).unwrap();
    assert_error!(attempt.context.set_attributes(handle.borrow(), attributes(None, None, Some(0))), CallError::Changed(_));
    assert_eq!(mode(&attempt, "/f"), 0o755);
}

#[test]
fn changing_the_owner_keeps_the_mode() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"x");
    std::fs::set_permissions(attempt.host("/f"), std::fs::Permissions::from_mode(0o6755)).unwrap();
    let handle = attempt.observed("/f");
    attempt.context.set_attributes(handle.borrow(), attributes(Some(12), None, None)).unwrap();
    assert_eq!((mode(&attempt, "/f"), owner(&attempt, "/f")), (0o6755, (12, 0)));
}

#[test]
fn the_root_has_attributes_and_nothing_else_to_change() {
    let mut attempt = Attempt::new();
    let handle = attempt.observed("/");
    attempt.context.set_attributes(handle.borrow(), attributes(None, None, Some(0o711))).unwrap();
    assert_eq!(mode(&attempt, "/"), 0o711);
    assert_error!(attempt.context.make_directory(handle.borrow(), attributes(None, None, None)), CallError::AlreadyExists);
    // It holds what no policy can grant, so nothing may take its place.
    assert_error!(attempt.stage(handle, b""), CallError::Denied(_));
    assert_error!(
        attempt.context.make_symlink(handle.borrow(), b"x".to_vec(), attributes(None, None, None)),
        CallError::Denied(_)
    );
    assert_error!(attempt.context.remove(handle.borrow(), true), CallError::Denied(_));
}

#[test]
fn directories_are_made_one_at_a_time() {
    let mut attempt = Attempt::new();
    let handle = attempt.open("/d").unwrap();
    attempt.context.make_directory(handle.borrow(), attributes(Some(12), Some(34), Some(0o1770))).unwrap();
    assert_eq!((mode(&attempt, "/d"), owner(&attempt, "/d")), (0o1770, (12, 34)));
    assert_error!(attempt.stage(handle, b""), CallError::WrongKind(_));
    assert_error!(attempt.context.make_directory(handle.borrow(), attributes(None, None, None)), CallError::AlreadyExists);
    let deep = attempt.open("/x/y").unwrap();
    assert_error!(attempt.context.make_directory(deep.borrow(), attributes(None, None, None)), CallError::NotFound);
    symlink("/d", attempt.host("/link")).unwrap();
    let link = attempt.open("/link").unwrap();
    assert_error!(attempt.context.make_directory(link.borrow(), attributes(None, None, None)), CallError::AlreadyExists);
    assert_eq!(attempt.names("/"), ["d", "link"]);
}

#[test]
fn links_are_made_and_replace_links_and_files() {
    let mut attempt = Attempt::new();
    attempt.write("/file", b"x");
    std::fs::create_dir(attempt.host("/d")).unwrap();
    for path in ["/new", "/file"] {
        let handle = attempt.observed(path);
        attempt.context.make_symlink(handle.borrow(), b"a//../b".to_vec(), attributes(Some(12), None, Some(0o1))).unwrap();
        assert_eq!(std::fs::read_link(attempt.host(path)).unwrap().to_str(), Some("a//../b"), "kept as given");
        assert_eq!(owner(&attempt, path), (12, 0));
    }
    let handle = attempt.observed("/new");
    attempt.context.make_symlink(handle.borrow(), b"other".to_vec(), attributes(None, Some(5), None)).unwrap();
    assert_eq!(std::fs::read_link(attempt.host("/new")).unwrap().to_str(), Some("other"));
    assert_eq!(owner(&attempt, "/new"), (12, 5), "a link that replaces a link keeps its owner");
    attempt.context.set_attributes(handle.borrow(), attributes(Some(7), None, Some(0o777))).unwrap();
    assert_eq!(owner(&attempt, "/new"), (7, 5));
    let directory = attempt.observed("/d");
    assert_error!(
        attempt.context.make_symlink(directory.borrow(), b"x".to_vec(), attributes(None, None, None)),
        CallError::WrongKind(_)
    );
    assert_eq!(attempt.names("/"), ["d", "file", "new"]);
}

#[test]
fn without_an_intent_nothing_changes() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"old");
    let handle = attempt.observed("/f");
    let staged = attempt.stage(handle, b"new").unwrap();
    attempt.gate.0.store(false, Ordering::SeqCst);
    assert_error!(attempt.commit(staged), CallError::Denied(_));
    assert_error!(attempt.stage(handle, b"new"), CallError::Denied(_));
    assert_error!(attempt.context.remove(handle.borrow(), false), CallError::Denied(_));
    assert_eq!(std::fs::read(attempt.host("/f")).unwrap(), b"old");
    assert_eq!(attempt.context.denied_change().unwrap().call, "files.staged.commit");
}

#[test]
fn the_host_knows_whether_it_let_a_change_through() {
    let mut attempt = Attempt::new();
    let handle = attempt.observed("/proc-like");
    let protected = attempt.open("/proc/x");
    assert_error!(protected, CallError::Denied(_));
    attempt.gate.0.store(false, Ordering::SeqCst);
    assert_error!(attempt.stage(handle, b""), CallError::Denied(_));
    assert!(!attempt.context.let_change_through());
    attempt.gate.0.store(true, Ordering::SeqCst);
    attempt.stage(handle, b"").unwrap();
    assert!(attempt.context.let_change_through());
}

#[test]
fn a_directory_that_is_not_empty_was_not_changed() {
    let mut attempt = Attempt::new();
    std::fs::create_dir(attempt.host("/d")).unwrap();
    attempt.write("/d/kept", b"");
    let handle = attempt.observed("/d");
    assert_error!(attempt.context.remove(handle.borrow(), false), CallError::NotEmpty);
    assert!(!attempt.context.let_change_through());
    let other = attempt.observed("/f");
    attempt.stage(other, b"").unwrap();
    assert_error!(attempt.context.remove(handle.borrow(), false), CallError::NotEmpty);
    assert!(attempt.context.let_change_through(), "what was changed before stays noted");
}

#[test]
fn what_the_system_refuses_at_once_has_changed_nothing() {
    let mut attempt = Attempt::new();
    std::fs::create_dir(attempt.host("/d")).unwrap();
    let mount = Mount::new(&["-t", "tmpfs", "tmpfs"], &attempt.host("/d"));
    attempt.write("/d/f", b"old");
    let (new, old) = (attempt.observed("/d/new"), attempt.observed("/d/f"));
    run("mount", &["-o", "remount,ro", attempt.host("/d").to_str().unwrap()]);
    let nothing = || attributes(None, None, None);
    assert!(attempt.stage(new, b"x").is_err() && attempt.stage(old, b"x").is_err());
    assert!(attempt.context.make_directory(new.borrow(), nothing()).is_err());
    assert!(attempt.context.make_symlink(new.borrow(), b"x".to_vec(), nothing()).is_err());
    assert!(attempt.context.set_attributes(old.borrow(), attributes(None, None, Some(0o600))).is_err());
    assert!(!attempt.context.let_change_through(), "so the operation is over, and nobody has to recover it");
    drop(mount);
}

#[test]
fn what_was_staged_goes_with_the_attempt() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"old");
    let handle = attempt.observed("/f");
    let staged = attempt.stage(handle, b"1").unwrap();
    assert_error!(attempt.stage(handle, b"2"), CallError::Busy(_));
    attempt.drop_staged(staged);
    assert_eq!(attempt.names("/"), ["f"]);
    attempt.stage(handle, b"3").unwrap();
    let Attempt { context, folder, .. } = attempt;
    drop(context);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "dropped with its store");
}

#[test]
fn only_what_was_staged_is_cleaned_up() {
    let mut attempt = Attempt::new();
    let handle = attempt.observed("/f");
    let staged = attempt.stage(handle, b"ours").unwrap();
    std::fs::remove_file(attempt.host(STAGING)).unwrap();
    attempt.write(STAGING, b"somebody else's");
    attempt.drop_staged(staged);
    assert_eq!(attempt.names("/"), [STAGING]);
}

#[test]
fn what_was_staged_and_is_gone_again_has_changed_nothing() {
    let mut attempt = Attempt::new();
    let handle = attempt.observed("/f");
    let staged = attempt.stage(handle, b"x").unwrap();
    assert!(attempt.context.let_change_through());
    attempt.drop_staged(staged);
    assert!(!attempt.context.let_change_through());
    assert_eq!(attempt.names("/"), [""; 0]);
    attempt.write("/other/kept", b"");
    let staged = attempt.stage(handle, b"x").unwrap();
    attempt.put("/other/new", b"y").unwrap();
    attempt.drop_staged(staged);
    assert!(attempt.context.let_change_through(), "something else was changed meanwhile");
}
