use rusqlite::Row;

use super::rows::{digest, parsed, word};
use super::{Store, StoreError, View};
use crate::journal::{
    Action, Closing, Entry, Event, IntentId, ObligationStatus, OpenObligation, Operation, Resolution, StagingName, Status,
};
use crate::model::digest::ComponentDigest;
use crate::model::ids::{OwnerName, ResourceId, RunId};

/// An intent that is not settled: its resource is blocked until recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenIntent {
    /// Its number.
    pub intent: IntentId,
    /// The run that made it.
    pub run: RunId,
    /// Whose resource it is about.
    pub owner: OwnerName,
    /// The resource.
    pub resource: ResourceId,
    /// Where its change staged.
    pub staging_name: StagingName,
    /// The component that was to do it.
    pub component: ComponentDigest,
    /// The schema version of `desired`.
    pub schema_version: u32,
    /// Desired state, canonical JSON.
    pub desired: String,
    /// What it was for.
    pub operation: Operation,
    /// The control group of its processes, if there was one.
    pub cgroup: Option<String>,
    /// How far it is known to have got.
    pub status: Status,
}

/// How much is unfinished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenWork {
    /// Intents that are not settled.
    pub intents: u64,
    /// Refreshes that are owed, or may come to be.
    pub obligations: u64,
}

impl View {
    /// Open intents of `owner`, or of all, oldest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn open_intents(&self, owner: Option<&OwnerName>) -> Result<Vec<OpenIntent>, StoreError> {
        let failed = self.failed("read open intents");
        let mut statement = self
            .connection
            .prepare(
                "SELECT * FROM intents WHERE status IN ('intended', 'partial', 'unknown', 'partial_unknown') \
                 AND (?1 IS NULL OR owner = ?1) ORDER BY intent",
            )
            .map_err(&failed)?;
        let rows = statement.query_map([owner.map(OwnerName::as_str)], open_intent).map_err(&failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(&failed)
    }

    /// Open refresh obligations of `owner`, oldest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn open_obligations(&self, owner: &OwnerName) -> Result<Vec<OpenObligation>, StoreError> {
        let open = "obligations.owner = ?1 AND obligations.status IN ('pending', 'owed')";
        self.obligations(open, &[owner.as_str()])
    }

    /// The refreshes that `subscriber` owes, oldest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn owed(&self, owner: &OwnerName, subscriber: &ResourceId) -> Result<Vec<OpenObligation>, StoreError> {
        let owed = "obligations.owner = ?1 AND subscriber = ?2 AND obligations.status = 'owed'";
        self.obligations(owed, &[owner.as_str(), &subscriber.to_string()])
    }

    fn obligations(&self, condition: &str, values: &[&str]) -> Result<Vec<OpenObligation>, StoreError> {
        let failed = self.failed("read open obligations");
        let query = format!(
            "SELECT obligation, subscriber, obligations.status AS status, resource FROM obligations JOIN intents USING (intent) \
             WHERE {condition} ORDER BY obligation"
        );
        let mut statement = self.connection.prepare(&query).map_err(&failed)?;
        let rows = statement
            .query_map(rusqlite::params_from_iter(values), |row| {
                Ok(OpenObligation {
                    obligation: row.get("obligation")?,
                    because_of: parsed(row, "resource")?,
                    subscriber: parsed(row, "subscriber")?,
                    status: word(row, "status", ObligationStatus::from_word)?,
                })
            })
            .map_err(&failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(&failed)
    }

    /// How much is unfinished, of all owners.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn open_work(&self) -> Result<OpenWork, StoreError> {
        let count = |row: &Row<'_>, column| row.get::<_, i64>(column).map(i64::unsigned_abs);
        self.connection
            .query_row("SELECT intents, obligations FROM open_work", [], |row| {
                Ok(OpenWork { intents: count(row, "intents")?, obligations: count(row, "obligations")? })
            })
            .map_err(self.failed("count open work"))
    }

    /// What `run` wrote in the journal, in order.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn entries(&self, run: &RunId) -> Result<Vec<Entry>, StoreError> {
        let failed = self.failed("read the journal");
        let mut statement = self
            .connection
            .prepare(
                "SELECT sequence, events.run AS run, resource, event, detail FROM events LEFT JOIN intents USING (intent) \
                 WHERE events.run = ?1 ORDER BY sequence",
            )
            .map_err(&failed)?;
        let rows = statement
            .query_map([run.as_str()], |row| {
                Ok(Entry {
                    sequence: row.get("sequence")?,
                    run: parsed(row, "run")?,
                    resource: super::rows::parsed_or_null(row, "resource")?,
                    event: word(row, "event", Event::from_word)?,
                    detail: row.get("detail")?,
                })
            })
            .map_err(&failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(&failed)
    }
}

impl Store {
    /// Settles an intent that an earlier run left open. Within a run that has a journal, that does it.
    ///
    /// # Errors
    /// If `intent` is not open or is of `run` itself, or the database cannot be written.
    pub fn resolve(
        &mut self,
        run: &RunId,
        intent: IntentId,
        resolution: Resolution,
        detail: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut batch = self.batch()?;
        batch.resolve(run, intent, resolution, detail)?;
        batch.commit()
    }

    /// Closes an obligation that is owed.
    ///
    /// # Errors
    /// If it is not owed, or the database cannot be written.
    pub fn close_obligation(&mut self, obligation: i64, closing: Closing, detail: Option<&str>) -> Result<(), StoreError> {
        let mut batch = self.batch()?;
        batch.close_obligation(obligation, closing, detail)?;
        batch.commit()
    }
}

fn open_intent(row: &Row<'_>) -> rusqlite::Result<OpenIntent> {
    let operation = match (row.get::<_, Option<String>>("action")?, row.get("shared")?) {
        (Some(_), _) => Operation::Converge(word(row, "action", Action::from_word)?),
        (None, Some(key)) => Operation::Perform(key),
        (None, None) => Operation::Refresh,
    };
    Ok(OpenIntent {
        intent: IntentId(row.get("intent")?),
        run: parsed(row, "run")?,
        owner: parsed(row, "owner")?,
        resource: parsed(row, "resource")?,
        staging_name: parsed(row, "staging_name")?,
        component: digest(row, "component")?,
        schema_version: row.get("schema_version")?,
        desired: row.get("desired")?,
        operation,
        cgroup: row.get("cgroup")?,
        status: word(row, "status", Status::from_word)?,
    })
}

/// Deletes all but the newest runs of an owner; what is open keeps its run.
pub(super) const PRUNE_RUNS: &str = "DELETE FROM runs WHERE owner IS ?1 \
     AND sequence NOT IN (SELECT sequence FROM runs WHERE owner IS ?1 ORDER BY sequence DESC LIMIT ?2) \
     AND NOT EXISTS (SELECT 1 FROM intents WHERE intents.run = runs.run \
         AND (status IN ('intended', 'partial', 'unknown', 'partial_unknown') \
             OR EXISTS (SELECT 1 FROM obligations WHERE obligations.intent = intents.intent AND obligations.status IN ('pending', 'owed'))))";

#[cfg(test)]
impl View {
    /// For tests: runs SQL that no code of ours would.
    pub(crate) fn raw(&self, sql: &str) -> rusqlite::Result<usize> {
        self.connection.execute(sql, [])
    }

    /// For tests: every event of every intent, in order.
    pub(crate) fn history(&self) -> Vec<(IntentId, crate::journal::IntentEvent)> {
        let mut statement =
            self.connection.prepare("SELECT intent, event FROM events WHERE intent IS NOT NULL ORDER BY sequence").unwrap();
        let rows = statement
            .query_map([], |row| Ok((IntentId(row.get("intent")?), word(row, "event", crate::journal::IntentEvent::from_word)?)));
        rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
    }

    /// For tests: every intent with its status and the name under which it staged.
    pub(crate) fn all_intents(&self) -> Vec<(IntentId, Status, StagingName)> {
        let mut statement = self.connection.prepare("SELECT * FROM intents ORDER BY intent").unwrap();
        let rows = statement.query_map([], |row| {
            Ok((IntentId(row.get("intent")?), word(row, "status", Status::from_word)?, parsed(row, "staging_name")?))
        });
        rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
    }
}
