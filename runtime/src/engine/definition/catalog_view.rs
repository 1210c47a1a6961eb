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
        let wanted = (id.type_name.as_str(), id.name.as_str());
        let peers = self.peers.as_deref().map_or(&[][..], |peers| &**peers);
        let found = peers.binary_search_by(|peer| (peer.id.type_name.as_str(), peer.id.name.as_str()).cmp(&wanted));
        Ok(found.ok().map(|place| self.shown(&peers[place])))
    }

    fn above(&mut self, _: Resource<CatalogViewHandle>, path: Vec<u8>) -> wasmtime::Result<Vec<WitPeer>> {
        let found = self.peers.iter().flat_map(|peers| peers.above(&path));
        Ok(found.map(|peer| self.shown(peer)).collect())
    }

    fn within(&mut self, _: Resource<CatalogViewHandle>, path: Vec<u8>) -> wasmtime::Result<Vec<WitPeer>> {
        let found = self.peers.iter().flat_map(|peers| peers.within(&path));
        Ok(found.map(|peer| self.shown(peer)).collect())
    }

    fn drop(&mut self, handle: Resource<CatalogViewHandle>) -> wasmtime::Result<()> {
        self.table.delete(handle)?;
        Ok(())
    }
}

impl DefinitionState {
    fn peers_where(&self, wanted: impl Fn(&Peer) -> bool) -> Vec<WitPeer> {
        let peers = self.peers.iter().flat_map(|peers| peers.iter());
        peers.filter(|peer| wanted(peer)).map(|peer| self.shown(peer)).collect()
    }

    fn shown(&self, peer: &Peer) -> WitPeer {
        convert::peer(peer, self.own_type.as_ref())
    }
}
