//! Bytes that go along with a catalog: what drafts wait for, and how it comes in once all of the manifest has been found sound.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Compiler;
use crate::acquire::{AcquireError, Stored};
use crate::language::diagnostic::Diagnostic;
use crate::model::asset::AssetRef;
use crate::model::digest::AssetDigest;
use crate::model::expression::Place;
use crate::model::ids::SecretSlot;

/// An asset of a catalog.
#[derive(Debug, Clone)]
pub struct Asset {
    /// In bytes.
    pub size: u64,
    /// Whether any resource that needs it is sensitive.
    pub sensitive: bool,
    /// Where the bytes are.
    pub content: Content,
}

/// Where the bytes of an asset are.
#[derive(Debug, Clone)]
pub enum Content {
    /// Here.
    Bytes(Arc<[u8]>),
    /// Where they were acquired.
    Stored(Stored),
}

/// Bytes that a draft waits for.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    /// What they are for: a slot, or an attribute flagged as source where the resource is compiled on the node.
    pub(super) name: String,
    pub(super) origin: Origin,
    /// The digest that they must have.
    pub(super) checksum: Option<AssetDigest>,
    /// What the module says when they do not.
    pub(super) checksum_error: Option<String>,
    /// What to blame.
    pub(super) place: Place,
}

/// Where bytes come from.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    /// They are known already.
    Text(Arc<[u8]>),
    /// A file, by its path from the manifest's folder.
    Local(String),
    /// An `https` address.
    Url(String),
    /// They are sensitive, and known by this slot.
    Secret(SecretSlot),
}

/// The assets of a catalog, as they gather: each content once.
#[derive(Debug, Default)]
pub(super) struct Assets(BTreeMap<AssetDigest, Asset>);

impl Assets {
    /// Adds bytes; what is there already becomes as sensitive as the most sensitive of its uses.
    fn add(&mut self, digest: AssetDigest, asset: Asset) {
        let sensitive = asset.sensitive;
        self.0.entry(digest).or_insert(asset).sensitive |= sensitive;
    }

    pub(super) fn into_map(self) -> BTreeMap<AssetDigest, Asset> {
        self.0
    }
}

impl Compiler {
    /// Gets everything that one draft waits for, by name; none if something cannot be had, which has been told.
    pub(super) fn acquire(
        &self,
        pending: &[Pending],
        sensitive: bool,
        assets: &mut Assets,
    ) -> Option<BTreeMap<String, AssetRef>> {
        // Every source is tried, so that all that is wrong comes out at once.
        let acquired: Vec<Option<(String, AssetRef)>> = pending
            .iter()
            .map(|pending| {
                if let Origin::Secret(slot) = &pending.origin {
                    return Some((pending.name.clone(), AssetRef::Secret(slot.clone())));
                }
                let (digest, size, content) = self.acquire_one(pending)?;
                assets.add(digest, Asset { size, sensitive, content });
                Some((pending.name.clone(), AssetRef::Plain(digest)))
            })
            .collect();
        acquired.into_iter().collect()
    }

    fn acquire_one(&self, pending: &Pending) -> Option<(AssetDigest, u64, Content)> {
        let acquired = match (&pending.origin, pending.checksum) {
            (Origin::Text(bytes), _) => Ok((AssetDigest::of(bytes), bytes.len() as u64, Content::Bytes(Arc::clone(bytes)))),
            (Origin::Local(path), _) => self.acquire.local(path).map(|got| (got.digest, got.size, Content::Stored(got.stored))),
            (Origin::Url(address), Some(checksum)) => {
                self.acquire.fetch(address, checksum).map(|got| (got.digest, got.size, Content::Stored(got.stored)))
            }
            (Origin::Url(_), None) => {
                self.evaluation.add(without_checksum(&pending.place));
                return None;
            }
            // They are known already, and go elsewhere.
            (Origin::Secret(_), _) => return None,
        };
        let acquired = acquired.and_then(|(found, size, content)| match pending.checksum {
            Some(wanted) if wanted != found => Err(AcquireError::Mismatch { found }),
            _ => Ok((found, size, content)),
        });
        match acquired {
            Ok(acquired) => Some(acquired),
            Err(error) => {
                self.evaluation.add(refused(pending, &error));
                None
            }
        }
    }

    /// What of a source can be said before anything is acquired: whether it may be, and could be verified.
    pub(super) fn check_pending(&self, pending: &Pending) -> Option<()> {
        let Origin::Url(address) = &pending.origin else { return Some(()) };
        let refusal = match self.acquire.permits(address) {
            Err(error) => refused(pending, &error),
            Ok(()) if pending.checksum.is_none() => without_checksum(&pending.place),
            Ok(()) => return Some(()),
        };
        self.evaluation.add(refusal);
        None
    }
}

fn without_checksum(place: &Place) -> Diagnostic {
    Diagnostic::error(place, "what is fetched from an address needs a checksum")
        .label("no checksum is given for it")
        .hint("say which bytes are meant: `sha256:` and 64 hex digits, as `sha256sum` prints them".to_owned())
}

fn refused(pending: &Pending, error: &AcquireError) -> Diagnostic {
    let place = &pending.place;
    if let AcquireError::Mismatch { found } = error {
        let summary = pending.checksum_error.clone().unwrap_or_else(|| error.to_string());
        return Diagnostic::error(place, summary).note(format!("it has {found}"));
    }
    let summary = match &pending.origin {
        Origin::Text(_) | Origin::Secret(_) => "the content cannot be taken along".to_owned(),
        Origin::Local(path) => format!("the file `{path}` cannot be taken along"),
        // Without a query: it may hold a token.
        Origin::Url(address) => format!("`{}` cannot be fetched", address.split(['?', '#']).next().unwrap_or_default()),
    };
    Diagnostic::error(place, summary).label(error.to_string()).hint(error.hint())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asset(sensitive: bool) -> Asset {
        Asset { size: 1, sensitive, content: Content::Bytes(Arc::from(*b"x")) }
    }

    #[test]
    fn bytes_are_there_once_and_as_sensitive_as_their_most_sensitive_use() {
        let mut assets = Assets::default();
        let (one, other) = (AssetDigest::of(b"x"), AssetDigest::of(b"y"));
        for (digest, sensitive) in [(one, false), (one, true), (one, false), (other, false)] {
            assets.add(digest, asset(sensitive));
        }
        let found: Vec<_> = assets.into_map().into_iter().map(|(digest, asset)| (digest, asset.sensitive)).collect();
        assert_eq!(found.len(), 2);
        assert!(found.contains(&(one, true)) && found.contains(&(other, false)));
    }
}
