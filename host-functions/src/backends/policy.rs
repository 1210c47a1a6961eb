//! Who may call a provider: a resource that has one. What the provider may then do is held against the provider's own rights.

use crate::authorize::{Rule, Standing};

/// Holds a call against whether a provider was selected for the resource.
pub(crate) fn permit(standing: &Standing<'_>) -> Result<(), Rule> {
    if standing.rights.provider.is_some() { Ok(()) } else { Err(Rule::NoProvider) }
}
