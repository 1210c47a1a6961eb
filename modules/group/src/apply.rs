//! Bringing the desired state about, with one host call.

use runtime_sdk::accounts::{self, GroupChange, NewGroup};
use runtime_sdk::node::unchanged;
use runtime_sdk::{AccountName, Diagnostic, NodeResult, Outcome, Presence, Progress};

use crate::Desired;
use crate::state::{self, State};

/// Brings the desired state about, provided that the group is still what `checked` says, but for its members: a resource of one of them may have
/// put it in or taken it out meanwhile, and what is left to do follows from what is there now.
pub fn apply(desired: &Desired, checked: &State) -> NodeResult<Outcome> {
    let now = state::read(desired)?;
    if !now.is_but_for_members(checked) {
        return Err(unchanged(
            Diagnostic::at("name", "the group was changed by something else after it was checked").hint("run it again"),
        ));
    }
    let mut progress = Progress::new();
    let name = desired.name.0.as_str();
    match (desired.ensure, &now.group) {
        (Presence::Absent, _) => progress.whole("remove the group", accounts::delete_group(name)),
        (Presence::Present, None) => progress.whole("make the group", accounts::create_group(name, &new_group(desired))),
        (Presence::Present, Some(found)) => {
            let change = GroupChange {
                id: desired.gid.map(|gid| gid.0).filter(|gid| *gid != found.gid),
                members: desired.members.as_deref().map(names).filter(|names| found.members.as_ref() != Some(names)),
            };
            match change {
                GroupChange { id: None, members: None } => Ok(()),
                change => progress.whole("change the group", accounts::change_group(name, &change)),
            }
        }
    }?;
    Ok(Outcome::changed())
}

fn new_group(desired: &Desired) -> NewGroup {
    let members = desired.members.as_deref().map(names).unwrap_or_default();
    NewGroup { id: desired.gid.map(|gid| gid.0), system: desired.system, members }
}

fn names(members: &[AccountName]) -> Vec<String> {
    members.iter().map(|member| member.0.clone()).collect()
}
