//! Who may look up users and groups: a module that asks and is granted it. Who may see how one logs in, or change one: a resource whose effects say so,
//! of a module that asks and is granted it.

use crate::assets::policy::{self as assets, Use};
use crate::authorize::{Rule, Standing};
use crate::call::HostCall;
use crate::grant::Ask;
use crate::objects::{Domain, JOIN, policy::permit as permit_object};

/// Holds a look-up, which every process of the node can do, against what the module asks for and is granted.
pub(crate) fn permit_lookup(standing: &Standing<'_>) -> Result<(), Rule> {
    if !standing.rights.asks.contains(&Ask::Accounts) {
        return Err(Rule::NotAsked { right: "accounts.read".to_owned() });
    }
    if standing.rights.grant.accounts { Ok(()) } else { Err(Rule::InterfaceNotGranted { interface: "accounts" }) }
}

/// Holds any other call about accounts against effects, asks and grant. To be in a group is a right of its own: being in some is as much as being
/// root. A secret must be one of the resource's own.
pub(crate) fn permit(standing: &Standing<'_>, call: &HostCall) -> Result<(), Rule> {
    let user = |verb, name: &str| permit_object(standing, Domain::User, verb, name);
    let group = |verb, name: &str| permit_object(standing, Domain::Group, verb, name);
    let secret = |secret| assets::permit(standing, secret, Use::Place);
    match call {
        HostCall::AccountsReadLogin { name } => user("read", name),
        HostCall::AccountsPasswordMatches { name, secret: asset } => user("read", name).and_then(|()| secret(asset)),
        HostCall::AccountsCreateUser { name, user: new } => {
            user("create", name)?;
            new.joined().try_for_each(|joined| group(JOIN, joined))?;
            new.password.as_ref().map_or(Ok(()), secret)
        }
        HostCall::AccountsChangeUser { name, change } => {
            user("modify", name)?;
            change.joined().try_for_each(|joined| group(JOIN, joined))?;
            change.password.as_ref().map_or(Ok(()), secret)
        }
        HostCall::AccountsDeleteUser { name } => user("delete", name),
        HostCall::AccountsCreateGroup { name, .. } => group("create", name),
        HostCall::AccountsChangeGroup { name, .. } => group("modify", name),
        HostCall::AccountsDeleteGroup { name } => group("delete", name),
        _ => permit_lookup(standing),
    }
}
