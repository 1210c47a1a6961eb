//! Core module in, component out.

use std::error::Error;

use wit_component::{ComponentEncoder, DecodedWasm};
use wit_parser::{Resolve, WorldItem, WorldKey};

/// What every WebAssembly file starts with.
const MAGIC: &[u8; 4] = b"\0asm";

/// The four bytes after it in a core module: version 1.
const CORE: &[u8; 4] = &[1, 0, 0, 0];

/// The four bytes after it in a component: version 13, layer 1.
const COMPONENT: &[u8; 4] = &[0x0d, 0, 1, 0];

/// The interface that the older WASI toolchains leave in.
const WASI_PREVIEW_1: &[u8] = b"wasi_snapshot_preview1";

/// Why bytes are not, and cannot be made, a component.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// They do not start as WebAssembly does.
    #[error("it is not WebAssembly")]
    NotWasm,
    /// The module calls the older WASI, which components do not have.
    #[error("the module calls `wasi_snapshot_preview1`, which components do not have")]
    OldWasi,
    /// The module does not carry a contract, or does not keep to it.
    #[error("the module does not make a valid component")]
    Invalid(#[source] Box<dyn Error + Send + Sync>),
    /// The component is not valid.
    #[error("the component cannot be read")]
    Unreadable(#[source] Box<dyn Error + Send + Sync>),
}

impl EncodeError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::OldWasi => Some("build for `wasm32-unknown-unknown`, or for `wasm32-wasip2`".to_owned()),
            Self::Invalid(_) => Some(
                "the crate must call `runtime_sdk::export_state_type!`, or `generate!` and `export!` of `wit-bindgen`".to_owned(),
            ),
            Self::NotWasm | Self::Unreadable(_) => None,
        }
    }
}

/// What a component takes and gives, by full name (`runtime:module/definition@0.1.0`), sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interfaces {
    /// The interfaces and functions that it imports.
    pub imports: Vec<String>,
    /// The interfaces and functions that it exports.
    pub exports: Vec<String>,
}

/// Makes a core module a component, validated. What is a component already (as `wasm32-wasip2` gives it) stays as it is.
///
/// # Errors
/// If the bytes are neither, or the module does not keep to the contract that it carries.
pub fn to_component(bytes: &[u8]) -> Result<Vec<u8>, EncodeError> {
    match (bytes.get(..4), bytes.get(4..8)) {
        (Some(magic), Some(kind)) if magic == MAGIC && kind == COMPONENT => {
            interfaces(bytes)?;
            Ok(bytes.to_vec())
        }
        (Some(magic), Some(kind)) if magic == MAGIC && kind == CORE => encode(bytes),
        _ => Err(EncodeError::NotWasm),
    }
}

fn encode(module: &[u8]) -> Result<Vec<u8>, EncodeError> {
    let encoder = ComponentEncoder::default().validate(true);
    let encoded = encoder.module(module).and_then(|mut encoder| encoder.encode());
    encoded.map_err(|source| {
        let old_wasi = module.windows(WASI_PREVIEW_1.len()).any(|window| window == WASI_PREVIEW_1);
        if old_wasi { EncodeError::OldWasi } else { EncodeError::Invalid(source.into()) }
    })
}

/// What a component imports and exports.
///
/// # Errors
/// If the bytes are no valid component.
pub fn interfaces(component: &[u8]) -> Result<Interfaces, EncodeError> {
    let decoded = wit_component::decode(component).map_err(|source| EncodeError::Unreadable(source.into()))?;
    let DecodedWasm::Component(resolve, world) = decoded else {
        return Err(EncodeError::Unreadable("it is a package of WIT, not a component".into()));
    };
    let world = &resolve.worlds[world];
    Ok(Interfaces { imports: names(&resolve, &world.imports), exports: names(&resolve, &world.exports) })
}

fn names<'a>(resolve: &Resolve, items: impl IntoIterator<Item = (&'a WorldKey, &'a WorldItem)>) -> Vec<String> {
    let mut names: Vec<String> = items.into_iter().map(|(key, _)| resolve.name_world_key(key)).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_bytes_are_not_webassembly() {
        for bytes in [&b""[..], b"\0as", b"\x7fELF\x02\x01\x01\0", b"\0asm\x02\0\0\0"] {
            assert!(matches!(to_component(bytes), Err(EncodeError::NotWasm)), "{bytes:?}");
        }
    }

    #[test]
    fn a_module_that_calls_the_older_wasi_is_told_what_to_build_for() {
        // (module (import "wasi_snapshot_preview1" "x" (func)))
        let mut module = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x1c\x01\x16wasi_snapshot_preview1\x01x\0\0".to_vec();
        assert!(matches!(to_component(&module), Err(EncodeError::OldWasi)));
        module.truncate(module.len() - 1);
        assert!(to_component(&module).is_err(), "a module that is cut short");
    }

    #[test]
    fn a_component_that_is_cut_short_is_refused() {
        assert!(matches!(to_component(b"\0asm\x0d\0\x01\0\x07\xff"), Err(EncodeError::Unreadable(_))));
    }
}
