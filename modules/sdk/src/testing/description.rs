//! Whether a description keeps the contract, as the host checks it when it loads a component, and a little more.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::bindings::exports::runtime::module::definition as wit;
use crate::{Attribute, Definition, Type, adapter};

/// Checks what `describe` says against the contract.
///
/// # Panics
///
/// When a name is malformed or used twice, a document is missing, a default is not of its type, a block has an exported attribute, a checksum is
/// of no source, or `ensure` is described in one place only or in words that do not agree.
pub fn check_description<T: Definition>() {
    let description = adapter::describe::<T>();
    assert_eq!(description, adapter::describe::<T>(), "the description is another one each time");
    assert!(is_name(&description.type_name), "`{}` is no type name", description.type_name);
    assert!(description.schema_version >= 1, "schema versions begin at 1");
    assert!(!description.summary.is_empty(), "the summary is missing");
    check_attributes(&T::attributes());
    let mut names = Names::default();
    T::attributes().iter().for_each(|attribute| names.take_attribute(attribute));
    for block in T::blocks() {
        names.take(block.name());
        assert!(!block.document().is_empty(), "the block `{}` has no document", block.name());
        let mut inner = Names::default();
        block.described().iter().for_each(|attribute| inner.take_attribute(attribute));
        check_attributes(block.described());
        let exported = block.described().iter().find(|attribute| attribute.is_exported()).map(Attribute::name);
        assert_eq!(exported, None, "nobody can read an attribute of the block `{}`", block.name());
    }
    for output in T::outputs() {
        names.take(output.name());
        assert!(!output.document().is_empty(), "the output `{}` has no document", output.name());
    }
    check_ensure(&T::attributes(), description.ensure.as_ref());
}

#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    fn take_attribute(&mut self, attribute: &Attribute) {
        attribute.spellings().for_each(|name| self.take(name));
    }

    fn take(&mut self, name: &str) {
        assert!(is_name(name), "`{name}` is no attribute name");
        assert!(name != "meta", "`meta` is the block that every resource has");
        assert!(self.0.insert(name.to_owned()), "`{name}` is used twice");
    }
}

fn check_attributes(attributes: &[Attribute]) {
    for attribute in attributes {
        let name = attribute.name();
        assert!(!attribute.document().is_empty(), "`{name}` has no document");
        assert!(!(attribute.is_identity() && attribute.is_sensitive()), "`{name}` names the object and cannot be hidden");
        let is_plain = *attribute.kind() == Type::String && !attribute.is_sensitive();
        assert!(is_plain || !attribute.is_source(), "`{name}` names a source and is not plain text");
        if let Some(default) = attribute.declared_default() {
            assert!(!attribute.is_required(), "`{name}` is required and has a default");
            assert!(attribute.kind().accepts(default), "the default of `{name}` is not of its type");
        }
        if let Some(of) = attribute.source_of_checksum() {
            let is_source = attributes.iter().any(|other| other.is_source() && other.name() == of);
            assert!(is_source && is_plain, "`{name}` is no checksum of a source beside it");
        }
    }
}

fn check_ensure(attributes: &[Attribute], ensure: Option<&wit::EnsureVocabulary>) {
    let attribute = attributes.iter().find(|attribute| attribute.name() == "ensure");
    let (Some(attribute), Some(ensure)) = (attribute, ensure) else {
        assert!(attribute.is_none() && ensure.is_none(), "`ensure` needs both an attribute and a vocabulary");
        return;
    };
    let canonical: BTreeSet<&str> = ensure.values.iter().map(|(word, _)| word.as_str()).collect();
    assert!(canonical.len() == ensure.values.len() && !canonical.is_empty(), "the words of `ensure` are empty or occur twice");
    for (word, meaning) in &ensure.aliases {
        assert!(canonical.contains(meaning.as_str()), "`{word}` means `{meaning}`, which is no canonical word of `ensure`");
        assert!(!canonical.contains(word.as_str()), "`{word}` is canonical and means another word of `ensure`");
    }
    let accepted = canonical.iter().copied().chain(ensure.aliases.iter().map(|(word, _)| word.as_str()));
    for word in accepted {
        assert!(attribute.kind().accepts(&word.into()), "the attribute `ensure` does not take `{word}`");
    }
    let default = attribute.declared_default().and_then(Value::as_str);
    assert_eq!(default, ensure.default_value.as_deref(), "`ensure` has two defaults");
}

fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() <= 63 && name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(is_part)
}
