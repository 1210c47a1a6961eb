//! Two resources that claim one object. Pure, and near linear: claims are sorted, and a claim on a tree is compared with what sorts
//! beneath it.

use std::collections::BTreeSet;

use crate::model::catalog::Claim;

/// Pairs of places whose claims overlap, each once with a claim of both, in order of the first place.
pub(super) fn find<'a>(claims: impl IntoIterator<Item = (usize, &'a Claim)>) -> Vec<(usize, usize, &'a Claim)> {
    let mut sorted: Vec<(usize, &Claim)> = claims.into_iter().collect();
    sorted.sort_by(|left, right| sort_key(left.1).cmp(&sort_key(right.1)).then(left.0.cmp(&right.0)));
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    // Claims on trees that may hold the ones that follow.
    let mut open: Vec<(usize, &Claim)> = Vec::new();
    for (place, claim) in sorted {
        open.retain(|(_, earlier)| reaches(earlier, claim));
        for (other, earlier) in &open {
            let pair = (place.min(*other), place.max(*other));
            if place != *other && claim.overlaps(earlier) && told.insert(pair) {
                found.push((pair.0, pair.1, claim));
            }
        }
        open.push((place, claim));
    }
    found.sort_by_key(|(first, second, _)| (*first, *second));
    found
}

/// Sorts a tree directly before everything beneath it.
fn sort_key(claim: &Claim) -> (&str, &[u8], bool) {
    match claim.key.0.strip_suffix(b"**") {
        Some(folder) if claim.domain == "path" => (&claim.domain, folder, false),
        _ => (&claim.domain, &claim.key.0, true),
    }
}

/// Whether `earlier` may overlap `claim` or what sorts after it.
fn reaches(earlier: &Claim, claim: &Claim) -> bool {
    let (domain, key, exact) = sort_key(earlier);
    let (other_domain, other_key, _) = sort_key(claim);
    domain == other_domain && if exact { key == other_key } else { other_key.starts_with(key) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn claim(key: &str, qualifier: &str) -> Claim {
        Claim { domain: "path".into(), key: key.into(), qualifier: qualifier.into() }
    }

    fn pairs(claims: &[Claim]) -> Vec<(usize, usize)> {
        find(claims.iter().enumerate()).into_iter().map(|(first, second, _)| (first, second)).collect()
    }

    #[test]
    fn equal_keys_and_trees_overlap() {
        assert_eq!(pairs(&[claim("/a", ""), claim("/b", ""), claim("/a", "")]), [(0, 2)]);
        assert_eq!(pairs(&[claim("/a/b", ""), claim("/a/**", ""), claim("/a", "")]), [(0, 1)]);
        assert_eq!(pairs(&[claim("/a", "x"), claim("/a", "y"), claim("/a", "*")]), [(0, 2), (1, 2)]);
    }

    proptest! {
        #[test]
        fn finds_what_comparing_each_with_each_finds(
            keys in proptest::collection::vec("(/[ab]){1,3}(/\\*\\*)?", 0..12),
            qualifiers in proptest::collection::vec("[x*]?", 12),
        ) {
            let claims: Vec<Claim> = keys.iter().zip(&qualifiers).map(|(key, qualifier)| claim(key, qualifier)).collect();
            let mut wanted = Vec::new();
            for (first, left) in claims.iter().enumerate() {
                for (second, right) in claims.iter().enumerate().skip(first + 1) {
                    if left.overlaps(right) {
                        wanted.push((first, second));
                    }
                }
            }
            prop_assert_eq!(pairs(&claims), wanted);
        }
    }
}
