//! dpkg's order: epoch, upstream version, revision (deb-version(7)). `~` sorts before everything, even the end.

use std::cmp::Ordering;

use super::{by_number, epoch, split_while};

/// How `left` compares with `right`.
pub fn compare(left: &str, right: &str) -> Ordering {
    let ((left_epoch, left), (right_epoch, right)) = (epoch(left), epoch(right));
    let ((left, left_revision), (right, right_revision)) = (revision(left), revision(right));
    by_number(left_epoch, right_epoch).then_with(|| part(left, right)).then_with(|| part(left_revision, right_revision))
}

/// The upstream version, and what follows the last `-`.
fn revision(version: &[u8]) -> (&[u8], &[u8]) {
    match version.iter().rposition(|byte| *byte == b'-') {
        Some(hyphen) => (&version[..hyphen], &version[hyphen + 1..]),
        None => (version, &[]),
    }
}

/// What is not a digit by weight, then what is by number, and so on.
fn part(mut left: &[u8], mut right: &[u8]) -> Ordering {
    while !left.is_empty() || !right.is_empty() {
        let ((left_text, left_rest), (right_text, right_rest)) =
            (split_while(left, |byte| !byte.is_ascii_digit()), split_while(right, |byte| !byte.is_ascii_digit()));
        let ((left_number, left_rest), (right_number, right_rest)) =
            (split_while(left_rest, |byte| byte.is_ascii_digit()), split_while(right_rest, |byte| byte.is_ascii_digit()));
        let order = text(left_text, right_text).then_with(|| by_number(left_number, right_number));
        if order != Ordering::Equal {
            return order;
        }
        (left, right) = (left_rest, right_rest);
    }
    Ordering::Equal
}

fn text(left: &[u8], right: &[u8]) -> Ordering {
    let longest = left.len().max(right.len());
    let weights = |text: &[u8], at: usize| weight(text.get(at).copied());
    (0..longest)
        .map(|at| weights(left, at).cmp(&weights(right, at)))
        .find(|order| *order != Ordering::Equal)
        .unwrap_or(Ordering::Equal)
}

/// `~`, then the end, then letters, then the rest.
fn weight(byte: Option<u8>) -> i32 {
    match byte {
        Some(b'~') => -1,
        None => 0,
        Some(byte) if byte.is_ascii_alphabetic() => i32::from(byte),
        Some(byte) => i32::from(byte) + 256,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_dpkgs_order() {
        let ascending = [
            "0~~",
            "0~~a",
            "0~",
            "0",
            "0.1",
            "1.0~beta1~svn1",
            "1.0~beta1",
            "1.0",
            "1.0-0+b1",
            "1.0-1~bpo1",
            "1.0-1",
            "1.0-1+b1",
            "1.0-1.1",
            "1.0-2",
            "1.0-10",
            "1.0a",
            "1.0+dfsg",
            "1.0.1",
            "1.2",
            "1.10",
            "20240101",
            "1:0.1",
            "2:0",
            "10:0",
        ];
        for (at, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                assert_eq!(compare(left, right), at.cmp(&other), "{left} and {right}");
            }
        }
        for (left, right) in [("1.0", "1.00"), ("0:1", "1"), ("1-0", "1"), ("01", "1"), ("", "0")] {
            assert_eq!(compare(left, right), Ordering::Equal, "{left} and {right}");
        }
    }
}
