//! Every function of `runtime:host` is called with everything that a guest should not say, where it should not, and answers what the contract says.
//!
//! `calls.txt` says what is tried and what must come of it. The contract decides what must be in it: a function that is added to the WIT and has no
//! attacks there fails the test, and so does one that is there and does not exist.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::attempts::{Bench, CANARY, DEADLINE, Granted, Ran};
use crate::wit;

const TABLE: &str = include_str!("calls.txt");

/// What must be tried with whatever takes text or bytes.
const OF_TEXT: [&str; 6] = ["absolute", "dotdot", "trailing-slash", "nul", "control", "huge"];

/// What must be tried with whatever is called on a handle. A handle on a place outside of the grant cannot be had.
const OF_HANDLES: [&str; 3] = ["closed", "forged", "through-link"];

/// Where every function must be called: what may be done in an inspection, a check and an application are three things.
const PLACES: [&str; 3] = ["inspect", "check", "apply"];

/// One call and what must come of it.
#[derive(Debug, Clone)]
pub struct Attack {
    /// What is wrong with it.
    pub kind: String,
    /// The case of the answer.
    pub case: String,
    /// A word of its text.
    word: String,
}

/// A place, under what is granted there, with what is tried.
pub type Tried = BTreeMap<(String, bool), Vec<Attack>>;

/// The table.
pub fn table() -> BTreeMap<String, Tried> {
    let mut named = BTreeMap::<String, Vec<Attack>>::new();
    let mut table = BTreeMap::<String, Tried>::new();
    let mut function = String::new();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((name, attacks)) = line.split_once(" = ").filter(|_| line.starts_with('@')) {
            let attacks = read(attacks, &named);
            assert!(named.insert(name.to_owned(), attacks).is_none(), "{name} stands twice");
        } else if let Some(row) = line.strip_prefix("  ") {
            let (place, attacks) = row.split_once(": ").unwrap_or_else(|| panic!("`{line}` has no place"));
            let (place, all) = place.strip_prefix("all ").map_or((place, false), |place| (place, true));
            let attacks = read(attacks, &named);
            let known = table.get_mut(&function).unwrap().insert((place.to_owned(), all), attacks);
            assert!(known.is_none(), "{function}: {place} stands twice");
        } else {
            line.clone_into(&mut function);
            assert!(table.insert(function.clone(), Tried::new()).is_none(), "{function} stands twice");
        }
    }
    table
}

fn read(attacks: &str, named: &BTreeMap<String, Vec<Attack>>) -> Vec<Attack> {
    let one = |text: &str| {
        let (kind, case) = text.split_once('=').unwrap_or_else(|| panic!("`{text}` is no attack"));
        let (case, word) = case.strip_suffix(')').and_then(|case| case.split_once('(')).unwrap_or((case, ""));
        Attack { kind: kind.into(), case: case.into(), word: word.into() }
    };
    attacks.split(' ').flat_map(|text| if text.starts_with('@') { named[text].clone() } else { vec![one(text)] }).collect()
}

#[test]
fn every_function_of_the_contract_has_its_attacks() {
    let (imports, table) = (wit::imports(), table());
    assert!(imports.len() > 60, "the contract is read");
    let missing: Vec<_> = imports.keys().filter(|name| !table.contains_key(*name)).collect();
    assert_eq!(missing, [""; 0], "functions of the WIT without attacks in calls.txt");
    let unknown: Vec<_> = table.keys().filter(|name| !imports.contains_key(*name)).collect();
    assert_eq!(unknown, [""; 0], "calls.txt has functions that the WIT does not have");
    for (function, tried) in &table {
        let shape = imports[function];
        let kinds: BTreeSet<&str> = tried.values().flatten().map(|attack| attack.kind.as_str()).collect();
        let mut wanted: Vec<&str> = vec!["own"];
        wanted.extend(OF_TEXT.iter().filter(|_| shape.takes_text));
        wanted.extend(OF_HANDLES.iter().filter(|_| shape.is_method));
        let missing: Vec<_> = wanted.into_iter().filter(|kind| !kinds.contains(kind)).collect();
        assert_eq!(missing, [""; 0], "{function} has no attacks of these kinds");
        for place in PLACES {
            let here = tried.get(&(place.to_owned(), false)).unwrap_or_else(|| panic!("{function} is not called in {place}"));
            assert!(here.iter().any(|attack| attack.kind == "own"), "{function} is not called honestly in {place}");
        }
    }
}

/// How the guest calls a place of the table.
fn place_of(place: &str) -> &str {
    if place == "inspect" { "inspect-safety" } else { place }
}

/// Makes the calls of one place, and says what is not as it should be.
fn try_place(bench: &Bench, function: &str, (place, all): (&str, bool), attacks: &[Attack]) -> Vec<String> {
    let granted = if all { Granted::All } else { Granted::Folder };
    let at = format!("{function} in {}{place}", if all { "all " } else { "" });
    let run = |note: &str, deadline| bench.run(place_of(place), "call", note, granted, deadline);
    let mut wrong = Vec::new();
    let (ending, answered): (Vec<&Attack>, Vec<&Attack>) = attacks.iter().partition(|attack| attack.case == "ends");
    let script: Vec<String> = answered.iter().map(|attack| format!("{function} {}", attack.kind)).collect();
    let ran = run(&script.join("\n"), DEADLINE);
    if let Err(error) = &ran.ended {
        wrong.push(format!("{at}: it ended: {error}"));
    }
    assert_tells_nothing(&at, &ran);
    for attack in answered {
        let begin = format!("{function} {}: ", attack.kind);
        let answer = ran.log.iter().find_map(|line| line.strip_prefix(&begin)).unwrap_or("(nothing)");
        let (case, text) = answer.split_once(' ').unwrap_or((answer, ""));
        if case != attack.case || !text.contains(&attack.word) {
            wrong.push(format!("{at}: {}: {answer}, not {}({})", attack.kind, attack.case, attack.word));
        }
    }
    for attack in ending {
        // What waits for ever ends at its deadline, which so is short.
        let deadline = if attack.kind == "for-ever" { Duration::from_secs(1) } else { DEADLINE };
        // On a node of its own: what was done before may leave an application nothing to do.
        let bench = Bench::new();
        let before = bench.outside();
        let run = |note: &str, deadline| bench.run(place_of(place), "call", note, granted, deadline);
        let ran = run(&format!("{function} {}", attack.kind), deadline);
        assert_tells_nothing(&at, &ran);
        assert_eq!(bench.outside(), before, "{at}: {}: something outside was changed", attack.kind);
        match &ran.ended {
            Err(error) if error.contains(&attack.word) => {}
            other => wrong.push(format!("{at}: {}: {other:?} {:?}, not an end by {}", attack.kind, ran.log, attack.word)),
        }
    }
    wrong
}

/// Nothing of the secret, and nothing that misleads whoever reads it.
#[track_caller]
fn assert_tells_nothing(at: &str, ran: &Ran) {
    let told = format!("{:?}", ran.ended) + &ran.log.join("");
    let misleads = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    assert!(!told.contains(CANARY), "{at}: the secret was told");
    assert!(!ran.log.iter().any(|line| line.contains(misleads)), "{at}: {:?}", ran.log);
}

/// Tries what the table has for the functions of some interfaces.
#[track_caller]
fn try_interfaces(interfaces: &[&str]) {
    let mut wrong = Vec::new();
    for (function, tried) in table() {
        if !interfaces.iter().any(|interface| function.starts_with(&format!("{interface}#"))) {
            continue;
        }
        for ((place, all), attacks) in tried {
            // With all rights a guest may do what it may: that is not outside.
            let bench = Bench::new();
            let before = bench.outside();
            wrong.extend(try_place(&bench, &function, (&place, all), &attacks));
            if bench.outside() != before {
                wrong.push(format!("{function} in {place}: something outside was changed"));
            }
            let changes = matches!(place.as_str(), "apply" | "verify" | "recover");
            let inside = std::fs::read_dir(bench.path("srv/x/0")).unwrap().count();
            if !changes && inside != 2 {
                wrong.push(format!("{function} in {place}: the node was changed: {inside} objects"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn whatever_is_said_to_files_is_answered_as_the_contract_says() {
    try_interfaces(&["files"]);
}

#[test]
fn whatever_is_said_to_programs_and_accounts_is_answered_as_the_contract_says() {
    try_interfaces(&["processes", "accounts"]);
}

#[test]
fn whatever_is_said_to_packages_and_services_is_answered_as_the_contract_says() {
    try_interfaces(&["packages", "systemd", "openrc"]);
}

#[test]
fn whatever_is_said_to_the_other_interfaces_is_answered_as_the_contract_says() {
    try_interfaces(&["assets", "facts", "log", "backends"]);
}

#[test]
fn every_interface_is_tried() {
    let of_table: BTreeSet<String> = table().into_keys().map(|name| name.split('#').next().unwrap().to_owned()).collect();
    let tried = ["files", "processes", "accounts", "packages", "systemd", "openrc", "assets", "facts", "log", "backends"];
    assert_eq!(of_table, tried.iter().map(|name| (*name).to_owned()).collect());
}
