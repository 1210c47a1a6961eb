//! The files of a new crate. Those of the contract and the SDK are the very files that this program is built from.

use super::File;

/// Files with marks to fill in.
pub(super) const TEMPLATES: &[File] = &[
    ("Cargo.toml", include_str!("templates/Cargo.toml.in")),
    ("README.md", include_str!("templates/README.md.in")),
    (".gitignore", include_str!("templates/gitignore.in")),
    ("src/lib.rs", include_str!("templates/lib.rs.in")),
];

/// Files that are copied as they are.
pub(super) const COPIES: &[File] = &[
    ("vendor/runtime-sdk/Cargo.toml", include_str!("templates/sdk.Cargo.toml.in")),
    ("vendor/runtime-sdk/src/lib.rs", include_str!("../../../../modules/sdk/src/lib.rs")),
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
