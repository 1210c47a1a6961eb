//! Bindings of the world `provider`. What it has in common with the world `resource-type` is that of [`crate::engine::bindings`]; nothing outside this
//! folder names them.

#![allow(missing_docs, clippy::all, clippy::pedantic, reason = "generated code; the WIT is its documentation")]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "provider",
    imports: { default: trappable },
    exports: { "runtime:module/backend": async },
    with: {
        "runtime:host": host_functions::bindings::runtime::host,
        "runtime:module/types": crate::engine::bindings::runtime::module::types,
        "runtime:module/descriptors": crate::engine::bindings::runtime::module::descriptors,
        "runtime:module/parameters": crate::engine::bindings::runtime::module::parameters,
    },
});
