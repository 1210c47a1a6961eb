//! Every function of the WIT, in every phase; and each thing that a call needs, taken away alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use wasmtime::component::Resource;

use super::{Denial, Rule, Standing, authorize};
use crate::accounts::{GroupChange, NewGroup, NewUser, UserChange};
use crate::assets::AssetName;
use crate::audit::Verdict;
use crate::bindings::runtime::host::accounts::Host as _;
use crate::bindings::runtime::host::backend_types::{BackendError, Interrupted, OperationReason};
use crate::bindings::runtime::host::backends;
use crate::bindings::runtime::host::facts::Host as _;
use crate::bindings::runtime::host::files::{
    Content as WitContent, Detail as WitDetail, Host as _, HostObject as _, HostStaged as _,
};
use crate::bindings::runtime::host::log::{Host as _, Level as WitLevel};
use crate::bindings::runtime::host::packages::{self, Detail as PackageDetail, Host as _, Manager as WitManager};
use crate::bindings::runtime::host::processes::{self, Host as _};
use crate::bindings::runtime::host::systemd::Host as _;
use crate::bindings::runtime::host::{accounts, assets, openrc, systemd};
use crate::call::{Attributes, Content, Detail, HostCall, Level};
use crate::effects::Effect;
use crate::error::CallError;
use crate::files::path::NodePath;
use crate::files::policy::PathPattern;
use crate::grant::{Access, Ask, Grant};
use crate::objects::Domain;
use crate::packages::{Change, ConfigurationFiles, Manager, Subject, Transaction, Verb};
use crate::phase::{Phase, Reach};
use crate::processes::Command;
use crate::rights::{Rights, Sensitivity};
use crate::testing::{Attempt, STAGING, all_rights, attributes, digest_of, effect, no_rights};

/// The functions of the WIT, as `INTERFACE#FUNCTION`.
fn functions_of_the_wit() -> BTreeSet<String> {
    let mut resolve = wit_parser::Resolve::default();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../wit/deps/host");
    let (package, _) = resolve.push_dir(folder).unwrap();
    let interfaces = &resolve.packages[package].interfaces;
    let names = interfaces.iter().flat_map(|(interface, id)| {
        resolve.interfaces[*id].functions.keys().map(move |function| format!("{interface}#{function}"))
    });
    names.collect()
}

#[test]
fn every_function_of_the_wit_is_a_host_call() {
    let ours: BTreeSet<String> = HostCall::WIT_NAMES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(ours, functions_of_the_wit());
    assert_eq!(ours.len(), HostCall::WIT_NAMES.len(), "a name stands twice");
}

/// A program as a guest names it.
fn program() -> processes::Command {
    processes::Command {
        program: "/bin/true".into(),
        arguments: vec![processes::Text::Plain("-x".into())],
        environment: vec![],
        directory: None,
        user: None,
        group: None,
        umask: None,
        stdin: None,
        output_limit: 0,
        timeout_ms: None,
        withhold: false,
    }
}

fn command() -> Command {
    Command::try_from(program()).unwrap()
}

/// The secret of the account calls.
const SECRET: &str = "secret:file.a/password";

fn new_user() -> accounts::NewUser {
    accounts::NewUser {
        id: None,
        system: false,
        group: None,
        groups: vec![],
        comment: None,
        home: None,
        make_home: false,
        shell: None,
        expires: None,
        password: None,
        locked: false,
    }
}

fn user_change() -> accounts::UserChange {
    accounts::UserChange {
        id: None,
        group: None,
        join: vec![],
        leave: vec![],
        comment: None,
        home: None,
        shell: None,
        expires: None,
        password: None,
        locked: Some(true),
    }
}

fn new_group() -> accounts::NewGroup {
    accounts::NewGroup { id: None, system: false, members: vec![] }
}

fn group_change() -> accounts::GroupChange {
    accounts::GroupChange { id: Some(7), members: None }
}

const KEEP: packages::ConfigurationFiles = packages::ConfigurationFiles::Keep;

fn package() -> packages::Subject {
    packages::Subject { name: "demo".into(), architecture: None }
}

fn installation() -> packages::Change {
    packages::Change { subject: package(), kind: packages::ChangeKind::Install(None) }
}

fn removal() -> packages::Transaction {
    let changes = vec![packages::Change { subject: package(), kind: packages::ChangeKind::Remove }];
    packages::Transaction { changes, configuration_files: KEEP, change_held: false, recommends: None }
}

/// The answer of a function that has nothing to wait for.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(answer) => answer,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

fn backend_refused<T>(answer: wasmtime::Result<Result<T, BackendError>>) -> bool {
    matches!(answer, Ok(Err(BackendError::Denied(_))))
}

fn interrupted() -> Interrupted {
    Interrupted { staging_name: STAGING.into(), reason: OperationReason::Converge }
}

/// Calls the generated host method of each function, and says whether it was refused.
fn every_method(attempt: &mut Attempt) -> BTreeMap<&'static str, bool> {
    fn refused<T>(result: Result<T, CallError>) -> bool {
        matches!(result, Err(CallError::Denied(_)))
    }
    let digest = || digest_of(b"x").to_string();
    let none = || attributes(None, None, None);
    let context = &mut attempt.context;
    let object = context.table.push(crate::files::Object::at("/f")).unwrap().rep();
    let object = || Resource::new_borrow(object);
    let inline = WitContent::Inline(vec![]);
    let (unit, demo) = (|| "demo.service".to_owned(), || "demo".to_owned());
    BTreeMap::from([
        ("files#[static]object.open", refused(context.open(b"/f".to_vec()))),
        ("files#[method]object.observe", refused(context.observe(object(), WitDetail::empty()))),
        ("files#[method]object.destination", refused(context.destination(object()))),
        ("files#[method]object.read", refused(context.read(object(), 0, 1))),
        ("files#[method]object.stage", refused(context.stage(object(), inline, none()))),
        ("files#[method]object.set-attributes", refused(context.set_attributes(object(), none()))),
        ("files#[method]object.make-directory", refused(context.make_directory(object(), none()))),
        ("files#[method]object.make-symlink", refused(context.make_symlink(object(), b"x".to_vec(), none()))),
        ("files#[method]object.remove", refused(context.remove(object(), true))),
        ("files#discard-staged", refused(context.discard_staged(b"/f".to_vec(), STAGING.into()))),
        ("assets#size", refused(assets::Host::size(context, digest()))),
        ("assets#read", refused(assets::Host::read(context, digest(), 0, 1))),
        ("accounts#find-user", refused(context.find_user("root".into()))),
        ("accounts#find-group", refused(context.find_group("root".into()))),
        ("processes#query", refused(processes::Host::query(context, program()))),
        ("processes#run", refused(processes::Host::run(context, program()))),
        ("processes#pause", refused(context.pause(0))),
        ("accounts#read-user", refused(context.read_user("web".into()))),
        ("accounts#read-group", refused(context.read_group("web".into()))),
        ("accounts#read-login", refused(context.read_login("web".into()))),
        ("accounts#password-matches", refused(context.password_matches("web".into(), SECRET.into()))),
        ("accounts#create-user", refused(context.create_user("web".into(), new_user()))),
        ("accounts#change-user", refused(context.change_user("web".into(), user_change()))),
        ("accounts#delete-user", refused(context.delete_user("web".into()))),
        ("accounts#create-group", refused(context.create_group("web".into(), new_group()))),
        ("accounts#change-group", refused(context.change_group("web".into(), group_change()))),
        ("accounts#delete-group", refused(context.delete_group("web".into()))),
        ("packages#query", refused(packages::Host::query(context, WitManager::Apt, vec![package()], PackageDetail::empty()))),
        ("packages#index", refused(context.index(WitManager::Apt))),
        ("packages#compare-versions", refused(context.compare_versions(WitManager::Apt, "1".into(), "2".into()))),
        ("packages#apply", refused(packages::Host::apply(context, WitManager::Apt, removal()))),
        ("packages#install-file", refused(context.install_file(WitManager::Apt, digest(), installation(), KEEP))),
        ("packages#refresh-index", refused(context.refresh_index(WitManager::Apt))),
        // Without an error in the WIT, a refusal is a trap.
        ("facts#get", context.get("os".into()).is_err()),
        ("systemd#identity", refused(systemd::Host::identity(context, unit()))),
        ("systemd#status", refused(systemd::Host::status(context, unit()))),
        ("systemd#start", refused(systemd::Host::start(context, unit()))),
        ("systemd#stop", refused(systemd::Host::stop(context, unit()))),
        ("systemd#restart", refused(systemd::Host::restart(context, unit()))),
        ("systemd#reload", refused(systemd::Host::reload(context, unit()))),
        ("systemd#reload-or-restart", refused(systemd::Host::reload_or_restart(context, unit()))),
        ("systemd#reset-failed", refused(systemd::Host::reset_failed(context, unit()))),
        ("systemd#enable", refused(systemd::Host::enable(context, unit()))),
        ("systemd#disable", refused(systemd::Host::disable(context, unit()))),
        ("systemd#mask", refused(systemd::Host::mask(context, unit()))),
        ("systemd#unmask", refused(systemd::Host::unmask(context, unit()))),
        ("systemd#settled", refused(systemd::Host::settled(context, unit(), 0, 0))),
        ("systemd#daemon-reload", refused(context.daemon_reload())),
        ("openrc#status", refused(openrc::Host::status(context, demo()))),
        ("openrc#start", refused(openrc::Host::start(context, demo()))),
        ("openrc#stop", refused(openrc::Host::stop(context, demo()))),
        ("openrc#restart", refused(openrc::Host::restart(context, demo()))),
        ("openrc#reload", refused(openrc::Host::reload(context, demo()))),
        ("openrc#zap", refused(openrc::Host::zap(context, demo()))),
        ("openrc#add", refused(openrc::Host::add(context, demo(), demo()))),
        ("openrc#remove", refused(openrc::Host::remove(context, demo(), demo()))),
        ("log#write", context.write(WitLevel::Info, "x".into()).is_err()),
        ("backends#selected", refused(now(backends::Host::selected(context)))),
        ("backends#inspect", backend_refused(now(backends::Host::inspect(context, "{}".into())))),
        ("backends#read", backend_refused(now(backends::Host::read(context, "{}".into())))),
        ("backends#apply", backend_refused(now(backends::Host::apply(context, "{}".into(), "{}".into())))),
        ("backends#refresh", backend_refused(now(backends::Host::refresh(context, "{}".into())))),
        ("backends#perform", backend_refused(now(backends::Host::perform(context, "x".into(), "{}".into())))),
        ("backends#recover", backend_refused(now(backends::Host::recover(context, "{}".into(), interrupted())))),
    ])
}

/// A staged file whose attempt then loses its rights.
fn staged_without_rights(rights: Rights, phase: Phase) -> ([bool; 3], Attempt) {
    let mut attempt = Attempt::new();
    let handle = attempt.observed("/staged");
    let staged = attempt.stage(handle, b"x").unwrap();
    attempt.context.replace_rights(rights);
    attempt.context.set_phase(phase);
    let validate = matches!(attempt.context.validate(staged.borrow(), program()), Err(CallError::Denied(_)));
    let keeping = matches!(attempt.context.commit_keeping(staged.borrow()), Err(CallError::Denied(_)));
    let refused = matches!(attempt.context.commit(staged.borrow()), Err(CallError::Denied(_)));
    assert_eq!(attempt.host("/staged").exists(), !refused);
    ([validate, keeping, refused], attempt)
}

/// Runs everything with these rights in this phase, and compares what was refused with the audit trail.
fn refusals(rights: Rights, phase: Phase) -> BTreeSet<&'static str> {
    let ([validate, keeping, commit], mut attempt) = staged_without_rights(rights, phase);
    let mut refused = every_method(&mut attempt);
    refused.insert("files#[method]staged.validate", validate);
    refused.insert("files#[method]staged.commit", commit);
    refused.insert("files#[method]staged.commit-keeping", keeping);
    let tried: BTreeSet<String> = refused.keys().map(|name| (*name).to_owned()).collect();
    assert_eq!(tried, functions_of_the_wit(), "each function is tried");
    let (records, _) = attempt.context.node().audit().snapshot();
    for (name, refused) in &refused {
        let call = name.replace('#', ".").replace("[static]", "").replace("[method]", "");
        let record = records.iter().rfind(|record| record.call == call).unwrap_or_else(|| panic!("{call} left no record"));
        assert_eq!(matches!(record.verdict, Verdict::Denied(_)), *refused, "{call} in the audit trail");
    }
    refused.into_iter().filter(|(_, refused)| *refused).map(|(name, _)| name).collect()
}

#[test]
fn without_rights_every_function_is_denied() {
    // In recovery the phase forbids nothing and an intent is open, so it is the missing rights that do.
    let mut expected: BTreeSet<&str> = HostCall::WIT_NAMES.into();
    assert_eq!(refusals(no_rights(), Phase::Definition), expected);
    expected.remove("log#write");
    expected.remove("processes#pause");
    assert_eq!(refusals(no_rights(), Phase::Recover), expected, "a message and a pause touch nothing, and need no right");
}

#[test]
fn in_a_definition_even_all_rights_are_none() {
    assert_eq!(refusals(all_rights("file.a"), Phase::Definition), HostCall::WIT_NAMES.into());
}

fn path(text: &str) -> NodePath {
    NodePath::parse(text.into()).unwrap()
}

fn demo() -> Subject {
    Subject { name: "demo".into(), architecture: None }
}

fn upgrade(version: Option<&str>) -> Change {
    Change { subject: demo(), verb: Verb::Upgrade, version: version.map(str::to_owned) }
}

fn of_packages(changes: Vec<Change>) -> Transaction {
    Transaction { changes, configuration_files: ConfigurationFiles::Keep, change_held: false, recommends: None }
}

/// One call of each kind.
fn calls() -> Vec<(&'static str, HostCall)> {
    let digest = digest_of(b"x");
    let f = || path("/f");
    let attributes = Attributes::default();
    let inline = Content::Inline(Arc::new([]));
    vec![
        ("open", HostCall::FilesObjectOpen { path: f() }),
        ("observe", HostCall::FilesObjectObserve { path: f(), detail: Detail { digest: false } }),
        ("observe digest", HostCall::FilesObjectObserve { path: f(), detail: Detail { digest: true } }),
        ("destination", HostCall::FilesObjectDestination { path: f() }),
        ("read", HostCall::FilesObjectRead { path: f(), offset: 0, length: 1 }),
        ("stage", HostCall::FilesObjectStage { path: f(), content: inline, attributes }),
        ("set-attributes", HostCall::FilesObjectSetAttributes { path: f(), attributes }),
        ("make-directory", HostCall::FilesObjectMakeDirectory { path: f(), attributes }),
        ("make-symlink", HostCall::FilesObjectMakeSymlink { path: f(), target: b"g".to_vec(), attributes }),
        ("remove", HostCall::FilesObjectRemove { path: f(), recursive: false }),
        ("validate", HostCall::FilesStagedValidate { path: f(), command: command() }),
        ("commit", HostCall::FilesStagedCommit { path: f() }),
        ("commit-keeping", HostCall::FilesStagedCommitKeeping { path: f() }),
        ("discard", HostCall::FilesDiscardStaged { path: f(), staging_name: STAGING.into() }),
        ("asset size", HostCall::AssetsSize { asset: AssetName::Plain(digest) }),
        ("asset read", HostCall::AssetsRead { asset: AssetName::Plain(digest), offset: 0, length: 1 }),
        ("find-user", HostCall::AccountsFindUser { name: "root".into() }),
        ("find-group", HostCall::AccountsFindGroup { name: "root".into() }),
        ("query", HostCall::ProcessesQuery { command: command() }),
        ("run", HostCall::ProcessesRun { command: command() }),
        ("pause", HostCall::ProcessesPause { milliseconds: 1 }),
        ("user", HostCall::AccountsReadUser { name: "web".into() }),
        ("group", HostCall::AccountsReadGroup { name: "web".into() }),
        ("login", HostCall::AccountsReadLogin { name: "web".into() }),
        ("password-matches", HostCall::AccountsPasswordMatches { name: "web".into(), secret: SECRET.parse().unwrap() }),
        ("create-user", HostCall::AccountsCreateUser { name: "web".into(), user: NewUser::default() }),
        ("change-user", HostCall::AccountsChangeUser { name: "web".into(), change: UserChange::default() }),
        ("delete-user", HostCall::AccountsDeleteUser { name: "web".into() }),
        ("create-group", HostCall::AccountsCreateGroup { name: "web".into(), group: NewGroup::default() }),
        ("change-group", HostCall::AccountsChangeGroup { name: "web".into(), change: GroupChange::default() }),
        ("delete-group", HostCall::AccountsDeleteGroup { name: "web".into() }),
        ("fact", HostCall::FactsGet { name: "os".into() }),
        ("package query", HostCall::PackagesQuery { manager: Manager::Apt, subjects: vec![demo()], candidates: true }),
        ("index", HostCall::PackagesIndex { manager: Manager::Apt }),
        ("compare", HostCall::PackagesCompareVersions { manager: Manager::Apt }),
        ("transaction", HostCall::PackagesApply { manager: Manager::Apt, transaction: of_packages(vec![upgrade(None)]) }),
        (
            "package file",
            HostCall::PackagesInstallFile { manager: Manager::Apt, asset: AssetName::Plain(digest), change: upgrade(None) },
        ),
        ("refresh-index", HostCall::PackagesRefreshIndex { manager: Manager::Apt }),
        ("log", HostCall::LogWrite { level: Level::Info, bytes: 1 }),
        ("backend selected", HostCall::BackendsSelected),
        ("backend read", HostCall::BackendsRead),
        ("backend apply", HostCall::BackendsApply),
        ("backend perform", HostCall::BackendsPerform { action: "x".into() }),
        ("backend recover", HostCall::BackendsRecover),
    ]
}

fn rights() -> Rights {
    let mut rights = all_rights("file.a");
    rights.assets.insert(AssetName::Plain(digest_of(b"x")), Sensitivity::Plain);
    rights.provider = Some("apt".into());
    rights.effects.extend(["/f.~0~", "/f.~1~"].map(|name| effect(name, &["write"])));
    rights
}

fn ask(rights: &Rights, phase: Phase, intent_open: bool, call: &HostCall) -> Result<(), Box<Denial>> {
    authorize(&Standing { rights, phase, intent_open, staging_name: Some(STAGING), run_as: (0, 0) }, call, None)
}

/// The same with all rights over the accounts called `web`.
fn with_accounts() -> Rights {
    let mut rights = rights();
    let named = |domain: &str, actions: &[&str]| Effect { domain: domain.into(), ..effect("web", actions) };
    rights.effects.push(named("user", &["create", "modify", "delete"]));
    rights.effects.push(named("group", &["create", "modify", "delete"]));
    let verbs = ["create", "modify", "delete", "join"];
    Arc::make_mut(&mut rights.asks).extend(verbs.map(|verb| Ask::parse("accounts", verb, "*").unwrap()));
    rights
}

/// What the call of this name needs: a secret for the one that compares it, and none for others, which could then read no file.
fn all_for(name: &str) -> Rights {
    let mut rights = with_accounts();
    if name == "password-matches" {
        rights.assets.insert(SECRET.parse().unwrap(), Sensitivity::Sensitive);
    }
    rights
}

#[test]
fn each_phase_allows_its_own_calls() {
    let metadata = "open, observe, destination, find-user, find-group, user, group, pause, fact, compare, log, backend selected";
    let content = format!(
        "{metadata}, observe digest, read, asset size, asset read, login, password-matches, query, validate, package query, index, \
         backend read"
    );
    let files = "stage, set-attributes, make-directory, make-symlink, remove, commit, commit-keeping";
    let accounts = "create-user, change-user, delete-user, create-group, change-group, delete-group";
    let change = format!("{files}, {accounts}, run, transaction, package file, backend apply");
    let expected = [
        (Phase::Definition, String::new()),
        (Phase::Inspect, metadata.to_owned()),
        (Phase::Check, content.clone()),
        (Phase::Verify, content.clone()),
        (Phase::Display, content.clone()),
        (Phase::Perform, format!("{content}, refresh-index, backend perform")),
        (Phase::Apply, format!("{content}, {change}")),
        (Phase::Recover, format!("{content}, {change}, discard, backend recover")),
    ];
    assert_eq!(expected.len(), Phase::ALL.len());
    for (phase, allowed) in expected {
        let allowed: BTreeSet<&str> = allowed.split(", ").filter(|name| !name.is_empty()).collect();
        let got: BTreeSet<&str> =
            calls().iter().filter(|(name, call)| ask(&all_for(name), phase, true, call).is_ok()).map(|(name, _)| *name).collect();
        assert_eq!(got, allowed, "{phase}");
    }
}

#[test]
fn a_change_needs_an_open_intent_and_nothing_else_does() {
    for (name, call) in calls() {
        // A shared action has a phase of its own.
        let phase = if call.reach() == Reach::Maintenance { Phase::Perform } else { Phase::Recover };
        let without = ask(&all_for(name), phase, false, &call);
        if call.changes() {
            assert_eq!(without.unwrap_err().rule, Rule::NoIntent, "{name}");
        } else {
            without.unwrap();
        }
    }
}

#[test]
fn each_part_of_a_right_is_needed() {
    let stage = |path_text: &str| {
        let content = Content::Inline(Arc::new([]));
        HostCall::FilesObjectStage { path: path(path_text), content, attributes: Attributes::default() }
    };
    let rule = |rights: &Rights, call: &HostCall| ask(rights, Phase::Apply, true, call).unwrap_err().rule;
    let f = stage("/f");
    let without_effect = Rights { effects: vec![effect("/f", &["read"]), effect("/g", &["write"])], ..rights() };
    assert_eq!(rule(&without_effect, &f), Rule::Effects { access: Access::Write });
    let without_ask = Rights { asks: vec![Ask::parse("files", "read", "/**").unwrap()].into(), ..rights() };
    assert_eq!(rule(&without_ask, &f), Rule::NotAsked { right: "files.write".into() });
    let granted = |write: &[&str], deny: &[&str]| {
        let mut grant = Grant::none();
        let patterns = |texts: &[&str]| texts.iter().map(|text| PathPattern::parse(text).unwrap()).collect();
        (grant.files.write, grant.files.deny) = (patterns(write), patterns(deny));
        Rights { grant: Arc::new(grant), ..rights() }
    };
    let not_granted = Rule::NotGranted { access: Access::Write, path: b"/f".to_vec(), beneath: false };
    assert_eq!(rule(&granted(&["/g"], &[]), &f), not_granted);
    assert_eq!(rule(&granted(&["/f"], &["/*"]), &f), Rule::PolicyDenies { pattern: "/*".into() });
    ask(&granted(&["/f"], &["/g"]), Phase::Apply, true, &f).unwrap();
    let read = HostCall::FilesObjectRead { path: path("/f"), offset: 0, length: 1 };
    assert!(matches!(rule(&granted(&["/f"], &[]), &read), Rule::NotGranted { access: Access::Read, .. }), "write is not read");
    assert!(matches!(rule(&rights(), &stage("/proc/sysrq-trigger")), Rule::Protected { .. }), "not even for a built-in");
}

#[test]
fn where_links_lead_must_be_granted_but_not_declared() {
    let mut grant = Grant::none();
    grant.files.read = vec![PathPattern::parse("/a/*").unwrap(), PathPattern::parse("/b/*").unwrap()];
    let rights = Rights { grant: Arc::new(grant), effects: vec![effect("/a/f", &["read"])], ..rights() };
    let standing = Standing { rights: &rights, phase: Phase::Check, intent_open: false, staging_name: None, run_as: (0, 0) };
    let call = HostCall::FilesObjectRead { path: path("/a/f"), offset: 0, length: 1 };
    authorize(&standing, &call, Some(b"/b/f")).unwrap();
    let denial = authorize(&standing, &call, Some(b"/c/f")).unwrap_err();
    assert!(!denial.to_string().contains("/c/f"), "the guest is not told where the link leads: {denial}");
    assert!(matches!(authorize(&standing, &call, Some(b"/proc/f")).unwrap_err().rule, Rule::Protected { .. }));
}

#[test]
fn a_denial_names_the_row_that_would_allow_it() {
    let mut rights = Rights { grant: Arc::new(Grant::none()), ..rights() };
    let remove = HostCall::FilesObjectRemove { path: path("/srv/x"), recursive: true };
    let denial = ask(&rights, Phase::Apply, true, &remove).unwrap_err();
    assert_eq!(
        denial.to_string(),
        "`files.object.remove` on `/srv/x` is denied: policy does not grant the module `files.write` there"
    );
    let zeros = "0".repeat(64);
    assert_eq!(
        denial.row.unwrap(),
        format!("module \"file\" {{\n  digest = \"sha256:{zeros}\"\n  files {{ write = [\"/srv/x\", \"/srv/x/**\"] }}\n}}")
    );
    let odd = HostCall::FilesObjectOpen { path: path("/a*") };
    assert_eq!(ask(&rights, Phase::Check, true, &odd).unwrap_err().row, None, "a row with `*` would allow more");
    rights.effects.clear();
    assert_eq!(ask(&rights, Phase::Apply, true, &remove).unwrap_err().row, None, "no row helps against its own effects");
}

#[test]
fn assets_are_those_of_the_resource_and_sensitive_ones_are_not_read() {
    let mut rights = rights();
    let (listed, other) = (AssetName::Plain(digest_of(b"x")), AssetName::Plain(digest_of(b"y")));
    rights.assets.insert(listed.clone(), Sensitivity::Sensitive);
    let rule = |call: HostCall| ask(&rights, Phase::Apply, true, &call).map_err(|denial| denial.rule);
    assert_eq!(rule(HostCall::AssetsSize { asset: other.clone() }), Err(Rule::AssetNotListed));
    assert_eq!(rule(HostCall::AssetsRead { asset: listed.clone(), offset: 0, length: 1 }), Err(Rule::SensitiveAsset));
    assert_eq!(rule(HostCall::AssetsSize { asset: listed.clone() }), Ok(()));
    let stage = |asset| HostCall::FilesObjectStage {
        path: path("/f"),
        content: Content::Asset(asset),
        attributes: Attributes::default(),
    };
    assert_eq!(rule(stage(listed)), Ok(()), "the host may write it");
    assert_eq!(rule(stage(other)), Err(Rule::AssetNotListed));
}

#[test]
fn of_a_secret_nothing_is_told_but_the_host_may_write_it() {
    let mut rights = rights();
    let secret: AssetName = "secret:file.a/content".parse().unwrap();
    let read = HostCall::FilesObjectRead { path: path("/f"), offset: 0, length: 1 };
    let content = Content::Asset(secret.clone());
    let stage = HostCall::FilesObjectStage { path: path("/f"), content, attributes: Attributes::default() };
    let rule = |rights: &Rights, call: &HostCall| ask(rights, Phase::Apply, true, call).map_err(|denial| denial.rule);
    assert_eq!(rule(&rights, &stage), Err(Rule::AssetNotListed), "another's");
    assert_eq!(rule(&rights, &read), Ok(()));
    rights.assets.insert(secret.clone(), Sensitivity::Sensitive);
    assert_eq!(rule(&rights, &stage), Ok(()));
    assert_eq!(rule(&rights, &HostCall::AssetsSize { asset: secret.clone() }), Err(Rule::SensitiveAsset));
    assert_eq!(rule(&rights, &HostCall::AssetsRead { asset: secret, offset: 0, length: 1 }), Err(Rule::SensitiveAsset));
    assert_eq!(rule(&rights, &read), Err(Rule::SensitiveContent), "its file may hold it");
    let had = Rights { had_secrets: true, assets: BTreeMap::new(), ..rights };
    assert_eq!(rule(&had, &read), Err(Rule::SensitiveContent), "its file may still hold it");
}

#[test]
fn an_account_takes_its_own_rights_and_each_group_that_is_joined_another() {
    let create = |groups: &[&str]| {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        HostCall::AccountsCreateUser { name: "web".into(), user: NewUser { groups, ..NewUser::default() } }
    };
    let rule = |rights: &Rights, call: &HostCall| ask(rights, Phase::Apply, true, call).map_err(|denial| denial.rule);
    let rights = with_accounts();
    assert_eq!(rule(&rights, &create(&[])), Ok(()));
    let not_joined = Rule::ObjectEffects { domain: Domain::Group, verb: "join" };
    assert_eq!(rule(&rights, &create(&["docker"])), Err(not_joined.clone()));
    assert_eq!(rule(&rights, &create(&["web"])), Err(not_joined), "to change a group is not to be in it");
    let mut joining = rights.clone();
    joining.effects.push(Effect { domain: "group".into(), ..effect("docker", &["join"]) });
    assert_eq!(rule(&joining, &create(&["docker"])), Ok(()));
    let primary = NewUser { group: Some("docker".into()), ..NewUser::default() };
    let primary = HostCall::AccountsCreateUser { name: "web".into(), user: primary };
    assert_eq!((rule(&joining, &primary), rule(&rights, &primary).is_err()), (Ok(()), true));
    Arc::make_mut(&mut joining.asks).retain(|ask| *ask != Ask::parse("accounts", "join", "*").unwrap());
    assert_eq!(rule(&joining, &create(&["docker"])), Err(Rule::NotAsked { right: "accounts.join".into() }));
    let mut granted = Rights { grant: Arc::new(Grant::none()), ..rights.clone() };
    let not_granted = Rule::ObjectNotGranted { domain: Domain::User, verb: "create", name: "web".into() };
    assert_eq!(rule(&granted, &create(&[])), Err(not_granted));
    let row = ask(&granted, Phase::Apply, true, &create(&[])).unwrap_err().row.unwrap();
    assert!(row.contains("accounts {\n    users = [\"web\"]\n    verbs = [\"create\"]\n  }"), "{row}");
    granted.effects.clear();
    let login = HostCall::AccountsReadLogin { name: "web".into() };
    assert_eq!(
        rule(&granted, &login),
        Err(Rule::ObjectEffects { domain: Domain::User, verb: "read" }),
        "how one logs in is not for all"
    );
    let mut other = rights;
    other.assets.clear();
    let matches = HostCall::AccountsPasswordMatches { name: "web".into(), secret: SECRET.parse().unwrap() };
    assert_eq!(rule(&other, &matches), Err(Rule::AssetNotListed));
}

#[test]
fn a_package_is_named_by_effects_asks_and_grant_with_its_verb_and_its_version() {
    let call = |change: Change| HostCall::PackagesApply { manager: Manager::Apt, transaction: of_packages(vec![change]) };
    let rule = |rights: &Rights, change: Change| ask(rights, Phase::Apply, true, &call(change)).map_err(|denial| denial.rule);
    let only = |verbs: &[&str]| Effect { domain: "package".into(), ..effect("demo", verbs) };
    let verb = |verb| Rule::ObjectEffects { domain: Domain::Package, verb };
    let other = Change { subject: Subject { name: "other".into(), architecture: None }, ..upgrade(None) };
    assert_eq!(rule(&rights(), other), Err(verb("upgrade")));
    assert_eq!(rule(&Rights { effects: vec![only(&["install"])], ..rights() }, upgrade(None)), Err(verb("upgrade")));
    let at_two = Rights { effects: vec![Effect { qualifier: Some("2.0".into()), ..only(&["upgrade"]) }], ..rights() };
    assert_eq!(rule(&at_two, upgrade(Some("2.0"))), Ok(()));
    assert_eq!(rule(&at_two, upgrade(Some("3.0"))), Err(Rule::PackageVersion));
    assert_eq!(rule(&at_two, upgrade(None)), Err(Rule::PackageVersion), "the candidate may be any");
    assert_eq!(
        rule(&Rights { asks: vec![].into(), ..rights() }, upgrade(None)),
        Err(Rule::NotAsked { right: "packages.upgrade".into() })
    );
    let held = HostCall::PackagesApply {
        manager: Manager::Apt,
        transaction: Transaction { change_held: true, ..of_packages(vec![upgrade(None)]) },
    };
    let no_word = Rights { effects: vec![only(&["upgrade"])], ..rights() };
    assert_eq!(ask(&no_word, Phase::Apply, true, &held).unwrap_err().rule, verb("unhold"));
    let ungranted = Rights { grant: Arc::new(Grant::none()), ..rights() };
    let denial = ask(&ungranted, Phase::Apply, true, &call(upgrade(None))).unwrap_err();
    let row = denial.row.unwrap();
    assert!(row.contains("names = [\"demo\"]") && row.contains("verbs = [\"upgrade\"]"), "{row}");
}
