//! Orders between a user and the groups that are declared beside it, and contradictions between them.
//!
//! Of a group only its effects are known here: one that is to be there may be created, one that is not may only be deleted.

use runtime_sdk::{Catalog, DefinitionError, DefinitionResult, Diagnostic, Edge, Effect, Peer, ResourceId};

/// Why a user goes after its groups.
const AFTER_GROUPS: &str = "a group goes before the users that are to be in it";

/// Why a user that goes away does so before the groups that do.
const BEFORE_GROUPS: &str = "a user that is removed goes before the groups that are";

/// Why the group of a removed user's name waits.
const OWN_GROUP: &str = "with a user goes the group of its name, if it is only its own";

/// The orders of one user.
pub fn edges(id: &ResourceId, catalog: &Catalog) -> DefinitionResult<Vec<Edge>> {
    let own = catalog.find(id).ok_or_else(|| DefinitionError::Other(format!("the catalog has no `{id}`")))?;
    let own = Own::of(&own).ok_or_else(|| DefinitionError::Other(format!("the catalog has no user of `{id}`")))?;
    let edges = catalog.of_type("group").into_iter().map(|group| own.edge(id, &group));
    Ok(edges.collect::<DefinitionResult<Vec<_>>>()?.into_iter().flatten().collect())
}

/// What the effects of a user say of it.
struct Own {
    name: Vec<u8>,
    is_removed: bool,
    /// The groups that it is to be in.
    joins: Vec<Vec<u8>>,
    /// Whether one of them is its primary group, so that none is made with it. Memberships in the others are claimed, a primary group is not.
    has_primary: bool,
}

impl Own {
    fn of(peer: &Peer) -> Option<Self> {
        let user = peer.effects.iter().find(|effect| effect.domain == "user")?;
        let joins: Vec<Vec<u8>> =
            peer.effects.iter().filter(|effect| effect.domain == "group").map(|effect| effect.key.clone()).collect();
        let is_membership = |group: &Vec<u8>| peer.claims.iter().any(|claim| claim.domain == "group" && claim.key == *group);
        let has_primary = joins.iter().any(|group| !is_membership(group));
        Some(Self { name: user.key.clone(), is_removed: does(user, "delete"), joins, has_primary })
    }

    fn edge(&self, id: &ResourceId, peer: &Peer) -> DefinitionResult<Option<Edge>> {
        let managed = |effect: &&Effect| effect.domain == "group" && (does(effect, "create") || does(effect, "delete"));
        let Some(group) = peer.effects.iter().find(managed) else { return Ok(None) };
        let goes_away = does(group, "delete");
        let is_joined = self.joins.contains(&group.key);
        match (self.is_removed, goes_away) {
            (true, true) => Ok(Some(Edge::after(&peer.id, id, BEFORE_GROUPS))),
            (true, false) if group.key == self.name => Ok(Some(Edge::after(&peer.id, id, OWN_GROUP))),
            (true, false) => Ok(None),
            (false, true) if is_joined => Err(joins_absent(&peer.id).into()),
            (false, false) if is_joined => Ok(Some(Edge::after(id, &peer.id, AFTER_GROUPS))),
            (false, _) if group.key == self.name && !self.has_primary => Err(own_name(&peer.id, goes_away).into()),
            (false, _) => Ok(None),
        }
    }
}

fn does(effect: &Effect, action: &str) -> bool {
    effect.actions.iter().any(|own| own == action)
}

fn joins_absent(group: &ResourceId) -> Diagnostic {
    Diagnostic::new(format!("the user is to be in the group of `{group}`, which is declared absent"))
        .hint("declare the group present, or take it out of `group` and `groups`")
}

fn own_name(group: &ResourceId, goes_away: bool) -> Diagnostic {
    let message = format!("a group of the user's own name is made with it, and `{group}` declares that group");
    let hint = if goes_away { "name another primary group with `group`" } else { "name it as the primary group with `group`" };
    Diagnostic::at("group", message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::User;
    use runtime_sdk::testing::{Given, Peers, foreign};
    use serde_json::json;

    fn user() -> Given {
        Given::new().set("name", "web")
    }

    fn group(address: &str, name: &str, ensure: &str) -> Peer {
        let actions: &[&str] = if ensure == "absent" { &["delete", "read"] } else { &["create", "modify", "read"] };
        foreign(address, Vec::new(), vec![Effect::group(name, actions)], Vec::new())
    }

    /// What goes before what, as `first < second`.
    fn orders(given: &Given, groups: &[Peer]) -> Result<Vec<String>, String> {
        let peers =
            groups.iter().fold(Peers::new().add_deferred::<User>("web", given), |peers, group| peers.add_peer(group.clone()));
        match peers.relationships::<User>("web") {
            Ok(edges) => Ok(edges.iter().map(|edge| format!("{} < {}", edge.prerequisite, edge.dependent)).collect()),
            Err(DefinitionError::Invalid(diagnostic)) => Err(diagnostic.message),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_user_goes_after_the_groups_that_it_is_to_be_in() {
        let groups =
            [group("group.w", "web", "present"), group("group.a", "adm", "present"), group("group.o", "other", "present")];
        let given = user().set("group", "web").set("groups", json!(["adm"])).deferred("uid");
        assert_eq!(orders(&given, &groups).unwrap(), ["group.a < user.web", "group.w < user.web"]);
    }

    #[test]
    fn a_removed_user_goes_before_removed_groups_and_the_group_of_its_name() {
        let gone = user().set("ensure", "absent");
        let groups =
            [group("group.a", "adm", "absent"), group("group.w", "web", "present"), group("group.o", "other", "present")];
        assert_eq!(orders(&gone, &groups).unwrap(), ["user.web < group.a", "user.web < group.w"]);
    }

    #[test]
    fn what_cannot_be_is_told() {
        let absent = [group("group.a", "adm", "absent")];
        let message = "the user is to be in the group of `group.a`, which is declared absent";
        assert_eq!(orders(&user().set("groups", json!(["adm"])), &absent).unwrap_err(), message);
        assert_eq!(orders(&user().set("group", "adm"), &absent).unwrap_err(), message);
        assert_eq!(orders(&user(), &absent).unwrap(), [""; 0]);
        let own = [group("group.w", "web", "present")];
        let message = "a group of the user's own name is made with it, and `group.w` declares that group";
        assert_eq!(orders(&user(), &own).unwrap_err(), message);
        assert_eq!(orders(&user().set("groups", json!(["adm"])), &own).unwrap_err(), message);
        assert_eq!(orders(&user().set("group", 100), &own).unwrap(), [""; 0], "another primary group");
    }
}
