//! The other resources of a catalog, and orders that follow from them.
//!
//! Where they come from is behind [`CatalogSource`]: the host in a component, a list in tests.

use crate::{CatalogView, Claim, Definition, DefinitionResult, Diagnostic, Edge, EdgeReason, Effect, Peer, ResourceId, json};

/// Where other resources come from.
pub trait CatalogSource {
    /// Resources of one type, in the order of their addresses.
    fn of_type(&self, type_name: &str) -> Vec<Peer>;

    /// Every resource, in the order of their addresses.
    fn all(&self) -> Vec<Peer>;

    /// The resource at this address; none if there is none.
    fn find(&self, id: &ResourceId) -> Option<Peer>;

    /// Resources that change a folder above the path, in the order of their addresses.
    fn above(&self, path: &[u8]) -> Vec<Peer>;

    /// Resources that change the path or something beneath it, in the order of their addresses.
    fn within(&self, path: &[u8]) -> Vec<Peer>;
}

impl CatalogSource for CatalogView {
    fn of_type(&self, type_name: &str) -> Vec<Peer> {
        Self::of_type(self, type_name)
    }

    fn all(&self) -> Vec<Peer> {
        Self::all(self)
    }

    fn find(&self, id: &ResourceId) -> Option<Peer> {
        Self::find(self, id)
    }

    fn above(&self, path: &[u8]) -> Vec<Peer> {
        Self::above(self, path)
    }

    fn within(&self, path: &[u8]) -> Vec<Peer> {
        Self::within(self, path)
    }
}

/// A fixed snapshot of the catalog. The asking resource is in it.
///
/// What is asked for crosses from the host as a whole: a type of which there may be many resources asks for the few that concern it
/// ([`above`](Self::above), [`find`](Self::find)) and not for all.
#[derive(Clone, Copy)]
pub struct Catalog<'a> {
    source: &'a dyn CatalogSource,
}

impl<'a> Catalog<'a> {
    /// The catalog behind `source`.
    pub fn new(source: &'a dyn CatalogSource) -> Self {
        Self { source }
    }

    /// Resources of the type that `D` defines, strictly decoded. Desired states are there only if `D` is the asking type, and the resource
    /// does not wait for the node.
    ///
    /// # Errors
    /// If a desired state is not what `D` writes; the error names the resource.
    pub fn of<D: Definition>(&self) -> DefinitionResult<Vec<TypedPeer<D>>> {
        self.source.of_type(D::TYPE).into_iter().map(TypedPeer::decode).collect()
    }

    /// Resources of one type, in the order of their addresses.
    pub fn of_type(&self, type_name: &str) -> Vec<Peer> {
        self.source.of_type(type_name)
    }

    /// Every resource, in the order of their addresses.
    pub fn all(&self) -> Vec<Peer> {
        self.source.all()
    }

    /// The resource at this address; none if there is none.
    pub fn find(&self, id: &ResourceId) -> Option<Peer> {
        self.source.find(id)
    }

    /// Resources that change a folder above `path`, in the order of their addresses: one of their affected paths is such a folder.
    pub fn above(&self, path: impl AsRef<[u8]>) -> Vec<Peer> {
        self.source.above(path.as_ref())
    }

    /// Resources that change `path` or something beneath it, in the order of their addresses: one of their affected paths is it, or lies there.
    pub fn within(&self, path: impl AsRef<[u8]>) -> Vec<Peer> {
        self.source.within(path.as_ref())
    }
}

/// A resource of a known type.
pub struct TypedPeer<D: Definition> {
    /// Its address.
    pub id: ResourceId,
    /// Its desired state, for peers of the asking type, and none while it waits for the node.
    pub desired: Option<D::Desired>,
    /// Its claims.
    pub claims: Vec<Claim>,
    /// What it may touch.
    pub effects: Vec<Effect>,
    /// Paths that change when it does.
    pub affected_paths: Vec<Vec<u8>>,
}

impl<D: Definition> TypedPeer<D> {
    /// A peer as `D` knows it.
    ///
    /// # Errors
    /// If it is of another type, or its desired state is not what `D` writes; the error names the resource.
    pub fn decode(peer: Peer) -> DefinitionResult<Self> {
        let Peer { id, desired, claims, effects, affected_paths } = peer;
        if id.type_name != D::TYPE {
            return Err(Diagnostic::new(format!("`{id}` is not of the type `{}`", D::TYPE)).into());
        }
        let unreadable = |error| Diagnostic::new(format!("the desired state of `{id}` cannot be read: {error}"));
        let desired = desired.as_deref().map(json::parse_canonical).transpose().map_err(unreadable)?;
        Ok(Self { id, desired, claims, effects, affected_paths })
    }
}

impl Edge {
    /// `dependent` goes after `prerequisite`; `reason` says why, for people and without values: "it lies in that folder".
    pub fn after(dependent: &ResourceId, prerequisite: &ResourceId, reason: impl Into<String>) -> Self {
        let reason = EdgeReason::Order(reason.into());
        Self { prerequisite: prerequisite.clone(), dependent: dependent.clone(), reason, way_out: None }
    }

    /// `dependent` needs the shared action `key` once `prerequisite` has changed. The key must be among the prerequisites that the dependent's
    /// `validate` lists.
    pub fn action(dependent: &ResourceId, prerequisite: &ResourceId, key: impl Into<String>) -> Self {
        let reason = EdgeReason::Action(key.into());
        Self { prerequisite: prerequisite.clone(), dependent: dependent.clone(), reason, way_out: None }
    }

    /// How whoever writes the manifest does without this order: told where orders make a circle.
    #[must_use]
    pub fn way_out(mut self, words: impl Into<String>) -> Self {
        self.way_out = Some(words.into());
        self
    }
}

#[cfg(test)]
mod tests;
