//! Facts that the controller took for granted under `--target`.

use std::collections::BTreeMap;

use host_functions::facts::Facts;
use serde_json::Value as Json;

use super::{FactDifference, ReceiptError};

/// # Errors
/// All facts that are otherwise on this node.
pub(super) fn check(expected: &BTreeMap<String, Json>, facts: &Facts) -> Result<(), ReceiptError> {
    let differences: Vec<FactDifference> = expected.iter().filter_map(|(path, value)| difference(path, value, facts)).collect();
    if differences.is_empty() { Ok(()) } else { Err(ReceiptError::TargetFacts(differences)) }
}

fn difference(path: &str, expected: &Json, facts: &Facts) -> Option<FactDifference> {
    let found = at(facts, path);
    (found != *expected).then(|| FactDifference { path: path.to_owned(), expected: expected.clone(), found })
}

/// The fact at a dotted path, null if there is none; everything at the empty path.
fn at(all: &Facts, path: &str) -> Json {
    all.get(path.split('.').filter(|_| !path.is_empty())).unwrap_or(Json::Null)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_one(path: &str, expected: Json) -> Result<(), String> {
        let facts = json!({ "os": { "id": "debian", "id_like": [] }, "kernel": "Linux" });
        check(&BTreeMap::from([(path.to_owned(), expected)]), &Facts::given(facts)).map_err(|error| error.to_string())
    }

    #[test]
    fn facts_are_compared_by_their_paths() {
        check_one("os.id", json!("debian")).unwrap();
        check_one("os", json!({ "id_like": [], "id": "debian" })).unwrap();
        check_one("", json!({ "os": { "id": "debian", "id_like": [] }, "kernel": "Linux" })).unwrap();
        check_one("os.version_id", Json::Null).unwrap();
        check_one("kernel.name", Json::Null).unwrap();
        let error = check_one("os.id", json!("fedora")).unwrap_err();
        insta::assert_snapshot!(error, @r#"the bundle was compiled for another node: `facts.os.id` is "debian" here, not "fedora""#);
        check_one("os.version_id", json!("12")).unwrap_err();
    }

    #[test]
    fn text_of_bundles_is_escaped() {
        let error = check_one("a\u{1b}", json!("\u{202e}")).unwrap_err();
        assert!(!error.contains(['\u{1b}', '\u{202e}']), "{error}");
    }
}
