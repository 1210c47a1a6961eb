use std::collections::BTreeSet;

use rusqlite::{Connection, Row, params};

use super::claims::{ClaimIndex, Conflicts, DesiredDigest, Held};
use super::rows::{digest, parsed};
use super::runs::Receipt;
use super::{Store, StoreError, View};
use crate::journal::Event;
use crate::model::catalog::Claim;
use crate::model::digest::ComponentDigest;
use crate::model::ids::{OwnerName, ResourceId, RunId};
use crate::model::key::Key;

/// What an accepted bundle asks for, before anything changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Admission {
    /// The run, which has begun.
    pub run: RunId,
    /// The accepted bundle. Its owner is who claims.
    pub receipt: Receipt,
    /// What its resources claim.
    pub resources: Vec<Claimed>,
    /// Resources that are skipped: they take nothing and keep what they had.
    pub kept: Vec<ResourceId>,
}

/// The claims of one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The resource.
    pub resource: ResourceId,
    /// From the bundle and from inspection on the node.
    pub claims: Vec<Claim>,
    /// The digest of its desired state; none while that waits for another resource.
    pub desired: Option<DesiredDigest>,
    /// The component that manages it.
    pub component: ComponentDigest,
}

impl Claimed {
    fn held_by<'a>(&'a self, owner: &'a OwnerName) -> impl Iterator<Item = Held> + 'a {
        self.claims.iter().map(|claim| Held {
            claim: claim.clone(),
            owner: owner.clone(),
            resource: self.resource.clone(),
            desired: self.desired,
            component: self.component,
        })
    }
}

impl View {
    /// What stands in the way of an admission: claims of other owners, unless state and component are equal; those that `kept`
    /// resources and resources with an open intent keep; and those of `resources` among themselves. Takes nothing.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn conflicts(&self, owner: &OwnerName, resources: &[Claimed], kept: &[ResourceId]) -> Result<Conflicts, StoreError> {
        conflicts(&self.connection, owner, resources, kept).map_err(self.failed("read claims"))
    }
}

impl Store {
    /// Accepts a bundle: its receipt is put on record and its claims are taken, in one transaction; claims that this version no
    /// longer has are released, but for those of resources with an open intent.
    ///
    /// # Errors
    /// [`StoreError::Conflicts`] with every conflict, and then nothing is taken or released; if the run is not on record or has
    /// ended; if the database cannot be written.
    pub fn admit(&mut self, admission: &Admission) -> Result<(), StoreError> {
        let Admission { run, receipt, resources, kept } = admission;
        let mut batch = self.batch()?;
        let failed = batch.failed("take claims");
        let found = conflicts(batch.connection(), &receipt.owner, resources, kept).map_err(&failed)?;
        if !found.is_empty() {
            return Err(StoreError::Conflicts(found));
        }
        let number = insert_receipt(batch.connection(), receipt, &failed)?;
        let bound = batch
            .connection()
            .execute("UPDATE runs SET receipt = ?1 WHERE run = ?2 AND ending IS NULL", params![number, run.as_str()])
            .map_err(&failed)?;
        if bound != 1 {
            return Err(StoreError::NotOnRecord { what: format!("run `{run}`") });
        }
        replace_claims(batch.connection(), &receipt.owner, resources, kept).map_err(&failed)?;
        batch.log(run, None, Event::Admitted, None)?;
        batch.commit()
    }
}

fn conflicts(
    connection: &Connection,
    owner: &OwnerName,
    resources: &[Claimed],
    kept: &[ResourceId],
) -> rusqlite::Result<Conflicts> {
    let kept = keepers(connection, owner, kept)?;
    let mut index = ClaimIndex::default();
    let mut statement = connection.prepare("SELECT * FROM claims")?;
    for held in statement.query_map([], held)? {
        let held = held?;
        if held.owner != *owner || kept.contains(&held.resource) {
            index.insert(held);
        }
    }
    let mut found = Conflicts::default();
    for wanted in resources.iter().flat_map(|claimed| claimed.held_by(owner)) {
        index.check(&wanted, &mut found);
        if found.more {
            break;
        }
        index.insert(wanted);
    }
    Ok(found)
}

/// The resources of `owner` that keep what they have: those that are skipped, and those with an open intent, since nobody knows what
/// became of their objects.
fn keepers(connection: &Connection, owner: &OwnerName, skipped: &[ResourceId]) -> rusqlite::Result<BTreeSet<ResourceId>> {
    let mut statement = connection.prepare(
        "SELECT resource FROM intents WHERE owner = ?1 AND status IN ('intended', 'partial', 'unknown', 'partial_unknown')",
    )?;
    let open = statement.query_map([owner.as_str()], |row| parsed(row, "resource"))?;
    skipped.iter().cloned().map(Ok).chain(open).collect()
}

fn insert_receipt(
    connection: &Connection,
    receipt: &Receipt,
    failed: &impl Fn(rusqlite::Error) -> StoreError,
) -> Result<i64, StoreError> {
    let Receipt { owner, bundle, serial, components, policy, at } = receipt;
    let serial = i64::try_from(*serial).map_err(|_| StoreError::TooLarge { what: "serial", value: *serial })?;
    let components =
        serde_json::to_string(components).map_err(|error| failed(rusqlite::Error::ToSqlConversionFailure(Box::new(error))))?;
    connection
        .execute(
            "INSERT INTO receipts (owner, bundle, serial, components, policy, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![owner.as_str(), bundle.bytes(), serial, components, policy, at],
        )
        .map_err(failed)?;
    Ok(connection.last_insert_rowid())
}

fn replace_claims(
    connection: &Connection,
    owner: &OwnerName,
    resources: &[Claimed],
    kept: &[ResourceId],
) -> rusqlite::Result<()> {
    let kept = keepers(connection, owner, kept)?;
    let before = connection
        .prepare("SELECT DISTINCT resource FROM claims WHERE owner = ?1")?
        .query_map([owner.as_str()], |row| parsed::<ResourceId>(row, "resource"))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut delete = connection.prepare("DELETE FROM claims WHERE owner = ?1 AND resource = ?2")?;
    for resource in before.iter().filter(|resource| !kept.contains(resource)) {
        delete.execute(params![owner.as_str(), resource.to_string()])?;
    }
    let mut insert = connection.prepare(
        "INSERT INTO claims (domain, key, qualifier, owner, resource, desired, component) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         ON CONFLICT DO NOTHING",
    )?;
    for Claimed { resource, claims, desired, component } in resources {
        let resource = resource.to_string();
        for Claim { domain, key, qualifier } in claims {
            let desired = desired.as_ref().map(|digest| digest.bytes());
            insert.execute(params![domain, key.0, qualifier, owner.as_str(), resource, desired, component.bytes()])?;
        }
    }
    Ok(())
}

fn held(row: &Row<'_>) -> rusqlite::Result<Held> {
    let is_known = row.get::<_, Option<Vec<u8>>>("desired")?.is_some();
    Ok(Held {
        claim: Claim { domain: row.get("domain")?, key: Key(row.get("key")?), qualifier: row.get("qualifier")? },
        owner: parsed(row, "owner")?,
        resource: parsed(row, "resource")?,
        desired: is_known.then(|| digest(row, "desired")).transpose()?,
        component: digest(row, "component")?,
    })
}
