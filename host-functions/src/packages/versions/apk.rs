//! apk's order: numbers, a letter, suffixes (`_alpha` < `_beta` < `_pre` < `_rc` < none < `_cvs` < `_svn` < `_git` < `_hg` < `_p`), `-r` and a number
//! (apk-package(5)).

use std::cmp::Ordering;

use super::{by_number, split_while};

/// The suffixes in their order; those before [`BEFORE_NONE`] are older than a version without one.
const SUFFIXES: [&str; 9] = ["alpha", "beta", "pre", "rc", "cvs", "svn", "git", "hg", "p"];
const BEFORE_NONE: usize = 4;

/// How `left` compares with `right`.
pub fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (Version::of(left), Version::of(right));
    numbers(&left.numbers, &right.numbers)
        .then_with(|| left.letter.cmp(&right.letter))
        .then_with(|| suffixes(&left.suffixes, &right.suffixes))
        .then_with(|| left.commit.cmp(&right.commit))
        .then_with(|| revisions(left.revision, right.revision))
        // Texts that are no versions still have an order.
        .then_with(|| left.rest.cmp(right.rest))
}

/// Which suffix, and its number.
type Suffix<'v> = (usize, &'v [u8]);

#[derive(Debug)]
struct Version<'v> {
    numbers: Vec<&'v [u8]>,
    letter: Option<u8>,
    suffixes: Vec<Suffix<'v>>,
    /// What follows `~`: the commit that it was built from.
    commit: Option<&'v [u8]>,
    /// The number after `-r`.
    revision: Option<&'v [u8]>,
    rest: &'v [u8],
}

impl<'v> Version<'v> {
    fn of(text: &'v str) -> Self {
        let mut version =
            Self { numbers: Vec::new(), letter: None, suffixes: Vec::new(), commit: None, revision: None, rest: &[] };
        let (first, mut rest) = digits(text.as_bytes());
        version.numbers.push(first);
        while rest.first() == Some(&b'.') {
            let (number, after) = digits(&rest[1..]);
            version.numbers.push(number);
            rest = after;
        }
        if rest.first().is_some_and(u8::is_ascii_lowercase) {
            version.letter = Some(rest[0]);
            rest = &rest[1..];
        }
        while let Some((suffix, after)) = suffix(rest) {
            version.suffixes.push(suffix);
            rest = after;
        }
        if let Some(commit) = rest.strip_prefix(b"~") {
            let (commit, after) = split_while(commit, |byte| byte.is_ascii_hexdigit());
            (version.commit, rest) = (Some(commit), after);
        }
        if let Some(revision) = rest.strip_prefix(b"-r") {
            let (revision, after) = digits(revision);
            (version.revision, rest) = (Some(revision), after);
        }
        version.rest = rest;
        version
    }
}

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    split_while(text, |byte| byte.is_ascii_digit())
}

/// `_NAME` with a number that may be missing, and what follows.
fn suffix(text: &[u8]) -> Option<(Suffix<'_>, &[u8])> {
    let (name, rest) = split_while(text.strip_prefix(b"_")?, |byte| byte.is_ascii_lowercase());
    let rank = SUFFIXES.iter().position(|suffix| suffix.as_bytes() == name)?;
    let (number, rest) = digits(rest);
    Some(((rank, number), rest))
}

/// Part by part: the first by its number, and so are later ones unless one begins with a zero, which makes both fractions.
fn numbers(left: &[&[u8]], right: &[&[u8]]) -> Ordering {
    for at in 0..left.len().max(right.len()) {
        let order = match (left.get(at), right.get(at)) {
            (Some(left), Some(right)) if at > 0 && (left.starts_with(b"0") || right.starts_with(b"0")) => left.cmp(right),
            (Some(left), Some(right)) => by_number(left, right),
            (left, right) => left.is_some().cmp(&right.is_some()),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

fn suffixes(left: &[Suffix<'_>], right: &[Suffix<'_>]) -> Ordering {
    // A version that ends has the rank between the suffixes that come before a release and those that come after.
    let rank = |suffix: Option<&Suffix<'_>>| suffix.map_or(2 * BEFORE_NONE, |(rank, _)| 2 * rank + 1);
    for at in 0..left.len().max(right.len()) {
        let (left, right) = (left.get(at), right.get(at));
        let order = rank(left).cmp(&rank(right)).then_with(|| by_number(number_of(left), number_of(right)));
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

/// One that is missing comes before any that is there.
fn revisions(left: Option<&[u8]>, right: Option<&[u8]>) -> Ordering {
    match (left, right) {
        (Some(left), Some(right)) => by_number(left, right),
        (left, right) => left.is_some().cmp(&right.is_some()),
    }
}

fn number_of<'v>(suffix: Option<&Suffix<'v>>) -> &'v [u8] {
    suffix.map_or(&[], |(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_apks_order() {
        let ascending = [
            "0.1",
            "1.0_alpha1",
            "1.0_alpha2",
            "1.0_beta",
            "1.0_pre",
            "1.0_rc1",
            "1.0_rc2",
            "1.0-r0",
            "1.0-r1",
            "1.0-r10",
            "1.0_git20240101",
            "1.0_p1",
            "1.0a",
            "1.0b",
            "1.0.1",
            "1.2",
            "1.10",
            "2",
            "10",
            "20240101",
        ];
        for (at, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                assert_eq!(compare(left, right), at.cmp(&other), "{left} and {right}");
            }
        }
        assert_eq!(compare("1.0", "1.0-r0"), Ordering::Less);
        assert_eq!(compare("1.0~abc-r0", "1.0-r0"), Ordering::Greater);
        assert_eq!(compare("1.05", "1.5"), Ordering::Less, "a fraction");
    }
}
