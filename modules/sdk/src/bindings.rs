//! The contract as Rust: what `wit-bindgen` makes of the world `resource-type`.
//!
//! Types and traits are those of the WIT files, with their documentation. Host calls are imports of the component; anywhere
//! else they panic.

wit_bindgen::generate!({
    path: "../../wit",
    world: "resource-type",
    pub_export_macro: true,
    generate_all,
    additional_derives: [PartialEq],
    additional_derives_ignore: ["needed", "check-result", "child"],
    runtime_path: "::runtime_sdk::__wit_bindgen::rt",
    default_bindings_module: "::runtime_sdk::bindings",
});
