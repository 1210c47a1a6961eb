//! What the modules say about this node beyond a single desired state: claims that only the node can tell, and conflicts within
//! a type. Asked before anything is checked, and again before each change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::Ready;
use crate::engine::{Attempt, AttemptError, Conflict, LifecycleError, Reason, Safety};
use crate::model::canonical::CanonicalJson;
use crate::model::ids::{ResourceId, TypeName};

/// The managed resources of each type, and which types need not be asked again.
#[derive(Clone, Default)]
pub struct Groups {
    /// Those of which it is known what they should be. One that waits for others is added at its turn.
    members: Arc<Mutex<BTreeMap<TypeName, Group>>>,
    /// Types that said `unsupported`: without dynamic claims, and without conflicts.
    silent: Arc<Mutex<(BTreeSet<TypeName>, BTreeSet<TypeName>)>>,
    /// What the node offers to each type, asked once.
    offered: Arc<Mutex<BTreeMap<TypeName, Arc<Vec<String>>>>>,
}

/// Shared with calls that are under way.
type Group = Arc<Members>;

/// Resources of one type.
#[derive(Clone, Default)]
struct Members {
    /// With their desired states, by address.
    declared: Vec<(ResourceId, CanonicalJson)>,
    /// How long each may take.
    deadlines: BTreeMap<ResourceId, Duration>,
}

impl Members {
    fn add(&mut self, id: &ResourceId, desired: &CanonicalJson, deadline: Duration) {
        let place = self.declared.partition_point(|(member, _)| member < id);
        self.declared.insert(place, (id.clone(), desired.clone()));
        self.deadlines.insert(id.clone(), deadline);
    }

    fn remove(&mut self, id: &ResourceId) {
        self.declared.retain(|(member, _)| member != id);
        self.deadlines.remove(id);
    }

    /// How long the one of them that may take longest may take.
    fn longest(&self) -> Duration {
        self.deadlines.values().max().copied().unwrap_or_default()
    }
}

impl Groups {
    /// Takes up everything that is ready before the walk.
    pub(super) fn fill<'a>(&self, ready: impl Iterator<Item = &'a Ready>) {
        let mut members: BTreeMap<TypeName, Members> = BTreeMap::new();
        for ready in ready {
            let group = members.entry(ready.id().type_name.clone()).or_default();
            group.declared.push((ready.id().clone(), ready.desired.clone()));
            group.deadlines.insert(ready.id().clone(), ready.limits().deadline);
        }
        members.values_mut().for_each(|group| group.declared.sort_by(|left, right| left.0.cmp(&right.0)));
        *self.members() = members.into_iter().map(|(name, group)| (name, Arc::new(group))).collect();
    }

    /// Adds a resource of which it has become known what it should be.
    pub(super) fn add(&self, ready: &Ready) {
        let mut groups = self.members();
        let group = Arc::make_mut(groups.entry(ready.id().type_name.clone()).or_default());
        group.add(ready.id(), &ready.desired, ready.limits().deadline);
    }

    /// Takes a resource out that will not be managed after all.
    pub(super) fn remove(&self, id: &ResourceId) {
        if let Some(group) = self.members().get_mut(&id.type_name) {
            Arc::make_mut(group).remove(id);
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

    /// What the node offers to the type, if it was asked already.
    pub(super) fn offered(&self, type_name: &TypeName) -> Option<Arc<Vec<String>>> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner).get(type_name).cloned()
    }

    /// Keeps what the node offers to the type.
    pub(super) fn note_offered(&self, type_name: &TypeName, offered: Vec<String>) -> Arc<Vec<String>> {
        let offered = Arc::new(offered);
        self.offered.lock().unwrap_or_else(PoisonError::into_inner).insert(type_name.clone(), Arc::clone(&offered));
        offered
    }

    /// Claims and paths of `ready` that depend on the node; none if its type has none ever.
    ///
    /// # Errors
    /// If the module fails.
    pub async fn safety(&self, attempt: &mut Attempt, ready: &Ready, reason: &Reason) -> Result<Option<Safety>, AttemptError> {
        let type_name = &ready.id().type_name;
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

    /// Conflicts within all managed resources of a type, for which it has as long as the one of them that may take longest.
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
        match attempt.composition_conflicts(&group.declared, group.longest(), reason).await {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_by_address_and_the_longest_deadline_is_that_of_those_who_are_left() {
        let id = |name: &str| format!("thing.{name}").parse::<ResourceId>().unwrap();
        let mut members = Members::default();
        assert_eq!(members.longest(), Duration::ZERO);
        for (name, seconds) in [("c", 3), ("a", 9), ("b", 5)] {
            members.add(&id(name), &CanonicalJson::new(&serde_json::Value::Null).unwrap(), Duration::from_secs(seconds));
        }
        assert_eq!(members.longest(), Duration::from_secs(9));
        members.remove(&id("a"));
        assert_eq!(members.longest(), Duration::from_secs(5));
        let left: Vec<_> = members.declared.iter().map(|(id, _)| id.to_string()).collect();
        assert_eq!(left, ["thing.b", "thing.c"]);
    }
}
