//! Files of the running kernel, which no root has.

use std::io::Read as _;

/// The beginning of a file under `/proc` or `/sys`, as text; none if it cannot be read. What the kernel says is not capped by it.
#[allow(clippy::disallowed_methods, reason = "reads what the kernel tells everybody, with a cap")]
pub(super) fn read(path: &str, cap: u64) -> Option<String> {
    let mut content = Vec::new();
    std::fs::File::open(path).ok()?.take(cap).read_to_end(&mut content).ok()?;
    Some(String::from_utf8_lossy(&content).into_owned())
}
