//! Between the contract's types of providers and ours: every text and list is checked, capped and escaped here.

use std::collections::BTreeSet;

use super::bindings::exports::runtime::module::options_definition as wit;
use super::{CompiledOptions, ValidatedOptions};
use crate::engine::convert;
use crate::engine::registration;
use crate::model::catalog::OptionsSemantics;
use crate::model::ids::{NameError, TypeName};
use crate::model::provider::{ANY_SYSTEM, Condition, ConditionError, ProviderDescription, System};

/// The longest word of a system, in bytes.
const MAX_WORD: usize = 127;

/// A description that can be served, or the reason in words.
pub(super) fn description(from: wit::Description) -> Result<ProviderDescription, String> {
    convert::check_count("options", from.options.len())?;
    convert::check_count("systems", from.systems.len().max(from.conditions.len()))?;
    convert::check_count("capabilities", from.capabilities.len())?;
    let bad = |error: NameError| error.to_string();
    let conditions = from.conditions.iter().map(|text| text.parse()).collect::<Result<BTreeSet<Condition>, ConditionError>>();
    let description = ProviderDescription {
        type_name: from.type_name.parse().map_err(bad)?,
        name: from.provider_name.parse().map_err(bad)?,
        schema_version: from.schema_version,
        summary: convert::message(&from.summary),
        systems: from.systems.into_iter().map(system).collect::<Result<_, _>>()?,
        conditions: conditions.map_err(|error| error.to_string())?.into_iter().collect(),
        options: from.options.into_iter().map(convert::attribute).collect::<Result<_, _>>()?,
        capabilities: from.capabilities.into_iter().map(convert::capability).collect(),
    };
    registration::check_provider(&description)?;
    Ok(description)
}

fn system(from: wit::System) -> Result<System, String> {
    convert::check_count("versions", from.versions.len())?;
    let is_word = |text: &str| {
        let plain = text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'));
        plain && (1..=MAX_WORD).contains(&text.len())
    };
    if from.id != ANY_SYSTEM && !is_word(&from.id) {
        return Err(format!("`{}` is neither an `ID` of os-release nor `{ANY_SYSTEM}`", convert::message(&from.id)));
    }
    let is_version = |text: &&String| !text.is_empty() && text.len() <= MAX_WORD && !text.chars().any(char::is_control);
    match from.versions.iter().find(|version| !is_version(version)) {
        Some(version) => Err(format!("`{}` is not a `VERSION_ID`", convert::message(version))),
        None => Ok(System { id: from.id, versions: from.versions }),
    }
}

pub(super) fn compiled(from: wit::CompiledOptions) -> Result<CompiledOptions, String> {
    Ok(CompiledOptions { options: convert::parse_json(&from.options)?, assets: convert::asset_requests(from.assets)? })
}

pub(super) fn validated(type_name: &TypeName, from: wit::Semantics) -> Result<ValidatedOptions, String> {
    convert::check_count("capabilities", from.capabilities.len())?;
    Ok(ValidatedOptions {
        beyond: convert::footprint(type_name, from.claims, from.effects, from.affected_paths)?,
        semantics: OptionsSemantics {
            capabilities: convert::sorted(from.capabilities),
            assets: convert::asset_refs(&from.assets)?,
            sensitive: from.sensitive,
        },
    })
}
