//! pacman's order (vercmp(8)): epoch, version, release. Like rpm's, but a run of letters after a number is older than nothing
//! (`1.0rc1` before `1.0`), there is no `~` or `^`, and how many separators there are counts.

use std::cmp::Ordering;

use super::rpm::release;
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

fn part(mut left: &[u8], mut right: &[u8]) -> Ordering {
    if left == right {
        return Ordering::Equal;
    }
    let separator = |byte: u8| !byte.is_ascii_alphanumeric();
    while !left.is_empty() && !right.is_empty() {
        let ((left_gap, left_rest), (right_gap, right_rest)) = (split_while(left, separator), split_while(right, separator));
        (left, right) = (left_rest, right_rest);
        if left.is_empty() || right.is_empty() {
            break;
        }
        if left_gap.len() != right_gap.len() {
            return left_gap.len().cmp(&right_gap.len());
        }
        let numeric = left[0].is_ascii_digit();
        let kind = |byte: u8| if numeric { byte.is_ascii_digit() } else { byte.is_ascii_alphabetic() };
        let ((left_part, left_rest), (right_part, right_rest)) = (split_while(left, kind), split_while(right, kind));
        if right_part.is_empty() {
            return if numeric { Ordering::Greater } else { Ordering::Less };
        }
        let order = if numeric { by_number(left_part, right_part) } else { left_part.cmp(right_part) };
        if order != Ordering::Equal {
            return order;
        }
        (left, right) = (left_rest, right_rest);
    }
    rest(left, right)
}

/// What is left of one once the other has ended: letters are older than nothing, all else is newer.
fn rest(left: &[u8], right: &[u8]) -> Ordering {
    let letters = |rest: &[u8]| rest.first().is_some_and(u8::is_ascii_alphabetic);
    match (left.is_empty(), right.is_empty()) {
        (true, true) => Ordering::Equal,
        (true, false) => {
            if letters(right) {
                Ordering::Greater
            } else {
                Ordering::Less
            }
        }
        (false, _) => {
            if letters(left) {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_pacmans_order() {
        // As in pacman's own test of vercmp.
        for (left, right, order) in [
            ("1.5.0", "1.5.0", Ordering::Equal),
            ("1.5.1", "1.5.0", Ordering::Greater),
            ("1.5.1", "1.5", Ordering::Greater),
            ("1.5.0-1", "1.5.0-2", Ordering::Less),
            ("1.5.0-1", "1.5.1-1", Ordering::Less),
            ("1.5.0-2", "1.5.1-1", Ordering::Less),
            ("1.5", "1.5-1", Ordering::Equal),
            ("1.1-1", "1.1", Ordering::Equal),
            ("1.0-1", "1.1", Ordering::Less),
            ("1.5b-1", "1.5-1", Ordering::Less),
            ("1.5b", "1.5", Ordering::Less),
            ("1.5b-1", "1.5", Ordering::Less),
            ("1.5b", "1.5.1", Ordering::Less),
            ("1.0a", "1.0alpha", Ordering::Less),
            ("1.0alpha", "1.0b", Ordering::Less),
            ("1.0b", "1.0beta", Ordering::Less),
            ("1.0beta", "1.0rc", Ordering::Less),
            ("1.0rc", "1.0", Ordering::Less),
            ("1.5.a", "1.5", Ordering::Greater),
            ("1.5.b", "1.5.a", Ordering::Greater),
            ("1.5.1", "1.5.b", Ordering::Greater),
            ("1.5.b-1", "1.5.b", Ordering::Equal),
            ("1.5-1", "1.5.b", Ordering::Less),
            ("2.0", "2_0", Ordering::Equal),
            ("2.0_a", "2_0.a", Ordering::Equal),
            ("2.0a", "2.0.a", Ordering::Less),
            ("2___a", "2_a", Ordering::Greater),
            ("0:1.0", "0:1.0", Ordering::Equal),
            ("1:1.0", "0:1.0", Ordering::Greater),
            ("1:1.0", "2:1.1", Ordering::Less),
            ("1:1.0", "0:1.0-1", Ordering::Greater),
            ("0:1.0", "1.0", Ordering::Equal),
            ("1:1.0", "1.1", Ordering::Greater),
        ] {
            assert_eq!(compare(left, right), order, "{left} and {right}");
            assert_eq!(compare(right, left), order.reverse(), "{right} and {left}");
        }
    }
}
