//! Which health checks of manifests may run.

use host_functions::objects::Domain;

use super::{Policy, Refusal};
use crate::model::catalog::Catalog;
use crate::model::health::Health;
use crate::model::ids::ResourceId;

impl Policy {
    /// The refusals of the health checks of `catalog`. Without a policy file they all run; with one, those that it names.
    pub fn refused_health_checks(&self, catalog: &Catalog) -> Vec<Refusal> {
        let checks = catalog.resources.iter().filter_map(|resource| Some((&resource.id, resource.health.as_deref()?)));
        checks.filter_map(|(id, health)| self.refused_health(id, health)).collect()
    }

    fn refused_health(&self, id: &ResourceId, health: &Health) -> Option<Refusal> {
        let program = health.command.first().map(String::as_str).unwrap_or_default();
        let denied = self.deny.objects.get(&Domain::Process).and_then(|names| names.iter().find(|name| name.matches(program)));
        if let Some(pattern) = denied {
            let reason = format!("the health check of `{id}` runs a program, and the policy denies `{}`", pattern.as_str());
            return Some(Refusal { reason, row: None });
        }
        let line: Vec<Option<&str>> = health.command.iter().map(|word| Some(word.as_str())).collect();
        let granted = self.health.as_ref().is_none_or(|patterns| patterns.iter().any(|pattern| pattern.matches(&line)));
        if granted {
            return None;
        }
        let words: Vec<String> = health.command.iter().map(|word| format!("{word:?}")).collect();
        let plain = !health.command.iter().any(|word| word.contains(['*', '$', '%']) || word.chars().any(char::is_control));
        let row = plain.then(|| format!("health {{\n  run = [[{}]]\n}}", words.join(", ")));
        Some(Refusal { reason: format!("the health check of `{id}` runs a program that the policy does not name"), row })
    }
}
