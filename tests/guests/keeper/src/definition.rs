//! The pure half.

use std::time::Duration;

use runtime_sdk::{
    Asset, AssetRef, AssetRequest, AssetSource, Attribute, Capability, Catalog, Compiled, Definition, DefinitionError,
    DefinitionResult, Diagnostic, Edge, EdgeReason, Effect, Footprint, Parameters, ResourceId, Semantics, TestedState, Value,
    json,
};

use crate::{Desired, Keeper, SLOTS, Slip};

/// What `--checksum-error` of the requests says.
pub const CHECKSUM_ERROR: &str = "the keeper was given other bytes than it was promised";

fn path(given: &Parameters) -> DefinitionResult<String> {
    let path: String = given.required("path")?;
    if path.starts_with('/') { Ok(path) } else { Err(Diagnostic::at("path", "the path is not absolute").into()) }
}

fn footprint(path: &str) -> Footprint {
    SLOTS.iter().fold(Footprint::empty(), |footprint, slot| footprint.effect(Effect::write_path(format!("{path}.{slot}"))))
}

fn source(text: String) -> AssetSource {
    if text.contains("://") { AssetSource::Url(text) } else { AssetSource::Local(text) }
}

/// The request of one slot, if its attribute is given.
fn request(given: &Parameters, slot: &str) -> DefinitionResult<Option<AssetRequest>> {
    if !given.has(slot)? {
        return Ok(None);
    }
    let (source, checksum) = match slot {
        "note" => (AssetSource::Parameter(slot.into()), None),
        _ => (source(given.required(slot)?), given.string(&format!("{slot}_checksum"))?),
    };
    let checksum_error = Some(CHECKSUM_ERROR.to_owned());
    Ok(Some(AssetRequest { slot: slot.into(), source, checksum, checksum_error, attribute: slot.into() }))
}

impl Definition for Keeper {
    const TYPE: &'static str = "keeper";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "Keeps three files.";

    type Given = ();
    type Desired = Desired;

    fn attributes() -> Vec<Attribute> {
        vec![
            Attribute::string("path").required().identity().exported().doc("What the paths of its files begin with."),
            Attribute::string("first").nullable().source().doc("A file or an address."),
            Attribute::string("first_checksum").nullable().checksum_of("first").doc("The checksum of `first`."),
            Attribute::string("second").nullable().source().doc("A file or an address."),
            Attribute::string("second_checksum").nullable().checksum_of("second").doc("The checksum of `second`."),
            Attribute::string("note").nullable().doc("Text."),
            Attribute::string("slip").nullable().doc("How to break the contract."),
        ]
    }

    fn capabilities() -> Vec<Capability> {
        vec![
            Capability::new("files", "read", "/**", "to compare what it keeps"),
            Capability::new("files", "write", "/**", "to keep it"),
        ]
    }

    fn footprint(given: &Parameters) -> DefinitionResult<Footprint> {
        Ok(footprint(&path(given)?))
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
        let mut assets = Vec::new();
        let mut pending = |slot: &str| -> DefinitionResult<Option<Asset>> {
            let request = request(given, slot)?;
            let asset = request.as_ref().map(|_| Asset::pending());
            assets.extend(request);
            Ok(asset)
        };
        let (first, second, note) = (pending("first")?, pending("second")?, pending("note")?);
        Ok(Compiled { desired: Desired { path: path(given)?, first, second, note, slip: given.read("slip")? }, assets })
    }

    fn assign_asset(desired: &mut Desired, slot: &str, asset: AssetRef) -> DefinitionResult<()> {
        let place = match slot {
            "first" => &mut desired.first,
            "second" => &mut desired.second,
            "note" => &mut desired.note,
            _ => return Err(DefinitionError::Other("no asset was asked for under this slot".into())),
        };
        // Each slot is assigned once: a name that stands there already is not replaced.
        match place {
            Some(pending) if pending.name().is_none() => pending.assign(asset),
            _ => return Err(DefinitionError::Other("the slot has been assigned already, or was not asked for".into())),
        }
        Ok(())
    }

    fn validate(desired: &Desired) -> DefinitionResult<Semantics> {
        if !desired.path.starts_with('/') {
            return Err(Diagnostic::at("path", "the path is not absolute").into());
        }
        let mut semantics = Semantics::new(footprint(&desired.path), Duration::from_secs(60));
        semantics = semantics.capability("files.read").capability("files.write");
        for slot in SLOTS {
            let Some(asset) = desired.asset(slot) else { continue };
            let Some(name) = asset.name() else { return Err(Diagnostic::at(slot, "the asset has no name").into()) };
            if slot == "first" && desired.slip == Some(Slip::Times) {
                semantics.timeout_ms =
                    1 + u64::from(name.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte)) >> 8);
            }
            if slot == "second" && desired.slip == Some(Slip::Forgets) {
                continue;
            }
            semantics = semantics.asset(name);
        }
        Ok(semantics)
    }

    fn relationships(id: &ResourceId, desired: Option<&Desired>, catalog: &Catalog) -> DefinitionResult<Vec<Edge>> {
        let Some(desired) = desired.filter(|desired| desired.slip == Some(Slip::Orders)) else { return Ok(Vec::new()) };
        let name = desired.first.as_ref().and_then(Asset::name).unwrap_or_default();
        let edge = |other: ResourceId| Edge {
            prerequisite: other,
            dependent: id.clone(),
            reason: EdgeReason::Order(format!("because of {name}")),
            way_out: None,
        };
        let is_other = |other: &ResourceId| (&other.type_name, &other.name) != (&id.type_name, &id.name);
        Ok(catalog.all().into_iter().map(|peer| peer.id).filter(is_other).map(edge).collect())
    }

    fn resolve_export(attribute: &str, given: &Parameters) -> DefinitionResult<Value> {
        match attribute {
            "path" => Ok(path(given)?.into()),
            _ => Err(DefinitionError::Unsupported(format!("`{attribute}` is not exported"))),
        }
    }

    fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
        let attributes = json::canonical(&std::collections::BTreeMap::from([("path", &desired.path)]))?;
        Ok(TestedState { attributes, content: desired.first.as_ref().and_then(Asset::name).map(str::to_owned) })
    }
}

#[cfg(test)]
mod tests {
    use runtime_sdk::testing::{self, Given};

    use super::*;

    #[test]
    fn the_parts_of_the_definition_agree() {
        testing::check_description::<Keeper>();
        let given = Given::new().set("path", "/srv/it").set("first", "a").set("second", "https://example.org/b").set("note", "c");
        assert_eq!(testing::agree::<Keeper>(&given).assets.len(), 3);
    }
}
