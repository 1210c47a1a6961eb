//! Tests of a definition without WebAssembly: attributes from memory, and the agreements that every definition must keep.
//!
//! The functions here panic with the reason, as assertions do. What the node does is tested with the component itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::parameters::{ParameterError, Source};
use crate::{Definition, DefinitionResult, Digest, Footprint, Parameters, ResourceId, Semantics, adapter, json};

/// The attributes of a declaration, by canonical name.
pub struct Given {
    id: ResourceId,
    values: BTreeMap<String, Option<Value>>,
}

impl Default for Given {
    fn default() -> Self {
        Self::new()
    }
}

impl Given {
    /// A declaration without attributes, of the resource `test.it`.
    pub fn new() -> Self {
        Self { id: ResourceId { type_name: "test".into(), name: "it".into() }, values: BTreeMap::new() }
    }

    /// With an attribute; null counts as omitted.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.values.insert(name.into(), Some(value.into()));
        self
    }

    /// With an attribute that is settled on the node.
    #[must_use]
    pub fn deferred(mut self, name: &str) -> Self {
        self.values.insert(name.into(), None);
        self
    }

    /// The attributes as a definition reads them.
    pub fn parameters(&self) -> Parameters<'_> {
        Parameters::new(&self.id, self)
    }
}

impl Source for Given {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Ok(self.read(name)?.is_some())
    }

    fn read(&self, name: &str) -> Result<Option<String>, ParameterError> {
        match self.values.get(name) {
            None | Some(Some(Value::Null)) => Ok(None),
            Some(None) => Err(ParameterError::Deferred),
            Some(Some(value)) => Ok(Some(json::canonical(value).map_err(|_| ParameterError::Failed)?)),
        }
    }
}

/// Attributes of which only those in `allowed` may be read.
struct Restricted<'a> {
    given: &'a Given,
    allowed: BTreeSet<String>,
}

impl Source for Restricted<'_> {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        self.check(name)?;
        self.given.has(name)
    }

    fn read(&self, name: &str) -> Result<Option<String>, ParameterError> {
        self.check(name)?;
        self.given.read(name)
    }
}

impl Restricted<'_> {
    fn check(&self, name: &str) -> Result<(), ParameterError> {
        if self.allowed.contains(name) { Ok(()) } else { Err(ParameterError::Unknown(name.into())) }
    }
}

/// The footprint, with only identity attributes to read, as the host has it.
pub fn footprint<T: Definition>(given: &Given) -> DefinitionResult<Footprint> {
    let allowed = T::attributes().iter().filter(|attribute| attribute.is_identity()).map(|it| it.name().to_owned()).collect();
    T::footprint(&Parameters::new(&given.id, &Restricted { given, allowed }))
}

/// The desired state, with only described attributes to read, and with a digest put in for every asset: the one that `digest`
/// gives for a slot.
pub fn compile<T: Definition>(given: &Given, digest: impl Fn(&str) -> Digest) -> DefinitionResult<T::Desired> {
    let allowed = T::attributes().iter().map(|attribute| attribute.name().to_owned()).collect();
    let mut compiled = T::compile(&Parameters::new(&given.id, &Restricted { given, allowed }))?;
    for asset in &compiled.assets {
        T::assign_asset(&mut compiled.desired, &asset.slot, digest(&asset.slot))?;
    }
    Ok(compiled.desired)
}

/// A digest for tests, made of the slot's name.
pub fn any_digest(slot: &str) -> Digest {
    let hex: String = slot.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex:0<64.64}")
}

/// Compiles a declaration that must be right, and checks that its parts agree: the desired state reads back from its JSON, `validate` accepts
/// it with the very footprint that the identity attributes gave, and each exported attribute is what the test view shows.
///
/// # Panics
///
/// When anything is refused, or two answers differ.
pub fn agree<T: Definition>(given: &Given) -> Semantics {
    let desired = compile::<T>(given, any_digest).expect("`compile` accepts the declaration");
    let text = json::canonical(&desired).expect("the desired state has a canonical form");
    let desired: T::Desired = json::parse_canonical(&text).expect("the desired state reads back from its JSON");
    let semantics = T::validate(&desired).expect("`validate` accepts what `compile` gave");
    let footprint = footprint::<T>(given).expect("`footprint` needs identity attributes only");
    assert_eq!(semantics.footprint(), footprint, "`validate` and `footprint` differ");
    let view = T::test_view(&desired).expect("the desired state has a test view");
    let view: BTreeMap<String, Value> = json::parse_canonical(&view.attributes).expect("the test view is canonical JSON");
    for attribute in T::attributes().iter().filter(|attribute| attribute.is_exported()) {
        let exported = T::resolve_export(attribute.name(), &given.parameters()).expect("an exported attribute has a value");
        assert_eq!(Some(&exported), view.get(attribute.name()), "`{}` is exported as another value", attribute.name());
    }
    semantics
}

/// Checks what `describe` says against the contract.
///
/// # Panics
///
/// When a name is malformed or used twice, a document is missing, or `ensure` is described in one place only.
pub fn check_description<T: Definition>() {
    let description = adapter::describe::<T>();
    assert!(is_name(&description.type_name), "`{}` is no type name", description.type_name);
    assert!(description.schema_version >= 1, "schema versions begin at 1");
    assert!(!description.summary.is_empty(), "the summary is missing");
    let mut seen = BTreeSet::new();
    for attribute in &description.attributes {
        for name in attribute.aliases.iter().chain([&attribute.name]) {
            assert!(is_name(name), "`{name}` is no attribute name");
            assert!(seen.insert(name.clone()), "`{name}` is used twice");
        }
        assert!(!attribute.doc.is_empty(), "`{}` has no document", attribute.name);
    }
    assert_eq!(description.ensure.is_some(), seen.contains("ensure"), "`ensure` needs both an attribute and a vocabulary");
}

fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() <= 63 && name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(is_part)
}
