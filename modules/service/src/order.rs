//! Orders that follow from definitions of services among the resources of a catalog.

use std::collections::BTreeMap;

use runtime_sdk::{Catalog, Edge, ResourceId};
use service_backend::{DAEMON_RELOAD, Desired, UNIT_FOLDERS, is_unit_file};

/// A service that is started or enabled goes after whatever writes such a definition, of whichever type: its own, or one that it needs.
pub fn edges(id: &ResourceId, desired: Option<&Desired>, catalog: &Catalog) -> Vec<Edge> {
    if desired.is_some_and(|desired| !desired.daemon_reload || !desired.needs_definition()) {
        return Vec::new();
    }
    let mut edges = BTreeMap::new();
    for producer in UNIT_FOLDERS.iter().flat_map(|folder| catalog.within(folder)) {
        if producer.id != *id && producer.affected_paths.iter().any(|path| is_unit_file(path)) {
            let address = producer.id.to_string();
            let way_out = format!("write `daemon_reload = false` in `{id}`, if it does not need what `{}` writes", producer.id);
            edges.insert(address, Edge::action(id, &producer.id, DAEMON_RELOAD).way_out(way_out));
        }
    }
    edges.into_values().collect()
}
