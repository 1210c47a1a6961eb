//! What a node has on record: its runs, what each found and did, and giving up what an owner holds.
//!
//! Nothing here opens a bundle, runs a module or touches the node: it reads the state, and `release` writes there and nowhere else.

use std::path::PathBuf;

use super::error::RunError;
use super::time::milliseconds;
use crate::journal::{Entry, random_run_id};
use crate::model::ids::{OwnerName, ResourceId, RunId};
use crate::model::report::{REPORT_VERSION, Report};
use crate::store::{Holding, Location, Object, OpenIntent, Release, Released, RunRecord, Snapshot, Store, View};

/// Whose state to look at.
#[derive(Debug, Clone)]
pub struct StateRequest {
    /// The node's `/`.
    pub root: PathBuf,
    /// Where state is kept.
    pub state_dir: PathBuf,
    /// Where a private copy of the state may be made, for looking at what a crash left.
    pub scratch: PathBuf,
}

impl StateRequest {
    fn location(&self) -> Location {
        Location { folder: self.state_dir.clone(), root: self.root.clone() }
    }

    fn look(&self) -> Result<Snapshot, RunError> {
        Ok(Snapshot::open(&self.location(), &self.scratch)?)
    }
}

/// Runs on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// In the order in which they began, the newest last.
    pub runs: Vec<RunRecord>,
    /// Whether older ones are on record too.
    pub has_older: bool,
}

/// One run on record, with all that is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOnRecord {
    /// When, whose, how.
    pub record: RunRecord,
    /// What it found and did; none where it did not get so far, or does not make one.
    pub report: Option<Report>,
    /// Its journal, in order.
    pub entries: Vec<Entry>,
    /// Those of its changes that are still not settled.
    pub open: Vec<ResourceId>,
}

/// What to give up.
#[derive(Debug, Clone)]
pub struct ReleaseRequest {
    /// Whose state.
    pub state: StateRequest,
    /// Whose claims.
    pub owner: OwnerName,
    /// The one object; none for all that the owner has.
    pub object: Option<Object>,
    /// Only say what would be given up.
    pub noop: bool,
}

/// What was given up, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseSummary {
    /// The run that is on record; none in noop, or if there was nothing.
    pub run: Option<RunId>,
    /// What it was.
    pub released: Released,
    /// Who else holds the object, where the owner does not.
    pub held_by: Vec<Holding>,
}

/// The newest `limit` runs on record, of `owner` or of all.
///
/// # Errors
/// If the state cannot be used.
pub fn history(request: &StateRequest, owner: Option<&OwnerName>, limit: u32) -> Result<History, RunError> {
    let mut runs = request.look()?.view().runs(owner, limit.saturating_add(1))?;
    let has_older = runs.len() > limit as usize;
    runs.truncate(limit as usize);
    runs.reverse();
    Ok(History { runs, has_older })
}

/// The run whose id begins with `wanted`; the newest, if nothing is wanted, and none if there is none.
///
/// # Errors
/// [`RunError::NoRun`], [`RunError::SeveralRuns`]; if the state or the report cannot be used.
pub fn show(request: &StateRequest, wanted: Option<&str>) -> Result<Option<RunOnRecord>, RunError> {
    let snapshot = request.look()?;
    let view = snapshot.view();
    let Some(record) = find(view, wanted)? else { return Ok(None) };
    let report = view.report(&record.run)?.map(|text| read_report(&record.run, &text)).transpose()?;
    let entries = view.entries(&record.run)?;
    let of_run = |open: OpenIntent| (open.run == record.run).then_some(open.resource);
    let open = view.open_intents(None)?.into_iter().filter_map(of_run).collect();
    Ok(Some(RunOnRecord { record, report, entries, open }))
}

fn find(view: &View, wanted: Option<&str>) -> Result<Option<RunRecord>, RunError> {
    let Some(wanted) = wanted else { return Ok(view.runs(None, 1)?.pop()) };
    // As many as a message can name.
    let mut found = view.runs_called(wanted, 4)?;
    if found.len() > 1 {
        let runs = found.into_iter().map(|record| record.run).collect();
        return Err(RunError::SeveralRuns { wanted: wanted.to_owned(), runs });
    }
    match found.pop() {
        Some(record) => Ok(Some(record)),
        None => Err(RunError::NoRun { wanted: wanted.to_owned() }),
    }
}

/// Reads a report of our version; of another it says so, whatever else it holds.
fn read_report(run: &RunId, text: &str) -> Result<Report, RunError> {
    #[derive(serde::Deserialize)]
    struct Version {
        report_version: u32,
    }
    let unreadable = |source| RunError::UnreadableReport { run: run.clone(), source };
    let version = serde_json::from_str::<Version>(text).map_err(unreadable)?.report_version;
    if version != REPORT_VERSION {
        return Err(RunError::OtherReport { run: run.clone(), version });
    }
    serde_json::from_str(text).map_err(unreadable)
}

/// Gives up claims of an owner, or says what that would be.
///
/// # Errors
/// If a run holds the lock, an intent of what would be given up is open, nobody knows the owner, the owner neither holds the object nor has given it
/// up by hand before, or the state cannot be used.
pub fn release(request: &ReleaseRequest) -> Result<ReleaseSummary, RunError> {
    let ReleaseRequest { state, owner, object, noop } = request;
    if *noop {
        let snapshot = state.look()?;
        let released = snapshot.view().releasable(owner, object.as_ref())?;
        return summary(snapshot.view(), request, None, released);
    }
    let Some(mut store) = Store::open_existing(&state.location())? else {
        return Err(RunError::UnknownOwner { owner: owner.clone(), known: Vec::new() });
    };
    let run = random_run_id();
    let asked = Release { run: run.clone(), owner: owner.clone(), object: object.clone(), at: milliseconds() };
    let released = store.release(&asked)?;
    let run = (!released.is_empty()).then_some(run);
    summary(store.view(), request, run, released)
}

/// Where nothing was there to be given up, that may be since the owner, or the object, is not what was meant.
fn summary(view: &View, request: &ReleaseRequest, run: Option<RunId>, released: Released) -> Result<ReleaseSummary, RunError> {
    if !released.is_empty() {
        return Ok(ReleaseSummary { run, released, held_by: Vec::new() });
    }
    let known = view.owners()?;
    if !known.contains(&request.owner) {
        return Err(RunError::UnknownOwner { owner: request.owner.clone(), known });
    }
    let Some(object) = &request.object else { return Ok(ReleaseSummary { run, released, held_by: Vec::new() }) };
    let held_by = view.holdings(None, Some(object))?;
    if !view.has_released(&request.owner, object)? {
        let (owner, object) = (request.owner.clone(), object.clone());
        let holds = view.holdings(Some(&owner), None)?.into_iter().map(|holding| holding.held.claim).collect();
        return Err(RunError::UnknownObject { owner, object, holds, held_by });
    }
    Ok(ReleaseSummary { run, released, held_by })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn run() -> RunId {
        "00112233445566778899aabbccddeeff".parse().unwrap()
    }

    #[test]
    fn a_report_of_another_version_is_named_whatever_it_holds() {
        let report = samples::applied(vec![samples::failed()]);
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(read_report(&run(), &text).unwrap(), report);
        let error = read_report(&run(), r#"{"report_version":1,"what":{"ever":true}}"#).unwrap_err();
        insta::assert_snapshot!(error, @"the report of run `00112233445566778899aabbccddeeff` has version 1, and this program reads version 2 only");
        assert!(error.hint().is_some());
        let unreadable = read_report(&run(), r#"{"report_version":2}"#).unwrap_err();
        assert!(matches!(unreadable, RunError::UnreadableReport { .. }), "{unreadable}");
    }
}
