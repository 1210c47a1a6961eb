//! The resource type: a thing at a path, with an attribute for each kind of rule. Its flaws that concern values are here.

use std::time::Duration;

use runtime_sdk::{
    Action, Asset, AssetRef, AssetSource, Attribute, Capability, Change, Compiled, Context, Definition, DefinitionError,
    DefinitionResult, Diagnostic, Effect, Ensure as _, EnsureVocabulary, Footprint, NodeResult, Outcome, Parameters,
    RecordSelectors, Semantics, Sensitive, StateType, TestedState, Type, Value, json,
};
use serde::{Deserialize, Serialize};

use crate::behaviour::{Flaw, has};

/// The resource type.
pub struct Thing;

/// The mode where none is given.
pub const MODE: &str = "0644";

/// Whether it is to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, runtime_sdk::Ensure)]
#[ensure(default = Present, nullable)]
pub enum Ensure {
    /// It is there.
    #[ensure(alias = "there")]
    Present,
    /// It is not there.
    Absent,
}

/// The desired state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desired {
    /// Where.
    pub path: String,
    /// Whether.
    pub ensure: Ensure,
    /// A text with a default.
    pub mode: String,
    /// A number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Value>,
    /// A sensitive text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Sensitive<String>>,
    /// An asset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Asset>,
}

/// What a thing at `path` touches.
pub fn footprint(path: &str) -> Footprint {
    Footprint::empty().effect(Effect::write_path(path)).affects(path)
}

impl Definition for Thing {
    const TYPE: &'static str = "broken";
    const SCHEMA_VERSION: u32 = 2;
    const SUMMARY: &'static str = "A thing with a flaw.";

    // By hand, so that each descriptor stands here as it crosses.
    type Given = ();
    type Desired = Desired;

    fn attributes() -> Vec<Attribute> {
        vec![
            Attribute::string("path").required().identity().exported().doc("Where it is."),
            Attribute::ensure::<Ensure>().exported().doc("Whether it is there."),
            Attribute::string("mode").alias("perm").nullable().exported().default_value(MODE).doc("A text with a default."),
            Attribute::integer("size").nullable().exported().doc("A number."),
            Attribute::new("note", Type::Any).nullable().doc("Anything."),
            Attribute::string("key").nullable().sensitive().doc("A sensitive text."),
            Attribute::string("text").nullable().doc("What is in it."),
        ]
    }

    fn ensure() -> Option<EnsureVocabulary> {
        Some(Ensure::vocabulary())
    }

    fn capabilities() -> Vec<Capability> {
        vec![Capability::new("files", "write", "/srv/**", "to make the thing")]
    }

    fn selectors() -> RecordSelectors {
        RecordSelectors {
            equality: vec!["size".into()],
            replace: Vec::new(),
            replace_when: vec!["mode".into()],
            configuration: Vec::new(),
            drift: Vec::new(),
            has_stable_id: false,
        }
    }

    fn footprint(given: &Parameters) -> DefinitionResult<Footprint> {
        if has(Flaw::IdentityReads) {
            given.string("mode")?;
        }
        Ok(footprint(&path(given)?))
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
        let has_text = given.has("text")?;
        let desired = Desired {
            path: path(given)?,
            ensure: ensure(given)?,
            mode: mode(given)?,
            size: size(given)?,
            note: given.read::<Value>("note")?,
            key: given.read("key")?,
            text: has_text.then(Asset::pending),
        };
        let blamed = if has(Flaw::AssetBlames) { "nothing" } else { "text" };
        let compiled = Compiled::new(desired);
        Ok(if has_text { compiled.asset("text", AssetSource::Parameter("text".into()), blamed) } else { compiled })
    }

    fn assign_asset(desired: &mut Desired, slot: &str, asset: AssetRef) -> DefinitionResult<()> {
        match (slot, &mut desired.text) {
            ("text", Some(text)) => text.assign(asset),
            _ if has(Flaw::SlotAny) => {}
            _ => return Err(DefinitionError::Other("no asset was asked for under this slot".into())),
        }
        Ok(())
    }

    fn validate(desired: &Desired) -> DefinitionResult<Semantics> {
        check_path(&desired.path)?;
        if !has(Flaw::ValidateLoose) {
            check_mode(&desired.mode)?;
        }
        if matches!(desired.key, Some(Sensitive::Plain(_))) {
            return Err(Diagnostic::at("key", "`key` is not sensitive here, and must be").into());
        }
        if matches!(desired.note, Some(Value::Null)) {
            return Err(Diagnostic::at("note", "`note` is null in place of being left out").into());
        }
        if has(Flaw::ValidateRefuses) && desired.size.is_some() {
            return Err(Diagnostic::at("size", "`size` is refused").into());
        }
        let semantics = Semantics::new(footprint(&desired.path), Duration::from_secs(5)).capability("files.write");
        match &desired.text {
            None => Ok(semantics),
            Some(_) if has(Flaw::AssetUnlisted) => Ok(semantics),
            Some(text) => {
                let name = text.name().ok_or_else(|| Diagnostic::at("text", "the asset has no name"))?;
                Ok(semantics.asset(name))
            }
        }
    }

    fn resolve_export(attribute: &str, given: &Parameters) -> DefinitionResult<Value> {
        if has(Flaw::ExportReads) {
            given.has("key")?;
        }
        match attribute {
            "path" => Ok(path(given)?.into()),
            "ensure" => Ok(ensure(given)?.word().into()),
            "mode" if has(Flaw::ExportDiffers) => Ok("0600".into()),
            "mode" => Ok(mode(given)?.into()),
            "size" if has(Flaw::ExportTraps) => Ok(size(given)?.expect("the flaw: it is not managed").into()),
            "size" => Ok(size(given)?.into()),
            _ => Err(DefinitionError::Unsupported("it is not exported".into())),
        }
    }

    fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
        let Desired { path, ensure, mode, size, note, key, text } = desired;
        let mut attributes = std::collections::BTreeMap::from([
            ("path", Value::from(path.as_str())),
            ("ensure", ensure.word().into()),
            ("mode", mode.as_str().into()),
            ("size", (*size).into()),
            ("note", note.clone().unwrap_or_default()),
            ("key", json::parse(&json::canonical(key)?)?),
        ]);
        let mode = if has(Flaw::ViewHides) || has(Flaw::ViewAlias) { attributes.remove("mode") } else { None };
        if let Some(mode) = mode.filter(|_| has(Flaw::ViewAlias)) {
            attributes.insert("perm", mode);
        }
        if has(Flaw::ViewNull) {
            attributes.insert("note", Value::Null);
        }
        let content = text.as_ref().and_then(Asset::name).map(str::to_owned);
        Ok(TestedState { attributes: json::canonical(&attributes)?, content })
    }

    fn equal(attribute: &str, left: &Value, right: &Value) -> DefinitionResult<bool> {
        match attribute {
            "size" if has(Flaw::EqualNever) => Ok(false),
            "size" => Ok(left == right),
            _ if has(Flaw::EqualAny) => Ok(left == right),
            _ => Err(DefinitionError::Unsupported("no equality of it".into())),
        }
    }

    fn must_replace(attribute: &str, prior: &Value, desired: &Value) -> DefinitionResult<bool> {
        match attribute {
            "mode" => Ok(prior != desired),
            _ => Err(DefinitionError::Unsupported("no replacement for it".into())),
        }
    }
}

fn path(given: &Parameters) -> DefinitionResult<String> {
    let path: String = given.required("path")?;
    check_path(&path)?;
    Ok(path)
}

fn check_path(path: &str) -> DefinitionResult<()> {
    let is_good = path.starts_with("/srv/") && !path.contains("//") && !path.contains(|c: char| c.is_control() || c == '.');
    match is_good && path.len() < 200 && !path.ends_with('/') {
        true => Ok(()),
        false if has(Flaw::CompileQuotes) => Err(Diagnostic::at("path", format!("`{path}` is not beneath `/srv`")).into()),
        false => Err(Diagnostic::at("path", "the path is not beneath `/srv`").into()),
    }
}

fn ensure(given: &Parameters) -> DefinitionResult<Ensure> {
    if has(Flaw::AliasDiffers) && given.string("ensure")?.as_deref() == Some("there") {
        return Ok(Ensure::Absent);
    }
    let ensure = Ensure::resolve(given)?.ok_or_else(|| Diagnostic::at("ensure", "`ensure` is missing"))?;
    if has(Flaw::WordRefused) && ensure == Ensure::Absent {
        return Err(Diagnostic::at("ensure", "`ensure` has no such value").into());
    }
    Ok(ensure)
}

fn mode(given: &Parameters) -> DefinitionResult<String> {
    let default = if has(Flaw::DefaultDiffers) { "0600" } else { MODE };
    let mode = given.string("mode")?.unwrap_or_else(|| default.to_owned());
    check_mode(&mode)?;
    Ok(mode)
}

fn check_mode(mode: &str) -> DefinitionResult<()> {
    let is_good = mode.len() == 4 && mode.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    if is_good { Ok(()) } else { Err(Diagnostic::at("mode", "the mode is not four octal digits").into()) }
}

fn size(given: &Parameters) -> DefinitionResult<Option<i64>> {
    match given.integer("size") {
        Err(DefinitionError::Parameter) if has(Flaw::CompileIgnoresWaiting) => Ok(None),
        size => size,
    }
}

impl StateType for Thing {
    type State = ();

    fn read(_desired: &Desired, _context: &Context) -> NodeResult<()> {
        Ok(())
    }

    fn expected_changes(_desired: &Desired, _state: &()) -> NodeResult<Vec<Change>> {
        Ok(Vec::new())
    }

    fn action(_desired: &Desired, _state: &()) -> Action {
        Action::Update
    }

    fn apply(_desired: &Desired, _state: &(), _context: &Context) -> NodeResult<Outcome> {
        Ok(Outcome::changed())
    }
}
