use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, Row, ToSql, params};

use super::intents::PRUNE_RUNS;
use super::rows::{digest, parsed, parsed_or_null, read_or_null, word};
use super::{Batch, Store, StoreError, View};
use crate::journal::Event;
use crate::journal::words;
use crate::model::digest::{BundleDigest, ComponentDigest};
use crate::model::ids::{OwnerName, RunId, TypeName};
use crate::model::report::Summary;

/// How many runs of each owner are kept with their journals and reports. A run with something open is kept beyond that.
pub const RUNS_KEPT: u32 = 100;

words! {
    /// What a run is for.
    RunKind {
        /// To apply a bundle.
        Apply = "apply",
        /// To settle what earlier runs left open.
        Recover = "recover",
        /// To give up claims.
        Release = "release",
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
        /// Claims are given up.
        Released = "released",
    }
}

/// A run that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStart {
    /// Its id, new.
    pub run: RunId,
    /// What it is for.
    pub kind: RunKind,
    /// Whose bundle it applies, or whose claims it gives up; none for a run that recovers whatever is open.
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
    /// Whose bundle it applied, or whose claims it gave up.
    pub owner: Option<OwnerName>,
    /// The bundle, if it was admitted.
    pub bundle: Option<BundleDigest>,
    /// Unix time in milliseconds, for people.
    pub began_at: i64,
    /// The same; none if the run was lost, or is at work.
    pub ended_at: Option<i64>,
    /// How it ended; none likewise.
    pub ending: Option<RunEnding>,
    /// How many resources ended in each way, where it has a report.
    pub summary: Option<Summary>,
}

/// What a [`RunRecord`] is read from; a condition and an order follow.
const RUN_RECORDS: &str = "SELECT run, kind, runs.owner AS owner, bundle, began_at, ended_at, ending, summary \
     FROM runs LEFT JOIN receipts USING (receipt) LEFT JOIN reports USING (run)";

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
        let condition = "WHERE ?1 IS NULL OR runs.owner = ?1 ORDER BY sequence DESC LIMIT ?2";
        self.run_records(condition, params![owner.map(OwnerName::as_str), limit])
    }

    /// Runs whose id begins with `beginning`, newest first, at most `limit`.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn runs_called(&self, beginning: &str, limit: u32) -> Result<Vec<RunRecord>, StoreError> {
        let condition = "WHERE substr(run, 1, length(?1)) = ?1 ORDER BY sequence DESC LIMIT ?2";
        self.run_records(condition, params![beginning, limit])
    }

    fn run_records(&self, condition: &str, values: &[&dyn ToSql]) -> Result<Vec<RunRecord>, StoreError> {
        let failed = self.failed("read runs");
        let mut statement = self.connection.prepare(&format!("{RUN_RECORDS} {condition}")).map_err(&failed)?;
        let rows = statement.query_map(values, run_record).map_err(&failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(&failed)
    }

    /// Every owner that has a run or a receipt on record, sorted.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn owners(&self) -> Result<Vec<OwnerName>, StoreError> {
        let failed = self.failed("read owners");
        let sql = "SELECT owner FROM runs WHERE owner IS NOT NULL UNION SELECT owner FROM receipts ORDER BY owner";
        let mut statement = self.connection.prepare(sql).map_err(&failed)?;
        let rows = statement.query_map([], |row| parsed(row, "owner")).map_err(&failed)?;
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
        let mut batch = self.batch()?;
        begin(&mut batch, start)?;
        batch.commit()
    }

    /// Keeps the report of a run, as JSON, with its counts, in place of an earlier one of the same run.
    ///
    /// # Errors
    /// If the run is not on record, or the database cannot be written.
    pub fn put_report(&mut self, run: &RunId, report: &str, summary: &Summary) -> Result<(), StoreError> {
        let mut batch = self.batch()?;
        let failed = batch.failed("store a report");
        let summary =
            serde_json::to_string(summary).map_err(|error| failed(rusqlite::Error::ToSqlConversionFailure(Box::new(error))))?;
        let written = batch
            .connection()
            .execute(
                "INSERT INTO reports (run, report, summary) SELECT run, ?2, ?3 FROM runs WHERE run = ?1 \
                 ON CONFLICT (run) DO UPDATE SET report = excluded.report, summary = excluded.summary",
                params![run.as_str(), report, summary],
            )
            .map_err(failed)?;
        if written != 1 {
            return Err(StoreError::NotOnRecord { what: format!("run `{run}`") });
        }
        batch.log(run, None, Event::Reported, None)?;
        batch.commit()
    }

    /// Ends a run, and drops what is too old: all but the newest [`RUNS_KEPT`] runs of its owner, and receipts that no run names,
    /// but for each owner's newest. `at` is Unix time in milliseconds; `why` is for people, where there is no report to tell it.
    ///
    /// # Errors
    /// If the run is not on record or has ended, or the database cannot be written.
    pub fn end_run(&mut self, run: &RunId, ending: RunEnding, at: i64, why: Option<&str>) -> Result<(), StoreError> {
        let mut batch = self.batch()?;
        end(&mut batch, run, ending, at, why)?;
        batch.commit()
    }
}

/// Puts a run on record, within a transaction.
pub(super) fn begin(batch: &mut Batch<'_>, start: &RunStart) -> Result<(), StoreError> {
    let RunStart { run, kind, owner, at } = start;
    batch
        .connection()
        .execute(
            "INSERT INTO runs (run, kind, owner, began_at) VALUES (?1, ?2, ?3, ?4)",
            params![run.as_str(), kind.as_str(), owner.as_ref().map(OwnerName::as_str), at],
        )
        .map_err(batch.failed("begin a run"))?;
    batch.log(run, None, Event::RunBegan, None)
}

/// Ends a run, within a transaction.
pub(super) fn end(batch: &mut Batch<'_>, run: &RunId, ending: RunEnding, at: i64, why: Option<&str>) -> Result<(), StoreError> {
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
    batch.log(run, None, Event::RunEnded, why)?;
    prune(batch.connection(), run).map_err(batch.failed("drop old runs"))
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
        summary: read_or_null(row, "summary")?,
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
