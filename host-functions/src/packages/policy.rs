//! Who may do what with packages: each package of a call by its name and its verb, and the version where the effects narrow it.

use super::{Change, Subject, Transaction, Verb};
use crate::assets;
use crate::assets::AssetName;
use crate::assets::policy::Use;
use crate::authorize::{Rule, Standing};
use crate::effects::Effect;
use crate::grant::Ask;
use crate::objects::policy::{permit as permit_object, permit_maintenance};
use crate::objects::{Domain, Interface};

/// The verb of what only looks.
const READ: &str = "read";

/// Holds a reading of these packages against the rights.
pub(crate) fn permit_query(standing: &Standing<'_>, subjects: &[Subject]) -> Result<(), Rule> {
    subjects.iter().try_for_each(|subject| permit_object(standing, Domain::Package, READ, &subject.name))
}

/// Holds a call that is about no package against what the module asks for.
pub(crate) fn permit_look(standing: &Standing<'_>) -> Result<(), Rule> {
    let asked = |ask: &Ask| matches!(ask, Ask::Object { interface: Interface::Packages, verb: READ, .. });
    if standing.rights.asks.iter().any(asked) { Ok(()) } else { Err(Rule::NotAsked { right: "packages.read".to_owned() }) }
}

/// Holds each change of a transaction against the rights.
pub(crate) fn permit_transaction(standing: &Standing<'_>, transaction: &Transaction) -> Result<(), Rule> {
    transaction.changes.iter().try_for_each(|change| permit_change(standing, change))?;
    // To change what is held is to let it go and to hold it again.
    let held = transaction.change_held.then_some(&transaction.changes).into_iter().flatten();
    held.into_iter().try_for_each(|change| permit_object(standing, Domain::Package, Verb::Unhold.word(), &change.subject.name))
}

/// Holds the installation of a package file against the rights.
pub(crate) fn permit_file(standing: &Standing<'_>, asset: &AssetName, change: &Change) -> Result<(), Rule> {
    assets::policy::permit(standing, asset, Use::Bytes)?;
    permit_change(standing, change)
}

/// Holds the fetching of an index against the rights.
pub(crate) fn permit_refresh(standing: &Standing<'_>) -> Result<(), Rule> {
    permit_maintenance(standing, Interface::Packages, "refresh-index")
}

fn permit_change(standing: &Standing<'_>, change: &Change) -> Result<(), Rule> {
    let (verb, name) = (change.verb.word(), change.subject.name.as_str());
    permit_object(standing, Domain::Package, verb, name)?;
    if !change.verb.installs() {
        return Ok(());
    }
    let has_version = |effect: &Effect| match &effect.qualifier {
        Some(version) => change.version.as_ref() == Some(version),
        None => true,
    };
    let permits = |effect: &Effect| effect.permits_object(Domain::Package, verb, name) && has_version(effect);
    if standing.rights.effects.iter().any(permits) { Ok(()) } else { Err(Rule::PackageVersion) }
}
