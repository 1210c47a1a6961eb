//! What a definition may see of the other resources of its catalog.

use wasmtime::component::Resource;

use super::Peer;
use super::state::{CatalogViewHandle, DefinitionState};
use crate::engine::bindings::runtime::module::catalog_view::{
    Host, HostCatalogView, Peer as WitPeer, ResourceId as WitResourceId,
};
use crate::engine::convert;

impl Host for DefinitionState {}

impl HostCatalogView for DefinitionState {
    fn of_type(&mut self, _: Resource<CatalogViewHandle>, type_name: String) -> wasmtime::Result<Vec<WitPeer>> {
        Ok(self.peers_where(|peer| peer.id.type_name.as_str() == type_name))
    }

    fn all(&mut self, _: Resource<CatalogViewHandle>) -> wasmtime::Result<Vec<WitPeer>> {
        Ok(self.peers_where(|_| true))
    }

    fn find(&mut self, _: Resource<CatalogViewHandle>, id: WitResourceId) -> wasmtime::Result<Option<WitPeer>> {
        let is_it = |peer: &Peer| peer.id.type_name.as_str() == id.type_name && peer.id.name.as_str() == id.name;
        Ok(self.peers_where(is_it).pop())
    }

    fn above(&mut self, _: Resource<CatalogViewHandle>, path: Vec<u8>) -> wasmtime::Result<Vec<WitPeer>> {
        Ok(self.peers_where(|peer| peer.affected_paths.iter().any(|folder| is_above(&folder.0, &path))))
    }

    fn drop(&mut self, handle: Resource<CatalogViewHandle>) -> wasmtime::Result<()> {
        self.table.delete(handle)?;
        Ok(())
    }
}

impl DefinitionState {
    fn peers_where(&self, wanted: impl Fn(&Peer) -> bool) -> Vec<WitPeer> {
        let peers = self.peers.iter().flat_map(|peers| peers.iter());
        peers.filter(|peer| wanted(peer)).map(|peer| convert::peer(peer, self.own_type.as_ref())).collect()
    }
}

/// Whether `folder` is above `path`, both absolute and in normal form.
fn is_above(folder: &[u8], path: &[u8]) -> bool {
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    path.strip_prefix(folder).is_some_and(|rest| rest.len() > 1 && rest.starts_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::is_above;

    #[test]
    fn a_folder_is_above_what_lies_in_it_at_any_distance() {
        for (folder, path) in [("/a", "/a/b"), ("/a", "/a/b/c"), ("/", "/a"), ("/", "/a/b")] {
            assert!(is_above(folder.as_bytes(), path.as_bytes()), "{folder} {path}");
        }
        for (folder, path) in [("/a", "/a"), ("/a", "/ab"), ("/a/b", "/a"), ("/", "/"), ("/a", ""), ("/a", "/a/")] {
            assert!(!is_above(folder.as_bytes(), path.as_bytes()), "{folder} {path}");
        }
    }
}
