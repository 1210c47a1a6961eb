//! The step that takes a bundle in: it trusts nothing until it has been recomputed here.

use std::collections::BTreeMap;
use std::sync::Arc;

use host_functions::grant::{Ask, Grant};

use crate::bundle::Bundle;
use crate::engine::Module;
use crate::model::catalog::Catalog;
use crate::model::ids::TypeName;
use crate::model::report::Note;

/// A bundle that this node accepts.
pub struct Admitted {
    /// The open bundle.
    pub bundle: Bundle,
    /// Its catalog, which agrees with the modules.
    pub catalog: Arc<Catalog>,
    /// The module of each resource type, with what it may do.
    pub modules: BTreeMap<TypeName, AdmittedModule>,
    /// What policy decided, as JSON for the receipt.
    pub policy: String,
    /// Findings for the report: unused policy rows and the like.
    pub notes: Vec<Note>,
}

/// A module that this node lets run.
pub struct AdmittedModule {
    /// Loaded, and of the type and schema version that the catalog names.
    pub module: Module,
    /// What policy grants.
    pub grant: Arc<Grant>,
    /// What the module asks for.
    pub asks: Vec<Ask>,
}
