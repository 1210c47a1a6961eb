//! The provider `shelf` of the resource type `gadget`. README.md lists its options.

mod act;
mod backend;

use runtime_sdk::provider::{OptionsSemantics, ProviderDefinition, System};
use runtime_sdk::{
    Asset, AssetRef, AssetSource, Attribute, Capability, Compiled, DefinitionError, DefinitionResult, Diagnostic, Effect,
    Footprint, Parameters, Type,
};
use serde::{Deserialize, Serialize};

pub use act::Act;

/// The component.
pub struct Shelf;

/// The desired state of the type.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Desired {
    /// Where things are kept.
    pub path: String,
    /// What is kept.
    pub text: String,
}

/// The options.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Text beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// A file beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Asset>,
    /// Text beside it, that may be sensitive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Asset>,
    /// Whether it can go on after an interruption.
    pub resume: bool,
    /// How it misbehaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub act: Option<Act>,
}

/// What it keeps beside the file at the path.
pub const BESIDE: [&str; 3] = ["label", "stamp", "note"];

/// The effects beyond those of the type: the files beside each path that it names.
fn footprint(base: &Footprint) -> DefinitionResult<Footprint> {
    let mut own = Footprint::empty();
    for effect in &base.effects {
        let path = std::str::from_utf8(&effect.key).map_err(|_| DefinitionError::Other("a path that is not text".into()))?;
        for part in BESIDE {
            own = own.effect(Effect::write_path(format!("{path}.{part}")));
        }
    }
    Ok(own)
}

impl ProviderDefinition for Shelf {
    const TYPE: &'static str = "gadget";
    const NAME: &'static str = "shelf";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "Keeps what a gadget is to keep in files.";

    type Given = ();
    type Options = Options;
    type Desired = Desired;

    fn systems() -> Vec<System> {
        vec![System::id("debian").versions(&["12", "13"])]
    }

    fn attributes() -> Vec<Attribute> {
        let acts = Act::ALL.iter().map(|act| act.word().to_owned()).collect();
        vec![
            Attribute::string("label").alias("tag").nullable().doc("Text kept beside it."),
            Attribute::string("stamp").nullable().source().doc("A file kept beside it."),
            Attribute::string("note").nullable().doc("Text kept beside it, that may be sensitive."),
            Attribute::boolean("resume").nullable().doc("Whether it can go on after an interruption."),
            Attribute::new("act", Type::Enum(acts)).nullable().doc("How it misbehaves."),
        ]
    }

    fn capabilities() -> Vec<Capability> {
        vec![
            Capability::new("files", "read", "/**", "to compare what it keeps"),
            Capability::new("files", "write", "/**", "to keep it"),
        ]
    }

    fn footprint(base: &Footprint, _given: &Parameters) -> DefinitionResult<Footprint> {
        footprint(base)
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Options>> {
        let label: Option<String> = given.read("label")?;
        if label.as_ref().is_some_and(|label| label.contains('\n')) {
            return Err(Diagnostic::at("label", "a label is one line").hint("leave the line break out").into());
        }
        let stamp = given.string("stamp")?;
        let has_note = given.has("note")?;
        let options = Options {
            label,
            stamp: stamp.as_ref().map(|_| Asset::pending()),
            note: has_note.then(Asset::pending),
            resume: given.boolean("resume")?.unwrap_or_default(),
            act: given.read("act")?,
        };
        let mut compiled = Compiled::new(options);
        if let Some(stamp) = stamp {
            compiled = compiled.asset("stamp", AssetSource::Local(stamp), "stamp");
        }
        if has_note {
            compiled = compiled.asset("note", AssetSource::Parameter("note".into()), "note");
        }
        Ok(compiled)
    }

    fn assign_asset(options: &mut Options, slot: &str, asset: AssetRef) -> DefinitionResult<()> {
        let place = match slot {
            "stamp" => options.stamp.as_mut(),
            "note" => options.note.as_mut(),
            _ => None,
        };
        place.ok_or_else(|| DefinitionError::Other("no asset was asked for under this slot".into()))?.assign(asset);
        Ok(())
    }

    fn validate(options: &Options, base: &Footprint, desired: Option<&Desired>) -> DefinitionResult<OptionsSemantics> {
        if desired.is_some_and(|desired| desired.text == "unserved") {
            return Err(Diagnostic::at("text", "the provider `shelf` does not keep such a text").into());
        }
        let mut semantics = OptionsSemantics::new(footprint(base)?).capability("files.read").capability("files.write");
        for (slot, asset) in [("stamp", &options.stamp), ("note", &options.note)] {
            let Some(asset) = asset else { continue };
            semantics = semantics.asset(asset.name().ok_or_else(|| Diagnostic::at(slot, "the asset has no name"))?);
        }
        Ok(semantics)
    }
}

runtime_sdk::export_provider!(Shelf);
