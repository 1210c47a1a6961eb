//! What it is told to do, and the acts that leave the answer alone.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use runtime_sdk::files::Object;
use runtime_sdk::{Diagnostic, HostError, json};
use serde::Deserialize;

use crate::asks;

/// Where a test puts what to do in place of the dots.
static TOLD: [u8; 64] = *b"hostile-behaviour=..............................................";

/// What stands before the behaviour there.
const PREFIX: usize = "hostile-behaviour=".len();

/// More than any string may have.
pub const HUGE_BYTES: usize = 20 << 20;

/// More than any list may have.
pub const HUGE_COUNT: usize = 20_000;

/// How deep JSON nests that is too deep for anyone.
const DEPTH: usize = 100_000;

/// Text that would mislead a reader of a terminal, a log or a diff.
pub const MISLEADING: &str = "\u{1b}[2J\u{1b}[31mall is well\u{1b}[0m\r\n\u{7}error: none\u{202e}nwod edispu\u{2066}\0";

#[derive(Deserialize)]
struct Options {
    behaviour: String,
}

/// What to do in `place`, as the options say.
pub fn of_options(options: &str, place: &str) -> Option<String> {
    let options: Options = json::parse(options).ok()?;
    at(&options.behaviour, place)
}

/// What to do in `place`, as the component's own bytes say.
pub fn of_bytes(place: &str) -> Option<String> {
    // The compiler must not know what stands there: it may be something else by now.
    let told = black_box(&TOLD)[PREFIX..].split(|byte| *byte == b'.').next().unwrap_or_default();
    at(std::str::from_utf8(told).ok()?, place)
}

/// The act of a behaviour, if it is for this place.
pub fn at(behaviour: &str, place: &str) -> Option<String> {
    let (act, of) = behaviour.split_once('@')?;
    (of == place).then(|| act.to_owned())
}

/// Does an act that leaves the answer alone; does nothing for any other.
pub fn perform(act: Option<&str>) -> Result<(), HostError> {
    match act {
        Some("spin") => loop {
            black_box(0);
        },
        Some("trap") => panic!("the hostile provider was told to trap"),
        Some("recurse") => {
            black_box(recurse(1));
            Ok(())
        }
        Some("allocate") => {
            let mut kept: Vec<Vec<u8>> = Vec::new();
            loop {
                kept.push(vec![1; 1 << 20]);
                black_box(&kept);
            }
        }
        Some("leak-handles") => loop {
            std::mem::forget(Object::open(b"/srv/x/0/it")?);
        },
        // Where a function is given a handle, that is asked before.
        Some(act) => asked(act, None).map_or(Ok(()), |told| Err(HostError::Other(told))),
        None => Ok(()),
    }
}

/// What came of the call that an act `ask FUNCTION KIND` makes, on the handle of that number if there is one; none for any other act.
pub fn asked(act: &str, handle: Option<u32>) -> Option<String> {
    let line = act.strip_prefix("ask ")?;
    Some(asks::told(line, |function, kind| asks::call(function, kind, handle)))
}

/// Never set, but the compiler cannot know.
static ENOUGH: AtomicBool = AtomicBool::new(false);

#[inline(never)]
fn recurse(depth: u32) -> u32 {
    if ENOUGH.load(Ordering::Relaxed) { depth } else { recurse(depth.wrapping_add(1)).rotate_left(depth) }
}

/// JSON text, spoilt as the act says.
pub fn text(act: Option<&str>, honest: &str) -> String {
    match act {
        Some("bad-json") => "{\"path\":".into(),
        Some("deep-json") => format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH)),
        Some("huge-string") => {
            let mut text = vec![b'x'; HUGE_BYTES];
            (text[0], text[HUGE_BYTES - 1]) = (b'"', b'"');
            String::from_utf8(text).expect("it is ASCII")
        }
        Some("control-characters") => MISLEADING.into(),
        _ => honest.into(),
    }
}

/// A message that would mislead in each of its parts.
pub fn misleading() -> Diagnostic {
    Diagnostic::at(MISLEADING, MISLEADING).hint(MISLEADING)
}
