//! Answers that the contract does not have.

use runtime_sdk::Diagnostic;

use crate::behaviour::Act;

/// More than any string may have, and little enough for the guest's own memory.
pub const HUGE_BYTES: usize = 20 << 20;

/// More than any list may have, and little enough for the guest's own memory.
pub const HUGE_COUNT: usize = 20_000;

/// Text that would mislead a reader of a terminal, a log or a diff.
pub const MISLEADING: &str = "\u{1b}[2J\u{1b}[31mall is well\u{1b}[0m\r\n\u{7}error: none\u{202e}nwod edispu\u{2066}\0";

/// How deep JSON nests that is too deep for anyone.
const DEPTH: usize = 100_000;

/// A message that would mislead in each of its parts.
pub fn misleading() -> Diagnostic {
    Diagnostic::at(MISLEADING, MISLEADING).hint(MISLEADING)
}

/// JSON text, spoilt as the act says.
pub fn text(act: Option<Act>, honest: String) -> String {
    match act {
        Some(Act::NameSecret) => r#"{"$secret":"file.apart/content"}"#.into(),
        Some(Act::BadJson) => "{\"path\":".into(),
        Some(Act::LooseJson) => format!(" {honest}"),
        Some(Act::HugeString) => huge_text(),
        Some(Act::DeepJson) => format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH)),
        Some(Act::HugeList) => format!("[{}0]", "0,".repeat(HUGE_COUNT)),
        _ => honest,
    }
}

/// Made in one allocation, or it would meet the memory's limit before the string's.
fn huge_text() -> String {
    let mut text = vec![b'x'; HUGE_BYTES];
    text[0] = b'"';
    text[HUGE_BYTES - 1] = b'"';
    String::from_utf8(text).expect("it is ASCII")
}

/// Whether an act spoils JSON that answers.
pub fn is_of_json(act: Act) -> bool {
    matches!(act, Act::BadJson | Act::LooseJson | Act::DeepJson | Act::HugeString | Act::HugeList)
}

/// A path, or any name in bytes, that is longer than it may be.
pub fn huge_path() -> Vec<u8> {
    "/x".repeat(HUGE_BYTES / 2).into_bytes()
}
