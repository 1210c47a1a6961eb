//! What the guest puts out, honestly or as it is told.

use runtime_sdk::files::Object;

use crate::acts::WRITTEN;
use crate::behaviour::Act;

/// More than all outputs may have, and less than any JSON.
const HUGE_OUTPUT: usize = 2 << 20;

/// Whether an act changes outputs and nothing else.
pub fn spoils(act: Option<Act>) -> bool {
    matches!(
        act,
        Some(Act::WrongOutput | Act::MoreOutputs | Act::FewerOutputs | Act::NoOutputs | Act::HugeOutputs | Act::SlotOutput)
    )
}

/// The outputs with this stamp, as JSON. The stamp holds nothing that JSON escapes.
pub fn of(act: Option<Act>, stamp: &str) -> Option<String> {
    let token = r#""token":"never-to-be-seen""#;
    Some(match act {
        Some(Act::NoOutputs) => return None,
        Some(Act::WrongOutput) => format!(r#"{{"stamp":1,{token}}}"#),
        Some(Act::MoreOutputs) => format!(r#"{{"more":"x","stamp":"{stamp}",{token}}}"#),
        Some(Act::FewerOutputs) => format!(r#"{{"stamp":"{stamp}"}}"#),
        Some(Act::HugeOutputs) => format!(r#"{{"stamp":"{}",{token}}}"#, "x".repeat(HUGE_OUTPUT)),
        Some(Act::SlotOutput) => format!(r#"{{"stamp":{{"$secret":"x"}},{token}}}"#),
        _ => format!(r#"{{"stamp":"{stamp}",{token}}}"#),
    })
}

/// The stamp of what an application has written.
pub fn made() -> &'static str {
    std::str::from_utf8(WRITTEN).unwrap_or_default().trim_end()
}

/// The stamp of what stands at a path: its letters, spaces and dashes.
pub fn found(path: &[u8]) -> String {
    let content = Object::open(path).and_then(|object| object.read(0, 64)).unwrap_or_default();
    let text = String::from_utf8_lossy(&content);
    text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-')).collect()
}
