//! Every function of `runtime:module` that a pure half may call is called with everything that a guest should not say, and where it was given nothing to
//! call it on.
//!
//! `imports.txt` says what is tried and what must come of it. As for `calls.txt`, the contract decides what must be in it: each function of the WIT has its
//! attacks, in each function that is given a handle for it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use runtime::engine::{Child, Footprint, ParameterError, Parameters, Peer, Peers, canonical_json, on_large_stack};
use serde_json::{Value as Json, json};
use testkit::scene::{error_code, tell};

use crate::attempts::{Bench, CANARY, DEADLINE, Granted, desired_with, hostile};
use crate::exports::{answer, id, misleads, of_backend, shelf};
use crate::stage::{manifest, manifest_with, scene};
use crate::wit;

const TABLE: &str = include_str!("imports.txt");

/// What must be tried with every function: all of them are called on a handle.
const OF_ALL: [&str; 4] = ["own", "closed", "forged", "endless"];

/// What must be tried with whatever takes text or bytes.
const OF_TEXT: [&str; 8] = ["empty", "nul", "control", "dotdot", "option", "long", "deep", "huge"];

/// What must be tried with whatever takes bytes: all of them are paths.
const OF_PATHS: [&str; 4] = ["relative", "trailing-slash", "double-slash", "not-utf8"];

/// What is tried where a function is given no handle for the call.
const ELSEWHERE: [&str; 2] = ["guessed", "confused"];

/// Far more than any of this takes, which has a second.
const LONG: Duration = Duration::from_secs(60);

/// More than any error may have, in bytes.
const LONGEST_ERROR: usize = 10_000;

/// One call and what must come of it.
#[derive(Debug, Clone)]
struct Attack {
    /// What is wrong with it.
    kind: String,
    /// The case of the answer.
    case: String,
    /// Words of which one must be told.
    words: Vec<String>,
}

/// What is tried in each place.
type Tried = BTreeMap<String, Vec<Attack>>;

fn table() -> BTreeMap<String, Tried> {
    let mut named = BTreeMap::<&str, Vec<Attack>>::new();
    let mut table = BTreeMap::<String, Tried>::new();
    let mut function = "";
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((name, attacks)) = line.split_once(" = ") {
            let attacks = read(attacks, &named);
            assert!(named.insert(name, attacks).is_none(), "{name} stands twice");
        } else if let Some(row) = line.strip_prefix("  ") {
            let (place, attacks) = row.split_once(": ").unwrap_or_else(|| panic!("`{line}` has no place"));
            let known = table.get_mut(function).unwrap().insert(place.to_owned(), read(attacks, &named));
            assert!(known.is_none(), "{function}: {place} stands twice");
        } else {
            function = line;
            assert!(table.insert(function.to_owned(), Tried::new()).is_none(), "{function} stands twice");
        }
    }
    table
}

fn read(attacks: &str, named: &BTreeMap<&str, Vec<Attack>>) -> Vec<Attack> {
    let one = |text: &str| {
        let (kind, case) = text.split_once('=').unwrap_or_else(|| panic!("`{text}` is no attack"));
        let (case, words) = case.strip_suffix(')').and_then(|case| case.split_once('(')).unwrap_or((case, ""));
        let words = words.split('|').map(|word| word.replace('_', " ")).collect();
        Attack { kind: kind.into(), case: case.into(), words }
    };
    attacks.split(' ').flat_map(|text| if text.starts_with('@') { named[text].clone() } else { vec![one(text)] }).collect()
}

#[test]
fn every_import_of_a_pure_half_has_its_attacks_in_every_place_that_is_given_a_handle_for_it() {
    let (imports, exports, table) = (wit::pure_imports(), wit::exports(), table());
    assert!(imports.len() >= 8, "the contract is read");
    let missing: Vec<_> = imports.keys().filter(|name| !table.contains_key(*name)).collect();
    assert_eq!(missing, [""; 0], "functions of the WIT without attacks in imports.txt");
    let unknown: Vec<_> = table.keys().filter(|name| !imports.contains_key(*name)).collect();
    assert_eq!(unknown, [""; 0], "imports.txt has functions that the WIT does not have");
    for (function, tried) in &table {
        let import = &imports[function];
        assert!(!import.given_in.is_empty(), "{function}: nothing is given a handle for it");
        let kinds: BTreeSet<&str> = tried.values().flatten().map(|attack| attack.kind.as_str()).collect();
        let mut wanted = OF_ALL.to_vec();
        wanted.extend(OF_TEXT.iter().filter(|_| import.shape.takes_text));
        wanted.extend(OF_PATHS.iter().filter(|_| import.shape.takes_bytes));
        wanted.extend(["hoard"].iter().filter(|_| import.shape.gives_text));
        let missing: Vec<_> = wanted.into_iter().filter(|kind| !kinds.contains(kind)).collect();
        assert_eq!(missing, [""; 0], "{function} has no attacks of these kinds");
        let has = |place: &str, kind: &str| tried.get(place).is_some_and(|here| here.iter().any(|attack| attack.kind == kind));
        let missing: Vec<_> = import.given_in.iter().filter(|place| !has(place, "own")).collect();
        assert_eq!(missing, [""; 0], "{function} is not called honestly in these");
        let elsewhere: Vec<_> = tried.keys().filter(|place| !import.given_in.contains(*place)).collect();
        assert!(elsewhere.iter().all(|place| exports.contains_key(*place)), "{function}: no such exports: {elsewhere:?}");
        for half in ["definition#", "lifecycle#"] {
            let mut here = elsewhere.iter().filter(|place| place.starts_with(half));
            assert!(
                here.any(|place| ELSEWHERE.iter().any(|kind| has(place, kind))),
                "{function} is not tried elsewhere in {half}"
            );
        }
    }
}

/// The attributes of a declaration with a child block, of all that there can be.
struct Given(Json);

impl Parameters for Given {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        self.read(name).map(|value| value.is_some())
    }

    fn read(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        match name {
            "waits" => Err(ParameterError::Deferred),
            "fails" => Err(ParameterError::Failed),
            "large" => Ok(Some("x".repeat(1 << 20).into())),
            _ => self.0.get(name).map(|value| Some(value.clone())).ok_or(ParameterError::Unknown),
        }
    }

    fn children(&self, block: &str) -> Result<Vec<Child>, ParameterError> {
        if block != "shelf" {
            return Err(ParameterError::Unknown);
        }
        Ok(vec![Child { label: Some("one".into()), given: Rc::new(Self(json!({"title": "a title"}))) }])
    }
}

/// A catalog of which what is found is never little. What is of another type has something that no guest may see.
fn peers() -> Arc<Peers> {
    let peer = |id: &str, path: &str| Peer {
        id: id.parse().unwrap(),
        desired: canonical_json(&json!({ "content": CANARY })).ok(),
        claims: Vec::new(),
        effects: Vec::new(),
        affected_paths: vec![path.into(), format!("/large/{}", "x".repeat(1 << 20)).as_str().into()],
    };
    let of_own_type = Peer { desired: None, ..peer("hostile.it", "/srv/x/0/it") };
    Arc::new(Peers::new(vec![of_own_type, peer("file.apart", "/srv/x")]))
}

/// Has the guest make a call in a place, and gives what it was told in the end.
fn ask(bench: &Bench, place: &str, line: &str) -> Result<String, String> {
    let (interface, function) = place.split_once('#').unwrap();
    let desired = desired_with(&format!("ask@{function}"), line, "");
    let options = json!({"behaviour": format!("ask {line}@{function}")});
    let given = || Rc::new(Given(desired.clone()));
    let given_options = || Rc::new(Given(options.clone()));
    let base = Footprint::default();
    match place {
        "definition#identity" => answer(hostile().footprint(&id(), given())),
        "definition#compile" => answer(hostile().compile(&id(), given())),
        "definition#resolve-export" => answer(hostile().resolve_export(&id(), "path", given())),
        "definition#relationships" => answer(hostile().relationships(&id(), Some(&desired), peers())),
        "definition#validate" => answer(hostile().validate(&desired)),
        "options-definition#identity" => answer(shelf().footprint(&id(), &base, given_options())),
        "options-definition#compile-options" => answer(shelf().compile_options(&id(), given_options())),
        "options-definition#validate" => answer(shelf().validate(&options, &base, None)),
        _ if interface == "lifecycle" => bench.run_desired(function, &desired, Granted::Folder, DEADLINE).ended,
        _ if interface == "backend" => of_backend(bench, function, &format!("ask {line}"), DEADLINE),
        other => panic!("the test cannot call {other}: teach it"),
    }
}

/// What is wrong with how the guest ended, which must not have been with an answer.
fn wrong(at: &str, attack: &Attack, ended: &Result<String, String>) -> Option<String> {
    let Err(told) = ended else { return Some(format!("{at}: it answered {ended:?}")) };
    let shown: String = told.chars().take(400).collect();
    let answered = told.split_once("answered `").and_then(|(_, rest)| rest.split_once('`')).map(|(case, _)| case);
    let is_right = match (attack.case.as_str(), answered) {
        ("ends", None) => attack.words.iter().any(|word| told.contains(word)),
        (case, Some(answered)) => case == answered,
        _ => false,
    };
    if told.contains(CANARY) || told.len() > LONGEST_ERROR || misleads(ended) {
        return Some(format!("{at}: it tells what it must not, or too much: {shown}"));
    }
    (!is_right).then(|| format!("{at}: {shown}, not {} {:?}", attack.case, attack.words))
}

#[track_caller]
fn attack_interface(interface: &str) {
    let mut found = Vec::new();
    let bench = Bench::new();
    let before = bench.outside();
    for (function, tried) in table().into_iter().filter(|(function, _)| function.starts_with(interface)) {
        for (place, attacks) in tried {
            for attack in attacks {
                let at = format!("{function} {} in {place}", attack.kind);
                let since = Instant::now();
                let ended = on_large_stack(|| ask(&bench, &place, &format!("{function} {}", attack.kind)));
                assert!(since.elapsed() < LONG, "{at}: it took {:?}", since.elapsed());
                found.extend(wrong(&at, &attack, &ended));
            }
        }
    }
    assert_eq!(bench.outside(), before, "something outside was changed");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn whatever_is_said_to_parameters_is_answered_as_the_contract_says() {
    attack_interface("parameters#");
}

#[test]
fn whatever_is_said_to_the_catalog_is_answered_as_the_contract_says() {
    attack_interface("catalog-view#");
}

/// Kinds that need what only the declarations of the tests above have, or the ten seconds that a definition may take.
const NOT_OF_A_MANIFEST: [&str; 6] = ["endless", "hoard", "deferred", "failed", "of-child", "closed-child"];

/// A folder above what the guest is to manage.
const FOLDER: &str = "resource \"file\" \"folder\" {\n  path   = \"/srv/x\"\n  ensure = \"directory\"\n}\n";

/// Whether a call is made of a manifest too. In `compile` names are what they are in `identity`.
fn is_of_a_manifest(function: &str, place: &str, attack: &Attack) -> bool {
    // The type has no blocks.
    let is_of_blocks = attack.kind == "own" && function.ends_with(".children");
    let is_again = place == "compile" && attack.case != "ends";
    place != "resolve-export" && !is_again && !is_of_blocks && !NOT_OF_A_MANIFEST.contains(&attack.kind.as_str())
}

#[test]
fn whatever_is_said_while_a_manifest_is_compiled_it_ends_with_an_error_and_nothing_else_suffers() {
    let scene = scene();
    let before = scene.exact();
    let mut found = Vec::new();
    for (function, tried) in table() {
        let places = tried.iter().filter_map(|(place, attacks)| Some((place.strip_prefix("definition#")?, attacks)));
        for (place, attacks) in places {
            for attack in attacks.iter().filter(|attack| is_of_a_manifest(&function, place, attack)) {
                let at = format!("{function} {} in {place}", attack.kind);
                let line = format!("{function} {}", attack.kind);
                let text = manifest_with("/srv/x/0/it", &line, &format!("ask@{place}"), "") + FOLDER;
                let error = scene.try_compile("site", &text).expect_err(&at);
                let told = tell(&error);
                assert_eq!(error_code(&error), 65, "{at}: {told}");
                assert!(told.contains("site.hcl"), "{at}: it says where: {told}");
                assert!(!scene.bundle("site").exists(), "{at}: there is no bundle");
                found.extend(wrong(&at, attack, &Err(told.replace('\n', " "))));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(scene.exact(), before);
    scene.compile("site", &manifest("spin@check"));
}
