//! What a value carries beside itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::ids::{ResourceId, TypeName};

/// What a value carries beside itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marks {
    resources: Option<Arc<BTreeSet<ResourceId>>>,
    sensitive: bool,
}

impl Marks {
    /// The mark of a value that came from a resource.
    pub fn resource(id: &ResourceId) -> Self {
        Self { resources: Some(Arc::new(BTreeSet::from([id.clone()]))), sensitive: false }
    }

    /// The mark of a sensitive value.
    pub fn sensitive() -> Self {
        Self { resources: None, sensitive: true }
    }

    /// Whether it must not be shown.
    pub fn is_sensitive(&self) -> bool {
        self.sensitive
    }

    /// The resources whose attributes went into it.
    pub fn resources(&self) -> impl Iterator<Item = &ResourceId> {
        self.resources.iter().flat_map(|resources| resources.iter())
    }

    /// The modules that serve those resources.
    pub fn modules(&self) -> BTreeSet<&TypeName> {
        self.resources().map(|id| &id.type_name).collect()
    }

    /// Adds what `other` carries.
    pub fn join(&mut self, other: &Marks) {
        self.sensitive |= other.sensitive;
        match (&mut self.resources, &other.resources) {
            (_, None) => {}
            (own @ None, Some(theirs)) => *own = Some(theirs.clone()),
            (Some(own), Some(theirs)) if theirs.is_subset(own) => {}
            (Some(own), Some(theirs)) => Arc::make_mut(own).extend(theirs.iter().cloned()),
        }
    }

    pub(super) fn without_sensitivity(&self) -> Self {
        Self { resources: self.resources.clone(), sensitive: false }
    }
}
