//! Which claims overlap. Pure: the database hands in what others hold.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use crate::model::catalog::Claim;
use crate::model::digest::{ComponentDigest, Digest};
use crate::model::ids::{OwnerName, ResourceId};
use crate::model::key::escape;

/// Marks digests of desired state.
pub enum Desired {}

/// The digest of a desired state's canonical JSON.
pub type DesiredDigest = Digest<Desired>;

/// The most conflicts that are listed. A run is refused by one; the cap keeps a hostile bundle from filling memory.
pub const MAX_CONFLICTS: usize = 1000;

/// A claim in someone's hands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) claim: Claim,
    pub(super) owner: OwnerName,
    pub(super) resource: ResourceId,
    /// None while the desired state waits for the node: such a claim is never shared.
    pub(super) desired: Option<DesiredDigest>,
    pub(super) component: ComponentDigest,
}

impl Held {
    /// Whether two hold the same object in the same way: other owners, equal desired state and component.
    fn shares_with(&self, other: &Self) -> bool {
        self.owner != other.owner && self.component == other.component && self.desired.is_some() && self.desired == other.desired
    }
}

/// Two claims that cannot be held at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Who asks.
    pub owner: OwnerName,
    /// For which resource.
    pub resource: ResourceId,
    /// What it asks for.
    pub claim: Claim,
    /// Who holds it: another owner, or the same for another of its resources.
    pub holder: OwnerName,
    /// For which resource.
    pub held_for: ResourceId,
    /// What is held.
    pub held: Claim,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owner, resource, claim, holder, held_for, held } = self;
        write!(f, "{}, claimed by `{resource}` of `{owner}`, is held by `{held_for}` of `{holder}`", describe(claim))?;
        if held.key != claim.key || held.qualifier != claim.qualifier {
            write!(f, " with {}", describe(held))?;
        }
        Ok(())
    }
}

fn describe(claim: &Claim) -> String {
    let part = if claim.qualifier.is_empty() { String::new() } else { format!(" ({})", escape(&claim.qualifier)) };
    format!("{} `{}`{part}", escape(&claim.domain), claim.key.display())
}

/// Every conflict of an admission, or the first [`MAX_CONFLICTS`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conflicts {
    /// In the order of the resources that ask.
    pub list: Vec<Conflict>,
    /// Whether there are more.
    pub more: bool,
}

impl Conflicts {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl std::error::Error for Conflicts {}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, conflict) in self.list.iter().enumerate() {
            write!(f, "{}{conflict}", if index == 0 { "" } else { "\n" })?;
        }
        if self.more { f.write_str("\nand more") } else { Ok(()) }
    }
}

/// Claims by key, so that each is compared with those that overlap it and no others.
///
/// Claims that hold the whole of an object (`*`) are looked up among all; others among those of their own qualifier and among
/// the whole ones. Either way each one found does overlap, so the work grows with the conflicts and not with the claims.
#[derive(Default)]
pub(super) struct ClaimIndex {
    held: Vec<Held>,
    all: HashMap<String, ByKey>,
    by_qualifier: HashMap<(String, String), ByKey>,
}

type ByKey = BTreeMap<Vec<u8>, Vec<usize>>;

impl ClaimIndex {
    /// Takes up a claim, whatever it overlaps.
    pub(super) fn insert(&mut self, held: Held) {
        let (index, Claim { domain, key, qualifier }) = (self.held.len(), held.claim.clone());
        let qualified = self.by_qualifier.entry((domain.clone(), qualifier)).or_default();
        qualified.entry(key.0.clone()).or_default().push(index);
        self.all.entry(domain).or_default().entry(key.0).or_default().push(index);
        self.held.push(held);
    }

    /// Adds to `conflicts` those of `wanted` with what is held, its own resource apart.
    pub(super) fn check(&self, wanted: &Held, conflicts: &mut Conflicts) {
        for index in self.overlapping(&wanted.claim) {
            let held = &self.held[index];
            let own = held.owner == wanted.owner && held.resource == wanted.resource;
            if own || held.shares_with(wanted) {
                continue;
            }
            if conflicts.list.len() == MAX_CONFLICTS {
                conflicts.more = true;
                return;
            }
            conflicts.list.push(Conflict {
                owner: wanted.owner.clone(),
                resource: wanted.resource.clone(),
                claim: wanted.claim.clone(),
                holder: held.owner.clone(),
                held_for: held.resource.clone(),
                held: held.claim.clone(),
            });
        }
    }

    fn overlapping<'a>(&'a self, claim: &'a Claim) -> Box<dyn Iterator<Item = usize> + 'a> {
        let whole = claim.qualifier == "*";
        let of_qualifier = |qualifier: &str| self.by_qualifier.get(&(claim.domain.clone(), qualifier.to_owned()));
        let maps = if whole { [self.all.get(&claim.domain), None] } else { [of_qualifier(&claim.qualifier), of_qualifier("*")] };
        Box::new(maps.into_iter().flatten().flat_map(move |map| overlapping_keys(map, claim)))
    }
}

/// Those in `map` with the same key, with a tree around it, and with a key beneath it if it is a tree.
fn overlapping_keys<'a>(map: &'a ByKey, claim: &'a Claim) -> Box<dyn Iterator<Item = usize> + 'a> {
    let key = &claim.key.0;
    let exact = map.get(key).into_iter().flatten().copied();
    if claim.domain != "path" {
        return Box::new(exact);
    }
    let around = key.iter().enumerate().filter(|&(_, &byte)| byte == b'/').filter_map(move |(at, _)| {
        let tree = [&key[..=at], b"**"].concat();
        if tree == *key { None } else { map.get(&tree) }
    });
    let beneath = key.strip_suffix(b"**").filter(|folder| folder.ends_with(b"/")).into_iter().flat_map(move |folder| {
        map.range(folder.to_vec()..)
            .take_while(move |(found, _)| found.starts_with(folder))
            .filter(move |&(found, _)| found != key)
    });
    Box::new(exact.chain(around.flatten().copied()).chain(beneath.flat_map(|(_, found)| found.iter().copied())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::key::Key;

    fn held(owner: &str, resource: &str, domain: &str, key: &str, qualifier: &str, desired: Option<&str>) -> Held {
        Held {
            claim: Claim { domain: domain.into(), key: Key::from(key), qualifier: qualifier.into() },
            owner: owner.parse().unwrap(),
            resource: resource.parse().unwrap(),
            desired: desired.map(|text| DesiredDigest::of(text.as_bytes())),
            component: ComponentDigest::of(b"component"),
        }
    }

    fn claims() -> impl Strategy<Value = Held> {
        let keys = ["/", "/**", "/a", "/a/", "/a/**", "/a/b", "/a/b/**", "/a/bc", "/a/b**", "/ab", "**", "a"];
        let part = |words: &'static [&'static str]| prop::sample::select(words);
        let desired = prop::sample::select(vec![None, Some("x"), Some("y")]);
        (
            part(&["one", "two"]),
            part(&["file.a", "file.b"]),
            part(&["path", "unit"]),
            prop::sample::select(keys.to_vec()),
            part(&["", "*", "q"]),
            desired,
        )
            .prop_map(|(owner, resource, domain, key, qualifier, desired)| held(owner, resource, domain, key, qualifier, desired))
    }

    proptest! {
        #[test]
        fn the_index_finds_what_comparing_all_pairs_finds(all in prop::collection::vec(claims(), 0..24), wanted in claims()) {
            let mut index = ClaimIndex::default();
            all.iter().cloned().for_each(|held| index.insert(held));
            let mut found: Vec<usize> = index.overlapping(&wanted.claim).collect();
            found.sort_unstable();
            let expected: Vec<usize> =
                all.iter().enumerate().filter(|(_, held)| held.claim.overlaps(&wanted.claim)).map(|(at, _)| at).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn equal_state_of_two_owners_is_shared_and_within_one_owner_is_not() {
        let mut index = ClaimIndex::default();
        index.insert(held("one", "file.a", "path", "/x", "", Some("same")));
        let conflicts = |wanted: Held| {
            let mut found = Conflicts::default();
            index.check(&wanted, &mut found);
            found.list.len()
        };
        assert_eq!(conflicts(held("two", "file.b", "path", "/x", "", Some("same"))), 0);
        assert_eq!(conflicts(held("two", "file.b", "path", "/x", "", Some("other"))), 1);
        assert_eq!(conflicts(held("two", "file.b", "path", "/x", "", None)), 1, "what is not yet known cannot be equal");
        assert_eq!(conflicts(held("one", "file.b", "path", "/x", "", Some("same"))), 1);
        let other_component =
            Held { component: ComponentDigest::of(b"other"), ..held("two", "file.b", "path", "/x", "", Some("same")) };
        assert_eq!(conflicts(other_component), 1);
    }

    #[test]
    fn a_conflict_names_both_owners_and_what_they_claim() {
        let mut index = ClaimIndex::default();
        index.insert(held("other", "tree.a", "path", "/srv/**", "", None));
        let mut found = Conflicts::default();
        index.check(&held("site", "file.x", "path", "/srv/\u{1b}x", "", None), &mut found);
        assert_eq!(
            found.to_string(),
            "path `/srv/\\u{1b}x`, claimed by `file.x` of `site`, is held by `tree.a` of `other` with path `/srv/**`"
        );
    }

    #[test]
    fn a_hundred_thousand_claims_are_compared_with_their_neighbours_only() {
        let mut index = ClaimIndex::default();
        for number in 0..100_000 {
            // Alike in all that a scan could stop at: one folder, one qualifier that the wanted ones do not overlap.
            index.insert(held("one", "file.a", "path", &format!("/srv/d/{number}"), "theirs", None));
        }
        let mut found = Conflicts::default();
        for number in 0..100_000 {
            index.check(&held("two", "file.b", "path", "/srv/**", &format!("mine{number}"), None), &mut found);
            index.check(&held("two", "file.b", "path", &format!("/srv/e/{number}"), "theirs", None), &mut found);
        }
        assert!(found.is_empty());
        index.check(&held("two", "file.b", "path", "/srv/**", "*", None), &mut found);
        assert_eq!((found.list.len(), found.more), (MAX_CONFLICTS, true));
    }
}
