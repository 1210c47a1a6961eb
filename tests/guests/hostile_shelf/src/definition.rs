//! The pure half.

use runtime_sdk::bindings::runtime::module::parameters::Parameters as Handle;
use runtime_sdk::provider::System;
use runtime_sdk::provider::bindings::exports::runtime::module::options_definition::{
    Attribute as DescribedAttribute, CompiledOptions, Description, Guest, Semantics,
};
use runtime_sdk::{
    AssetRequest, AssetSource, Attribute, Capability, DefinitionError, DefinitionResult, Effect, Footprint, Parameters,
    ResourceId, node,
};

use crate::Shelf;
use crate::act::{self, HUGE_BYTES, HUGE_COUNT, MISLEADING};

impl Guest for Shelf {
    fn describe() -> Description {
        let told = act::of_bytes("describe");
        let told = told.as_deref();
        assert!(act::perform(told).is_ok(), "the host has refused it");
        let option = Attribute::string("behaviour").nullable().identity().doc("What to do, as `act@place`.");
        let mut option = DescribedAttribute::from(option);
        match told {
            Some("unknown-word") => option.type_json = "\"float\"".into(),
            Some("huge-string") => option.doc = "x".repeat(HUGE_BYTES),
            Some("bad-json" | "deep-json") => option.default_json = Some(act::text(told, "\"x\"")),
            _ => {}
        }
        let count = if told == Some("huge-list") { HUGE_COUNT } else { 1 };
        Description {
            type_name: "hostile".into(),
            provider_name: "shelf".into(),
            schema_version: 1,
            summary: if told == Some("control-characters") { MISLEADING.into() } else { "Misbehaves as it is told to.".into() },
            systems: vec![System::id("testos")],
            conditions: Vec::new(),
            options: vec![option; count],
            capabilities: vec![Capability::new("files", "read", "/**", "to read what it should not")],
        }
    }

    fn identity(id: ResourceId, _base: Footprint, given: &Handle) -> DefinitionResult<Footprint> {
        let act = begin_given("identity", &id, given)?;
        let mut footprint = Footprint::empty();
        match act.as_deref() {
            Some("huge-list") => footprint.affected_paths = vec![b"/x".to_vec(); HUGE_COUNT],
            Some("huge-string") => footprint.affected_paths.push(vec![b'x'; HUGE_BYTES]),
            Some("unknown-word") => {
                footprint.effects.push(Effect { actions: vec!["frobnicate".into()], ..Effect::write_path("/srv/x/0/it") });
            }
            _ => {}
        }
        Ok(footprint)
    }

    fn compile_options(id: ResourceId, given: &Handle) -> DefinitionResult<CompiledOptions> {
        let act = begin_given("compile-options", &id, given)?;
        let act = act.as_deref();
        let request = AssetRequest {
            slot: "x".into(),
            source: AssetSource::Inline("x".into()),
            checksum: Some("md5:0".into()),
            checksum_error: None,
            attribute: "behaviour".into(),
        };
        let count = match act {
            Some("unknown-word") => 1,
            Some("huge-list") => HUGE_COUNT,
            _ => 0,
        };
        Ok(CompiledOptions { options: act::text(act, "{}"), assets: vec![request; count] })
    }

    fn assign_asset(options: String, _slot: String, _asset: String) -> DefinitionResult<String> {
        let act = begin(act::of_options(&options, "assign-asset"))?;
        Ok(act::text(act.as_deref(), "{}"))
    }

    fn validate(options: String, _base: Footprint, _desired: Option<String>) -> DefinitionResult<Semantics> {
        let act = begin(act::of_options(&options, "validate"))?;
        let (mut assets, mut capabilities) = (Vec::new(), Vec::new());
        match act.as_deref() {
            Some("unknown-word") => assets.push("md5:0".into()),
            Some("huge-string") => capabilities.push("x".repeat(HUGE_BYTES)),
            Some("huge-list") => capabilities = vec!["files.read".into(); HUGE_COUNT],
            _ => {}
        }
        let Footprint { claims, effects, affected_paths } = Footprint::empty();
        Ok(Semantics { capabilities, assets, sensitive: false, claims, effects, affected_paths })
    }
}

fn begin_given(place: &str, id: &ResourceId, given: &Handle) -> DefinitionResult<Option<String>> {
    let behaviour = Parameters::new(id, given).string("behaviour")?;
    let act = behaviour.and_then(|behaviour| act::at(&behaviour, place));
    if let Some(told) = act.as_deref().and_then(|act| act::asked(act, Some(given.handle()))) {
        return Err(DefinitionError::Other(told));
    }
    begin(act)
}

/// Does what is told, and gives the act for the answer to be made by.
fn begin(act: Option<String>) -> DefinitionResult<Option<String>> {
    if act.as_deref() == Some("control-characters") {
        return Err(act::misleading().into());
    }
    act::perform(act.as_deref()).map_err(|error| DefinitionError::Other(node::explain(&error)))?;
    Ok(act)
}
