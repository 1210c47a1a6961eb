//! What the modules say about this node beyond a single desired state: claims that only the node can tell, and conflicts within
//! a type. Asked before anything is checked, and again before each change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value as Json;

use super::Ready;
use crate::engine::{Attempt, AttemptError, Conflict, LifecycleError, Reason, Safety};
use crate::model::ids::{ResourceId, TypeName};

/// The managed resources of each type, and which types need not be asked again.
#[derive(Clone, Default)]
pub struct Groups {
    members: Arc<BTreeMap<TypeName, Vec<(ResourceId, Json)>>>,
    /// Types that said `unsupported`: without dynamic claims, and without conflicts.
    silent: Arc<Mutex<(BTreeSet<TypeName>, BTreeSet<TypeName>)>>,
}

impl Groups {
    /// The groups of what is ready.
    pub(super) fn of<'a>(ready: impl Iterator<Item = &'a Ready>) -> Self {
        let mut members: BTreeMap<TypeName, Vec<(ResourceId, Json)>> = BTreeMap::new();
        for ready in ready {
            members.entry(ready.id.type_name.clone()).or_default().push((ready.id.clone(), ready.desired.clone()));
        }
        Self { members: Arc::new(members), silent: Arc::default() }
    }

    /// The types that have managed resources.
    pub(super) fn types(&self) -> impl Iterator<Item = &TypeName> {
        self.members.keys()
    }

    /// Whether the type has said that it never has claims that only the node can tell.
    pub(super) fn has_no_safety(&self, type_name: &TypeName) -> bool {
        self.silent().0.contains(type_name)
    }

    /// Claims and paths of `ready` that depend on the node; none if its type has none ever.
    ///
    /// # Errors
    /// If the module fails.
    pub async fn safety(&self, attempt: &mut Attempt, ready: &Ready, reason: &Reason) -> Result<Option<Safety>, AttemptError> {
        let type_name = &ready.id.type_name;
        if self.silent().0.contains(type_name) {
            return Ok(None);
        }
        match attempt.inspect_safety(&ready.desired, reason).await {
            Ok(safety) => Ok(Some(safety)),
            Err(AttemptError::Module(LifecycleError { unsupported: true, .. })) => {
                self.silent().0.insert(type_name.clone());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Conflicts within all managed resources of a type.
    ///
    /// # Errors
    /// If the module fails.
    pub async fn conflicts(
        &self,
        attempt: &mut Attempt,
        type_name: &TypeName,
        reason: &Reason,
    ) -> Result<Vec<Conflict>, AttemptError> {
        let Some(group) = self.members.get(type_name) else { return Ok(Vec::new()) };
        if self.silent().1.contains(type_name) {
            return Ok(Vec::new());
        }
        match attempt.composition_conflicts(group, reason).await {
            Err(AttemptError::Module(LifecycleError { unsupported: true, .. })) => {
                self.silent().1.insert(type_name.clone());
                Ok(Vec::new())
            }
            answer => answer,
        }
    }

    fn silent(&self) -> std::sync::MutexGuard<'_, (BTreeSet<TypeName>, BTreeSet<TypeName>)> {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
