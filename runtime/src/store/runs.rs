use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, Row, params};

use super::intents::PRUNE_RUNS;
use super::rows::{digest, parsed, parsed_or_null, word};
use super::{Store, StoreError, View};
use crate::journal::Event;
use crate::journal::words;
use crate::model::digest::{BundleDigest, ComponentDigest};
use crate::model::ids::{OwnerName, RunId, TypeName};

/// How many runs of each owner are kept with their journals and reports. A run with something open is kept beyond that.
pub const RUNS_KEPT: u32 = 100;

words! {
    /// What a run is for.
    RunKind {
        /// To apply a bundle.
        Apply = "apply",
        /// To settle what earlier runs left open.
        Recover = "recover",
    }
}

words! {
    /// How a run ended.
    RunEnding {
        /// The node is as declared.
        Converged = "converged",
        /// No failure, but something was skipped or could not be planned.
        Incomplete = "incomplete",
        /// A resource failed or was refused.
        Failed = "failed",
        /// The run was refused, and nothing was touched.
        Refused = "refused",
        /// An intent is unresolved.
        Unresolved = "unresolved",
    }
}

/// A run that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStart {
    /// Its id, new.
    pub run: RunId,
    /// What it is for.
    pub kind: RunKind,
    /// Whose bundle it applies; none for a run that recovers whatever is open.
    pub owner: Option<OwnerName>,
    /// Unix time in milliseconds, for people.
    pub at: i64,
}

/// That this node accepted a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Whose bundle it is.
    pub owner: OwnerName,
    /// The bundle.
    pub bundle: BundleDigest,
    /// The author's release number.
    pub serial: u64,
    /// The components in it.
    pub components: BTreeMap<TypeName, ComponentDigest>,
    /// What policy decided and granted, as JSON.
    pub policy: String,
    /// Unix time in milliseconds, for people.
    pub at: i64,
}

/// A run on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// Its id.
    pub run: RunId,
    /// What it was for.
    pub kind: RunKind,
    /// Whose bundle it applied.
    pub owner: Option<OwnerName>,
    /// The bundle, if it was admitted.
    pub bundle: Option<BundleDigest>,
    /// Unix time in milliseconds, for people.
    pub began_at: i64,
    /// The same; none if the run was lost, or is at work.
    pub ended_at: Option<i64>,
    /// How it ended; none likewise.
    pub ending: Option<RunEnding>,
}

impl View {
    /// The newest accepted bundle of `owner`.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn newest_receipt(&self, owner: &OwnerName) -> Result<Option<Receipt>, StoreError> {
        self.connection
            .query_row("SELECT * FROM receipts WHERE owner = ?1 ORDER BY receipt DESC LIMIT 1", [owner.as_str()], receipt)
            .optional()
            .map_err(self.failed("read receipts"))
    }

    /// The newest `limit` runs, of `owner` or of all, newest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn runs(&self, owner: Option<&OwnerName>, limit: u32) -> Result<Vec<RunRecord>, StoreError> {
        let failed = self.failed("read runs");
        let mut statement = self
            .connection
            .prepare(
                "SELECT run, kind, runs.owner AS owner, bundle, began_at, ended_at, ending FROM runs \
                 LEFT JOIN receipts USING (receipt) WHERE ?1 IS NULL OR runs.owner = ?1 ORDER BY sequence DESC LIMIT ?2",
            )
            .map_err(&failed)?;
        let rows = statement.query_map(params![owner.map(OwnerName::as_str), limit], run_record).map_err(&failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(&failed)
    }

    /// The report of `run`, as JSON.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn report(&self, run: &RunId) -> Result<Option<String>, StoreError> {
        self.connection
            .query_row("SELECT report FROM reports WHERE run = ?1", [run.as_str()], |row| row.get("report"))
            .optional()
            .map_err(self.failed("read a report"))
    }

    /// The report of the newest run of `owner` that has one, as JSON, with that run.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn last_report(&self, owner: &OwnerName) -> Result<Option<(RunId, String)>, StoreError> {
        self.connection
            .query_row(
                "SELECT run, report FROM reports JOIN runs USING (run) WHERE owner = ?1 ORDER BY sequence DESC LIMIT 1",
                [owner.as_str()],
                |row| Ok((parsed(row, "run")?, row.get("report")?)),
            )
            .optional()
            .map_err(self.failed("read the last report"))
    }
}

impl Store {
    /// Puts a run on record.
    ///
    /// # Errors
    /// If its id is on record already, or the database cannot be written.
    pub fn begin_run(&mut self, start: &RunStart) -> Result<(), StoreError> {
        let RunStart { run, kind, owner, at } = start;
        let mut batch = self.batch()?;
        batch
            .connection()
            .execute(
                "INSERT INTO runs (run, kind, owner, began_at) VALUES (?1, ?2, ?3, ?4)",
                params![run.as_str(), kind.as_str(), owner.as_ref().map(OwnerName::as_str), at],
            )
            .map_err(batch.failed("begin a run"))?;
        batch.log(run, None, Event::RunBegan, None)?;
        batch.commit()
    }

    /// Keeps the report of a run, as JSON, in place of an earlier one of the same run.
    ///
    /// # Errors
    /// If the run is not on record, or the database cannot be written.
    pub fn put_report(&mut self, run: &RunId, report: &str) -> Result<(), StoreError> {
        let mut batch = self.batch()?;
        let written = batch
            .connection()
            .execute(
                "INSERT INTO reports (run, report) SELECT run, ?2 FROM runs WHERE run = ?1 \
                 ON CONFLICT (run) DO UPDATE SET report = excluded.report",
                params![run.as_str(), report],
            )
            .map_err(batch.failed("store a report"))?;
        if written != 1 {
            return Err(StoreError::NotOnRecord { what: format!("run `{run}`") });
        }
        batch.log(run, None, Event::Reported, None)?;
        batch.commit()
    }

    /// Ends a run, and drops what is too old: all but the newest [`RUNS_KEPT`] runs of its owner, and receipts that no run names,
    /// but for each owner's newest. `at` is Unix time in milliseconds.
    ///
    /// # Errors
    /// If the run is not on record or has ended, or the database cannot be written.
    pub fn end_run(&mut self, run: &RunId, ending: RunEnding, at: i64) -> Result<(), StoreError> {
        let mut batch = self.batch()?;
        let ended = batch
            .connection()
            .execute(
                "UPDATE runs SET ending = ?1, ended_at = ?2 WHERE run = ?3 AND ending IS NULL",
                params![ending.as_str(), at, run.as_str()],
            )
            .map_err(batch.failed("end a run"))?;
        if ended != 1 {
            return Err(StoreError::NotOnRecord { what: format!("run `{run}`") });
        }
        batch.log(run, None, Event::RunEnded, None)?;
        prune(batch.connection(), run).map_err(batch.failed("drop old runs"))?;
        batch.commit()
    }
}

fn prune(connection: &rusqlite::Connection, run: &RunId) -> rusqlite::Result<()> {
    let owner: Option<String> =
        connection.query_row("SELECT owner FROM runs WHERE run = ?1", [run.as_str()], |row| row.get("owner"))?;
    if connection.execute(PRUNE_RUNS, params![owner, RUNS_KEPT])? == 0 {
        return Ok(());
    }
    connection.execute("DELETE FROM events WHERE intent IS NULL AND run NOT IN (SELECT run FROM runs)", [])?;
    connection.execute(
        "DELETE FROM receipts WHERE receipt NOT IN (SELECT receipt FROM runs WHERE receipt IS NOT NULL) \
         AND receipt NOT IN (SELECT max(receipt) FROM receipts GROUP BY owner)",
        [],
    )?;
    Ok(())
}

fn run_record(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    let ended_at: Option<i64> = row.get("ended_at")?;
    let admitted = row.get::<_, Option<Vec<u8>>>("bundle")?.is_some();
    Ok(RunRecord {
        run: parsed(row, "run")?,
        kind: word(row, "kind", RunKind::from_word)?,
        owner: parsed_or_null(row, "owner")?,
        bundle: admitted.then(|| digest(row, "bundle")).transpose()?,
        began_at: row.get("began_at")?,
        ended_at,
        ending: ended_at.map(|_| word(row, "ending", RunEnding::from_word)).transpose()?,
    })
}

fn receipt(row: &Row<'_>) -> rusqlite::Result<Receipt> {
    let components: String = row.get("components")?;
    Ok(Receipt {
        owner: parsed(row, "owner")?,
        bundle: digest(row, "bundle")?,
        serial: row.get::<_, i64>("serial")?.unsigned_abs(),
        components: serde_json::from_str(&components)
            .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error)))?,
        policy: row.get("policy")?,
        at: row.get("at")?,
    })
}
