//! Which assets a resource may use: those that its own `validate` listed.

use super::AssetName;
use crate::authorize::{Rule, Standing};
use crate::rights::Sensitivity;

/// What a call wants of an asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// How large it is. Of a sensitive value that tells something too.
    Size,
    /// Its bytes, in the guest.
    Bytes,
    /// That the host writes it to its place.
    Place,
}

/// Holds a call about an asset against the resource's list.
pub(crate) fn permit(standing: &Standing<'_>, asset: &AssetName, wanted: Use) -> Result<(), Rule> {
    let sensitivity = standing.rights.assets.get(asset).ok_or(Rule::AssetNotListed)?;
    match (wanted, asset, sensitivity) {
        (Use::Place, ..) | (Use::Size, AssetName::Plain(_), _) | (Use::Bytes, AssetName::Plain(_), Sensitivity::Plain) => Ok(()),
        (Use::Size | Use::Bytes, ..) => Err(Rule::SensitiveAsset),
    }
}
