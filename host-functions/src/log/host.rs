//! The function of `log`.

use crate::bindings::runtime::host::log;
use crate::call::{HostCall, Level};
use crate::context::HostContext;
use crate::error::CallError;

impl log::Host for HostContext {
    fn write(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        let level = Level::from(level);
        // The WIT has no error for a refusal here; what is only too late is still worth keeping.
        match self.authorize(&HostCall::LogWrite { level, bytes: message.len() }) {
            Ok(()) | Err(CallError::Deadline) => {}
            Err(error) => return Err(error.into_trap()),
        }
        let resource = self.rights().resource.clone();
        if let Some(line) = self.log.add(level, &message) {
            let text = &line.text;
            match line.level {
                Level::Debug => tracing::debug!(target: "guest", %resource, "{text}"),
                Level::Info => tracing::info!(target: "guest", %resource, "{text}"),
                Level::Warning => tracing::warn!(target: "guest", %resource, "{text}"),
            }
        }
        Ok(())
    }
}
