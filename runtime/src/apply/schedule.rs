//! Which resource may start next, from the graph and what has ended. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::catalog::Catalog;
use crate::model::ids::ResourceId;
use crate::model::report::Outcome;

/// The order of one run. Resources are named by their place in the catalog.
pub(super) struct Schedule {
    /// How many prerequisites have not ended; none for a resource that ended without starting.
    waiting: Vec<Option<usize>>,
    dependents: Vec<Vec<usize>>,
    ready: BTreeSet<usize>,
    ended: usize,
}

/// A resource that cannot run because of another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unmet {
    /// Which resource.
    pub(super) index: usize,
    /// The prerequisite that did not end well.
    pub(super) prerequisite: usize,
    /// How that ended.
    pub(super) outcome: Outcome,
}

impl Schedule {
    /// The schedule of a catalog whose edges name its own resources and have no cycle, as receipt makes sure.
    pub(super) fn new(catalog: &Catalog) -> Self {
        let count = catalog.resources.len();
        let places: BTreeMap<&ResourceId, usize> =
            catalog.resources.iter().enumerate().map(|(index, resource)| (&resource.id, index)).collect();
        let pairs: BTreeSet<(usize, usize)> =
            catalog.edges.iter().map(|edge| (places[&edge.prerequisite], places[&edge.dependent])).collect();
        let mut waiting = vec![0_usize; count];
        let mut dependents = vec![Vec::new(); count];
        for (prerequisite, dependent) in pairs {
            waiting[dependent] += 1;
            dependents[prerequisite].push(dependent);
        }
        let ready = (0..count).filter(|index| waiting[*index] == 0).collect();
        Self { waiting: waiting.into_iter().map(Some).collect(), dependents, ready, ended: 0 }
    }

    /// The first resource in catalog order that may start; it is handed out once.
    pub(super) fn next(&mut self) -> Option<usize> {
        self.ready.pop_first()
    }

    /// Whether every resource has ended.
    #[cfg(test)]
    pub(super) fn is_over(&self) -> bool {
        self.ended == self.waiting.len()
    }

    /// Notes that a resource ended, which may let others start. Gives those that now never will, which have thereby ended too.
    pub(super) fn end(&mut self, index: usize, outcome: Outcome) -> Vec<Unmet> {
        self.ended += 1;
        if outcome.meets_requirement() {
            for dependent in self.dependents[index].clone() {
                if let Some(count) = &mut self.waiting[dependent] {
                    *count -= 1;
                    if *count == 0 {
                        self.ready.insert(dependent);
                    }
                }
            }
            return Vec::new();
        }
        self.fail_dependents(index, outcome)
    }

    /// Everything that has not been handed out, in catalog order; it has thereby ended.
    pub(super) fn abandon(&mut self) -> Vec<usize> {
        let blocked = (0..self.waiting.len()).filter(|index| self.waiting[*index].is_some_and(|count| count > 0));
        let rest: BTreeSet<usize> = blocked.chain(std::mem::take(&mut self.ready)).collect();
        rest.iter().for_each(|index| self.waiting[*index] = None);
        self.ended += rest.len();
        rest.into_iter().collect()
    }

    fn fail_dependents(&mut self, index: usize, outcome: Outcome) -> Vec<Unmet> {
        let mut unmet = Vec::new();
        let mut causes = vec![(index, outcome)];
        while let Some((cause, outcome)) = causes.pop() {
            for dependent in self.dependents[cause].clone() {
                if self.waiting[dependent].take().is_none() {
                    continue;
                }
                self.ended += 1;
                unmet.push(Unmet { index: dependent, prerequisite: cause, outcome });
                causes.push((dependent, Outcome::Unmet));
            }
        }
        unmet.sort_by_key(|unmet| unmet.index);
        unmet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::canonical::CanonicalJson;
    use crate::model::catalog::{CATALOG_VERSION, Edge, EdgeReason, LANGUAGE_VERSION, Resource, Semantics, Source, State};

    fn catalog(names: &[&str], edges: &[(&str, &str)]) -> Catalog {
        let id = |name: &str| format!("thing.{name}").parse::<ResourceId>().unwrap();
        let semantics = Semantics {
            capabilities: vec![],
            assets: vec![],
            sensitive: false,
            accepts_refresh: false,
            timeout_ms: 1,
            prerequisites: vec![],
        };
        let resource = |name: &&str| Resource {
            id: id(name),
            source: Source { file: "m".into(), line: 1, column: 1 },
            claims: vec![],
            effects: vec![],
            affected_paths: vec![],
            timeout_ms: None,
            control: None,
            health: None,
            state: State::Compiled {
                desired: CanonicalJson::new(&serde_json::Value::Null).unwrap(),
                semantics: semantics.clone(),
            },
            backends: None,
        };
        Catalog {
            catalog_version: CATALOG_VERSION,
            language_version: LANGUAGE_VERSION,
            owner: "m".parse().unwrap(),
            serial: 0,
            audience: vec![],
            target_facts: BTreeMap::new(),
            providers: BTreeMap::new(),
            modules: BTreeMap::new(),
            assets: BTreeMap::new(),
            secrets: Vec::new(),
            node_secrets: Vec::new(),
            resources: names.iter().map(resource).collect(),
            edges: edges
                .iter()
                .map(|(a, b)| Edge {
                    prerequisite: id(a),
                    dependent: id(b),
                    reason: EdgeReason::Require,
                    source: Source { file: "m".into(), line: 1, column: 1 },
                })
                .collect(),
        }
    }

    #[test]
    fn resources_start_in_catalog_order_once_their_prerequisites_ended_well() {
        let mut schedule = Schedule::new(&catalog(&["a", "b", "c"], &[("a", "c"), ("b", "c"), ("a", "c")]));
        assert_eq!((schedule.next(), schedule.next(), schedule.next()), (Some(0), Some(1), None));
        assert!(schedule.end(1, Outcome::Changed).is_empty());
        assert_eq!(schedule.next(), None);
        assert!(schedule.end(0, Outcome::Skipped).is_empty());
        assert_eq!(schedule.next(), Some(2));
        assert!(!schedule.is_over());
        schedule.end(2, Outcome::Unchanged);
        assert!(schedule.is_over());
    }

    #[test]
    fn a_failure_ends_its_dependents_only() {
        let mut schedule = Schedule::new(&catalog(&["a", "b", "c", "d"], &[("a", "b"), ("b", "c")]));
        assert_eq!((schedule.next(), schedule.next()), (Some(0), Some(3)));
        let unmet = schedule.end(0, Outcome::Failed);
        let told: Vec<_> = unmet.iter().map(|u| (u.index, u.prerequisite, u.outcome)).collect();
        assert_eq!(told, [(1, 0, Outcome::Failed), (2, 1, Outcome::Unmet)]);
        schedule.end(3, Outcome::Unchanged);
        assert!(schedule.is_over());
        assert_eq!(schedule.next(), None);
    }

    #[test]
    fn a_resource_with_one_failed_and_one_late_prerequisite_ends_once() {
        let mut schedule = Schedule::new(&catalog(&["a", "b", "c"], &[("a", "c"), ("b", "c")]));
        schedule.next();
        schedule.next();
        assert_eq!(schedule.end(0, Outcome::Failed).len(), 1);
        assert!(schedule.end(1, Outcome::Changed).is_empty());
        assert_eq!(schedule.next(), None);
        assert!(schedule.is_over());
        assert!(schedule.abandon().is_empty());
    }

    #[test]
    fn abandoning_gives_what_never_started() {
        let mut schedule = Schedule::new(&catalog(&["a", "b", "c"], &[("a", "c")]));
        assert_eq!(schedule.next(), Some(0));
        assert_eq!(schedule.abandon(), [1, 2]);
        schedule.end(0, Outcome::Failed);
        assert!(schedule.is_over());
    }
}
