//! Keeping what is replaced: numbers, what is kept of it, and each moment at which a run can be lost.

use std::fs::{self, hard_link, read_to_string};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::sync::Arc;

use rustix::fs::XattrFlags;

use crate::authorize::Rule;
use crate::bindings::runtime::host::files::{Content, Host as _, HostStaged as _};
use crate::error::CallError;
use crate::files::policy::PathPattern;
use crate::grant::Grant;
use crate::phase::Phase;
use crate::rights::{Rights, Sensitivity};
use crate::testing::{Attempt, Handle, STAGING, all_rights, assert_error, attributes, effect};

/// Rights over `/f` and the names of `count` versions of it.
fn rights(count: u32) -> Rights {
    let names = (0..=count).map(|number| effect(&format!("/f.~{number}~"), &["write"]));
    Rights { effects: [effect("/f", &["read", "write"])].into_iter().chain(names).collect(), ..all_rights("file.f") }
}

fn keeping(count: u32) -> Attempt {
    Attempt::with(rights(count))
}

fn put_at(attempt: &mut Attempt, handle: Handle, content: &str) -> Result<(), CallError> {
    let staged = attempt.stage(handle, content.as_bytes())?;
    let committed = attempt.context.commit_keeping(staged.borrow());
    attempt.drop_staged(staged);
    committed
}

fn put(attempt: &mut Attempt, content: &str) -> Result<(), CallError> {
    let handle = attempt.observed("/f");
    put_at(attempt, handle, content)
}

/// What is at `/f`, and what is kept of it, as `NAME=CONTENT`; the folder holds nothing else.
fn files(attempt: &Attempt) -> Vec<String> {
    let content = |name: &String| format!("{name}={}", read_to_string(attempt.host(name)).unwrap());
    attempt.names("/").iter().map(content).collect()
}

#[test]
fn the_newest_has_the_first_number_and_the_oldest_goes() {
    let mut attempt = keeping(2);
    put(&mut attempt, "1").unwrap();
    assert_eq!(files(&attempt), ["f=1"], "nothing was replaced");
    put(&mut attempt, "2").unwrap();
    assert_eq!(files(&attempt), ["f=2", "f.~1~=1"]);
    put(&mut attempt, "3").unwrap();
    assert_eq!(files(&attempt), ["f=3", "f.~1~=2", "f.~2~=1"]);
    put(&mut attempt, "4").unwrap();
    assert_eq!(files(&attempt), ["f=4", "f.~1~=3", "f.~2~=2"]);
    fs::remove_file(attempt.host("/f.~1~")).unwrap();
    put(&mut attempt, "5").unwrap();
    assert_eq!(files(&attempt), ["f=5", "f.~1~=4", "f.~2~=2"], "a number that is free is filled first");
}

#[test]
fn one_handle_can_go_on_after_it_has_kept() {
    let mut attempt = keeping(1);
    attempt.write("/f", b"0");
    let handle = attempt.observed("/f");
    for content in ["1", "2", "3"] {
        put_at(&mut attempt, handle, content).unwrap();
    }
    assert_eq!(files(&attempt), ["f=3", "f.~1~=2"]);
}

#[test]
fn what_is_kept_is_the_old_file_itself_without_rights_to_run_as_another() {
    let mut attempt = keeping(1);
    attempt.write("/f", b"old");
    chown(attempt.host("/f"), Some(12), Some(34)).unwrap();
    rustix::fs::setxattr(attempt.host("/f"), "user.note", b"mine", XattrFlags::empty()).unwrap();
    fs::set_permissions(attempt.host("/f"), fs::Permissions::from_mode(0o6751)).unwrap();
    let inode = fs::metadata(attempt.host("/f")).unwrap().ino();
    put(&mut attempt, "new").unwrap();
    let kept = fs::metadata(attempt.host("/f.~1~")).unwrap();
    assert_eq!((kept.ino(), kept.uid(), kept.gid(), kept.mode() & 0o7777), (inode, 12, 34, 0o751));
    let mut note = [0; 8];
    assert_eq!(rustix::fs::getxattr(attempt.host("/f.~1~"), "user.note", &mut note[..]).unwrap(), 4);
    assert_eq!(fs::metadata(attempt.host("/f")).unwrap().mode() & 0o7777, 0o6751, "the new file has them");
}

#[test]
fn capabilities_go_from_what_is_kept() {
    const CAPABILITY: [u8; 20] = [1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut attempt = keeping(1);
    attempt.write("/f", b"old");
    rustix::fs::setxattr(attempt.host("/f"), "security.capability", &CAPABILITY, XattrFlags::empty()).unwrap();
    put(&mut attempt, "new").unwrap();
    let mut value = [0; 32];
    let mut has = |name: &str| rustix::fs::getxattr(attempt.host(name), "security.capability", &mut value[..]).is_ok();
    assert_eq!((has("/f"), has("/f.~1~")), (true, false));
}

#[test]
fn a_file_with_other_names_is_kept_as_one_more_and_stays_what_it_is() {
    let mut attempt = keeping(1);
    attempt.write("/f", b"old");
    fs::set_permissions(attempt.host("/f"), fs::Permissions::from_mode(0o4755)).unwrap();
    hard_link(attempt.host("/f"), attempt.host("/other")).unwrap();
    put(&mut attempt, "new").unwrap();
    assert_eq!(files(&attempt), ["f=new", "f.~1~=old", "other=old"]);
    assert_eq!(fs::metadata(attempt.host("/other")).unwrap().mode() & 0o7777, 0o4755);
}

#[test]
fn a_file_that_already_is_the_kept_one_too_loses_nothing() {
    let mut attempt = keeping(1);
    attempt.write("/f", b"old");
    hard_link(attempt.host("/f"), attempt.host("/f.~1~")).unwrap();
    put(&mut attempt, "new").unwrap();
    assert_eq!(files(&attempt), ["f=new", "f.~1~=old"]);
}

#[test]
fn only_a_file_is_kept() {
    let mut attempt = keeping(1);
    symlink("/elsewhere", attempt.host("/f")).unwrap();
    put(&mut attempt, "1").unwrap();
    assert_eq!(files(&attempt), ["f=1"]);
}

#[test]
fn a_name_that_has_something_else_ends_it_before_anything_changes() {
    for kind in ["directory", "link", "pipe"] {
        for number in 0..=2 {
            let mut attempt = keeping(2);
            attempt.write("/f", b"old");
            let name = attempt.host(&format!("/f.~{number}~"));
            match kind {
                "directory" => fs::create_dir(&name).unwrap(),
                "link" => symlink("/f", &name).unwrap(),
                _ => rustix::fs::mknodat(
                    rustix::fs::CWD,
                    &name,
                    rustix::fs::FileType::Fifo,
                    rustix::fs::Mode::from_raw_mode(0o600),
                    0,
                )
                .unwrap(),
            }
            match put(&mut attempt, "new") {
                Err(CallError::WrongKind(text)) => {
                    assert_eq!(text, format!("`/f.~{number}~` is not a file, so nothing can be kept there"))
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(read_to_string(attempt.host("/f")).unwrap(), "old");
            assert_eq!(attempt.names("/").len(), 2, "{:?}", attempt.names("/"));
        }
    }
}

#[test]
fn what_another_process_did_in_between_is_noticed_and_no_name_is_left() {
    let mut attempt = keeping(1);
    attempt.write("/f", b"old");
    let handle = attempt.observed("/f");
    let staged = attempt.stage(handle, b"new").unwrap();
    attempt.write("/f", b"theirs");
    assert_error!(attempt.context.commit_keeping(staged.borrow()), CallError::Changed(_));
    attempt.drop_staged(staged);
    assert_eq!(files(&attempt), ["f=theirs"]);
}

#[test]
fn an_immutable_file_stays_without_a_second_name() {
    let mut attempt = keeping(1);
    attempt.write("/f", b"old");
    let file = fs::File::open(attempt.host("/f")).unwrap();
    let flags = rustix::fs::ioctl_getflags(&file).unwrap();
    rustix::fs::ioctl_setflags(&file, flags | rustix::fs::IFlags::IMMUTABLE).unwrap();
    let refused = put(&mut attempt, "new");
    rustix::fs::ioctl_setflags(&file, flags).unwrap();
    assert_error!(refused, CallError::PermissionDenied(_));
    assert_eq!(files(&attempt), ["f=old"]);
}

/// Each state that a lost run can leave, and what it becomes.
#[test]
fn wherever_a_run_is_lost_nothing_is_lost_with_it() {
    /// Files as they are made, `NAME=CONTENT` or `NAME->NAME` for one more name of a file.
    type State<'s> = &'s [&'s str];
    let cases: [(&str, State<'_>, State<'_>); 7] = [
        ("before the second name", &["f=old", "S=new", "f.~1~=older"], &["f=old", "f.~1~=older"]),
        ("before the exchange", &["f=old", "f.~0~->f", "S=new", "f.~1~=older"], &["f=old", "f.~1~=older"]),
        ("after it", &["f=new", "S=old", "f.~0~->S", "f.~1~=older"], &["f=new", "f.~1~=old", "f.~2~=older"]),
        ("after the staged name", &["f=new", "f.~0~=old", "f.~1~=older"], &["f=new", "f.~1~=old", "f.~2~=older"]),
        ("while they move", &["f=new", "f.~0~=old", "f.~2~=older"], &["f=new", "f.~1~=old", "f.~2~=older"]),
        ("with all numbers taken", &["f=new", "f.~0~=2", "f.~1~=1", "f.~2~=0"], &["f=new", "f.~1~=2", "f.~2~=1"]),
        ("and removed since", &["f.~0~=old"], &["f.~1~=old"]),
    ];
    for (moment, before, after) in cases {
        for module_recovers in [true, false] {
            let mut attempt = keeping(2);
            for file in before {
                let name = |name: &str| attempt.host(&name.replace('S', STAGING));
                match (file.split_once("->"), file.split_once('=')) {
                    (Some((link, of)), _) => hard_link(name(of), name(link)).unwrap(),
                    (None, Some((file, content))) => fs::write(name(file), content).unwrap(),
                    _ => panic!("{file}"),
                }
            }
            attempt.context.set_phase(Phase::Recover);
            if module_recovers {
                assert!(attempt.context.discard_staged(b"/f".to_vec(), STAGING.into()).unwrap(), "{moment}");
                assert!(!attempt.context.discard_staged(b"/f".to_vec(), STAGING.into()).unwrap(), "{moment}");
            } else {
                attempt.context.discard_left_over();
            }
            assert_eq!(files(&attempt), after, "lost {moment}");
        }
    }
}

#[test]
fn what_has_no_number_yet_gets_it_with_the_next_change_too() {
    let mut attempt = keeping(2);
    attempt.write("/f", b"2");
    attempt.write("/f.~0~", b"1");
    put(&mut attempt, "3").unwrap();
    assert_eq!(files(&attempt), ["f=3", "f.~1~=2", "f.~2~=1"]);
}

#[test]
fn each_name_must_be_declared_asked_for_and_granted() {
    let mut undeclared = Attempt::with(Rights { effects: vec![effect("/**", &["read", "write"])], ..all_rights("file.f") });
    undeclared.write("/f", b"old");
    assert!(matches!(put(&mut undeclared, "new"), Err(CallError::Denied(denial)) if matches!(denial.rule, Rule::Effects { .. })));
    assert_eq!(files(&undeclared), ["f=old"], "a tree does not say how many");

    let all = rights(2);
    let mut grant = Grant::clone(&all.grant);
    grant.files.deny = vec![PathPattern::parse("/f.~2~").unwrap()];
    let mut denied = Attempt::with(Rights { grant: Arc::new(grant), ..all });
    denied.write("/f", b"old");
    let refused = put(&mut denied, "new");
    assert!(matches!(refused, Err(CallError::Denied(denial)) if matches!(denial.rule, Rule::PolicyDenies { .. })));
    assert_eq!(files(&denied), ["f=old"]);
}

#[test]
fn what_no_policy_can_grant_is_not_reached_by_a_number() {
    let mut attempt = keeping(1);
    attempt.write("/f", b"old");
    attempt.write("/policy.hcl", b"rules");
    hard_link(attempt.host("/policy.hcl"), attempt.host("/f.~1~")).unwrap();
    attempt.context.node().protect(&attempt.host("/policy.hcl")).unwrap();
    let refused = put(&mut attempt, "new");
    assert!(matches!(refused, Err(CallError::Denied(denial)) if matches!(denial.rule, Rule::Protected { .. })));
    assert_eq!(files(&attempt), ["f=old", "f.~1~=rules", "policy.hcl=rules"]);
}

#[test]
fn what_may_be_a_secret_is_not_kept() {
    const NAME: &str = "secret:file.f/content";
    let mut own = rights(1);
    own.assets.insert(NAME.parse().unwrap(), Sensitivity::Sensitive);
    let had = Rights { had_secrets: true, ..rights(1) };
    for rights in [own, had] {
        let mut attempt = Attempt::with(rights);
        attempt.write("/f", b"hunter2");
        let handle = attempt.observed("/f");
        let content = Content::Inline(b"new".to_vec());
        let staged = attempt.stage_with(handle, content, attributes(None, None, None)).unwrap();
        attempt.context.commit_keeping(staged.borrow()).unwrap();
        assert_eq!(files(&attempt), ["f=new"]);
    }
}
