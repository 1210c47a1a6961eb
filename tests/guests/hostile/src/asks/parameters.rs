//! Calls of `parameters`, and what all calls of a definition have in common.
//!
//! `hostile_shelf` is a component of its own and has this file too, so nothing in here is of this crate.

use std::hint::black_box;
use std::mem::ManuallyDrop;

use runtime_sdk::bindings::runtime::module::parameters::{Child, ParameterError, Parameters};

/// What came of a call: the case of the answer, and what was seen or is wrong.
pub type Answer = (&'static str, String);

/// More than any string may have, and little enough for the guest's own memory.
const HUGE_BYTES: usize = 20 << 20;

/// Text that would mislead a reader of a terminal.
const MISLEADING: &str = "\u{1b}[2J\n\u{202e}\u{7}";

/// The longest answer that is told, in characters.
const ANSWER_CHARS: usize = 240;

/// A number that no handle has.
const FORGED: u32 = 12_345;

/// The number that the first handle of an instance has.
const GUESSED: u32 = 1;

/// Makes the call that `line` says, and gives what came of it in words.
pub fn told(line: &str, call: impl FnOnce(&str, &str) -> Option<Answer>) -> String {
    let answer = line.split_once(' ').and_then(|(function, kind)| call(function, kind));
    let (case, text) = answer.unwrap_or(("no-such-attack", line.to_owned()));
    let text: String = text.chars().take(ANSWER_CHARS).collect();
    format!("answered `{case}`: {text}")
}

/// Makes a call on the handle of that number; none if there is no such attack.
pub fn call(function: &str, kind: &str, handle: Option<u32>) -> Option<Answer> {
    let given = on(of_kind(kind, handle)?);
    match kind {
        "closed" => drop(ManuallyDrop::into_inner(on(given.handle()))),
        "endless" => loop {
            black_box(ask(function, &given, honest(function)));
        },
        "hoard" => return hoard(function, &given),
        "of-child" | "closed-child" => {
            let child = child(&given)?;
            if kind == "of-child" {
                return ask(function, &child, "title");
            }
            let number = child.handle();
            drop(child);
            return ask(function, &on(number), "title");
        }
        _ => {}
    }
    let name = String::from_utf8(subject(kind, honest(function))?).ok()?;
    ask(function, &given, &name)
}

/// The number of the handle that such a call is made on.
pub fn of_kind(kind: &str, handle: Option<u32>) -> Option<u32> {
    match kind {
        "forged" => Some(FORGED),
        "guessed" => Some(GUESSED),
        _ => handle,
    }
}

/// What stands where `honest` should; none for a kind that is not about that.
pub fn subject(kind: &str, honest: &str) -> Option<Vec<u8>> {
    let text = match kind {
        "own" | "confused" | "closed" | "forged" | "guessed" => honest.to_owned(),
        "empty" => String::new(),
        "nul" => format!("{honest}\0"),
        "control" => format!("{honest}{MISLEADING}"),
        "dotdot" if honest.starts_with('/') => format!("{honest}/../../../secret/kept"),
        "dotdot" => format!("../../../{honest}"),
        "option" => "--root=/".to_owned(),
        "long" => format!("{honest}{}", "x".repeat(300)),
        "deep" if honest.starts_with('/') => format!("{honest}{}", "/x".repeat(2_000)),
        "deep" => format!("{honest}{}", "[0].x".repeat(2_000)),
        "huge" => return Some(vec![0; HUGE_BYTES]),
        "unflagged" => "note".to_owned(),
        "unknown" => "nothing".to_owned(),
        "deferred" => "waits".to_owned(),
        "failed" => "fails".to_owned(),
        "block" => "shelf".to_owned(),
        "attribute" => "path".to_owned(),
        _ => return None,
    };
    Some(text.into_bytes())
}

/// What a function is asked about when nothing is wrong.
fn honest(function: &str) -> &'static str {
    if function.ends_with(".children") { "shelf" } else { "behaviour" }
}

#[expect(unsafe_code, reason = "a handle can only be forged by going behind the bindings")]
fn on(number: u32) -> ManuallyDrop<Parameters> {
    // SAFETY: none is claimed: the host must refuse a number that it did not give out, or has taken back.
    ManuallyDrop::new(unsafe { Parameters::from_handle(number) })
}

fn child(given: &Parameters) -> Option<Parameters> {
    given.children("shelf").ok()?.into_iter().next().map(|child: Child| child.given)
}

fn ask(function: &str, given: &Parameters, name: &str) -> Option<Answer> {
    let answer = match function {
        "parameters#[method]parameters.has" => given.has(name).map(|has| has.to_string()),
        "parameters#[method]parameters.read" => given.read(name).map(|value| format!("{value:?}")),
        "parameters#[method]parameters.children" => given.children(name).map(|children| format!("{} blocks", children.len())),
        _ => return None,
    };
    Some(match answer {
        Ok(seen) => ("ok", seen),
        Err(ParameterError::Deferred) => ("deferred", String::new()),
        Err(ParameterError::Failed) => ("failed", String::new()),
        Err(ParameterError::Unknown(name)) => ("unknown", name),
    })
}

/// Asks for as much as there is and keeps all of it.
fn hoard(function: &str, given: &Parameters) -> Option<Answer> {
    let (mut values, mut children) = (Vec::new(), Vec::new());
    loop {
        match function {
            "parameters#[method]parameters.read" => values.push(given.read("large").ok()?),
            "parameters#[method]parameters.children" => children.push(given.children("shelf").ok()?),
            _ => return None,
        }
        black_box((&values, &children));
    }
}
