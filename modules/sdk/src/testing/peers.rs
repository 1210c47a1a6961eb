//! A catalog in memory, for orders that a definition derives.

use std::collections::BTreeMap;

use super::{Given, any_digest, compile, footprint};
use crate::catalog::CatalogSource;
use crate::{Catalog, Claim, Definition, DefinitionResult, Edge, Effect, Footprint, Peer, ResourceId, json};

/// Resources of a catalog, by address.
#[derive(Default)]
pub struct Peers {
    peers: BTreeMap<(String, String), Peer>,
}

impl Peers {
    /// An empty catalog.
    pub fn new() -> Self {
        Self::default()
    }

    /// With the resource `name` of the type `T`, which must be right.
    ///
    /// # Panics
    ///
    /// When the definition refuses it.
    #[must_use]
    pub fn add<T: Definition>(mut self, name: &str, given: &Given) -> Self {
        let desired = compile::<T>(given, any_digest).expect("`compile` accepts the declaration");
        let desired = json::canonical(&desired).expect("the desired state has a canonical form");
        self.insert::<T>(name, given, Some(desired));
        self
    }

    /// With the resource `name` of the type `T`, whose state waits for the node.
    ///
    /// # Panics
    ///
    /// When the definition refuses its identity.
    #[must_use]
    pub fn add_deferred<T: Definition>(mut self, name: &str, given: &Given) -> Self {
        self.insert::<T>(name, given, None);
        self
    }

    /// With any resource.
    #[must_use]
    pub fn add_peer(mut self, peer: Peer) -> Self {
        self.peers.insert((peer.id.type_name.clone(), peer.id.name.clone()), peer);
        self
    }

    fn insert<T: Definition>(&mut self, name: &str, given: &Given, desired: Option<String>) {
        let id = ResourceId { type_name: T::TYPE.into(), name: name.into() };
        let Footprint { claims, effects, affected_paths } = footprint::<T>(given).expect("`footprint` accepts the declaration");
        let peer = Peer { id: id.clone(), desired, claims, effects, affected_paths };
        self.peers.insert((id.type_name, id.name), peer);
    }

    /// The orders that the resource `name` of the type `T` derives, which must be in the catalog.
    ///
    /// # Errors
    /// What the definition refuses.
    ///
    /// # Panics
    ///
    /// When there is no such resource, or an order has it at neither end.
    pub fn relationships<T: Definition>(&self, name: &str) -> DefinitionResult<Vec<Edge>> {
        let id = ResourceId { type_name: T::TYPE.into(), name: name.into() };
        let view = View { peers: self, asking: T::TYPE };
        let own = view.find(&id).expect("the resource is in the catalog");
        let desired = own.desired.as_deref().map(json::parse_canonical).transpose()?;
        let edges = T::relationships(&id, desired.as_ref(), &Catalog::new(&view))?;
        for edge in &edges {
            assert!(edge.prerequisite == id || edge.dependent == id, "`{id}` derives an order between others");
            assert!(edge.prerequisite != edge.dependent, "`{id}` is to wait for itself");
        }
        Ok(edges)
    }
}

/// The catalog as resources of one type see it.
struct View<'a> {
    peers: &'a Peers,
    asking: &'static str,
}

impl View<'_> {
    fn peers_where(&self, wanted: impl Fn(&Peer) -> bool) -> Vec<Peer> {
        let seen = |peer: &Peer| {
            let desired = peer.desired.clone().filter(|_| peer.id.type_name == self.asking);
            Peer { desired, ..peer.clone() }
        };
        self.peers.peers.values().filter(|peer| wanted(peer)).map(seen).collect()
    }
}

impl CatalogSource for View<'_> {
    fn of_type(&self, type_name: &str) -> Vec<Peer> {
        self.peers_where(|peer| peer.id.type_name == type_name)
    }

    fn all(&self) -> Vec<Peer> {
        self.peers_where(|_| true)
    }

    fn find(&self, id: &ResourceId) -> Option<Peer> {
        self.peers_where(|peer| peer.id == *id).pop()
    }

    fn above(&self, path: &[u8]) -> Vec<Peer> {
        self.peers_where(|peer| peer.affected_paths.iter().any(|folder| is_above(folder, path)))
    }

    fn within(&self, path: &[u8]) -> Vec<Peer> {
        self.peers_where(|peer| peer.affected_paths.iter().any(|affected| affected == path || is_above(path, affected)))
    }
}

/// Whether `folder` is above `path`, at any distance; nothing is that is not absolute.
fn is_above(folder: &[u8], path: &[u8]) -> bool {
    if !folder.starts_with(b"/") {
        return false;
    }
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    path.strip_prefix(folder).is_some_and(|rest| rest.len() > 1 && rest.starts_with(b"/"))
}

/// A peer of a type that has no Rust definition at hand.
pub fn foreign(address: &str, claims: Vec<Claim>, effects: Vec<Effect>, affected_paths: Vec<Vec<u8>>) -> Peer {
    let id = address.parse().expect("the address is `TYPE.NAME`");
    Peer { id, desired: None, claims, effects, affected_paths }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_above_and_beneath_a_path_is_what_the_host_finds() {
        let peer = |name: &str, path: &str| foreign(name, vec![], vec![], vec![path.into()]);
        let peers = Peers::new().add_peer(peer("file.a", "/a")).add_peer(peer("file.b", "/a/b")).add_peer(peer("file.c", "/ab"));
        let view = View { peers: &peers, asking: "file" };
        let names = |found: Vec<Peer>| found.into_iter().map(|peer| peer.id.name).collect::<Vec<_>>();
        assert_eq!(names(view.within(b"/a")), ["a", "b"]);
        assert_eq!(names(view.within(b"/")), ["a", "b", "c"]);
        assert_eq!(names(view.above(b"/a/b/c")), ["a", "b"]);
        for none in [&b""[..], b"a", b"a/b"] {
            assert_eq!(names([view.within(none), view.above(none)].concat()), [""; 0], "{none:?}");
        }
    }
}
