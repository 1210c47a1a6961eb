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
    /// Those of which it is known what they should be. One that waits for others is added at its turn.
    members: Arc<Mutex<BTreeMap<TypeName, Group>>>,
    /// Types that said `unsupported`: without dynamic claims, and without conflicts.
    silent: Arc<Mutex<(BTreeSet<TypeName>, BTreeSet<TypeName>)>>,
}

/// Resources of one type with their desired states, by address. Shared with calls that are under way.
type Group = Arc<Vec<(ResourceId, Json)>>;

impl Groups {
    /// Takes up everything that is ready before the walk.
    pub(super) fn fill<'a>(&self, ready: impl Iterator<Item = &'a Ready>) {
        let mut members: BTreeMap<TypeName, Vec<(ResourceId, Json)>> = BTreeMap::new();
        for ready in ready {
            members.entry(ready.id.type_name.clone()).or_default().push((ready.id.clone(), ready.desired.clone()));
        }
        members.values_mut().for_each(|group| group.sort_by(|left, right| left.0.cmp(&right.0)));
        *self.members() = members.into_iter().map(|(name, group)| (name, Arc::new(group))).collect();
    }

    /// Adds a resource of which it has become known what it should be.
    pub(super) fn add(&self, ready: &Ready) {
        let mut groups = self.members();
        let group = Arc::make_mut(groups.entry(ready.id.type_name.clone()).or_default());
        let place = group.partition_point(|(id, _)| *id < ready.id);
        group.insert(place, (ready.id.clone(), ready.desired.clone()));
    }

    /// Takes a resource out that will not be managed after all.
    pub(super) fn remove(&self, id: &ResourceId) {
        if let Some(group) = self.members().get_mut(&id.type_name) {
            Arc::make_mut(group).retain(|(member, _)| member != id);
        }
    }

    /// The types that have managed resources.
    pub(super) fn types(&self) -> Vec<TypeName> {
        self.members().keys().cloned().collect()
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
        let Some(group) = self.members().get(type_name).cloned() else { return Ok(Vec::new()) };
        if self.silent().1.contains(type_name) {
            return Ok(Vec::new());
        }
        match attempt.composition_conflicts(&group, reason).await {
            Err(AttemptError::Module(LifecycleError { unsupported: true, .. })) => {
                self.silent().1.insert(type_name.clone());
                Ok(Vec::new())
            }
            answer => answer,
        }
    }

    fn members(&self) -> std::sync::MutexGuard<'_, BTreeMap<TypeName, Group>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn silent(&self) -> std::sync::MutexGuard<'_, (BTreeSet<TypeName>, BTreeSet<TypeName>)> {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
