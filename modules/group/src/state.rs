//! What there is on the node, and the one comparison of it with what is desired.

use runtime_sdk::node::unchanged;
use runtime_sdk::{AccountName, Change, Diagnostic, Ensure as _, HostCall as _, NodeResult, Presence, Value, accounts};
use serde::Serialize;
use serde_json::json;

use crate::Desired;

/// What was read from the node for one resource.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct State {
    /// The group; none if there is none of the name.
    pub group: Option<Found>,
}

/// A group of the node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// Its id.
    pub gid: u32,
    /// The users that it lists, sorted; none where they are not managed.
    pub members: Option<Vec<String>>,
    /// Whether it is in the node's own files, so that it can be changed.
    #[serde(skip)]
    pub local: bool,
}

impl State {
    /// Whether it is `other`, whatever users it lists.
    pub fn is_but_for_members(&self, other: &State) -> bool {
        let without = |state: &State| state.group.clone().map(|group| Found { members: None, ..group });
        without(self) == without(other)
    }
}

/// Reads what is there.
pub fn read(desired: &Desired) -> NodeResult<State> {
    let group = accounts::read_group(&desired.name.0).before_change("look the group up")?;
    let found = |group: accounts::Group| Found {
        gid: group.id,
        members: desired.members.as_ref().map(|_| group.members),
        local: group.local,
    };
    Ok(State { group: group.map(found) })
}

/// What differs; nothing if the node is as desired.
///
/// # Errors
/// If a group that only a directory has would have to be changed, or the one with the id 0 to go or to get another id.
pub fn changes(desired: &Desired, state: &State) -> NodeResult<Vec<Change>> {
    if state.group.as_ref().is_some_and(|found| found.gid == 0) {
        keep_superusers_group(desired)?;
    }
    let changes = match (desired.ensure, &state.group) {
        (Presence::Absent, None) => Vec::new(),
        (Presence::Absent, Some(_)) => vec![ensure(desired, "it is not to be there")?],
        (Presence::Present, None) => {
            let mut changes = vec![ensure(desired, "nothing is there yet")?];
            changes.extend(differences(desired, None)?);
            changes
        }
        (Presence::Present, Some(found)) => differences(desired, Some(found))?,
    };
    match &state.group {
        Some(found) if !found.local && !changes.is_empty() => Err(unchanged(
            Diagnostic::at("name", "a directory has this group, and the files of the node do not, so it cannot be changed here")
                .hint("change it in the directory, or choose another name"),
        )),
        _ => Ok(changes),
    }
}

/// The host never removes the group with the id 0, nor gives it another id: a plan must not promise it.
fn keep_superusers_group(desired: &Desired) -> NodeResult<()> {
    let (attribute, what) = match (desired.ensure, desired.gid) {
        (Presence::Absent, _) => ("ensure", "removed"),
        (Presence::Present, Some(_)) => ("gid", "given another id"),
        (Presence::Present, None) => return Ok(()),
    };
    let message = format!("the group `{}` has the id 0: it is never {what}", desired.name.0);
    Err(unchanged(Diagnostic::at(attribute, message).hint(format!("leave `{attribute}` out, or name another group"))))
}

fn ensure(desired: &Desired, reason: &str) -> NodeResult<Change> {
    let other = match desired.ensure {
        Presence::Present => Presence::Absent,
        Presence::Absent => Presence::Present,
    };
    Change::new("ensure", Some(json!(other.word())), Some(json!(desired.ensure.word())), reason)
}

const NEW: &str = "set as it is made";

/// Each managed attribute that differs from `found`, or every one if there is none.
fn differences(desired: &Desired, found: Option<&Found>) -> NodeResult<Vec<Change>> {
    let mut changes = Vec::new();
    if let Some(wanted) = desired.gid
        && found.is_none_or(|found| found.gid != wanted.0)
    {
        let reason = if found.is_some() { "it has another id" } else { NEW };
        changes.push(Change::new("gid", found.map(|found| json!(found.gid)), Some(json!(wanted)), reason)?);
    }
    if let Some(wanted) = &desired.members {
        let own = found.map(|found| found.members.clone().unwrap_or_default());
        let reason = members_reason(wanted, own.as_deref());
        changes
            .extend(reason.map(|reason| Change::new("members", own.map(Value::from), Some(json!(wanted)), reason)).transpose()?);
    }
    Ok(changes)
}

/// Why the members differ; none if they do not. A group that is made has none.
fn members_reason(wanted: &[AccountName], own: Option<&[String]>) -> Option<String> {
    let Some(own) = own else { return (!wanted.is_empty()).then(|| NEW.to_owned()) };
    let missing = wanted.iter().filter(|member| !own.contains(&member.0)).count();
    let more = own.iter().filter(|member| !wanted.iter().any(|wanted| wanted.0 == **member)).count();
    match (missing, more) {
        (0, 0) => None,
        (missing, 0) => Some(format!("{missing} of its members are missing")),
        (0, more) => Some(format!("{more} of its members are not to be")),
        (missing, more) => Some(format!("{missing} of its members are missing, and {more} are not to be")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime_sdk::{AccountId, EffectClass, LifecycleError};

    fn desired(ensure: Presence) -> Desired {
        Desired { name: AccountName("web".into()), ensure, gid: None, system: false, members: None }
    }

    fn members(names: &[&str]) -> Option<Vec<AccountName>> {
        Some(names.iter().map(|name| AccountName((*name).into())).collect())
    }

    fn found(gid: u32, names: &[&str]) -> State {
        let members = Some(names.iter().map(|name| (*name).to_owned()).collect());
        State { group: Some(Found { gid, members, local: true }) }
    }

    fn told(desired: &Desired, state: &State) -> Vec<(String, String)> {
        changes(desired, state).unwrap().into_iter().map(|change| (change.attribute, change.reason)).collect()
    }

    #[test]
    fn what_is_omitted_is_left_alone() {
        assert_eq!(told(&desired(Presence::Present), &found(7, &["a"])), []);
        assert_eq!(told(&desired(Presence::Absent), &State { group: None }), []);
    }

    #[test]
    fn a_new_group_shows_all_that_is_set() {
        let wanted = Desired { gid: Some(AccountId(7)), members: members(&["a"]), ..desired(Presence::Present) };
        let names: Vec<String> = told(&wanted, &State { group: None }).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["ensure", "gid", "members"]);
        let empty = Desired { members: members(&[]), ..desired(Presence::Present) };
        assert_eq!(told(&empty, &State { group: None }).len(), 1, "a group that is made has no members");
    }

    #[test]
    fn differences_have_reasons() {
        let wanted = Desired { gid: Some(AccountId(7)), members: members(&["a", "b"]), ..desired(Presence::Present) };
        assert_eq!(told(&wanted, &found(7, &["a", "b"])), []);
        assert_eq!(told(&wanted, &found(8, &["a", "b"])), [("gid".into(), "it has another id".into())]);
        let reason = |names: &[&str]| told(&wanted, &found(7, names)).remove(0).1;
        assert_eq!(reason(&["a"]), "1 of its members are missing");
        assert_eq!(reason(&["a", "b", "c"]), "1 of its members are not to be");
        assert_eq!(reason(&["c"]), "2 of its members are missing, and 1 are not to be");
        assert_eq!(told(&desired(Presence::Absent), &found(7, &[])), [("ensure".into(), "it is not to be there".into())]);
    }

    #[test]
    fn the_group_with_the_id_0_is_neither_removed_nor_given_another_id() {
        let renumbered = Desired { gid: Some(AccountId(7)), ..desired(Presence::Present) };
        for (wanted, attribute) in [(&desired(Presence::Absent), "ensure"), (&renumbered, "gid")] {
            let LifecycleError::Failed(failure) = changes(wanted, &found(0, &[])).unwrap_err() else { panic!("{attribute}") };
            assert_eq!(failure.diagnostic.attribute.as_deref(), Some(attribute));
        }
        let listed = Desired { members: members(&["a"]), ..desired(Presence::Present) };
        assert_eq!(told(&listed, &found(0, &[])).len(), 1, "whatever else may be changed");
    }

    #[test]
    fn a_group_of_a_directory_can_be_as_desired_but_not_changed() {
        let mut state = found(7, &[]);
        if let Some(found) = &mut state.group {
            found.local = false;
        }
        assert_eq!(told(&desired(Presence::Present), &state), []);
        let LifecycleError::Failed(failure) = changes(&desired(Presence::Absent), &state).unwrap_err() else { panic!() };
        assert_eq!(failure.effect_class, EffectClass::BeforeChange);
    }
}
