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
        Ok(self.node().facts().get(name.split('.')).as_ref().map(Json::to_string))
    }
}
