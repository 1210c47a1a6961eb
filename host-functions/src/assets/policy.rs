//! Which assets a resource may use: those that its own `validate` listed.

use crate::authorize::{Rule, Standing};
use crate::digest::Digest;
use crate::rights::Sensitivity;

/// Holds a call about an asset against the resource's list. Its bytes are given to the guest only if they are not sensitive.
pub(crate) fn permit(standing: &Standing<'_>, digest: &Digest, bytes: bool) -> Result<(), Rule> {
    match standing.rights.assets.get(digest) {
        None => Err(Rule::AssetNotListed),
        Some(Sensitivity::Sensitive) if bytes => Err(Rule::SensitiveAsset),
        Some(_) => Ok(()),
    }
}
