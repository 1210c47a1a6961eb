//! Folders on the way: what the effect of making one lets a resource do, and that nobody holds it.

use std::os::unix::fs::symlink;
use std::sync::Arc;

use crate::authorize::Rule;
use crate::bindings::runtime::host::files::{Attributes, Content, HostObject as _};
use crate::effects::MAKE_DIRECTORY;
use crate::error::CallError;
use crate::phase::Phase;
use crate::rights::Rights;
use crate::testing::{Attempt, Handle, STAGING, all_rights, assert_error, attempt_on, attributes, effect};

/// A resource that writes `/srv/f` beneath its `folders`, which it may only make.
fn rights(resource: &str, folders: &[&str]) -> Rights {
    let made = folders.iter().map(|folder| effect(folder, &["read", MAKE_DIRECTORY]));
    Rights { effects: made.chain([effect("/srv/f", &["read", "write"])]).collect(), ..all_rights(resource) }
}

const PLAIN: Attributes = Attributes { owner: None, group: None, mode: None };

fn make(attempt: &mut Attempt, handle: Handle, given: Attributes) -> Result<(), CallError> {
    attempt.context.make_directory(handle.borrow(), given)
}

fn is_outside_effects<T>(result: Result<T, CallError>) -> bool {
    matches!(result, Err(CallError::Denied(denial)) if matches!(denial.rule, Rule::Effects { .. }))
}

#[test]
fn a_folder_on_the_way_is_made_plain_and_nothing_else_is_done_to_it() {
    let mut attempt = Attempt::with(rights("file.a", &["/srv"]));
    let handle = attempt.observed("/srv");
    for given in [attributes(Some(0), None, None), attributes(None, Some(0), None), attributes(None, None, Some(0o755))] {
        assert!(is_outside_effects(make(&mut attempt, handle, given)));
    }
    assert!(attempt.names("/").is_empty());
    make(&mut attempt, handle, PLAIN).unwrap();
    attempt.put("/srv/f", b"x").unwrap();
    assert!(is_outside_effects(attempt.context.set_attributes(handle.borrow(), attributes(None, None, Some(0o777)))));
    assert!(is_outside_effects(attempt.context.remove(handle.borrow(), false)));
    assert!(is_outside_effects(attempt.stage_with(handle, Content::Inline(vec![]), PLAIN)));
    assert!(is_outside_effects(attempt.context.make_symlink(handle.borrow(), b"/etc".to_vec(), PLAIN)));
    assert_error!(make(&mut attempt, handle, PLAIN), CallError::AlreadyExists);
    let above = attempt.open("/other");
    assert!(is_outside_effects(above), "no folder but those that the effects name");
    assert_eq!(attempt.names("/srv"), ["f"]);
}

#[test]
fn a_folder_that_several_need_is_held_by_none_of_them() {
    let mut first = Attempt::with(rights("file.first", &["/srv"]));
    std::fs::create_dir(first.host("/real")).unwrap();
    symlink("/real", first.host("/alias")).unwrap();
    let second = Rights { effects: vec![effect("/alias/srv", &["read", MAKE_DIRECTORY])], ..all_rights("file.second") };
    let third = Rights { effects: vec![effect("/real/srv", &["read", "write"])], ..all_rights("file.third") };
    let node = first.context.node().clone();
    let mut of = |rights| {
        let mut context = attempt_on(node.clone(), rights, Arc::new(crate::assets::NoAssets), first.gate.clone());
        std::mem::swap(&mut first.context, &mut context);
        let path = if first.context.rights().resource == "file.second" { "/alias/srv" } else { "/real/srv" };
        let handle = first.observed(path);
        match path {
            "/alias/srv" => make(&mut first, handle, PLAIN),
            _ => first.context.set_attributes(handle.borrow(), attributes(None, None, Some(0o700))),
        }
    };
    of(second).unwrap();
    of(third).unwrap();
}

#[test]
fn what_a_lost_run_staged_for_a_folder_on_the_way_is_discarded() {
    let mut attempt = Attempt::with(rights("file.a", &["/srv"]));
    std::fs::create_dir(attempt.host(STAGING)).unwrap();
    std::fs::create_dir(attempt.host("/srv")).unwrap();
    attempt.write(&format!("/srv/{STAGING}"), b"half");
    attempt.context.set_phase(Phase::Recover);
    attempt.context.discard_left_over();
    assert_eq!(attempt.names("/"), ["srv"], "what was made stays, and the next run goes on from there");
    assert!(attempt.names("/srv").is_empty());
}
