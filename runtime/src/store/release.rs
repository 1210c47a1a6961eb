//! Who holds which object, and giving it up by hand, each with an entry in the journal.
//!
//! What it deliberately does not do: touch the object. It stays on the node as it is, and is nobody's.

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

use super::rows::{canonical, parsed};
use super::runs::{self, RunEnding, RunKind, RunStart};
use super::{Batch, Store, StoreError, View};
use crate::journal::{Closing, Event, ObligationStatus, OpenObligation};
use crate::model::catalog::Claim;
use crate::model::ids::{OwnerName, ResourceId, RunId};
use crate::model::key::Key;

/// A real thing, by the words of the claims on it; whatever part of it they name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// As in [`Claim`].
    pub domain: String,
    /// Which one.
    pub key: Key,
}

/// A claim in someone's hands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// Who holds it.
    pub owner: OwnerName,
    /// What of it, and for which resource.
    pub held: HeldClaim,
}

/// A claim and the resource that it is held for: as the journal has it when it is given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldClaim {
    /// The resource.
    pub resource: ResourceId,
    /// The claim.
    pub claim: Claim,
}

/// What is to be given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The run's id, new.
    pub run: RunId,
    /// Who gives it up.
    pub owner: OwnerName,
    /// The one object; none for all that the owner has.
    pub object: Option<Object>,
    /// Unix time in milliseconds, for people.
    pub at: i64,
}

/// What was given up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Released {
    /// Claims, by resource.
    pub claims: Vec<HeldClaim>,
    /// Resources of which what was recorded is forgotten.
    pub forgotten: Vec<ResourceId>,
    /// Refreshes that were owed and lapse.
    pub lapsed: Vec<OpenObligation>,
}

impl Released {
    /// Whether there was nothing.
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty() && self.forgotten.is_empty() && self.lapsed.is_empty()
    }
}

impl View {
    /// Every claim of `owner`, or of all, on `object`, or on all; by owner and resource.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn holdings(&self, owner: Option<&OwnerName>, object: Option<&Object>) -> Result<Vec<Holding>, StoreError> {
        let failed = self.failed("read claims");
        let sql = "SELECT owner, resource, domain, key, qualifier FROM claims \
                   WHERE (?1 IS NULL OR owner = ?1) AND (?2 IS NULL OR (domain = ?2 AND key = ?3)) \
                   ORDER BY owner, resource, domain, key, qualifier";
        let mut statement = self.connection.prepare(sql).map_err(&failed)?;
        let (domain, key) = (object.map(|object| &object.domain), object.map(|object| &object.key.0));
        let rows = statement.query_map(params![owner.map(OwnerName::as_str), domain, key], holding).map_err(&failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(&failed)
    }

    /// Whether `owner` has given up `object` by hand, ever.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn has_released(&self, owner: &OwnerName, object: &Object) -> Result<bool, StoreError> {
        let failed = self.failed("read the journal");
        let sql = "SELECT detail FROM events JOIN runs USING (run) WHERE runs.owner = ?1 AND event = ?2 AND detail IS NOT NULL";
        let mut statement = self.connection.prepare(sql).map_err(&failed)?;
        let details = statement.query_map(params![owner.as_str(), Event::Released.as_str()], |row| row.get::<_, String>(0));
        for detail in details.map_err(&failed)? {
            let held = serde_json::from_str::<HeldClaim>(&detail.map_err(&failed)?);
            if held.is_ok_and(|held| held.claim.domain == object.domain && held.claim.key == object.key) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What would be given up. Takes nothing back and writes nothing.
    ///
    /// # Errors
    /// [`StoreError::Blocked`] if an intent of what would be given up is open: nobody knows yet what became of its object; if the database
    /// cannot be read.
    pub fn releasable(&self, owner: &OwnerName, object: Option<&Object>) -> Result<Released, StoreError> {
        let claims: Vec<HeldClaim> = self.holdings(Some(owner), object)?.into_iter().map(|holding| holding.held).collect();
        let concerns = |resource: &ResourceId| object.is_none() || claims.iter().any(|held| held.resource == *resource);
        if let Some(open) = self.open_intents(Some(owner))?.into_iter().find(|open| concerns(&open.resource)) {
            return Err(StoreError::Blocked { resource: open.resource, intent: open.intent });
        }
        let forgotten = self.recorded_of(owner)?.into_keys().filter(concerns).collect();
        // A resource that is still declared takes its object again with the next version, and owes its refresh until then.
        let lapsed = if object.is_none() { self.open_obligations(owner)? } else { Vec::new() };
        let lapsed = lapsed.into_iter().filter(|owed| owed.status == ObligationStatus::Owed).collect();
        Ok(Released { claims, forgotten, lapsed })
    }
}

impl Store {
    /// Gives up claims of one owner, in one transaction with the run that does it and an entry in the journal for each claim. What is
    /// recorded of their resources is forgotten, and refreshes that an owner without claims owes lapse. Where there is nothing to give up,
    /// nothing is put on record.
    ///
    /// # Errors
    /// As [`View::releasable`]; if the database cannot be written.
    pub fn release(&mut self, release: &Release) -> Result<Released, StoreError> {
        let Release { run, owner, object, at } = release;
        let released = self.view().releasable(owner, object.as_ref())?;
        if released.is_empty() {
            return Ok(released);
        }
        let mut batch = self.batch()?;
        let start = RunStart { run: run.clone(), kind: RunKind::Release, owner: Some(owner.clone()), at: *at };
        runs::begin(&mut batch, &start)?;
        for held in &released.claims {
            give_up(&mut batch, release, held)?;
        }
        forget(&batch, owner, &released.forgotten)?;
        for owed in &released.lapsed {
            batch.close_obligation(owed.obligation, Closing::Orphaned, Some("its owner was released"))?;
        }
        runs::end(&mut batch, run, RunEnding::Released, *at, None)?;
        batch.commit()?;
        Ok(released)
    }
}

fn give_up(batch: &mut Batch<'_>, release: &Release, held: &HeldClaim) -> Result<(), StoreError> {
    let failed = batch.failed("release claims");
    let HeldClaim { resource, claim: Claim { domain, key, qualifier } } = held;
    batch
        .connection()
        .execute(
            "DELETE FROM claims WHERE domain = ?1 AND key = ?2 AND qualifier = ?3 AND owner = ?4 AND resource = ?5",
            params![domain, key.0, qualifier, release.owner.as_str(), resource.to_string()],
        )
        .map_err(&failed)?;
    let json = serde_json::to_value(held).map_err(|error| failed(rusqlite::Error::ToSqlConversionFailure(Box::new(error))))?;
    let detail = canonical(&json).map_err(&failed)?;
    batch.log(&release.run, None, Event::Released, Some(&detail))
}

/// Drops what is recorded of `resources`, within a transaction.
pub(super) fn forget(batch: &Batch<'_>, owner: &OwnerName, resources: &[ResourceId]) -> Result<(), StoreError> {
    let failed = batch.failed("forget recorded state");
    for resource in resources {
        let key = params![owner.as_str(), resource.to_string()];
        batch.connection().execute("DELETE FROM recorded WHERE owner = ?1 AND resource = ?2", key).map_err(&failed)?;
    }
    Ok(())
}

fn holding(row: &Row<'_>) -> rusqlite::Result<Holding> {
    let claim = Claim { domain: row.get("domain")?, key: Key(row.get("key")?), qualifier: row.get("qualifier")? };
    Ok(Holding { owner: parsed(row, "owner")?, held: HeldClaim { resource: parsed(row, "resource")?, claim } })
}

#[cfg(test)]
mod tests;
