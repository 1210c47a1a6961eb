//! The sensitive values of one run: of the bundle's layer, of the node, and what they became here. Only the host looks at them.

use std::fmt;
use std::sync::{PoisonError, RwLock};

use zeroize::Zeroizing;

use crate::language::slots::Told;
use crate::model::ids::{SecretName, SecretSlot, TypeName};
use crate::model::secret::{SecretValue, Secrets};
use crate::policy::SecretReaders;
use crate::receipt::Admitted;
use crate::secrets::NodeSecrets;

/// The sensitive values of one run.
pub struct RunSecrets {
    values: RwLock<Secrets>,
    node: NodeSecrets,
    readers: SecretReaders,
}

impl RunSecrets {
    /// Those of an admitted bundle and of the node.
    pub fn new(admitted: &Admitted, node: NodeSecrets) -> Self {
        Self { values: RwLock::new(admitted.bundle.secrets().clone()), node, readers: admitted.secret_readers.clone() }
    }

    /// Keeps what a resource that is compiled here was told.
    pub(super) fn keep(&self, told: &Told) {
        let values = told.iter().filter_map(|(slot, value)| Some((slot.clone(), SecretValue::of(&value.json()?))));
        self.values.write().unwrap_or_else(PoisonError::into_inner).extend(values);
    }

    /// The value of a slot.
    pub fn slot(&self, slot: &SecretSlot) -> Option<SecretValue> {
        self.values.read().unwrap_or_else(PoisonError::into_inner).get(slot).cloned()
    }

    /// A secret of the node, for a resource of the type `reader`.
    ///
    /// # Errors
    /// In words, if policy does not let it, or it was not read.
    pub(super) fn of_node(&self, name: &SecretName, reader: Option<&TypeName>) -> Result<SecretValue, String> {
        let allowed = self.readers.get(name).zip(reader).is_some_and(|(readers, reader)| readers.contains(reader));
        if !allowed {
            let reader = reader.map_or_else(|| "a condition".to_owned(), |reader| format!("a resource of the type `{reader}`"));
            return Err(format!("no policy row lets {reader} use the secret `{name}`, which it reads through another resource"));
        }
        self.node.get(name).cloned().ok_or_else(|| format!("the secret `{name}` was not read"))
    }

    /// What a file gets of a slot.
    pub(super) fn content(&self, slot: &str) -> Option<Zeroizing<Vec<u8>>> {
        self.slot(&slot.parse().ok()?)?.content()
    }
}

impl fmt::Debug for RunSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunSecrets(not shown)")
    }
}
