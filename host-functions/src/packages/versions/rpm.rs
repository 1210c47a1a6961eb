//! rpm's order: epoch, version, release, each by rpmvercmp. `~` sorts before everything, `^` after the end and before all else.

use std::cmp::Ordering;

use super::{by_number, epoch, split_while};

/// How `left` compares with `right`. A release that one of them lacks is not compared.
pub fn compare(left: &str, right: &str) -> Ordering {
    let ((left_epoch, left), (right_epoch, right)) = (epoch(left), epoch(right));
    let ((left, left_release), (right, right_release)) = (release(left), release(right));
    let releases = || match (left_release, right_release) {
        (Some(left), Some(right)) => part(left, right),
        _ => Ordering::Equal,
    };
    by_number(left_epoch, right_epoch).then_with(|| part(left, right)).then_with(releases)
}

/// The version, and what follows its last `-`.
pub(super) fn release(version: &[u8]) -> (&[u8], Option<&[u8]>) {
    match version.iter().rposition(|byte| *byte == b'-') {
        Some(hyphen) => (&version[..hyphen], Some(&version[hyphen + 1..])),
        None => (version, None),
    }
}

/// rpmvercmp.
fn part(mut left: &[u8], mut right: &[u8]) -> Ordering {
    let separator = |byte: u8| !byte.is_ascii_alphanumeric() && byte != b'~' && byte != b'^';
    loop {
        (left, right) = (split_while(left, separator).1, split_while(right, separator).1);
        match (left.first(), right.first()) {
            (Some(b'~'), Some(b'~')) | (Some(b'^'), Some(b'^')) => (left, right) = (&left[1..], &right[1..]),
            (Some(b'~'), _) => return Ordering::Less,
            (_, Some(b'~')) => return Ordering::Greater,
            (Some(b'^'), None) => return Ordering::Greater,
            (None, Some(b'^')) => return Ordering::Less,
            (Some(b'^'), _) => return Ordering::Less,
            (_, Some(b'^')) => return Ordering::Greater,
            (None, None) => return Ordering::Equal,
            (None, _) => return Ordering::Less,
            (_, None) => return Ordering::Greater,
            (Some(first), Some(_)) => match segment(*first, &mut left, &mut right) {
                Ordering::Equal => {}
                order => return order,
            },
        }
    }
}

/// One run of digits or letters of each, taken off; which of the two kinds, the first decides.
fn segment(first: u8, left: &mut &[u8], right: &mut &[u8]) -> Ordering {
    let numeric = first.is_ascii_digit();
    let kind = |byte: u8| if numeric { byte.is_ascii_digit() } else { byte.is_ascii_alphabetic() };
    let ((left_part, left_rest), (right_part, right_rest)) = (split_while(left, kind), split_while(right, kind));
    if right_part.is_empty() {
        // Of different kinds: numbers are newer than letters.
        return if numeric { Ordering::Greater } else { Ordering::Less };
    }
    (*left, *right) = (left_rest, right_rest);
    if numeric { by_number(left_part, right_part) } else { left_part.cmp(right_part) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_rpms_order() {
        for (left, right, order) in [
            ("1.0", "1.0", Ordering::Equal),
            ("1.0", "2.0", Ordering::Less),
            ("2.0.1", "2.0.1a", Ordering::Less),
            ("5.5p1", "5.5p10", Ordering::Less),
            ("10xyz", "10.1xyz", Ordering::Less),
            ("xyz10", "xyz10.1", Ordering::Less),
            ("xyz.4", "8", Ordering::Less),
            ("5.5p2", "5.6p1", Ordering::Less),
            ("6.0.rc1", "6.0", Ordering::Greater),
            ("10b2", "10a1", Ordering::Greater),
            ("1.0a", "1.0aa", Ordering::Less),
            ("10.0001", "10.1", Ordering::Equal),
            ("4.999.9", "5.0", Ordering::Less),
            ("20101121", "20101122", Ordering::Less),
            ("2_0", "2.0", Ordering::Equal),
            ("a+", "a_", Ordering::Equal),
            ("1.0~rc1", "1.0", Ordering::Less),
            ("1.0~rc1~git123", "1.0~rc1", Ordering::Less),
            ("1.0^", "1.0", Ordering::Greater),
            ("1.0^git1", "1.01", Ordering::Less),
            ("1.0^20160101", "1.0.1", Ordering::Less),
            ("1.0^20160101^git1", "1.0^20160102", Ordering::Less),
            ("1.0~rc1^git1", "1.0~rc1", Ordering::Greater),
            ("1.0^git1~pre", "1.0^git1", Ordering::Less),
            ("1:1.0-1", "2.0-9", Ordering::Greater),
            ("1.0-1.fc42", "1.0-2.fc41", Ordering::Less),
            ("1.0", "1.0-2", Ordering::Equal),
            ("0:1.0-1", "1.0-1", Ordering::Equal),
        ] {
            assert_eq!(compare(left, right), order, "{left} and {right}");
            assert_eq!(compare(right, left), order.reverse(), "{right} and {left}");
        }
    }
}
