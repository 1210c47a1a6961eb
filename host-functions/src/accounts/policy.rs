//! Who may look up names of users and groups: a module that asks and is granted it.

use crate::authorize::{Rule, Standing};
use crate::grant::Ask;

/// Holds a look-up against what the module asks for and is granted.
pub(crate) fn permit(standing: &Standing<'_>) -> Result<(), Rule> {
    if !standing.rights.asks.contains(&Ask::Accounts) {
        return Err(Rule::NotAsked { right: "accounts.read".to_owned() });
    }
    if standing.rights.grant.accounts { Ok(()) } else { Err(Rule::InterfaceNotGranted { interface: "accounts" }) }
}
