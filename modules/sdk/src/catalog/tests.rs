use serde::{Deserialize, Serialize};

use super::*;
use crate::testing::{Given, Peers, foreign};
use crate::{Capability, Compiled, DefinitionError, DefinitionResult, Footprint, Parameters, Semantics, TestedState};

#[derive(runtime_sdk_derive::Attributes)]
struct GroupGiven {
    /// Its name.
    #[attribute(identity, exported)]
    name: String,
    /// The group that must be there before.
    after: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Desired {
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    name: String,
}

/// Goes after the group that it names, and asks for a shared action when a file below `/etc/groups` changes.
struct Group;

impl Definition for Group {
    const TYPE: &'static str = "group";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "A group.";

    type Given = GroupGiven;
    type Desired = Desired;

    fn capabilities() -> Vec<Capability> {
        Vec::new()
    }

    fn footprint(_: &Parameters) -> DefinitionResult<Footprint> {
        Ok(Footprint::empty())
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
        Ok(Compiled::new(Desired { after: GroupGiven::after(given)?, name: GroupGiven::name(given)? }))
    }

    fn validate(_: &Desired) -> DefinitionResult<Semantics> {
        Ok(Semantics::new(Footprint::empty(), std::time::Duration::from_secs(1)).prerequisite("groups.reload"))
    }

    fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
        TestedState::new(&serde_json::json!({ "name": desired.name, "after": desired.after }))
    }

    fn relationships(id: &ResourceId, desired: Option<&Desired>, catalog: &Catalog) -> DefinitionResult<Vec<Edge>> {
        let wanted = desired.and_then(|desired| desired.after.as_deref());
        let peers = catalog.of::<Self>()?;
        let earlier = peers.iter().filter(|peer| peer.desired.as_ref().is_some_and(|peer| Some(peer.name.as_str()) == wanted));
        let named = earlier.map(|peer| Edge::after(id, &peer.id, "it builds on that group"));
        let is_below = |path: &Vec<u8>| path.starts_with(b"/etc/groups/");
        let all = catalog.all();
        let files = all.iter().filter(|peer| peer.affected_paths.iter().any(is_below));
        Ok(named.chain(files.map(|peer| Edge::action(id, &peer.id, "groups.reload"))).collect())
    }
}

fn group(name: &str) -> Given {
    Given::new().set("name", name)
}

fn id(address: &str) -> ResourceId {
    address.parse().unwrap()
}

#[test]
fn peers_of_the_own_type_are_typed() {
    let peers = Peers::new().add::<Group>("wheel", &group("wheel")).add::<Group>("ops", &group("ops").set("after", "wheel"));
    assert_eq!(peers.relationships::<Group>("wheel").unwrap(), []);
    let edge = Edge::after(&id("group.ops"), &id("group.wheel"), "it builds on that group");
    assert_eq!(peers.relationships::<Group>("ops").unwrap(), [edge]);
}

#[test]
fn what_waits_for_the_node_has_no_desired_state() {
    let ops = group("ops").set("after", "wheel");
    let peers = Peers::new().add_deferred::<Group>("wheel", &group("wheel")).add::<Group>("ops", &ops);
    assert_eq!(peers.relationships::<Group>("ops").unwrap(), []);
}

#[test]
fn producers_of_any_type_are_seen_by_their_paths() {
    let file = foreign("file.groups", Vec::new(), Vec::new(), vec![b"/etc/groups/ops".to_vec()]);
    let other = foreign("file.other", Vec::new(), Vec::new(), vec![b"/etc/other".to_vec()]);
    let peers = Peers::new().add::<Group>("ops", &group("ops")).add_peer(file).add_peer(other);
    let edge = Edge::action(&id("group.ops"), &id("file.groups"), "groups.reload");
    assert_eq!(peers.relationships::<Group>("ops").unwrap(), [edge]);
}

#[test]
fn a_peer_with_another_desired_state_is_refused_by_name() {
    let strange =
        |text: &str| Peer { desired: Some(text.into()), ..foreign("group.strange", Vec::new(), Vec::new(), Vec::new()) };
    for text in [r#"{"name":"x","secret":"hunter2"}"#, r#"{"name": "x"}"#, r#"{"name":5}"#] {
        let peers = Peers::new().add::<Group>("ops", &group("ops")).add_peer(strange(text));
        let error = peers.relationships::<Group>("ops").unwrap_err();
        let DefinitionError::Invalid(diagnostic) = error else { panic!("{error:?}") };
        assert!(
            diagnostic.message.starts_with("the desired state of `group.strange` cannot be read: the JSON "),
            "{diagnostic:?}"
        );
        assert!(!diagnostic.message.contains("hunter2"));
    }
    let other = foreign("user.root", Vec::new(), Vec::new(), Vec::new());
    let error = TypedPeer::<Group>::decode(other).err().unwrap();
    assert!(
        matches!(error, DefinitionError::Invalid(diagnostic) if diagnostic.message == "`user.root` is not of the type `group`")
    );
}
