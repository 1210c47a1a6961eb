//! What the functions of a definition must agree about, for one declaration.

use std::collections::BTreeMap;

use serde_json::Value;

use super::given::Written;
use super::{Given, any_digest, compile, export, footprint};
use crate::{Attribute, Definition, DefinitionError, Semantics, json};

/// Compiles a declaration that must be right, and checks that the parts of the definition agree about it:
///
/// - compiling again gives the same bytes, and so does each attribute's other spelling, and null for what may be left out;
/// - the desired state reads back from its JSON, and not with a field more;
/// - `validate` accepts it, with the very footprint that the identity attributes gave;
/// - the test view shows declared attributes only, and each exported attribute is what it shows.
///
/// # Panics
///
/// When anything is refused, or two answers differ.
pub fn agree<T: Definition>(given: &Given) -> Semantics {
    let text = desired::<T>(given);
    assert_eq!(desired::<T>(given), text, "compiling twice gives two desired states");
    check_strict::<T>(&text);
    let state: T::Desired = json::parse_canonical(&text).expect("the desired state reads back from its JSON");
    let semantics = T::validate(&state).expect("`validate` accepts what `compile` gave");
    let footprint = footprint::<T>(given).expect("`footprint` needs identity attributes only");
    assert_eq!(semantics.footprint(), footprint, "`validate` and `footprint` differ");
    check_spellings::<T>(given, &text);
    check_view::<T>(given, &state);
    semantics
}

fn desired<T: Definition>(given: &Given) -> String {
    let desired = compile::<T>(given, any_digest).expect("`compile` accepts the declaration");
    json::canonical(&desired).expect("the desired state has a canonical form")
}

fn check_strict<T: Definition>(text: &str) {
    let mut value: Value = json::parse(text).expect("the desired state is JSON");
    if let Some(fields) = value.as_object_mut() {
        fields.insert("a field of nobody".into(), true.into());
        let text = json::canonical(&value).expect("what was canonical is so with a field more");
        let is_taken = json::parse_canonical::<T::Desired>(&text).is_ok();
        assert!(!is_taken, "the desired state takes unknown fields: write `#[serde(deny_unknown_fields)]` above it");
    }
}

/// Other ways to write the same declaration.
fn check_spellings<T: Definition>(given: &Given, text: &str) {
    for attribute in T::attributes() {
        let name = attribute.name();
        let is_given = attribute.spellings().any(|spelling| given.written(spelling).is_some());
        if !is_given && attribute.is_nullable() {
            assert_eq!(
                desired::<T>(&given.clone().set(name, Value::Null)),
                text,
                "null for `{name}` differs from leaving it out"
            );
        }
        if let Some(Written::Value(value)) = given.written(name) {
            for alias in attribute.spellings().filter(|alias| *alias != name) {
                let respelled = given.clone().unset(name).set(alias, value.clone());
                assert_eq!(desired::<T>(&respelled), text, "`{alias}` differs from `{name}`");
            }
        }
    }
}

fn check_view<T: Definition>(given: &Given, state: &T::Desired) {
    let view = T::test_view(state).expect("the desired state has a test view");
    let view: BTreeMap<String, Value> = json::parse_canonical(&view.attributes).expect("the test view is canonical JSON");
    let attributes = T::attributes();
    let (blocks, is_attribute) = (T::blocks(), |name: &str| attributes.iter().any(|attribute| attribute.name() == name));
    let undeclared = view.keys().find(|name| !is_attribute(name) && !blocks.iter().any(|block| block.name() == name.as_str()));
    assert_eq!(undeclared, None, "the test view shows something that is not declared");
    for attribute in attributes.iter().filter(|attribute| attribute.is_exported()) {
        let shown = view.get(attribute.name());
        let Some(shown) = shown else { panic!("the exported attribute `{}` is not in the test view", attribute.name()) };
        for spelling in attribute.spellings() {
            check_export::<T>(given, attribute, spelling, shown);
        }
    }
}

fn check_export<T: Definition>(given: &Given, attribute: &Attribute, spelling: &str, shown: &Value) {
    match export::<T>(spelling, given) {
        Ok(exported) => assert_eq!(exported, *shown, "`{spelling}` is exported as another value"),
        // What nobody manages is found on the node only, so nothing can be said of `ensure`.
        Err(DefinitionError::Invalid(_)) if attribute.name() == "ensure" && shown.is_null() => {}
        Err(error) => panic!("the exported attribute `{spelling}` has no value: {error:?}"),
    }
}
