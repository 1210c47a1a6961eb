//! Which secrets of the node a bundle may use.
//!
//! Here it is what expressions read themselves. What they read through an export of another resource is known when they are evaluated, and held
//! to the same there.

use crate::model::catalog::Catalog;
use crate::model::secret::SecretReads;
use crate::policy::{Policy, SecretReaders};

use super::ReceiptError;

/// The resource types that may use each secret that the catalog reads.
///
/// # Errors
/// All refusals.
pub(super) fn decide(catalog: &Catalog, policy: &Policy) -> Result<SecretReaders, ReceiptError> {
    let refusals = policy.refused_secrets(&catalog.owner, &wanted(catalog));
    if !refusals.is_empty() {
        return Err(ReceiptError::Policy(refusals));
    }
    let readers = catalog.node_secrets.iter().map(|name| (name.clone(), policy.secret_readers(&catalog.owner, name)));
    Ok(readers.collect())
}

fn wanted(catalog: &Catalog) -> SecretReaders {
    let mut wanted = SecretReaders::new();
    for resource in &catalog.resources {
        let mut reads = SecretReads::default();
        resource.deferred().iter().for_each(|(_, expression)| reads.add(expression));
        // The catalog's own rules have made sure that each is a name.
        for name in reads.names.into_iter().flatten().filter_map(|name| name.parse().ok()) {
            wanted.entry(name).or_default().insert(resource.id.type_name.clone());
        }
    }
    wanted
}
