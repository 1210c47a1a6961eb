//! The contract of providers as Rust: what `wit-bindgen` makes of the world `provider`. What it has in common with the world `resource-type` is that
//! of [`crate::bindings`].

wit_bindgen::generate!({
    path: "../../wit",
    world: "provider",
    pub_export_macro: true,
    generate_all,
    additional_derives: [PartialEq],
    runtime_path: "::runtime_sdk::__wit_bindgen::rt",
    default_bindings_module: "::runtime_sdk::provider::bindings",
    with: {
        "runtime:module/types@0.1.0": crate::bindings::runtime::module::types,
        "runtime:module/descriptors@0.1.0": crate::bindings::runtime::module::descriptors,
        "runtime:module/parameters@0.1.0": crate::bindings::runtime::module::parameters,
        "runtime:host/types@0.1.0": crate::bindings::runtime::host::types,
        "runtime:host/backend-types@0.1.0": crate::bindings::runtime::host::backend_types,
        "runtime:host/files@0.1.0": crate::bindings::runtime::host::files,
        "runtime:host/assets@0.1.0": crate::bindings::runtime::host::assets,
        "runtime:host/accounts@0.1.0": crate::bindings::runtime::host::accounts,
        "runtime:host/processes@0.1.0": crate::bindings::runtime::host::processes,
        "runtime:host/systemd@0.1.0": crate::bindings::runtime::host::systemd,
        "runtime:host/openrc@0.1.0": crate::bindings::runtime::host::openrc,
        "runtime:host/packages@0.1.0": crate::bindings::runtime::host::packages,
        "runtime:host/facts@0.1.0": crate::bindings::runtime::host::facts,
        "runtime:host/log@0.1.0": crate::bindings::runtime::host::log,
    },
});
