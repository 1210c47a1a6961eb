//! Orders that modules derive from a whole catalog.
//!
//! The controller derives them to put them into the catalog, a node to see that the catalog has them and no others, and once more for
//! a resource that is compiled there. All three call this. It decides what a derived order must be to be taken, and nothing
//! about orders that a manifest writes.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::engine::{DefinitionError, DerivedEdge, Module, Peer, Peers, of_each_on_large_stacks};
use crate::model::canonical::CanonicalJson;
use crate::model::catalog::{Edge, EdgeReason, Resource, Source, State};
use crate::model::ids::ResourceId;
use crate::model::key::escape;

/// Why what a module derives is not taken. Every order is named with both ends.
#[derive(Debug, thiserror::Error)]
pub enum RelationError {
    /// The module failed.
    #[error("the module of `{deriving}` did not derive its orders")]
    Definition {
        /// Whose orders were asked for.
        deriving: ResourceId,
        /// What it says.
        #[source]
        source: DefinitionError,
    },
    /// One end does not exist.
    #[error("the module of `{deriving}` derives that `{prerequisite}` goes before `{dependent}`, and there is no `{unknown}`")]
    UnknownEnd {
        /// Whose orders were asked for.
        deriving: ResourceId,
        /// What is to go first.
        prerequisite: ResourceId,
        /// What is to go after.
        dependent: ResourceId,
        /// Which of them it is.
        unknown: ResourceId,
    },
    /// The order is for an action that the dependent does not have.
    #[error(
        "the module of `{deriving}` derives that `{prerequisite}` goes before `{dependent}` for the action `{}`, which is not among \
         the prerequisites of `{dependent}`",
        escape(key)
    )]
    Action {
        /// Whose orders were asked for.
        deriving: ResourceId,
        /// What is to go first.
        prerequisite: ResourceId,
        /// What is to go after.
        dependent: ResourceId,
        /// The key of the action.
        key: String,
    },
}

impl RelationError {
    /// The resource whose module broke the rule.
    pub fn deriving(&self) -> &ResourceId {
        match self {
            Self::Definition { deriving, .. } | Self::UnknownEnd { deriving, .. } | Self::Action { deriving, .. } => deriving,
        }
    }
}

/// A catalog as modules see it when they derive orders.
pub struct Relations {
    members: BTreeMap<ResourceId, Member>,
    /// By address: an order that does not depend on the edges that are to be found.
    peers: Arc<Peers>,
}

/// What is asked about a resource at an end of an order.
struct Member {
    place: Source,
    /// The shared actions that it may ask for. Of one that waits for the node they are found out there.
    prerequisites: Option<Vec<String>>,
}

impl Relations {
    /// Over all resources of a catalog, in any order.
    pub fn new<'r>(resources: impl IntoIterator<Item = &'r Resource>) -> Self {
        let resources: BTreeMap<&ResourceId, &Resource> = resources.into_iter().map(|one| (&one.id, one)).collect();
        let peers = Arc::new(Peers::new(resources.values().map(|resource| peer(resource)).collect()));
        Self { members: resources.into_iter().map(|(id, resource)| (id.clone(), member(resource))).collect(), peers }
    }

    /// The orders of every resource, and what was wrong with some. Runs definitions, on threads of its own.
    pub fn derive<'m>(&self, module: impl Fn(&ResourceId) -> &'m Module + Sync) -> (Edges, Vec<RelationError>) {
        let of_peer = |peer: &Peer| {
            Ok::<_, Infallible>(self.derived_of(
                &peer.id,
                module(&peer.id),
                peer.desired.as_ref().map(CanonicalJson::json).as_ref(),
            ))
        };
        let Ok(derived) = of_each_on_large_stacks(&self.peers, of_peer);
        let (mut edges, mut errors) = (Edges::default(), Vec::new());
        for derived in derived {
            match derived {
                Ok(derived) => derived.into_iter().for_each(|(edge, way_out)| edges.add_derived(edge, way_out)),
                Err(error) => errors.push(error),
            }
        }
        (edges, errors)
    }

    /// The orders that the module of one resource derives, where its desired state is `desired`.
    ///
    /// # Errors
    /// With the first order that cannot be taken.
    pub fn of(&self, id: &ResourceId, module: &Module, desired: Option<&Json>) -> Result<Vec<Edge>, RelationError> {
        Ok(self.derived_of(id, module, desired)?.into_iter().map(|(edge, _)| edge).collect())
    }

    /// The same, each with how the manifest does without it.
    fn derived_of(
        &self,
        id: &ResourceId,
        module: &Module,
        desired: Option<&Json>,
    ) -> Result<Vec<(Edge, Option<String>)>, RelationError> {
        let derived = module.relationships(id, desired, Arc::clone(&self.peers));
        let derived = derived.map_err(|source| RelationError::Definition { deriving: id.clone(), source })?;
        let taken = |mut derived: DerivedEdge| {
            let way_out = derived.way_out.take();
            Ok((self.taken(id, derived)?, way_out))
        };
        derived.into_iter().map(taken).collect()
    }

    fn taken(&self, deriving: &ResourceId, derived: DerivedEdge) -> Result<Edge, RelationError> {
        let DerivedEdge { prerequisite, dependent, reason, .. } = derived;
        let deriving = deriving.clone();
        let unknown = [&prerequisite, &dependent].into_iter().find(|end| !self.members.contains_key(end)).cloned();
        if let Some(unknown) = unknown {
            return Err(RelationError::UnknownEnd { deriving, unknown, prerequisite, dependent });
        }
        let known = self.members[&dependent].prerequisites.as_ref();
        match (reason, known) {
            (EdgeReason::Action(key), Some(known)) if !known.contains(&key) => {
                Err(RelationError::Action { deriving, key, prerequisite, dependent })
            }
            (reason, _) => {
                // One end is the deriving resource: the engine takes no other edges.
                let source = self.members[&deriving].place.clone();
                Ok(Edge { prerequisite, dependent, reason, source })
            }
        }
    }
}

fn member(resource: &Resource) -> Member {
    let prerequisites = match &resource.state {
        State::Compiled { semantics, .. } => Some(semantics.prerequisites.clone()),
        State::Deferred { .. } => None,
    };
    Member { place: resource.source.clone(), prerequisites }
}

fn peer(resource: &Resource) -> Peer {
    Peer {
        id: resource.id.clone(),
        desired: match &resource.state {
            State::Compiled { desired, .. } => Some(desired.clone()),
            State::Deferred { .. } => None,
        },
        claims: joined(&resource.claims, resource.beyond().map(|beyond| &beyond.claims)),
        effects: joined(&resource.effects, resource.beyond().map(|beyond| &beyond.effects)),
        affected_paths: joined(&resource.affected_paths, resource.beyond().map(|beyond| &beyond.affected_paths)),
    }
}

/// What a type says and what each of its providers may add: which one is selected is not known when orders are derived.
fn joined<'r, T: Ord + Clone + 'r>(own: &'r [T], more: impl Iterator<Item = &'r Vec<T>>) -> Vec<T> {
    let all: BTreeSet<&T> = own.iter().chain(more.flatten()).collect();
    all.into_iter().cloned().collect()
}

/// What goes first, what goes after, and why.
pub type EdgeKey = (ResourceId, ResourceId, EdgeReason);

/// How a manifest does without an order that a module derives, in the words of that module.
pub type WaysOut = BTreeMap<EdgeKey, String>;

/// Edges of a catalog as they gather: each pair at most once for a reason, with the first place that it comes from.
#[derive(Debug, Default)]
pub struct Edges {
    places: BTreeMap<EdgeKey, Source>,
    ways_out: WaysOut,
}

impl Edges {
    /// Adds an edge; of equal ones the first place in the text is kept.
    pub fn add(&mut self, edge: Edge) {
        let place = self.places.entry((edge.prerequisite, edge.dependent, edge.reason)).or_insert_with(|| edge.source.clone());
        if edge.source < *place {
            *place = edge.source;
        }
    }

    fn add_derived(&mut self, edge: Edge, way_out: Option<String>) {
        if let Some(way_out) = way_out {
            let key = (edge.prerequisite.clone(), edge.dependent.clone(), edge.reason.clone());
            self.ways_out.insert(key, way_out);
        }
        self.add(edge);
    }

    /// How the manifest does without some of them.
    pub fn ways_out(&self) -> &WaysOut {
        &self.ways_out
    }

    /// The edges, sorted.
    pub fn into_sorted(self) -> Vec<Edge> {
        let edge = |((prerequisite, dependent, reason), source)| Edge { prerequisite, dependent, reason, source };
        self.places.into_iter().map(edge).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_edges_the_first_place_is_kept() {
        let edge = |reason, line| Edge {
            prerequisite: "file.a".parse().unwrap(),
            dependent: "file.b".parse().unwrap(),
            reason,
            source: Source { file: "m".into(), line, column: 1 },
        };
        let mut edges = Edges::default();
        for (reason, line) in [(EdgeReason::Require, 4), (EdgeReason::Reference, 9), (EdgeReason::Reference, 3)] {
            edges.add(edge(reason, line));
        }
        assert_eq!(edges.into_sorted(), [edge(EdgeReason::Require, 4), edge(EdgeReason::Reference, 3)]);
    }
}
