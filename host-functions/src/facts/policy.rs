//! Who may read facts: a module that asks and is granted it.

use crate::authorize::{Rule, Standing};
use crate::grant::Ask;

/// Holds a reading against what the module asks for and is granted.
pub(crate) fn permit(standing: &Standing<'_>) -> Result<(), Rule> {
    if !standing.rights.asks.contains(&Ask::Facts) {
        return Err(Rule::NotAsked { right: "facts.read".to_owned() });
    }
    if standing.rights.grant.facts { Ok(()) } else { Err(Rule::InterfaceNotGranted { interface: "facts" }) }
}
