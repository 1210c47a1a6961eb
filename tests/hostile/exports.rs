//! Every function that a component exports does everything that it must not, and the host ends it, names it, or keeps what it says out.
//!
//! `exports.txt` says what is tried and what must come of it. As for imports, the contract decides what must be in it.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use host_functions::Phase;
use host_functions::backends::{BackendCall, Circumstances};
use host_functions::bindings::runtime::host::backend_types::{Interrupted, OperationReason};
use host_functions::gate::Shut;
use runtime::engine::{
    AttemptLimits, BackendSetup, Child, Footprint, Loaded, ParameterError, Parameters, Peers, Provider, RecordedState, backend,
    on_large_stack,
};
use runtime::model::ids::ResourceId;
use serde_json::{Value as Json, json};
use testkit::guests;

use crate::attempts::{Bench, CANARY, DEADLINE, Granted, desired, engine, hostile, told};
use crate::wit;

const TABLE: &str = include_str!("exports.txt");

/// What every function must be tried with.
const OF_ALL: [&str; 6] = ["spin", "trap", "recurse", "allocate", "leak-handles", "control-characters"];

/// What must be tried with whatever gives JSON.
const OF_JSON: [&str; 2] = ["bad-json", "deep-json"];

/// Far more than any of this takes: that it ends at all is what is shown.
const LONG: Duration = Duration::from_secs(120);

type Attacks = Vec<(String, String)>;

/// The attacks on each function; none for one that is never called.
fn table() -> BTreeMap<String, Option<Attacks>> {
    let mut named = BTreeMap::<&str, Attacks>::new();
    let mut table = BTreeMap::new();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((name, attacks)) = line.split_once(" = ").filter(|_| line.starts_with('@')) {
            let attacks = read(attacks, &named);
            named.insert(name, attacks);
            continue;
        }
        let (function, attacks) = line.split_once(": ").unwrap_or_else(|| panic!("`{line}` has no attacks"));
        let attacks = (attacks != "never-called").then(|| read(attacks, &named));
        assert!(table.insert(function.to_owned(), attacks).is_none(), "{function} stands twice");
    }
    table
}

fn read(attacks: &str, named: &BTreeMap<&str, Attacks>) -> Attacks {
    let one = |text: &str| text.split_once('=').map(|(act, word)| (act.to_owned(), word.replace('_', " ")));
    let read = |text: &str| match text.starts_with('@') {
        true => named[text].clone(),
        false => vec![one(text).unwrap_or_else(|| panic!("`{text}` is no attack"))],
    };
    attacks.split(' ').flat_map(read).collect()
}

#[test]
fn every_export_of_the_contract_has_its_attacks() {
    let (exports, table) = (wit::exports(), table());
    assert!(exports.len() > 30, "the contract is read");
    let missing: Vec<_> = exports.keys().filter(|name| !table.contains_key(*name)).collect();
    assert_eq!(missing, [""; 0], "exports of the WIT without attacks in exports.txt");
    let unknown: Vec<_> = table.keys().filter(|name| !exports.contains_key(*name)).collect();
    assert_eq!(unknown, [""; 0], "exports.txt has functions that the WIT does not have");
    for (function, attacks) in table {
        let (shape, Some(attacks)) = (exports[&function], attacks) else { continue };
        let acts: BTreeSet<&str> = attacks.iter().map(|(act, _)| act.as_str()).collect();
        let wanted = OF_ALL.iter().chain(OF_JSON.iter().filter(|_| shape.gives_json));
        let missing: Vec<_> = wanted.filter(|act| !acts.contains(*act)).collect();
        assert_eq!(missing, [&""; 0], "{function} has no attacks of these kinds");
        let is_huge = acts.contains("huge-string") || acts.contains("huge-list");
        assert!(is_huge || !shape.gives_text, "{function} gives text and has no huge answer");
    }
}

#[test]
fn what_is_never_called_is_not() {
    let sources = [include_str!("../../runtime/src/engine/lifecycle.rs"), include_str!("../../runtime/src/engine/session.rs")];
    for (function, _) in table().into_iter().filter(|(_, attacks)| attacks.is_none()) {
        let name = function.split('#').nth(1).unwrap();
        let call = format!(".call_{}(", name.replace('-', "_"));
        assert!(!sources.iter().any(|source| source.contains(&call)), "{function} is called by now: it needs attacks");
    }
}

/// An answer as `Debug` has it, or an error with its causes.
pub type Answer = Result<String, String>;

pub fn answer<T: std::fmt::Debug, E: std::error::Error>(result: Result<T, E>) -> Answer {
    result.map(|value| format!("{value:?}")).map_err(|error| told(&error))
}

/// The attributes of a declaration.
struct Given(Json);

impl Parameters for Given {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Ok(self.0.get(name).is_some())
    }

    fn read(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        Ok(self.0.get(name).cloned())
    }

    fn children(&self, _block: &str) -> Result<Vec<Child>, ParameterError> {
        Ok(Vec::new())
    }
}

pub fn id() -> ResourceId {
    "hostile.it".parse().unwrap()
}

fn asset() -> runtime::model::asset::AssetRef {
    format!("sha256:{}", "0".repeat(64)).parse().unwrap()
}

/// Calls a function of `definition`.
fn of_definition(function: &str, act: &str) -> Answer {
    let behaviour = format!("{act}@{function}");
    if function == "describe" {
        return answer(engine().load(&guests::hostile(&behaviour)).map(|module| module.description().clone()));
    }
    let state = desired(&behaviour, "");
    let given = || Rc::new(Given(state.clone()));
    let recorded = || RecordedState { inputs: state.clone(), outputs: None };
    let module = hostile();
    match function {
        "identity" => answer(module.footprint(&id(), given())),
        "compile" => answer(module.compile(&id(), given())),
        "assign-asset" => answer(module.assign_asset(&state, "secret", &asset())),
        "validate" => answer(module.validate(&state)),
        "relationships" => answer(module.relationships(&id(), Some(&state), Arc::new(Peers::new(Vec::new())))),
        "resolve-export" => answer(module.resolve_export(&id(), "path", given())),
        "test-view" => answer(module.test_view(&state)),
        _ => {
            let mut session = module.session("session").unwrap();
            match function {
                "migrate" => answer(session.migrate(1, &recorded()).map(|migrated| migrated.inputs)),
                "equal" => answer(session.equal("path", &state, &state)),
                "must-replace" => answer(session.must_replace("path", &state, &state)),
                "must-replace-on-drift" => answer(session.must_replace_on_drift("stamp", &state, &state)),
                "stable-id" => answer(session.stable_id(&recorded())),
                other => panic!("no function `{other}`"),
            }
        }
    }
}

pub fn shelf() -> &'static Provider {
    static PROVIDER: OnceLock<Provider> = OnceLock::new();
    PROVIDER.get_or_init(|| match engine().load_any(guests::HOSTILE_SHELF).unwrap() {
        Loaded::Provider(provider) => provider,
        Loaded::Type(module) => panic!("{module:?}"),
    })
}

/// Calls a function of `options-definition`.
fn of_options(function: &str, act: &str) -> Answer {
    let behaviour = format!("{act}@{function}");
    let options = json!({"behaviour": behaviour});
    let given = || Rc::new(Given(options.clone()));
    let base = Footprint::default();
    match function {
        "describe" => answer(engine().load_any(&guests::hostile_shelf(&behaviour)).map(|loaded| match loaded {
            Loaded::Provider(provider) => provider.description().clone(),
            Loaded::Type(module) => panic!("{module:?}"),
        })),
        "identity" => answer(shelf().footprint(&id(), &base, given())),
        "compile-options" => answer(shelf().compile_options(&id(), given())),
        "assign-asset" => answer(shelf().assign_asset(&options, "x", &asset())),
        "validate" => answer(shelf().validate(&options, &base, None)),
        other => panic!("no function `{other}`"),
    }
}

/// Calls a function of `backend`, as a type's host call would.
pub fn of_backend(bench: &Bench, function: &str, act: &str, deadline: Duration) -> Answer {
    let limits = AttemptLimits { memory_bytes: 64 << 20, deadline };
    let options = json!({"behaviour": format!("{act}@{function}")}).to_string();
    let host = bench.host(Granted::Folder, deadline);
    let mut work = backend(BackendSetup { provider: shelf().clone(), options, host, limits });
    let state = || "{}".to_owned();
    let operation = Interrupted { staging_name: ".runtime-0".into(), reason: OperationReason::Converge };
    let (phase, call) = match function {
        "inspect" => (Phase::Inspect, BackendCall::Inspect { desired: state() }),
        "read" => (Phase::Check, BackendCall::Read { desired: state() }),
        "apply" => (Phase::Apply, BackendCall::Apply { desired: state(), current: state() }),
        "refresh" => (Phase::Apply, BackendCall::Refresh { desired: state() }),
        "perform" => (Phase::Perform, BackendCall::Perform { action: "x".into(), desired: state() }),
        "recover-interrupted" => (Phase::Recover, BackendCall::Recover { desired: state(), operation }),
        other => panic!("no function `{other}`"),
    };
    let circumstances = Circumstances { phase, gate: Arc::new(Shut), staging: None, deadline: Instant::now() + deadline };
    match finish(work.call(call, circumstances)) {
        Ok(Ok(reply)) => Ok(format!("{reply:?}")),
        Ok(Err(error)) => Err(format!("{error:?}")),
        Err(error) => Err(format!("{error:#}")),
    }
}

/// The answer of a call that yields at times, and waits for nothing.
fn finish<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(answer) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return answer;
        }
    }
}

/// Calls a function of `lifecycle`.
fn of_lifecycle(bench: &Bench, function: &str, act: &str, deadline: Duration) -> Answer {
    let place = match function {
        "[method]work.apply" => "apply",
        "[method]work.verify" => "verify",
        "recover-interrupted" => "recover",
        other => other,
    };
    if place == "capabilities" {
        let module = engine().load(&guests::hostile(&format!("{act}@{place}"))).unwrap();
        return bench.run_module(&module, place, deadline).ended;
    }
    bench.run(place, act, "", Granted::Folder, deadline).ended
}

/// Does what an attack says, and says what is wrong with what came of it.
fn attack(function: &str, (act, word): &(String, String)) -> Option<String> {
    let bench = Bench::new();
    let before = bench.outside();
    let since = Instant::now();
    // A spinning guest has a second, as definitions have; all others have time enough on any machine.
    let deadline = if act == "spin" { Duration::from_secs(1) } else { DEADLINE };
    let (interface, name) = function.split_once('#').unwrap();
    let answer = match interface {
        "definition" => on_large_stack(|| of_definition(name, act)),
        "options-definition" => on_large_stack(|| of_options(name, act)),
        "backend" => of_backend(&bench, name, act, deadline),
        _ => of_lifecycle(&bench, name, act, deadline),
    };
    assert!(since.elapsed() < LONG, "{function} {act}: it took {:?}", since.elapsed());
    assert_eq!(bench.outside(), before, "{function} {act}: something outside was changed");
    let text = answer.as_ref().unwrap_or_else(|error| error);
    let shown: String = text.chars().take(400).collect();
    if text.contains(CANARY) {
        return Some(format!("{function} {act}: the secret was told"));
    }
    match &answer {
        Err(error) if error.len() > 10_000 => Some(format!("{function} {act}: an error of {} bytes", error.len())),
        Err(_) if word == "ok" => Some(format!("{function} {act}: {shown}, not ok")),
        Err(error) if !word.split('|').any(|word| error.contains(word)) => Some(format!("{function} {act}: {shown}, not {word}")),
        Ok(_) if word != "ok" => Some(format!("{function} {act}: it answered {shown}, and should end by {word}")),
        _ => None,
    }
    .or_else(|| misleads(&answer).then(|| format!("{function} {act}: it misleads: {shown:?}")))
}

/// Whether a text has what would mislead its reader. In an answer `Debug` has escaped that, and what was escaped before has another backslash.
pub fn misleads(answer: &Answer) -> bool {
    let is_bad = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    match answer {
        Err(error) => error.contains(is_bad),
        Ok(shown) => {
            let shown = shown.replace("\\\\", "");
            ["\\u{1b}", "\\u{7}", "\\u{202e}", "\\r", "\\0"].iter().any(|bad| shown.contains(bad))
        }
    }
}

#[track_caller]
fn attack_interface(interface: &str) {
    let mut wrong = Vec::new();
    for (function, attacks) in table() {
        if function.split('#').next() == Some(interface) {
            wrong.extend(attacks.into_iter().flatten().filter_map(|tried| attack(&function, &tried)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_table_beyond_its_limit_is_not_made() {
    let error = engine().load(&guests::hostile_with_table(200_000)).unwrap_err();
    let text = told(&error);
    // Where instances have slots, a table that fits in none is refused with its component; elsewhere the instance meets its limit.
    assert!(text.contains("table") && text.contains("100000"), "{text}");
}

#[test]
fn whatever_definitions_do_ends_them_and_is_named() {
    attack_interface("definition");
}

#[test]
fn whatever_lifecycles_do_ends_them_and_is_named() {
    attack_interface("lifecycle");
}

#[test]
fn whatever_definitions_of_options_do_ends_them_and_is_named() {
    attack_interface("options-definition");
}

#[test]
fn whatever_back_ends_do_ends_them_and_is_named() {
    attack_interface("backend");
}
