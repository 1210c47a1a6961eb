use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, Row, params};
use serde_json::Value as Json;

use super::rows::{digest, json_or_null, kept, kept_or_null, parsed};
use super::{Store, StoreError, View};
use crate::model::canonical::CanonicalJson;
use crate::model::digest::ComponentDigest;
use crate::model::ids::{OwnerName, ResourceId};

/// What a run left behind of one resource. No value in it is sensitive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The component that managed it.
    pub component: ComponentDigest,
    /// The schema version of `inputs`.
    pub schema_version: u32,
    /// Desired state.
    pub inputs: CanonicalJson,
    /// What the application gave out.
    pub outputs: Option<Json>,
    /// What was last observed.
    pub observed: Option<CanonicalJson>,
    /// The module's configuration at the time.
    pub configuration: Option<Json>,
    /// The stamp of the sensitive values that `inputs` names, of [`super::StampKey`]; none if it names none.
    pub secrets: Option<String>,
    /// Whether the run left the object as desired. Any later intent takes this back until it is settled.
    pub converged: bool,
}

impl Recorded {
    /// Whether a difference from `desired` is drift: a run left the object converged with this same desired state, the same
    /// sensitive values and component, so something else has changed it since.
    pub fn difference_is_drift(&self, desired: &CanonicalJson, component: &ComponentDigest, secrets: Option<&str>) -> bool {
        let same_values = self.secrets.as_deref() == secrets;
        self.converged && same_values && self.inputs == *desired && self.component == *component
    }
}

const COLUMNS: &str = "resource, component, schema_version, inputs, outputs, observed, configuration, secrets, converged";

impl View {
    /// What is on record of one resource.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn recorded(&self, owner: &OwnerName, resource: &ResourceId) -> Result<Option<Recorded>, StoreError> {
        self.connection
            .query_row(
                &format!("SELECT {COLUMNS} FROM recorded WHERE owner = ?1 AND resource = ?2"),
                params![owner.as_str(), resource.to_string()],
                from_row,
            )
            .optional()
            .map(|found| found.map(|(_, recorded)| recorded))
            .map_err(self.failed("read recorded state"))
    }

    /// What is on record of every resource of `owner`.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn recorded_of(&self, owner: &OwnerName) -> Result<BTreeMap<ResourceId, Recorded>, StoreError> {
        let failed = self.failed("read recorded state");
        let sql = format!("SELECT {COLUMNS} FROM recorded WHERE owner = ?1");
        let mut statement = self.connection.prepare(&sql).map_err(&failed)?;
        let rows = statement.query_map([owner.as_str()], from_row).map_err(&failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(&failed)
    }
}

impl Store {
    /// Drops what is on record of resources that are no longer managed.
    ///
    /// # Errors
    /// If the database cannot be written; then nothing is dropped.
    pub fn forget(&mut self, owner: &OwnerName, resources: &[ResourceId]) -> Result<(), StoreError> {
        let batch = self.batch()?;
        super::release::forget(&batch, owner, resources)?;
        batch.commit()
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<(ResourceId, Recorded)> {
    let recorded = Recorded {
        component: digest(row, "component")?,
        schema_version: row.get("schema_version")?,
        inputs: kept(row, "inputs")?,
        outputs: json_or_null(row, "outputs")?,
        observed: kept_or_null(row, "observed")?,
        configuration: json_or_null(row, "configuration")?,
        secrets: row.get("secrets")?,
        converged: row.get("converged")?,
    };
    Ok((parsed(row, "resource")?, recorded))
}
