//! One write transaction. What is asked of it is first checked; a refusal writes nothing, so one bad request does not spoil the
//! others. After any other error the whole of it must be dropped.

use std::path::Path;

use rusqlite::{OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::View;
use super::error::{StoreError, database};
use super::recorded::Recorded;
use super::rows::{canonical, parsed, word};
use crate::journal::{
    Closing, Entry, Event, IntentEvent, IntentId, Intention, Moment, ObligationEvent, ObligationStatus, Observer, Operation,
    Resolution, Settlement, StagingName, Status, next, next_obligation,
};
use crate::model::canonical::CanonicalJson;
use crate::model::ids::{OwnerName, ResourceId, RunId};

/// A write transaction with the entries that it adds to the journal.
pub(crate) struct Batch<'s> {
    transaction: Transaction<'s>,
    path: &'s Path,
    observer: Option<&'s Observer>,
    commits: &'s mut u64,
    entries: Vec<Entry>,
}

/// An intent as far as its order is concerned.
struct Standing {
    run: RunId,
    owner: OwnerName,
    resource: ResourceId,
    status: Status,
}

impl<'s> Batch<'s> {
    pub(super) fn begin(view: &'s View, observer: Option<&'s Observer>, commits: &'s mut u64) -> Result<Self, StoreError> {
        let transaction = Transaction::new_unchecked(&view.connection, TransactionBehavior::Immediate)
            .map_err(view.failed("begin a transaction"))?;
        Ok(Self { transaction, path: &view.path, observer, commits, entries: Vec::new() })
    }

    pub(super) fn connection(&self) -> &rusqlite::Connection {
        &self.transaction
    }

    pub(super) fn failed(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError + use<> {
        database(self.path.into(), doing)
    }

    /// Makes it durable: when this returns, everything in it is on disk.
    pub(crate) fn commit(self) -> Result<(), StoreError> {
        let tell =
            |moment| self.observer.iter().for_each(|observer| self.entries.iter().for_each(|entry| observer(moment, entry)));
        tell(Moment::BeforeDurable);
        self.transaction.commit().map_err(database(self.path.into(), "commit"))?;
        *self.commits += 1;
        tell(Moment::AfterDurable);
        Ok(())
    }

    /// Appends to the journal.
    pub(super) fn log(
        &mut self,
        run: &RunId,
        subject: Option<(IntentId, &ResourceId)>,
        event: Event,
        detail: Option<&str>,
    ) -> Result<(), StoreError> {
        self.transaction
            .execute(
                "INSERT INTO events (run, intent, event, detail) VALUES (?1, ?2, ?3, ?4)",
                params![run.as_str(), subject.map(|(intent, _)| intent.0), event.as_str(), detail],
            )
            .map_err(self.failed("write to the journal"))?;
        self.entries.push(Entry {
            sequence: self.transaction.last_insert_rowid(),
            run: run.clone(),
            resource: subject.map(|(_, resource)| resource.clone()),
            event,
            detail: detail.map(str::to_owned),
        });
        Ok(())
    }

    /// Writes an intent with its staging name and its pending obligations. What was recorded of the resource no longer counts as
    /// left converged.
    pub(crate) fn intend(&mut self, run: &RunId, intention: &Intention) -> Result<(IntentId, StagingName), StoreError> {
        let Intention { owner, resource, component, schema_version, desired, operation, subscribers, cgroup } = intention;
        self.refuse_blocked(owner, resource)?;
        let failed = self.failed("write an intent");
        let staging_name = StagingName::random();
        let (reason, action, shared) = match operation {
            Operation::Converge(action) => ("converge", Some(action.as_str()), None),
            Operation::Refresh => ("refresh", None, None),
            Operation::Perform(key) => ("perform", None, Some(key.as_str())),
        };
        self.transaction
            .execute(
                "INSERT INTO intents (run, owner, resource, staging_name, component, schema_version, desired, reason, action, \
                 shared, cgroup, status) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'intended')",
                params![
                    run.as_str(),
                    owner.as_str(),
                    resource.to_string(),
                    staging_name.as_str(),
                    component.bytes(),
                    schema_version,
                    desired,
                    reason,
                    action,
                    shared,
                    cgroup
                ],
            )
            .map_err(&failed)?;
        let intent = IntentId(self.transaction.last_insert_rowid());
        for subscriber in subscribers {
            let pending = ObligationStatus::Pending.as_str();
            self.transaction
                .execute(
                    "INSERT INTO obligations (intent, owner, subscriber, status) VALUES (?1, ?2, ?3, ?4)",
                    params![intent.0, owner.as_str(), subscriber.to_string(), pending],
                )
                .map_err(&failed)?;
        }
        if matches!(operation, Operation::Perform(_)) {
            // The object is as it was.
            self.log(run, Some((intent, resource)), Event::Intent(IntentEvent::Intended), None)?;
            return Ok((intent, staging_name));
        }
        self.transaction
            .execute(
                "UPDATE recorded SET converged = 0 WHERE owner = ?1 AND resource = ?2 AND converged = 1",
                params![owner.as_str(), resource.to_string()],
            )
            .map_err(&failed)?;
        self.log(run, Some((intent, resource)), Event::Intent(IntentEvent::Intended), None)?;
        Ok((intent, staging_name))
    }

    fn refuse_blocked(&self, owner: &OwnerName, resource: &ResourceId) -> Result<(), StoreError> {
        let open = self
            .transaction
            .query_row(
                "SELECT intent FROM intents WHERE owner = ?1 AND resource = ?2 \
                 AND status IN ('intended', 'partial', 'unknown', 'partial_unknown')",
                params![owner.as_str(), resource.to_string()],
                |row| row.get("intent"),
            )
            .optional()
            .map_err(self.failed("look for open intents"))?;
        open.map_or(Ok(()), |intent| Err(StoreError::Blocked { resource: resource.clone(), intent: IntentId(intent) }))
    }

    /// Ends an intent of `run`.
    pub(crate) fn settle(&mut self, run: &RunId, intent: IntentId, settlement: &Settlement) -> Result<(), StoreError> {
        let Settlement { ending, record, detail, closes } = settlement;
        let standing = self.standing(intent)?;
        if standing.run != *run {
            return Err(StoreError::WrongRun { intent });
        }
        self.advance(run, intent, &standing, IntentEvent::Ended(*ending), detail.as_deref())?;
        for (obligation, closing) in closes {
            self.close_obligation(*obligation, *closing, None)?;
        }
        record.as_ref().map_or(Ok(()), |record| self.record(run, &standing.owner, &standing.resource, record))
    }

    /// Settles an intent that an earlier run left open.
    pub(crate) fn resolve(
        &mut self,
        run: &RunId,
        intent: IntentId,
        resolution: Resolution,
        detail: Option<&str>,
    ) -> Result<(), StoreError> {
        let standing = self.standing(intent)?;
        if standing.run == *run {
            return Err(StoreError::WrongRun { intent });
        }
        self.advance(run, intent, &standing, IntentEvent::Resolved(resolution), detail)
    }

    fn standing(&self, intent: IntentId) -> Result<Standing, StoreError> {
        self.transaction
            .query_row("SELECT run, owner, resource, status FROM intents WHERE intent = ?1", [intent.0], |row| {
                Ok(Standing {
                    run: parsed(row, "run")?,
                    owner: parsed(row, "owner")?,
                    resource: parsed(row, "resource")?,
                    status: word(row, "status", Status::from_word)?,
                })
            })
            .optional()
            .map_err(self.failed("read an intent"))?
            .ok_or_else(|| StoreError::NotOnRecord { what: format!("intent {intent}") })
    }

    fn advance(
        &mut self,
        run: &RunId,
        intent: IntentId,
        standing: &Standing,
        event: IntentEvent,
        detail: Option<&str>,
    ) -> Result<(), StoreError> {
        let status = next(Some(standing.status), event).map_err(|source| StoreError::IllegalOrder { intent, source })?;
        let changed = self
            .transaction
            .execute(
                "UPDATE intents SET status = ?1 WHERE intent = ?2 AND status = ?3",
                params![status.as_str(), intent.0, standing.status.as_str()],
            )
            .map_err(self.failed("settle an intent"))?;
        if changed != 1 {
            return Err(StoreError::NotOnRecord { what: format!("intent {intent} as `{}`", standing.status) });
        }
        self.advance_obligations(intent, status)?;
        self.log(run, Some((intent, &standing.resource)), Event::Intent(event), detail)
    }

    fn advance_obligations(&self, intent: IntentId, change: Status) -> Result<(), StoreError> {
        let failed = self.failed("settle refresh obligations");
        let mut statement = self
            .transaction
            .prepare("SELECT obligation, status FROM obligations WHERE intent = ?1 AND status IN ('pending', 'owed')")
            .map_err(&failed)?;
        let open = statement
            .query_map([intent.0], |row| {
                Ok((row.get::<_, i64>("obligation")?, word(row, "status", ObligationStatus::from_word)?))
            })
            .and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>)
            .map_err(&failed)?;
        for (obligation, status) in open {
            if let Some(after) = next_obligation(status, ObligationEvent::ChangeStands(change)).filter(|after| *after != status) {
                self.transaction
                    .execute("UPDATE obligations SET status = ?1 WHERE obligation = ?2", params![after.as_str(), obligation])
                    .map_err(&failed)?;
            }
        }
        Ok(())
    }

    /// Closes an owed obligation.
    pub(crate) fn close_obligation(&mut self, obligation: i64, closing: Closing, detail: Option<&str>) -> Result<(), StoreError> {
        let owed = ObligationStatus::Owed;
        let after = next_obligation(owed, ObligationEvent::Closed(closing)).unwrap_or(owed);
        let changed = self
            .transaction
            .execute(
                "UPDATE obligations SET status = ?1, detail = ?2 WHERE obligation = ?3 AND status = ?4",
                params![after.as_str(), detail, obligation, owed.as_str()],
            )
            .map_err(self.failed("close a refresh obligation"))?;
        if changed == 1 { Ok(()) } else { Err(StoreError::NotOnRecord { what: format!("owed obligation {obligation}") }) }
    }

    /// Keeps what is now known of a resource. Nothing is written if that is what is on record.
    pub(crate) fn record(
        &mut self,
        run: &RunId,
        owner: &OwnerName,
        resource: &ResourceId,
        record: &Recorded,
    ) -> Result<(), StoreError> {
        let Recorded { component, schema_version, inputs, outputs, observed, configuration, secrets, converged } = record;
        let failed = self.failed("record state");
        let [outputs, configuration] =
            [outputs, configuration].map(|json| json.as_ref().map(canonical).transpose().map_err(&failed));
        self.transaction
            .execute(
                "INSERT INTO recorded (owner, resource, component, schema_version, inputs, outputs, observed, configuration, \
                 secrets, converged, run) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
                 ON CONFLICT (owner, resource) DO UPDATE SET component = excluded.component, \
                 schema_version = excluded.schema_version, inputs = excluded.inputs, outputs = excluded.outputs, \
                 observed = excluded.observed, configuration = excluded.configuration, secrets = excluded.secrets, \
                 converged = excluded.converged, run = excluded.run \
                 WHERE (component, schema_version, inputs, outputs, observed, configuration, secrets, converged) \
                 IS NOT (excluded.component, excluded.schema_version, excluded.inputs, excluded.outputs, excluded.observed, \
                 excluded.configuration, excluded.secrets, excluded.converged)",
                params![
                    owner.as_str(),
                    resource.to_string(),
                    component.bytes(),
                    schema_version,
                    inputs.text(),
                    outputs?,
                    observed.as_ref().map(CanonicalJson::text),
                    configuration?,
                    secrets,
                    converged,
                    run.as_str()
                ],
            )
            .map(drop)
            .map_err(&failed)
    }
}
