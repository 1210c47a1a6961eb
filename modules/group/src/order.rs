//! Orders that follow from members, and groups that cannot be managed together.
//!
//! Of a peer of another type only its effects are known: a user that is to be there may be created, one that is not may only be deleted,
//! and a group that a user is to be in is joined.

use std::collections::BTreeMap;

use runtime_sdk::{AccountId, Catalog, Conflict, DefinitionError, DefinitionResult, Diagnostic, Edge, Effect, Peer, ResourceId};

use crate::Desired;

/// Why a group with members goes after them.
const AFTER_MEMBERS: &str = "a user goes before the group that lists it as a member";

/// The orders of one group.
pub fn edges(id: &ResourceId, catalog: &Catalog) -> DefinitionResult<Vec<Edge>> {
    let own = catalog.find(id).ok_or_else(|| DefinitionError::Other(format!("the catalog has no `{id}`")))?;
    let members: Vec<&[u8]> = own.effects.iter().filter(|effect| effect.domain == "user").map(|effect| &effect.key[..]).collect();
    if members.is_empty() {
        return Ok(Vec::new());
    }
    let name = own.effects.iter().find(|effect| effect.domain == "group").map(|effect| effect.key.clone()).unwrap_or_default();
    let users = catalog.of_type("user");
    let listed = users.iter().filter(|peer| managed_user(peer).is_some_and(|user| members.contains(&&user.key[..])));
    listed.map(|peer| edge(id, &name, peer)).collect()
}

/// The user that a peer manages.
fn managed_user(peer: &Peer) -> Option<&Effect> {
    peer.effects.iter().find(|effect| effect.domain == "user" && (does(effect, "create") || does(effect, "delete")))
}

fn does(effect: &Effect, action: &str) -> bool {
    effect.actions.iter().any(|own| own == action)
}

fn edge(id: &ResourceId, name: &[u8], user: &Peer) -> DefinitionResult<Edge> {
    if managed_user(user).is_some_and(|effect| does(effect, "delete")) {
        let message = format!("`{}` is listed as a member, and declared absent", user.id);
        return Err(Diagnostic::at("members", message).hint("take it out of `members`, or declare it present").into());
    }
    if user.effects.iter().any(|effect| effect.domain == "group" && effect.key == name && does(effect, "join")) {
        let message = format!("`{}` is listed as a member, and names this group itself", user.id);
        return Err(Diagnostic::at("members", message).hint("say it in one place: take it out of `members`").into());
    }
    Ok(Edge::after(id, &user.id, AFTER_MEMBERS))
}

/// Groups that are to have one id.
pub fn conflicts(group: &[(ResourceId, Desired)]) -> Vec<Conflict> {
    let mut by_id: BTreeMap<AccountId, Vec<ResourceId>> = BTreeMap::new();
    for (id, desired) in group {
        if let Some(gid) = desired.gid {
            by_id.entry(gid).or_default().push(id.clone());
        }
    }
    let message = |gid: AccountId| format!("more than one group is to have the id {}", gid.0);
    let shared = by_id.into_iter().filter(|(_, resources)| resources.len() > 1);
    shared.map(|(gid, resources)| Conflict { resources, message: message(gid) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Group;
    use runtime_sdk::testing::{Given, Peers, foreign};
    use serde_json::json;

    fn group(name: &str) -> Given {
        Given::new().set("name", name)
    }

    fn user(address: &str, name: &str, actions: &[&str], joins: &[&str]) -> Peer {
        let joined = joins.iter().map(|group| Effect::group(group, &["join"]));
        foreign(address, Vec::new(), joined.chain([Effect::user(name, actions)]).collect(), Vec::new())
    }

    fn refusal(peers: &Peers) -> String {
        match peers.relationships::<Group>("web").expect_err("it is refused") {
            DefinitionError::Invalid(diagnostic) => diagnostic.message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_group_goes_after_the_users_that_it_lists() {
        let peers = Peers::new()
            .add_deferred::<Group>("web", &group("web").set("members", json!(["alice", "system"])).deferred("gid"))
            .add_peer(user("user.a", "alice", &["read", "create", "modify"], &[]))
            .add_peer(user("user.b", "bob", &["read", "create", "modify"], &["web"]));
        let edges = peers.relationships::<Group>("web").unwrap();
        assert_eq!(edges, [Edge::after(&"group.web".parse().unwrap(), &"user.a".parse().unwrap(), AFTER_MEMBERS)]);
        let without = Peers::new().add::<Group>("web", &group("web")).add_peer(user("user.a", "alice", &["create"], &["web"]));
        assert_eq!(without.relationships::<Group>("web").unwrap(), []);
    }

    #[test]
    fn what_cannot_be_is_told() {
        let web = || Peers::new().add::<Group>("web", &group("web").set("members", json!(["alice"])));
        let absent = web().add_peer(user("user.a", "alice", &["read", "delete"], &[]));
        assert_eq!(refusal(&absent), "`user.a` is listed as a member, and declared absent");
        let twice = web().add_peer(user("user.a", "alice", &["create"], &["web"]));
        assert_eq!(refusal(&twice), "`user.a` is listed as a member, and names this group itself");
    }

    #[test]
    fn two_groups_cannot_have_one_id() {
        let declared = |name: &str, gid: u32| {
            let given = group(name).set("gid", gid);
            (
                format!("group.{name}").parse().unwrap(),
                runtime_sdk::testing::compile::<Group>(&given, runtime_sdk::testing::any_digest).unwrap(),
            )
        };
        let found = conflicts(&[declared("a", 7), declared("b", 8), declared("c", 7)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].resources, ["group.a".parse().unwrap(), "group.c".parse().unwrap()]);
        assert_eq!(found[0].message, "more than one group is to have the id 7");
    }
}
