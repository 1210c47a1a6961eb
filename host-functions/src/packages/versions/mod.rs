//! The order of versions that each family of package managers has, as its own tools define it.
//!
//! Pure, and total: any two texts compare, also those that are no versions. Held against the real tools in the system tests.

pub mod apk;
pub mod dpkg;
pub mod pacman;
pub mod rpm;

use std::cmp::Ordering;

/// `text` up to the first byte that `part` is not true for, and the rest.
fn split_while(text: &[u8], part: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !part(*byte)).unwrap_or(text.len());
    text.split_at(end)
}

/// Two runs of digits, by the number that they are, of any length.
fn by_number(left: &[u8], right: &[u8]) -> Ordering {
    let (left, right) = (without_zeros(left), without_zeros(right));
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

fn without_zeros(digits: &[u8]) -> &[u8] {
    split_while(digits, |byte| byte == b'0').1
}

/// `EPOCH:REST`, where the epoch is a run of digits; without one it is empty, which is zero.
fn epoch(version: &str) -> (&[u8], &[u8]) {
    let bytes = version.as_bytes();
    match bytes.iter().position(|byte| *byte == b':') {
        Some(colon) if bytes[..colon].iter().all(u8::is_ascii_digit) => (&bytes[..colon], &bytes[colon + 1..]),
        _ => (&[], bytes),
    }
}
