//! What rights have to do with the node: grants after links, protected objects, objects with two names.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

use crate::authorize::Rule;
use crate::bindings::runtime::host::files::{Content, HostObject as _};
use crate::error::CallError;
use crate::files::policy::PathPattern;
use crate::grant::Grant;
use crate::node::Node;
use crate::testing::{Attempt, Mount, all_rights, assert_error, attempt_on, attributes, stranger};

fn patterns(texts: &[&str]) -> Vec<PathPattern> {
    texts.iter().map(|text| PathPattern::parse(text).unwrap()).collect()
}

/// A stranger that may read and write beneath `/srv/app`.
fn app(more: impl FnOnce(&mut Grant)) -> Attempt {
    let attempt = Attempt::with(stranger(|grant| {
        grant.files.read = patterns(&["/srv/app/**"]);
        grant.files.write = patterns(&["/srv/app/**"]);
        more(grant);
    }));
    attempt.write("/srv/app/sub/f", b"in");
    attempt.write("/etc/shadow", b"out");
    attempt
}

fn denied<T>(result: Result<T, CallError>) -> Rule {
    match result {
        Err(CallError::Denied(denial)) => denial.rule,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was allowed"),
    }
}

#[test]
fn a_grant_holds_after_links_too() {
    let mut attempt = app(|_| {});
    symlink("/etc", attempt.host("/srv/app/link")).unwrap();
    symlink("/srv/app/sub", attempt.host("/srv/app/inner")).unwrap();
    symlink("/nowhere", attempt.host("/srv/app/dangling")).unwrap();
    attempt.put("/srv/app/sub/g", b"x").unwrap();
    attempt.put("/srv/app/inner/h", b"x").unwrap();
    for path in ["/srv/app/link/shadow", "/srv/app/link/none", "/srv/app/dangling/x"] {
        let handle = attempt.open(path).unwrap();
        let rule = denied(attempt.observe(handle));
        assert!(matches!(rule, Rule::NotGranted { .. }), "{path}: {rule:?}");
    }
    let (denials, _) = attempt.context.denials();
    assert_eq!(
        denials[0].to_string(),
        "`files.object.observe` on `/srv/app/link/shadow` is denied: policy does not grant the module `files.read` there"
    );
    assert!(denials[0].row.as_ref().unwrap().contains(r#"files { read = ["/etc/shadow"] }"#), "the row is about where it leads");
}

#[test]
fn a_grant_of_one_file_reaches_it_and_no_other() {
    let mut attempt = Attempt::with(stranger(|grant| {
        grant.files.read = patterns(&["/etc/motd", "/"]);
        grant.files.write = patterns(&["/etc/motd"]);
    }));
    attempt.write("/etc/motd", b"x");
    attempt.put("/etc/motd", b"y").unwrap();
    assert!(matches!(denied(attempt.open("/etc/passwd")), Rule::NotGranted { .. }));
    let root = attempt.open("/").unwrap();
    attempt.observe(root).unwrap().unwrap();
}

#[test]
fn strangers_need_words_for_set_id_owners_and_links() {
    let mut attempt = app(|_| {});
    let new = attempt.observed("/srv/app/new");
    for mode in [0o4755, 0o2755, 0o1755] {
        let staged = attempt.stage_with(new, Content::Inline(vec![]), attributes(None, None, Some(mode)));
        assert!(matches!(denied(staged), Rule::Word { word: "setuid", .. }));
    }
    for given in [attributes(Some(33), None, None), attributes(None, Some(33), None)] {
        assert!(matches!(denied(attempt.context.make_directory(new.borrow(), given)), Rule::Word { word: "chown", .. }));
    }
    for target in ["/etc/shadow", "../../../etc/shadow", "../other", "/srv/app"] {
        let made = attempt.context.make_symlink(new.borrow(), target.into(), attributes(None, None, None));
        assert!(matches!(denied(made), Rule::Word { word: "links", .. }), "{target}");
    }
    assert_eq!(attempt.names("/srv/app"), ["sub"]);
    attempt.context.make_symlink(new.borrow(), b"sub/f".to_vec(), attributes(Some(0), Some(0), None)).unwrap();

    let mut trusted = app(|grant| {
        grant.files.setuid = true;
        grant.files.chown = true;
        grant.files.links = true;
    });
    let new = trusted.observed("/srv/app/new");
    trusted.context.make_symlink(new.borrow(), b"/etc/shadow".to_vec(), attributes(Some(33), None, None)).unwrap();
    let file = trusted.observed("/srv/app/sub/f");
    trusted.context.set_attributes(file.borrow(), attributes(Some(33), Some(33), Some(0o4755))).unwrap();
}

#[test]
fn a_stranger_does_not_choose_what_runs_with_set_id() {
    let mut attempt = app(|_| {});
    std::fs::set_permissions(attempt.host("/srv/app/sub/f"), std::fs::Permissions::from_mode(0o4755)).unwrap();
    let handle = attempt.observed("/srv/app/sub/f");
    assert!(matches!(denied(attempt.stage(handle, b"mine")), Rule::Word { word: "setuid", .. }));
    let kept = attempt.context.set_attributes(handle.borrow(), attributes(Some(0), None, None));
    assert!(matches!(denied(kept), Rule::Word { word: "setuid", .. }));
    attempt.context.set_attributes(handle.borrow(), attributes(None, None, Some(0o755))).unwrap();
    let staged = attempt.stage(handle, b"mine").unwrap();
    attempt.commit(staged).unwrap();
}

#[test]
fn a_file_with_other_names_is_not_changed_by_a_stranger_nor_where_others_write() {
    let mut attempt = app(|_| {});
    std::fs::hard_link(attempt.host("/etc/shadow"), attempt.host("/srv/app/linked")).unwrap();
    let handle = attempt.observed("/srv/app/linked");
    assert_error!(attempt.context.set_attributes(handle.borrow(), attributes(None, None, Some(0o666))), CallError::UnsafePath(_));
    let staged = attempt.stage(handle, b"a file of its own").unwrap();
    attempt.commit(staged).unwrap();
    assert_eq!(std::fs::read(attempt.host("/etc/shadow")).unwrap(), b"out", "replacing one name leaves the other");

    let mut trusted = Attempt::new();
    trusted.write("/a/f", b"");
    std::fs::hard_link(trusted.host("/a/f"), trusted.host("/a/g")).unwrap();
    let handle = trusted.observed("/a/g");
    trusted.context.set_attributes(handle.borrow(), attributes(None, None, Some(0o600))).unwrap();
    std::fs::set_permissions(trusted.host("/a"), std::fs::Permissions::from_mode(0o777)).unwrap();
    assert_error!(trusted.context.set_attributes(handle.borrow(), attributes(None, None, Some(0o666))), CallError::UnsafePath(_));
}

#[test]
fn removing_a_tree_needs_all_beneath_it() {
    let mut attempt = Attempt::with(stranger(|grant| {
        grant.files.read = patterns(&["/srv/**"]);
        grant.files.write = patterns(&["/srv/*", "/srv/whole/**"]);
        grant.files.deny = patterns(&["/srv/whole/kept/x"]);
    }));
    for path in ["/srv/d/f", "/srv/whole/a/f", "/srv/whole/kept/x"] {
        attempt.write(path, b"");
    }
    let d = attempt.observed("/srv/d");
    assert!(matches!(denied(attempt.context.remove(d.borrow(), true)), Rule::NotGranted { beneath: true, .. }));
    let whole = attempt.observed("/srv/whole");
    assert!(matches!(denied(attempt.context.remove(whole.borrow(), true)), Rule::PolicyDenies { .. }));
    let a = attempt.observed("/srv/whole/a");
    attempt.context.remove(a.borrow(), true).unwrap();
    assert_eq!(attempt.names("/srv/whole"), ["kept"]);
}

/// A root with the host's own objects in it, as the system's has.
fn with_own_objects() -> Attempt {
    let attempt = Attempt::new();
    attempt.write("/var/lib/runtime/state.db", b"state");
    attempt.write("/etc/runtime/policy.hcl", b"policy");
    let own = [attempt.host("/var/lib/runtime"), attempt.host("/etc/runtime/policy.hcl"), attempt.host("/var/cache/runtime")];
    let own: Vec<&Path> = own.iter().map(|path| path.as_path()).collect();
    let node = Arc::new(Node::open(attempt.folder.path(), &own).unwrap());
    let gate = attempt.gate.clone();
    let context = attempt_on(node, all_rights("file.test"), Arc::new(crate::assets::NoAssets), gate);
    Attempt { context, gate: attempt.gate, folder: attempt.folder }
}

#[test]
fn the_hosts_own_objects_are_closed_by_every_way() {
    let mut attempt = with_own_objects();
    let lib = attempt.host("/var/lib");
    symlink("/var/lib/runtime", attempt.host("/link")).unwrap();
    std::fs::hard_link(attempt.host("/etc/runtime/policy.hcl"), attempt.host("/hard")).unwrap();
    std::fs::create_dir(attempt.host("/bound")).unwrap();
    let _mount = Mount::new(&["--bind", lib.to_str().unwrap()], &attempt.host("/bound"));
    for path in [
        "/var/lib/runtime",
        "/var/lib/runtime/state.db",
        "/var/lib/runtime/deep/er",
        "/etc/runtime/policy.hcl",
        "/link/state.db",
        "/hard",
        "/bound/runtime",
        "/bound/runtime/state.db",
        // It does not exist yet.
        "/var/cache/runtime/x",
    ] {
        let handle = attempt.open(path).unwrap();
        match attempt.observe(handle) {
            Err(CallError::Denied(denial)) => assert!(matches!(denial.rule, Rule::Protected { .. }), "{path}: {denial}"),
            // Its folder does not exist, so there is nothing that could be protected yet.
            Ok(None) if path == "/var/lib/runtime/deep/er" || path == "/var/cache/runtime/x" => {}
            other => panic!("{path}: {other:?}"),
        }
        assert!(attempt.put(path, b"").is_err(), "{path}");
    }
    assert_eq!(attempt.names("/var/lib/runtime"), ["state.db"]);
}

#[test]
fn what_holds_the_hosts_own_objects_is_not_removed() {
    let mut attempt = with_own_objects();
    attempt.write("/var/other", b"x");
    for path in ["/var", "/var/lib", "/etc/runtime", "/etc"] {
        let handle = attempt.observed(path);
        let rule = denied(attempt.context.remove(handle.borrow(), true));
        assert!(matches!(rule, Rule::Protected { .. }), "{path}");
    }
    let handle = attempt.observed("/var");
    attempt.context.set_attributes(handle.borrow(), attributes(None, None, Some(0o711))).unwrap();
    assert_eq!(attempt.names("/var"), ["lib", "other"]);
}

#[test]
fn what_appears_later_can_be_protected_later() {
    let mut attempt = with_own_objects();
    attempt.write("/var/cache/runtime/x", b"");
    let node = attempt.context.node().clone();
    node.protect(&attempt.host("/var/cache/runtime")).unwrap();
    symlink("/var/cache/runtime", attempt.host("/link")).unwrap();
    let handle = attempt.open("/link/x").unwrap();
    assert!(matches!(denied(attempt.observe(handle)), Rule::Protected { .. }));
}

#[test]
fn kernel_file_systems_are_closed_wherever_they_are() {
    let mut attempt = Attempt::new();
    for path in ["/proc", "/proc/self/mem", "/sys/power/state", "/dev/null", "/dev"] {
        assert!(matches!(denied(attempt.open(path)), Rule::Protected { .. }), "{path}");
    }
    std::fs::create_dir(attempt.host("/elsewhere")).unwrap();
    let mount = Mount::new(&["-t", "proc", "proc"], &attempt.host("/elsewhere"));
    for path in ["/elsewhere/uptime", "/elsewhere/sys/kernel/core_pattern"] {
        let handle = attempt.open(path).unwrap();
        assert!(matches!(denied(attempt.observe(handle)), Rule::Protected { .. }), "{path}");
    }
    let handle = attempt.open("/elsewhere/self/root/x").unwrap();
    assert_error!(attempt.observe(handle), CallError::UnsafePath(_));
    symlink("elsewhere/self/cwd", attempt.host("/magic")).unwrap();
    let handle = attempt.open("/magic/x").unwrap();
    assert_error!(attempt.observe(handle), CallError::UnsafePath(_));
    drop(mount);
}

#[test]
fn one_object_is_not_changed_under_two_names_by_two_resources() {
    let mut first = Attempt::with(all_rights("file.first"));
    first.write("/srv/d/f", b"x");
    symlink("/srv/d", first.host("/alias")).unwrap();
    let gate = first.gate.clone();
    let mut second = attempt_on(first.context.node().clone(), all_rights("file.second"), Arc::new(crate::assets::NoAssets), gate);
    first.put("/srv/d/f", b"first").unwrap();
    first.put("/alias/f", b"first again").unwrap();
    std::mem::swap(&mut first.context, &mut second);
    let handle = first.observed("/alias/f");
    let rule = denied(first.stage(handle, b"second"));
    assert_eq!(rule.to_string(), "`file.first` holds the same object as `/srv/d/f`");
    first.put("/alias/g", b"another object").unwrap();
}
