//! Between the contract's generated types and ours: every text and list from a guest is checked, capped and escaped here.

use serde_json::Value as Json;

use super::bindings::exports::runtime::module::definition as wit;
use super::bindings::runtime::module::catalog_view::Peer as WitPeer;
use super::bindings::runtime::module::types as wit_types;
use super::definition::{AssetRequest, AssetSource, Compiled, DerivedEdge, Peer, Validated};
use super::error::{DefinitionError, Diagnostic};
use super::footprint::Footprint;
use super::session::{RecordedState, TestedState};
use crate::model::asset::AssetRef;
use crate::model::canonical::{self, CanonicalJson, Unfit};
use crate::model::catalog::{Claim, EdgeReason, Effect, MAX_TIMEOUT_MS, Semantics};
use crate::model::description::{Attribute, AttributeType, Block, BlockKind, Capability, Description, Ensure, Output, Selectors};
use crate::model::ids::{ResourceId, TypeName};
use crate::model::key::{Key, escape};

/// The largest JSON text that a guest may give, in bytes.
const MAX_JSON_BYTES: usize = 4 << 20;

/// How deep guest JSON may nest.
const MAX_JSON_DEPTH: usize = 64;

/// The longest message of a guest that is kept, in characters.
const MAX_MESSAGE_CHARS: usize = 1_024;

/// How many members a list of a description or an answer may have.
const MAX_LIST: usize = 1_024;

/// Canonical text of `json`.
///
/// # Errors
/// In words, if it holds an integer beyond 2^53, or nests too deep.
pub(super) fn canonical(json: &Json) -> Result<String, String> {
    canonical::text_of_bounded(json, MAX_JSON_DEPTH).map_err(|unfit| match unfit {
        Unfit::TooDeep => format!("JSON that nests more than {MAX_JSON_DEPTH} levels"),
        other => other.to_string(),
    })
}

/// The same, to be kept.
///
/// # Errors
/// In words, if it holds an integer beyond 2^53, or nests too deep.
pub fn canonical_json(json: &Json) -> Result<CanonicalJson, String> {
    canonical(json).map(CanonicalJson::from_canonical)
}

/// JSON from a guest's text, which must be canonical, to be kept as text.
///
/// # Errors
/// As [`parse_json`].
pub(super) fn kept_json(text: String) -> Result<CanonicalJson, String> {
    parse_json(&text).map(|_| CanonicalJson::from_canonical(text))
}

/// JSON from a guest's text, which must be canonical.
///
/// # Errors
/// In words, without quoting the text.
pub(super) fn parse_json(text: &str) -> Result<Json, String> {
    if text.len() > MAX_JSON_BYTES {
        return Err(format!("JSON of {} bytes, more than {MAX_JSON_BYTES}", text.len()));
    }
    let json: Json =
        serde_json::from_str(text).map_err(|error| format!("not JSON: line {}, column {}", error.line(), error.column()))?;
    if canonical(&json)? != text {
        return Err("JSON that is not canonical (RFC 8785)".into());
    }
    Ok(json)
}

/// A guest's message: escaped and cut.
pub(super) fn message(text: &str) -> String {
    escape(text.trim_end()).chars().take(MAX_MESSAGE_CHARS).collect()
}

pub(super) fn diagnostic(from: wit_types::Diagnostic) -> Diagnostic {
    Diagnostic {
        attribute: from.attribute.map(|text| message(&text)),
        message: message(&from.message),
        hint: from.hint.map(|text| message(&text)),
    }
}

pub(super) fn resource_id(id: &ResourceId) -> wit_types::ResourceId {
    wit_types::ResourceId { type_name: id.type_name.to_string(), name: id.name.to_string() }
}

pub(super) fn parse_resource_id(from: &wit_types::ResourceId) -> Result<ResourceId, String> {
    let bad = |error: crate::model::ids::NameError| error.to_string();
    Ok(ResourceId { type_name: from.type_name.parse().map_err(bad)?, name: from.name.parse().map_err(bad)? })
}

pub(super) fn claim(from: wit_types::Claim) -> Claim {
    Claim { domain: from.domain, key: Key(from.key), qualifier: from.qualifier }
}

fn effect(from: wit_types::Effect) -> Effect {
    Effect { domain: from.domain, key: Key(from.key), actions: from.actions, qualifier: from.qualifier }
}

pub(super) fn wit_footprint(footprint: &Footprint) -> wit_types::Footprint {
    wit_types::Footprint {
        claims: footprint.claims.iter().map(wit_claim).collect(),
        effects: footprint.effects.iter().map(wit_effect).collect(),
        affected_paths: footprint.affected_paths.iter().map(|path| path.0.clone()).collect(),
    }
}

fn wit_claim(claim: &Claim) -> wit_types::Claim {
    wit_types::Claim { domain: claim.domain.clone(), key: claim.key.0.clone(), qualifier: claim.qualifier.clone() }
}

fn wit_effect(effect: &Effect) -> wit_types::Effect {
    wit_types::Effect {
        domain: effect.domain.clone(),
        key: effect.key.0.clone(),
        actions: effect.actions.clone(),
        qualifier: effect.qualifier.clone(),
    }
}

pub(super) fn peer(peer: &Peer, own_type: Option<&TypeName>) -> WitPeer {
    let visible = own_type == Some(&peer.id.type_name);
    WitPeer {
        id: resource_id(&peer.id),
        desired: peer.desired.as_ref().filter(|_| visible).map(|desired| desired.text().to_owned()),
        claims: peer.claims.iter().map(wit_claim).collect(),
        effects: peer.effects.iter().map(wit_effect).collect(),
        affected_paths: peer.affected_paths.iter().map(|path| path.0.clone()).collect(),
    }
}

pub(super) fn footprint(
    type_name: &TypeName,
    claims: Vec<wit_types::Claim>,
    effects: Vec<wit_types::Effect>,
    affected_paths: Vec<Vec<u8>>,
) -> Result<Footprint, String> {
    let claims = claims.into_iter().map(claim).collect();
    let effects = effects.into_iter().map(effect).collect();
    Footprint::normalise(type_name, claims, effects, affected_paths.into_iter().map(Key).collect())
}

pub(super) fn compiled(from: wit::Compiled) -> Result<Compiled, String> {
    Ok(Compiled { desired: parse_json(&from.desired)?, assets: asset_requests(from.assets)? })
}

/// Requests of assets, each with a slot of its own.
pub(super) fn asset_requests(from: Vec<wit::AssetRequest>) -> Result<Vec<AssetRequest>, String> {
    check_count("assets", from.len())?;
    let assets = from.into_iter().map(asset_request).collect::<Result<Vec<_>, _>>()?;
    let mut slots: Vec<&str> = assets.iter().map(|asset| asset.slot.as_str()).collect();
    slots.sort_unstable();
    if slots.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("two assets with the same slot".into());
    }
    Ok(assets)
}

fn asset_request(from: wit::AssetRequest) -> Result<AssetRequest, String> {
    let checksum = from.checksum.map(|text| text.parse()).transpose();
    Ok(AssetRequest {
        slot: from.slot,
        source: match from.source {
            wit::AssetSource::Parameter(name) => AssetSource::Parameter(name),
            wit::AssetSource::Inline(text) => AssetSource::Inline(text),
            wit::AssetSource::Local(path) => AssetSource::Local(path),
            wit::AssetSource::Url(url) => AssetSource::Url(url),
        },
        checksum: checksum.map_err(|error: crate::model::digest::DigestError| error.to_string())?,
        checksum_error: from.checksum_error.map(|text| message(&text)),
        attribute: message(&from.attribute),
    })
}

pub(super) fn validated(type_name: &TypeName, from: wit::Semantics) -> Result<Validated, String> {
    check_count("capabilities", from.capabilities.len())?;
    check_count("prerequisites", from.prerequisites.len())?;
    if !(1..=MAX_TIMEOUT_MS).contains(&from.timeout_ms) {
        return Err(format!("a timeout of {} ms, which is not from 1 to {MAX_TIMEOUT_MS}", from.timeout_ms));
    }
    let assets = asset_refs(&from.assets)?;
    Ok(Validated {
        footprint: footprint(type_name, from.claims, from.effects, from.affected_paths)?,
        semantics: Semantics {
            capabilities: sorted(from.capabilities),
            assets,
            sensitive: from.sensitive,
            accepts_refresh: from.accepts_refresh,
            timeout_ms: from.timeout_ms,
            prerequisites: sorted(from.prerequisites),
        },
        only_refreshed: from.only_refreshed,
    })
}

/// Names of assets, sorted and each once.
pub(super) fn asset_refs(from: &[String]) -> Result<Vec<AssetRef>, String> {
    check_count("assets", from.len())?;
    let assets = from.iter().map(|text| text.parse()).collect::<Result<Vec<AssetRef>, _>>();
    let mut assets = assets.map_err(|error: crate::model::asset::AssetRefError| error.to_string())?;
    assets.sort();
    assets.dedup();
    Ok(assets)
}

pub(super) fn tested_state(from: wit::TestedState) -> Result<TestedState, String> {
    let attributes = match parse_json(&from.attributes)? {
        Json::Object(attributes) => attributes.into_iter().collect(),
        _ => return Err("a test view whose attributes are no JSON object".into()),
    };
    let content = from.content.map(|text| text.parse()).transpose();
    Ok(TestedState { attributes, content: content.map_err(|error: crate::model::asset::AssetRefError| error.to_string())? })
}

pub(super) fn recorded_state(from: wit::RecordedState) -> Result<RecordedState, String> {
    Ok(RecordedState { inputs: parse_json(&from.inputs)?, outputs: from.outputs.as_deref().map(parse_json).transpose()? })
}

pub(super) fn wit_recorded_state(recorded: &RecordedState) -> Result<wit::RecordedState, String> {
    Ok(wit::RecordedState {
        inputs: canonical(&recorded.inputs)?,
        outputs: recorded.outputs.as_ref().map(canonical).transpose()?,
    })
}

pub(super) fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list.dedup();
    list
}

pub(super) fn derived_edges(id: &ResourceId, from: Vec<wit::Edge>) -> Result<Vec<DerivedEdge>, String> {
    check_count("relationships", from.len())?;
    let convert = |edge: wit::Edge| {
        let derived = DerivedEdge {
            prerequisite: parse_resource_id(&edge.prerequisite)?,
            dependent: parse_resource_id(&edge.dependent)?,
            reason: match edge.reason {
                wit::EdgeReason::Order(words) => EdgeReason::Derived(message(&words)),
                wit::EdgeReason::Action(key) => EdgeReason::Action(message(&key)),
            },
            way_out: edge.way_out.as_deref().map(message),
        };
        let DerivedEdge { prerequisite, dependent, .. } = &derived;
        if prerequisite != id && dependent != id {
            return Err(format!("an order of `{prerequisite}` before `{dependent}`, neither of which is `{id}`"));
        }
        if prerequisite == dependent {
            return Err(format!("an order of `{id}` before itself"));
        }
        Ok(derived)
    };
    from.into_iter().map(convert).collect()
}

pub(super) fn definition_error(type_name: &TypeName, from: wit::DefinitionError) -> DefinitionError {
    match from {
        wit::DefinitionError::Parameter => DefinitionError::Parameter,
        wit::DefinitionError::Invalid(text) => DefinitionError::Invalid(diagnostic(text)),
        wit::DefinitionError::Unsupported(text) => {
            DefinitionError::Unsupported { type_name: type_name.clone(), message: message(&text) }
        }
        wit::DefinitionError::Other(text) => DefinitionError::Other(message(&text)),
    }
}

pub(super) fn description(from: wit::Description) -> Result<Description, String> {
    check_count("attributes", from.attributes.len())?;
    check_count("blocks", from.blocks.len())?;
    check_count("outputs", from.outputs.len())?;
    check_count("capabilities", from.capabilities.len())?;
    Ok(Description {
        type_name: from.type_name.parse().map_err(|error: crate::model::ids::NameError| error.to_string())?,
        schema_version: from.schema_version,
        summary: message(&from.summary),
        attributes: from.attributes.into_iter().map(attribute).collect::<Result<_, _>>()?,
        blocks: from.blocks.into_iter().map(block).collect::<Result<_, _>>()?,
        outputs: from.outputs.into_iter().map(output).collect::<Result<_, _>>()?,
        ensure: from.ensure.map(ensure).transpose()?,
        capabilities: from.capabilities.into_iter().map(capability).collect(),
        selectors: Selectors {
            equality: from.selectors.equality,
            replace: from.selectors.replace,
            replace_when: from.selectors.replace_when,
            configuration: from.selectors.configuration,
            drift: from.selectors.drift,
            has_stable_id: from.selectors.has_stable_id,
        },
        has_providers: from.has_providers,
    })
}

pub(super) fn attribute(from: wit::Attribute) -> Result<Attribute, String> {
    check_count("aliases", from.aliases.len())?;
    let name = message(&from.name);
    let flags = from.attribute_flags;
    Ok(Attribute {
        attribute_type: attribute_type(&name, &from.type_json)?,
        aliases: from.aliases,
        required: flags.contains(wit::AttributeFlags::REQUIRED),
        nullable: flags.contains(wit::AttributeFlags::NULLABLE),
        sensitive: flags.contains(wit::AttributeFlags::SENSITIVE),
        exported: flags.contains(wit::AttributeFlags::EXPORTED),
        identity: flags.contains(wit::AttributeFlags::IDENTITY),
        source: flags.contains(wit::AttributeFlags::SOURCE),
        default: from.default_json.map(|text| parse_json(&text)).transpose().map_err(|error| format!("`{name}`: {error}"))?,
        checksum_of: from.checksum_of.map(|name| message(&name)),
        doc: message(&from.doc),
        name,
    })
}

fn attribute_type(name: &str, json: &str) -> Result<AttributeType, String> {
    let parsed = parse_json(json).map_err(|error| format!("`{name}`: {error}"))?;
    AttributeType::parse(&parsed).map_err(|error| format!("`{name}`: {error}"))
}

fn block(from: wit::Block) -> Result<Block, String> {
    check_count("attributes", from.attributes.len())?;
    Ok(Block {
        name: message(&from.name),
        kind: match from.kind {
            wit::BlockKind::Single => BlockKind::Single,
            wit::BlockKind::Repeated => BlockKind::Repeated,
            wit::BlockKind::Labelled => BlockKind::Labelled,
        },
        required: from.required,
        attributes: from.attributes.into_iter().map(attribute).collect::<Result<_, _>>()?,
        doc: message(&from.doc),
    })
}

fn output(from: wit::Output) -> Result<Output, String> {
    let name = message(&from.name);
    let output_type = attribute_type(&name, &from.type_json)?;
    Ok(Output { name, output_type, sensitive: from.sensitive, doc: message(&from.doc) })
}

fn ensure(from: wit::EnsureVocabulary) -> Result<Ensure, String> {
    check_count("words of ensure", from.values.len().max(from.aliases.len()))?;
    let pair = |(left, right): (String, String)| (message(&left), message(&right));
    Ok(Ensure {
        values: from.values.into_iter().map(pair).collect(),
        aliases: from.aliases.into_iter().map(pair).collect(),
        default: from.default_value.map(|word| message(&word)),
    })
}

pub(super) fn capability(from: wit::Capability) -> Capability {
    Capability {
        interface: message(&from.interface_name),
        action: message(&from.action),
        scope: message(&from.scope),
        reason: message(&from.reason),
    }
}

pub(super) fn check_count(what: &str, count: usize) -> Result<(), String> {
    if count > MAX_LIST { Err(format!("{count} {what}, more than {MAX_LIST}")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn guest_json_must_be_canonical_exact_and_shallow() {
        assert_eq!(parse_json(r#"{"a":1,"b":[true]}"#).unwrap(), json!({"a": 1, "b": [true]}));
        for bad in [r#"{"b":1,"a":1}"#, "{ }", "1.0", "nope", "9007199254740993", &"[".repeat(500), r#"{"a":1,"a":1}"#] {
            assert!(parse_json(bad).is_err(), "{bad}");
        }
        assert!(canonical(&json!(u64::MAX)).is_err());
    }

    #[test]
    fn messages_are_escaped_and_cut() {
        assert_eq!(message("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(message(&"x".repeat(5_000)).len(), MAX_MESSAGE_CHARS);
    }
}
