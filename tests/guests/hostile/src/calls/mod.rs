//! Calls of host functions as data, so that one run tries many and a test says of each what the host must answer.
//!
//! A script has a call a line, `FUNCTION KIND`. FUNCTION is the name in the WIT (`files#[static]object.open`); KIND says what is wrong with what the
//! call is given, in the words of README.md. What the host answered goes to the log, `FUNCTION KIND: CASE TEXT`, with whatever the guest has seen: so
//! a test can look for what it must not see. What ends the guest writes no line.

mod accounts;
mod files;
mod packages;
mod processes;
mod rest;
mod services;
mod with;

use runtime_sdk::{HostError, log};

use crate::desired::Desired;
use with::With;

/// The longest answer that is logged, in characters: all of a script must fit in the log of an attempt.
const ANSWER_CHARS: usize = 240;

/// What the host answered: what was seen, or the case of its error with its text.
type Answer = Result<String, (&'static str, String)>;

/// Makes the calls of a script, one after the other, and logs what came of each.
pub fn try_all(script: &str, desired: &Desired) {
    for line in script.lines() {
        let answer = try_one(line, desired);
        let text = match answer {
            Ok(seen) => format!("ok {seen}"),
            Err((case, text)) => format!("{case} {text}"),
        };
        log::info(&format!("{line}: {}", text.chars().take(ANSWER_CHARS).collect::<String>()));
    }
}

fn try_one(line: &str, desired: &Desired) -> Answer {
    let no_such = |what: &str| Err(("no-such-attack", what.to_owned()));
    let Some((function, kind)) = line.split_once(' ') else { return no_such("a line is `FUNCTION KIND`") };
    let with = With::new(kind, desired);
    let interface = function.split('#').next().unwrap_or_default();
    let answer = match interface {
        "files" => files::call(function, &with),
        "processes" => processes::call(function, &with),
        "accounts" => accounts::call(function, &with),
        "packages" => packages::call(function, &with),
        "systemd" | "openrc" => services::call(function, &with),
        _ => rest::call(function, &with),
    };
    match answer {
        Some(answer) if with.was_known() => answer,
        Some(_) => no_such("the function has no such kind of attack"),
        None => no_such("the guest does not know the function"),
    }
}

/// What a call gave, as an answer that says nothing of the value.
fn done<T>(result: Result<T, HostError>) -> Option<Answer> {
    Some(result.map(|_| String::new()).map_err(told))
}

/// What a call gave, with the value: it is what the guest has learnt.
fn seen<T: std::fmt::Debug>(result: Result<T, HostError>) -> Option<Answer> {
    Some(result.map(|value| format!("{value:?}")).map_err(told))
}

/// The case of an error, in the WIT's word, and its text.
fn told(error: HostError) -> (&'static str, String) {
    match error {
        HostError::Denied(text) => ("denied", text),
        HostError::NotFound => ("not-found", String::new()),
        HostError::AlreadyExists => ("already-exists", String::new()),
        HostError::WrongKind(text) => ("wrong-kind", text),
        HostError::NotEmpty => ("not-empty", String::new()),
        HostError::UnsafePath(text) => ("unsafe-path", text),
        HostError::Changed(text) => ("changed", text),
        HostError::Busy(text) => ("busy", text),
        HostError::PermissionDenied(text) => ("permission-denied", text),
        HostError::NoSpace => ("no-space", String::new()),
        HostError::TooLarge(text) => ("too-large", text),
        HostError::Deadline => ("deadline", String::new()),
        HostError::Unsupported(text) => ("unsupported", text),
        HostError::InvalidArgument(text) => ("invalid-argument", text),
        HostError::Other(text) => ("other", text),
    }
}
