//! Messages for the operator. The host escapes and caps them; outside a component they go nowhere.

/// A detail, shown when it is asked for.
pub fn debug(message: &str) {
    write(Level::Debug, message);
}

/// Something worth knowing.
pub fn info(message: &str) {
    write(Level::Info, message);
}

/// Something that may need a person.
pub fn warning(message: &str) {
    write(Level::Warning, message);
}

use crate::bindings::runtime::host::log::Level;

#[cfg(target_arch = "wasm32")]
fn write(level: Level, message: &str) {
    crate::bindings::runtime::host::log::write(level, message);
}

#[cfg(not(target_arch = "wasm32"))]
fn write(_level: Level, _message: &str) {}
