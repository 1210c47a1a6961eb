//! The functions of `processes`, as a guest has them: rights, sensitive values, ids, time.

use std::io::Read;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host_functions::assets::AssetSource;
use host_functions::bindings::runtime::host::processes::{Command, Finished, Host as _, Status, Text};
use host_functions::digest::Digest;
use host_functions::effects::Effect;
use host_functions::error::CallError;
use host_functions::gate::IntentGate;
use host_functions::grant::{Ask, Grant};
use host_functions::objects::ArgumentsPattern;
use host_functions::processes::native::ControlGroup;
use host_functions::rights::{Module, Rights};
use host_functions::{HostContext, Node, Phase};
use zeroize::Zeroizing;

use crate::support::{give_up_namespaces, lives, mark, runner};

struct Open;

impl IntentGate for Open {
    fn is_open(&self) -> bool {
        true
    }
}

/// Every slot has the value `hunter2`.
struct Secrets;

impl AssetSource for Secrets {
    fn size(&self, _: &Digest) -> Option<u64> {
        None
    }

    fn open(&self, _: &Digest) -> std::io::Result<Box<dyn Read + Send>> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn secret(&self, _: &str) -> Option<Zeroizing<Vec<u8>>> {
        Some(Zeroizing::new(b"hunter2".to_vec()))
    }
}

/// An attempt at `exec.a` with all rights but what `limit` takes, on the running system.
fn attempt(phase: Phase, limit: impl FnOnce(&mut Grant)) -> HostContext {
    let mut grant = Grant::requested(true);
    limit(&mut grant);
    let asks = ["query", "run"].map(|verb| Ask::parse("processes", verb, "*").unwrap());
    let actions = ["query", "run"].map(str::to_owned).to_vec();
    let rights = Rights {
        resource: "exec.a".into(),
        provider: None,
        module: Module { name: "exec".into(), digest: format!("sha256:{}", "0".repeat(64)) },
        asks: asks.to_vec().into(),
        grant: Arc::new(grant),
        effects: vec![Effect { domain: "process".into(), key: b"*".to_vec(), actions, qualifier: None }],
        assets: [].into(),
        had_secrets: false,
    };
    let node = Node::open_with(Path::new("/"), &[], runner()).unwrap();
    let mut context = HostContext::new(Arc::new(node), rights, Arc::new(Secrets), Instant::now() + Duration::from_secs(30));
    context.set_intent(Arc::new(Open), ".runtime-0a".parse().unwrap());
    context.set_phase(phase);
    context
}

fn command(program: &str, arguments: &[&str]) -> Command {
    Command {
        program: program.into(),
        arguments: arguments.iter().map(|argument| Text::Plain((*argument).into())).collect(),
        environment: vec![("PATH".into(), Text::Plain("/usr/bin:/bin".into()))],
        directory: None,
        user: None,
        group: None,
        umask: None,
        stdin: None,
        output_limit: 4096,
        timeout_ms: None,
        withhold: false,
    }
}

fn shell(script: &str) -> Command {
    command("/bin/sh", &["-c", script])
}

fn text(finished: &Finished) -> String {
    String::from_utf8_lossy(&finished.stdout).into_owned()
}

#[test]
fn a_program_runs_where_the_phase_lets_it() {
    let mut check = attempt(Phase::Check, |_| ());
    assert_eq!(text(&check.query(shell("echo seen")).unwrap()), "seen\n");
    let denied = check.run(shell("true")).unwrap_err();
    assert_eq!(
        denied.to_string(),
        "`processes.run` on `/bin/sh -c true` is denied: the check phase does not allow changing the node"
    );
    assert!(check.denied_change().is_some() && !check.let_change_through());
    let mut apply = attempt(Phase::Apply, |_| ());
    assert_eq!(text(&apply.run(shell("echo done")).unwrap()), "done\n");
    assert!(apply.let_change_through());
    assert!(matches!(attempt(Phase::Inspect, |_| ()).query(shell("true")), Err(CallError::Denied(_))));
}

#[test]
fn a_guard_that_writes_is_denied_and_the_file_absent() {
    let folder = tempfile::tempdir_in("/var/lib").unwrap();
    let file = folder.path().join("written");
    let finished = attempt(Phase::Check, |_| ()).query(shell(&format!("echo x > {}", file.display()))).unwrap();
    assert!(!matches!(finished.status, Status::Exited(0)));
    assert!(String::from_utf8_lossy(&finished.stderr).contains("Read-only file system"));
    assert!(!file.exists());
}

#[test]
fn a_sensitive_value_reaches_the_program_and_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("told");
    let secret = |place: &str| Text::Secret(format!("exec.a/{place}"));
    let mut given = command(
        "/bin/sh",
        &["-c", &format!("printf '%s %s ' \"$1\" \"$S\" > {0}; cat >> {0}; echo leaked", file.display()), "sh"],
    );
    given.arguments.push(secret("command/1"));
    given.environment.push(("S".into(), secret("environment/S")));
    given.stdin = Some(secret("stdin"));
    let mut context = attempt(Phase::Apply, |_| ());
    let finished = context.run(given).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "hunter2 hunter2 hunter2");
    assert!(matches!(finished.status, Status::Exited(0)) && finished.withheld && finished.stdout.is_empty());
    let (records, _) = context.node().audit().snapshot();
    let audited = format!("{records:?}");
    assert!(!audited.contains("hunter2") && audited.contains("(sensitive)"), "{audited}");
}

#[test]
fn a_slot_of_another_resource_is_denied() {
    let mut given = shell("cat");
    given.stdin = Some(Text::Secret("exec.b/stdin".into()));
    let denied = attempt(Phase::Apply, |_| ()).run(given).unwrap_err();
    assert!(denied.to_string().ends_with("is denied: the sensitive value belongs to another resource"), "{denied}");
}

#[test]
fn policy_may_narrow_the_arguments_and_a_refusal_says_the_row() {
    let pattern = ArgumentsPattern::parse(["/bin/echo", "hi"]).unwrap();
    let mut context = attempt(Phase::Apply, |grant| {
        grant.objects.everything.clear();
        grant.objects.commands.insert("run", vec![pattern]);
    });
    assert_eq!(text(&context.run(command("/bin/echo", &["hi"])).unwrap()), "hi\n");
    let Err(CallError::Denied(denial)) = context.run(command("/bin/echo", &["hi", "there"])) else { panic!("it ran") };
    assert!(denial.row.unwrap().contains(r#"processes { run = [["/bin/echo", "hi", "there"]] }"#));
    assert!(matches!(context.query(command("/bin/echo", &["hi"])), Err(CallError::Denied(_))), "to run is not to query");
}

#[test]
fn no_row_is_printed_that_would_let_a_module_run_what_it_writes() {
    let mut context = attempt(Phase::Apply, |grant| {
        grant.builtin = false;
        grant.objects.everything.clear();
        grant.files.write = vec!["/bin/*".parse().unwrap()];
    });
    let Err(CallError::Denied(denial)) = context.run(command("/bin/echo", &["hi"])) else { panic!("it ran") };
    assert_eq!(denial.row, None, "the policy file would not be taken");
}

#[test]
fn a_user_comes_with_its_groups() {
    let mut context = attempt(Phase::Apply, |_| ());
    let as_user = |user, group| Command { user, group, ..shell("id -u; id -g; id -G") };
    assert_eq!(text(&context.run(as_user(Some(65_534), None)).unwrap()), "65534\n65534\n65534\n");
    assert_eq!(text(&context.run(as_user(Some(3_999_999), Some(7))).unwrap()), "3999999\n7\n7\n");
    assert!(text(&context.run(as_user(None, Some(7))).unwrap()).starts_with("0\n7\n7 "));
    let error = context.run(as_user(Some(3_999_999), None)).unwrap_err();
    assert_eq!(error.to_string(), "user 3999999 has no account, so its group must be given too");
}

#[test]
fn what_cannot_start_is_an_error_that_changed_nothing() {
    let mut context = attempt(Phase::Apply, |_| ());
    assert!(matches!(context.run(command("/no/such/program", &[])), Err(CallError::NotFound)));
    assert!(matches!(context.run(command("/etc/passwd", &[])), Err(CallError::PermissionDenied(_))));
    assert!(matches!(context.query(command("/no/such/program", &[])), Err(CallError::NotFound)));
    let within = |directory: &str| Command { directory: Some(directory.into()), ..command("/bin/true", &[]) };
    for (directory, why) in [("/no/such/folder", "nothing is there"), ("/etc/passwd", "Not a directory")] {
        for error in [context.run(within(directory)).unwrap_err(), context.query(within(directory)).unwrap_err()] {
            let wanted = format!("entering the directory `{directory}`: {why}");
            assert!(matches!(&error, CallError::WrongKind(text) if *text == wanted), "{error}");
        }
    }
    assert!(!context.let_change_through());
    assert!(matches!(context.run(command("relative", &[])), Err(CallError::InvalidArgument(_))));
}

#[test]
fn nothing_goes_beyond_the_deadline_of_the_resource() {
    let mark = mark(30);
    let mut context = attempt(Phase::Apply, |_| ());
    context.set_deadline(Instant::now() + Duration::from_millis(600));
    let given = Command { timeout_ms: Some(600_000), ..shell(&format!("setsid sh -c 'setsid sleep {mark} &'; sleep 600")) };
    assert!(matches!(context.run(given).unwrap().status, Status::TimedOut));
    assert!(!lives(&mark));
    assert!(matches!(context.pause(1), Err(CallError::Deadline)));
}

#[test]
fn programs_run_in_the_control_group_that_is_on_record() {
    let group = ControlGroup::beside_us(&mark(31)).expect("this test needs control groups of version 2");
    let mut context = attempt(Phase::Apply, |_| ());
    context.set_control_group(group.clone());
    let told = text(&context.run(shell("grep '^0::' /proc/self/cgroup")).unwrap());
    assert_eq!(told, format!("0::{}\n", group.path()));
    assert!(!group.folder().exists(), "it ends with the program");
}

#[test]
fn where_a_query_cannot_be_confined_it_is_refused_unless_policy_accepts_that_in_words() {
    give_up_namespaces();
    let error = attempt(Phase::Check, |_| ()).query(shell("echo seen")).unwrap_err();
    let CallError::Unsupported(why) = error else { panic!("{error:?}") };
    assert!(why.contains("making a process namespace") && why.contains("processes { unconfined_queries = true }"), "{why}");
    let mut accepted = attempt(Phase::Check, |grant| grant.objects.unconfined_queries = true);
    assert_eq!(text(&accepted.query(shell("echo seen; grep NoNewPrivs /proc/self/status")).unwrap()), "seen\nNoNewPrivs:\t1\n");
}

#[test]
fn a_program_that_others_may_not_run_is_no_way_around_its_user() {
    let folder = tempfile::tempdir_in("/var/lib").unwrap();
    let program = folder.path().join("private");
    std::fs::copy("/bin/true", &program).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let given = Command { user: Some(65_534), ..command(program.to_str().unwrap(), &[]) };
    assert!(matches!(attempt(Phase::Apply, |_| ()).run(given), Err(CallError::PermissionDenied(_))));
}
