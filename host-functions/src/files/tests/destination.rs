//! Where a symbolic link at a path leads: followed by the rules for parents, told only where it may be read, and nothing done there.

use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};

use crate::authorize::Rule;
use crate::bindings::runtime::host::files::HostObject as _;
use crate::error::CallError;
use crate::files::policy::PathPattern;
use crate::rights::Rights;
use crate::testing::{Attempt, all_rights, assert_error, effect, stranger};

fn destination(attempt: &mut Attempt, path: &str) -> Result<String, CallError> {
    let handle = attempt.open(path)?;
    let led = attempt.context.destination(handle.borrow())?;
    Ok(String::from_utf8(led).unwrap())
}

#[test]
fn links_are_followed_to_the_end_which_need_not_be_there() {
    let mut attempt = Attempt::new();
    attempt.write("/srv/real/file", b"");
    for (target, link, leads_to) in [
        ("/srv/real/file", "/absolute", "/srv/real/file"),
        ("srv/real/../real/file", "/relative", "/srv/real/file"),
        ("absolute", "/chain", "/srv/real/file"),
        ("/srv/real", "/folder", "/srv/real"),
        ("folder/file", "/through", "/srv/real/file"),
        ("/nowhere/at/all", "/dangling", "/nowhere/at/all"),
        ("../../../../srv/real", "/above", "/srv/real"),
    ] {
        symlink(target, attempt.host(link)).unwrap();
        assert_eq!(destination(&mut attempt, link).unwrap(), leads_to, "{link} -> {target}");
    }
    assert_eq!(destination(&mut attempt, "/folder/file").unwrap(), "/srv/real/file", "no link at the path, one on the way");
    assert_eq!(destination(&mut attempt, "/srv/none").unwrap(), "/srv/none");
    assert_error!(destination(&mut attempt, "/absolute/x"), CallError::WrongKind(_));
    symlink("/circle", attempt.host("/circle")).unwrap();
    assert_error!(destination(&mut attempt, "/circle"), CallError::UnsafePath(_));
}

#[test]
fn a_link_that_others_could_have_put_there_is_not_followed() {
    let mut attempt = Attempt::new();
    attempt.write("/real", b"");
    symlink("/real", attempt.host("/theirs")).unwrap();
    lchown(attempt.host("/theirs"), Some(1000), None).unwrap();
    assert_error!(destination(&mut attempt, "/theirs"), CallError::UnsafePath(_));
    for mode in [0o777, 0o1777, 0o775] {
        let folder = attempt.host(&format!("/open{mode:o}"));
        std::fs::create_dir(&folder).unwrap();
        symlink("/real", folder.join("link")).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_error!(destination(&mut attempt, &format!("/open{mode:o}/link")), CallError::UnsafePath(_));
    }
    std::fs::create_dir(attempt.host("/home")).unwrap();
    symlink("/real", attempt.host("/home/link")).unwrap();
    chown(attempt.host("/home"), Some(1000), None).unwrap();
    assert_error!(destination(&mut attempt, "/home/link"), CallError::UnsafePath(_));
    // One of root's that leads to one of theirs.
    symlink("/theirs", attempt.host("/ours")).unwrap();
    assert_error!(destination(&mut attempt, "/ours"), CallError::UnsafePath(_));
}

#[test]
fn it_is_told_only_where_reading_is_granted() {
    let mut attempt = Attempt::with(stranger(|grant| grant.files.read = vec![PathPattern::parse("/srv/app/**").unwrap()]));
    attempt.write("/srv/app/inside", b"");
    attempt.write("/etc/shadow", b"");
    symlink("inside", attempt.host("/srv/app/in")).unwrap();
    assert_eq!(destination(&mut attempt, "/srv/app/in").unwrap(), "/srv/app/inside");
    for target in ["/etc/shadow", "../../etc/none", "/proc/self/mem", "/dev/null"] {
        let link = attempt.host("/srv/app/out");
        let _ = std::fs::remove_file(&link);
        symlink(target, &link).unwrap();
        assert_error!(destination(&mut attempt, "/srv/app/out"), CallError::Denied(_));
    }
}

#[test]
fn to_know_where_it_leads_is_no_right_to_do_anything_there() {
    let rights = Rights { effects: vec![effect("/link", &["read", "write"])], ..all_rights("file.a") };
    let mut attempt = Attempt::with(rights);
    attempt.write("/real", b"kept");
    symlink("/real", attempt.host("/link")).unwrap();
    assert_eq!(destination(&mut attempt, "/link").unwrap(), "/real");
    match attempt.open("/real") {
        Err(CallError::Denied(denial)) => assert!(matches!(denial.rule, Rule::Effects { .. })),
        _ => panic!("it was opened"),
    }
    assert!(!attempt.context.let_change_through());
}

#[test]
fn a_link_put_in_the_place_of_the_destination_is_noticed() {
    let mut attempt = Attempt::new();
    attempt.write("/real", b"old");
    attempt.write("/other", b"kept");
    let handle = attempt.observed("/real");
    let staged = attempt.stage(handle, b"new").unwrap();
    std::fs::remove_file(attempt.host("/real")).unwrap();
    symlink("/other", attempt.host("/real")).unwrap();
    assert_error!(attempt.commit(staged), CallError::Changed(_));
    attempt.drop_staged(staged);
    assert_eq!(std::fs::read(attempt.host("/other")).unwrap(), b"kept");
    assert!(attempt.host("/real").is_symlink());
}
