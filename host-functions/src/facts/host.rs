//! The function of `facts`.

use serde_json::Value as Json;

use crate::bindings::runtime::host::facts;
use crate::call::HostCall;
use crate::context::HostContext;

/// The longest name of a fact that the audit trail keeps, in characters.
const MAX_FACT_NAME: usize = 255;

impl facts::Host for HostContext {
    fn get(&mut self, name: String) -> wasmtime::Result<Option<String>> {
        let shown = name.chars().take(MAX_FACT_NAME).collect();
        // The WIT has no error here: a refusal ends the guest.
        self.authorize(&HostCall::FactsGet { name: shown }).map_err(crate::error::CallError::into_trap)?;
        Ok(find(self.node().facts(), &name).map(Json::to_string))
    }
}

/// The value at a dotted path.
fn find<'j>(facts: &'j Json, name: &str) -> Option<&'j Json> {
    name.split('.').try_fold(facts, |value, key| value.as_object()?.get(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_found_by_dotted_path() {
        let facts = serde_json::json!({"hostname": "web1", "os": {"id": "debian", "id_like": []}});
        assert_eq!(find(&facts, "os.id").unwrap(), "debian");
        assert_eq!(find(&facts, "os").unwrap().to_string(), r#"{"id":"debian","id_like":[]}"#);
        for missing in ["", "os.", ".os", "os.name", "hostname.x", "os.id_like.0"] {
            assert!(find(&facts, missing).is_none(), "{missing}");
        }
    }
}
