//! Orders that follow from paths: a folder before what lies in it, and what is removed from a folder before the folder is.
//!
//! Each resource looks for the nearest folder above it that is declared; the folders above that one are that folder's own matter. Who
//! waits for the node has no desired state to look at, but a path all the same; and it cannot be `absent`, which takes no attribute that
//! could wait.

use runtime_sdk::{Catalog, DefinitionError, DefinitionResult, Diagnostic, Edge, Peer, ResourceId, TypedPeer};

use crate::File;
use crate::desired::{Desired, Ensure};

/// Why what lies in a folder goes after it.
const IN_FOLDER: &str = "a folder goes before what lies in it";

/// Why a folder that goes away does so after what is removed from it.
const FROM_FOLDER: &str = "what is removed from a folder goes before the folder does";

/// The orders of one resource.
pub fn edges(id: &ResourceId, desired: Option<&Desired>, catalog: &Catalog) -> DefinitionResult<Vec<Edge>> {
    let mut edges = Vec::new();
    let mut seen = Vec::new();
    for path in own_paths(id, desired, catalog)? {
        if let Some(folder) = nearest(id, &path, catalog)?.filter(|folder| !seen.contains(&folder.id)) {
            seen.push(folder.id.clone());
            edges.extend(with_folder(id, desired, &folder)?);
        }
    }
    Ok(edges)
}

/// The order of one resource with a folder above a path of its own.
fn with_folder(id: &ResourceId, desired: Option<&Desired>, folder: &TypedPeer<File>) -> DefinitionResult<Option<Edge>> {
    let is_removed = |desired: Option<&Desired>| desired.is_some_and(|desired| desired.ensure == Ensure::Absent);
    Ok(match (is_removed(folder.desired.as_ref()), is_removed(desired)) {
        (false, _) => Some(Edge::after(id, &folder.id, IN_FOLDER)),
        (true, true) => Some(Edge::after(&folder.id, id, FROM_FOLDER)),
        // It would make the folder again that the other resource removes, in each run anew.
        (true, false) if desired.is_some_and(|desired| desired.parents) => return Err(removed_by(&folder.id).into()),
        // It is to be in a folder that is not to be: the node will say so, and no order helps.
        (true, false) => None,
    })
}

fn removed_by(folder: &ResourceId) -> Diagnostic {
    Diagnostic::at("parents", format!("`{folder}` removes a folder that this resource would make"))
        .hint("leave `parents` out, or the other resource")
}

/// The path of a resource, and where a link there may lead.
fn own_paths(id: &ResourceId, desired: Option<&Desired>, catalog: &Catalog) -> DefinitionResult<Vec<Vec<u8>>> {
    match desired {
        Some(desired) => Ok(desired.places().map(|place| place.as_bytes().to_vec()).collect()),
        // It waits for the node.
        None => match catalog.find(id) {
            Some(own) => Ok(own.affected_paths),
            None => Err(DefinitionError::Other(format!("the catalog has no path of `{id}`"))),
        },
    }
}

/// The nearest declared folder, or link to one, above the path.
fn nearest(own: &ResourceId, path: &[u8], catalog: &Catalog) -> DefinitionResult<Option<TypedPeer<File>>> {
    let own_type = |peer: &Peer| peer.id.type_name == <File as runtime_sdk::Definition>::TYPE && peer.id != *own;
    let folders = catalog.above(path).into_iter().filter(own_type);
    let folders = folders.map(TypedPeer::<File>::decode).collect::<DefinitionResult<Vec<_>>>()?;
    let can_hold = |desired: &Desired| desired.ensure != Ensure::File;
    let folders = folders.into_iter().filter(|peer| peer.desired.as_ref().is_none_or(can_hold));
    let depth = |peer: &TypedPeer<File>| peer.affected_paths.iter().filter(|folder| is_above(folder, path)).map(Vec::len).max();
    Ok(folders.max_by_key(depth))
}

fn is_above(folder: &[u8], path: &[u8]) -> bool {
    folder == b"/" || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime_sdk::EdgeReason;
    use runtime_sdk::testing::{Given, Peers, foreign};

    fn file(path: &str) -> Given {
        Given::new().set("path", path)
    }

    fn directory(path: &str) -> Given {
        file(path).set("ensure", "directory")
    }

    fn absent(path: &str) -> Given {
        file(path).set("ensure", "absent")
    }

    /// What goes before what, as `first < second`.
    fn orders(peers: &Peers, name: &str) -> Vec<String> {
        let edges = peers.relationships::<File>(name).unwrap();
        edges.iter().map(|edge| format!("{} < {}", edge.prerequisite.name, edge.dependent.name)).collect()
    }

    fn reason(peers: &Peers, name: &str) -> String {
        match peers.relationships::<File>(name).unwrap().remove(0).reason {
            EdgeReason::Order(words) => words,
            EdgeReason::Action(key) => panic!("the action `{key}`"),
        }
    }

    fn none() -> Vec<String> {
        Vec::new()
    }

    #[test]
    fn a_file_goes_after_the_nearest_declared_folder_above_it() {
        let peers = Peers::new()
            .add::<File>("root", &directory("/"))
            .add::<File>("srv", &directory("/srv"))
            .add::<File>("site", &directory("/srv/site"))
            .add::<File>("page", &file("/srv/site/pages/index"))
            .add::<File>("other", &file("/srv/sites"));
        assert_eq!(orders(&peers, "page"), ["site < page"]);
        assert_eq!(orders(&peers, "site"), ["srv < site"]);
        assert_eq!(orders(&peers, "srv"), ["root < srv"]);
        assert_eq!(orders(&peers, "other"), ["srv < other"]);
        assert_eq!(orders(&peers, "root"), none());
        assert_eq!(reason(&peers, "page"), "a folder goes before what lies in it");
    }

    #[test]
    fn a_link_to_a_folder_goes_first_too_and_a_file_does_not() {
        let peers = Peers::new()
            .add::<File>("current", &file("/srv/current").set("ensure", "symlink").set("target", "releases/1"))
            .add::<File>("plain", &file("/srv/plain"))
            .add::<File>("beneath_link", &file("/srv/current/conf"))
            .add::<File>("beneath_file", &file("/srv/plain/conf"));
        assert_eq!(orders(&peers, "beneath_link"), ["current < beneath_link"]);
        assert_eq!(orders(&peers, "beneath_file"), none());
    }

    #[test]
    fn what_is_removed_from_a_folder_that_goes_away_goes_first() {
        let peers = Peers::new()
            .add::<File>("srv", &absent("/srv"))
            .add::<File>("site", &absent("/srv/site"))
            .add::<File>("page", &absent("/srv/site/index"));
        assert_eq!(orders(&peers, "page"), ["page < site"]);
        assert_eq!(orders(&peers, "site"), ["site < srv"]);
        assert_eq!(orders(&peers, "srv"), none());
        assert_eq!(reason(&peers, "page"), "what is removed from a folder goes before the folder does");
    }

    #[test]
    fn what_is_removed_from_a_folder_that_stays_goes_after_it() {
        let peers = Peers::new().add::<File>("srv", &directory("/srv")).add::<File>("old", &absent("/srv/old"));
        assert_eq!(orders(&peers, "old"), ["srv < old"]);
    }

    #[test]
    fn a_file_in_a_folder_that_goes_away_has_no_order() {
        let peers = Peers::new().add::<File>("srv", &absent("/srv")).add::<File>("page", &file("/srv/page"));
        assert_eq!(orders(&peers, "page"), none());
    }

    #[test]
    fn a_folder_that_one_removes_and_another_would_make_is_refused() {
        let page = file("/srv/site/page").set("parents", true);
        let peers = Peers::new().add::<File>("srv", &absent("/srv")).add::<File>("page", &page);
        let Err(DefinitionError::Invalid(refusal)) = peers.relationships::<File>("page") else { panic!("it is taken") };
        assert_eq!(refusal.attribute.as_deref(), Some("parents"));
        assert_eq!(refusal.message, "`file.srv` removes a folder that this resource would make");
    }

    #[test]
    fn a_file_goes_after_the_folders_of_each_place_that_a_link_may_lead_to() {
        let motd = file("/etc/motd").set("links", "follow").set("leads_to", serde_json::json!(["/run/x/motd", "/run/x/y/motd"]));
        let peers = Peers::new()
            .add::<File>("etc", &directory("/etc"))
            .add::<File>("run", &directory("/run/x"))
            .add::<File>("motd", &motd)
            .add_deferred::<File>(
                "waits",
                &file("/srv/it").set("links", "follow").set("leads_to", serde_json::json!(["/run/x/it"])),
            );
        assert_eq!(orders(&peers, "motd"), ["etc < motd", "run < motd"]);
        assert_eq!(orders(&peers, "waits"), ["run < waits"]);
    }

    #[test]
    fn a_folder_that_a_link_may_lead_to_goes_before_what_is_in_it() {
        let folder =
            directory("/srv/site").set("links", "follow").set("leads_to", serde_json::json!(["/data/site", "/srv/site/own"]));
        let peers = Peers::new()
            .add::<File>("srv", &directory("/srv"))
            .add::<File>("site", &folder)
            .add::<File>("page", &file("/data/site/index"));
        assert_eq!((orders(&peers, "page"), orders(&peers, "site")), (vec!["site < page".into()], vec!["srv < site".into()]));
    }

    #[test]
    fn a_file_that_makes_its_parents_still_goes_after_a_declared_one() {
        let page = file("/srv/site/pages/index").set("parents", true);
        let other = file("/srv/site/pages/other").set("parents", true);
        let peers = Peers::new().add::<File>("srv", &directory("/srv")).add::<File>("page", &page).add::<File>("other", &other);
        assert_eq!((orders(&peers, "page"), orders(&peers, "other")), (vec!["srv < page".into()], vec!["srv < other".into()]));
    }

    #[test]
    fn who_waits_for_the_node_is_ordered_by_its_path() {
        let peers = Peers::new()
            .add_deferred::<File>("srv", &directory("/srv").deferred("owner"))
            .add_deferred::<File>("page", &file("/srv/page").deferred("content"));
        assert_eq!(orders(&peers, "page"), ["srv < page"]);
    }

    #[test]
    fn paths_of_other_types_are_no_folders() {
        let other = foreign("package.nginx", Vec::new(), Vec::new(), vec![b"/srv".to_vec()]);
        let peers = Peers::new().add_peer(other).add::<File>("page", &file("/srv/page"));
        assert_eq!(orders(&peers, "page"), none());
    }
}
