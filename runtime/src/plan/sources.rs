//! What settling works with, in admission and at a turn alike: the catalog, its modules, this node's facts, what others put out.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use host_functions::facts::Facts;

use super::outputs::Outputs;
use super::secrets::RunSecrets;
use crate::model::catalog::{Catalog, Edge, EdgeReason, Resource};
use crate::model::ids::{ProviderName, ResourceId, TypeName};
use crate::providers::{NodeIdentity, Statement};
use crate::receipt::{Admitted, AdmittedModule, AdmittedProvider, AdmittedProviders};
use crate::relations::Relations;

/// What all settling of a run works with.
pub(super) struct Sources {
    pub(super) catalog: Arc<Catalog>,
    /// The catalog as modules see it when they derive orders; made where something was compiled on this node.
    relations: OnceLock<Relations>,
    /// What others have put out so far.
    pub(super) outputs: Outputs,
    places: BTreeMap<ResourceId, usize>,
    modules: BTreeMap<TypeName, AdmittedModule>,
    providers: AdmittedProviders,
    statements: BTreeMap<TypeName, Statement>,
    /// What of this node decides which provider serves a resource.
    pub(super) identity: NodeIdentity,
    /// Edges for a shared action, by their dependent.
    actions: BTreeMap<ResourceId, Vec<Edge>>,
    pub(super) facts: Arc<Facts>,
    /// Sensitive values.
    pub(super) secrets: Arc<RunSecrets>,
}

impl Sources {
    pub(super) fn new(
        admitted: &Admitted,
        facts: &Arc<Facts>,
        identity: NodeIdentity,
        outputs: Outputs,
        secrets: Arc<RunSecrets>,
    ) -> Self {
        let catalog = Arc::clone(&admitted.catalog);
        let mut actions: BTreeMap<ResourceId, Vec<Edge>> = BTreeMap::new();
        for edge in catalog.edges.iter().filter(|edge| matches!(edge.reason, EdgeReason::Action(_))) {
            actions.entry(edge.dependent.clone()).or_default().push(edge.clone());
        }
        Self {
            relations: OnceLock::new(),
            places: catalog.resources.iter().enumerate().map(|(place, resource)| (resource.id.clone(), place)).collect(),
            modules: admitted.modules.clone(),
            providers: admitted.providers.clone(),
            statements: admitted.statements.clone(),
            identity,
            facts: Arc::clone(facts),
            catalog,
            outputs,
            secrets,
            actions,
        }
    }

    /// The catalog as modules see it when they derive orders.
    pub(super) fn relations(&self) -> &Relations {
        self.relations.get_or_init(|| Relations::new(&self.catalog.resources))
    }

    /// The module that serves a resource of the catalog.
    pub(super) fn module(&self, id: &ResourceId) -> &AdmittedModule {
        &self.modules[&id.type_name]
    }

    /// The providers of a resource's type that may run here; none if none may.
    pub(super) fn providers(&self, id: &ResourceId) -> Option<&BTreeMap<ProviderName, AdmittedProvider>> {
        self.providers.get(&id.type_name)
    }

    /// A provider that was selected for a resource.
    pub(super) fn provider(&self, id: &ResourceId, name: &ProviderName) -> &AdmittedProvider {
        &self.providers[&id.type_name][name]
    }

    /// What the node's owner says of the providers of a resource's type.
    pub(super) fn statement(&self, id: &ResourceId) -> Statement {
        self.statements.get(&id.type_name).cloned().unwrap_or_default()
    }

    /// Edges by which a resource waits for another because of a shared action.
    pub(super) fn actions_of(&self, id: &ResourceId) -> &[Edge] {
        self.actions.get(id).map_or(&[], Vec::as_slice)
    }

    /// A resource of the catalog.
    pub(super) fn resource(&self, id: &ResourceId) -> Option<&Resource> {
        self.places.get(id).map(|place| &self.catalog.resources[*place])
    }
}
