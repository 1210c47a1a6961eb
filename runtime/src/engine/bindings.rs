//! Bindings of the contract, generated from `wit/`. Nothing outside this folder names them: [`super::convert`] is where they end.

#![allow(missing_docs, clippy::all, clippy::pedantic, reason = "generated code; the WIT is its documentation")]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "resource-type",
    imports: { default: trappable },
    // Calls of providers are awaited, in bindings of host-functions.
    require_store_data_send: true,
    exports: { "runtime:module/lifecycle": async },
    with: {
        "runtime:host": host_functions::bindings::runtime::host,
        "runtime:module/parameters.parameters": super::definition::ParametersHandle,
        "runtime:module/catalog-view.catalog-view": super::definition::CatalogViewHandle,
    },
});
