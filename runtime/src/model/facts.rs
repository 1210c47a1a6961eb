//! Looking up facts: a JSON object, and dotted paths into it.

use serde_json::Value as Json;

/// The fact at a path, if there is one. An empty path is all facts.
pub fn get(facts: &Json, path: impl IntoIterator<Item = impl AsRef<str>>) -> Option<&Json> {
    path.into_iter().try_fold(facts, |found, step| found.get(step.as_ref()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_lead_into_objects_only() {
        let facts = json!({"os": {"id": "debian"}, "cpus": [1]});
        assert_eq!(get(&facts, ["os", "id"]), Some(&json!("debian")));
        assert_eq!(get(&facts, ["os", "name"]), None);
        assert_eq!(get(&facts, ["cpus", "0"]), None);
        assert_eq!(get(&facts, [""; 0]), Some(&facts));
    }
}
