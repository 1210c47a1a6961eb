//! The files of a new crate. Those of the contract and the SDK are the very files that this program is built from.

use super::File;

/// Files with marks to fill in.
pub(super) const TEMPLATES: &[File] = &[
    ("Cargo.toml", include_str!("templates/Cargo.toml.in")),
    ("README.md", include_str!("templates/README.md.in")),
    ("samples.hcl", include_str!("templates/samples.hcl.in")),
    (".gitignore", include_str!("templates/gitignore.in")),
    ("src/lib.rs", include_str!("templates/lib.rs.in")),
];

/// Files that are copied as they are.
pub(super) const COPIES: &[File] = &[
    ("vendor/runtime-sdk/Cargo.toml", include_str!("templates/sdk.Cargo.toml.in")),
    ("vendor/runtime-sdk/src/adapter.rs", include_str!("../../../../modules/sdk/src/adapter.rs")),
    ("vendor/runtime-sdk/src/attribute.rs", include_str!("../../../../modules/sdk/src/attribute.rs")),
    ("vendor/runtime-sdk/src/bindings.rs", include_str!("../../../../modules/sdk/src/bindings.rs")),
    ("vendor/runtime-sdk/src/definition.rs", include_str!("../../../../modules/sdk/src/definition.rs")),
    ("vendor/runtime-sdk/src/diagnostic.rs", include_str!("../../../../modules/sdk/src/diagnostic.rs")),
    ("vendor/runtime-sdk/src/ensure.rs", include_str!("../../../../modules/sdk/src/ensure.rs")),
    ("vendor/runtime-sdk/src/json.rs", include_str!("../../../../modules/sdk/src/json.rs")),
    ("vendor/runtime-sdk/src/lib.rs", include_str!("../../../../modules/sdk/src/lib.rs")),
    ("vendor/runtime-sdk/src/log.rs", include_str!("../../../../modules/sdk/src/log.rs")),
    ("vendor/runtime-sdk/src/node.rs", include_str!("../../../../modules/sdk/src/node.rs")),
    ("vendor/runtime-sdk/src/parameters.rs", include_str!("../../../../modules/sdk/src/parameters.rs")),
    ("vendor/runtime-sdk/src/state_type.rs", include_str!("../../../../modules/sdk/src/state_type.rs")),
    ("vendor/runtime-sdk/src/testing.rs", include_str!("../../../../modules/sdk/src/testing.rs")),
    ("vendor/runtime-sdk/src/values.rs", include_str!("../../../../modules/sdk/src/values.rs")),
    ("wit/catalog-view.wit", include_str!("../../../../wit/catalog-view.wit")),
    ("wit/definition.wit", include_str!("../../../../wit/definition.wit")),
    ("wit/deps/host/accounts.wit", include_str!("../../../../wit/deps/host/accounts.wit")),
    ("wit/deps/host/assets.wit", include_str!("../../../../wit/deps/host/assets.wit")),
    ("wit/deps/host/facts.wit", include_str!("../../../../wit/deps/host/facts.wit")),
    ("wit/deps/host/files.wit", include_str!("../../../../wit/deps/host/files.wit")),
    ("wit/deps/host/log.wit", include_str!("../../../../wit/deps/host/log.wit")),
    ("wit/deps/host/types.wit", include_str!("../../../../wit/deps/host/types.wit")),
    ("wit/lifecycle.wit", include_str!("../../../../wit/lifecycle.wit")),
    ("wit/parameters.wit", include_str!("../../../../wit/parameters.wit")),
    ("wit/types.wit", include_str!("../../../../wit/types.wit")),
    ("wit/world.wit", include_str!("../../../../wit/world.wit")),
];
