//! Runs on record, one a line.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::table;
use crate::report::{Palette, counts, duration};
use crate::run::of_milliseconds;
use crate::store::{RunEnding, RunRecord};

/// How much of a run's id is listed: as good as unique, and `show` takes it.
const ID_CHARS: usize = 12;

/// The word for a run that has no end.
const LOST: &str = "lost";

/// `runs` as a table.
pub(in crate::cli) fn render(runs: &[RunRecord], palette: &Palette) -> String {
    let head = ["run", "began", "took", "mode", "owner", "outcome", "resources"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(runs.iter().map(row)).collect();
    let mut lines = table(&rows, "");
    lines[0] = format!("{}{}{:#}", palette.strong, lines[0], palette.strong);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn row(record: &RunRecord) -> Vec<String> {
    vec![
        record.run.as_str()[..ID_CHARS].to_owned(),
        began(record),
        took(record).map_or_else(|| "-".to_owned(), duration),
        record.kind.to_string(),
        record.owner.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
        outcome(record).to_owned(),
        record.summary.as_ref().map_or_else(|| "-".to_owned(), counts),
    ]
}

/// When a run began, for people.
pub(super) fn began(record: &RunRecord) -> String {
    of_milliseconds(record.began_at).unwrap_or_else(|| "-".to_owned())
}

/// How long a run took; none if it has no end, or the clock was set back meanwhile.
pub(super) fn took(record: &RunRecord) -> Option<Duration> {
    let milliseconds = record.ended_at?.checked_sub(record.began_at)?;
    u64::try_from(milliseconds).ok().map(Duration::from_millis)
}

/// How a run ended, in a word.
pub(super) fn outcome(record: &RunRecord) -> &'static str {
    record.ending.map_or(LOST, RunEnding::as_str)
}

/// A run as data.
pub(in crate::cli) fn fields(record: &RunRecord) -> Json {
    json!({
        "id": record.run,
        "mode": record.kind.as_str(),
        "owner": record.owner,
        "bundle": record.bundle,
        "outcome": outcome(record),
        "began": of_milliseconds(record.began_at),
        "ended": record.ended_at.and_then(of_milliseconds),
        "took_ms": took(record).map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
        "counts": record.summary,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::digest::BundleDigest;
    use crate::model::report::Summary;
    use crate::store::RunKind;

    pub(in crate::cli::render) fn record(kind: RunKind, ending: Option<RunEnding>) -> RunRecord {
        RunRecord {
            run: "00112233445566778899aabbccddeeff".parse().unwrap(),
            kind,
            owner: Some("site".parse().unwrap()),
            bundle: Some(BundleDigest::from_bytes([0xab; 32])),
            began_at: 1_735_689_600_000,
            ended_at: ending.map(|_| 1_735_689_601_250),
            ending,
            summary: None,
        }
    }

    fn applied() -> RunRecord {
        let counts = Summary { total: 3, changed: 2, skipped: 1, ..Summary::default() };
        RunRecord { summary: Some(counts), ..record(RunKind::Apply, Some(RunEnding::Converged)) }
    }

    #[test]
    fn runs_are_listed_with_what_is_known_of_them() {
        let recovered = RunRecord { owner: None, bundle: None, ..record(RunKind::Recover, Some(RunEnding::Converged)) };
        let runs = [applied(), record(RunKind::Apply, None), recovered, record(RunKind::Release, Some(RunEnding::Released))];
        insta::assert_snapshot!(render(&runs, &Palette::plain()), @r#"
    run           began                     took   mode     owner  outcome    resources
    001122334455  2025-01-01T00:00:00.000Z  1.2 s  apply    site   converged  2 changed, 0 unchanged, 1 skipped
    001122334455  2025-01-01T00:00:00.000Z  -      apply    site   lost       -
    001122334455  2025-01-01T00:00:00.000Z  1.2 s  recover  -      converged  -
    001122334455  2025-01-01T00:00:00.000Z  1.2 s  release  site   released   -
    "#);
        assert!(render(&runs, &Palette::coloured()).starts_with("\u{1b}[1mrun "));
    }

    #[test]
    fn a_run_as_data() {
        insta::assert_snapshot!(fields(&applied()), @r#"{"began":"2025-01-01T00:00:00.000Z","bundle":"sha256:abababababababababababababababababababababababababababababababab","counts":{"cannot_plan":0,"changed":2,"drifted":0,"failed":0,"no_provider":0,"not_reached":0,"refused":0,"skipped":1,"total":3,"unchanged":0,"unmet":0,"unresolved":0,"would_change":0},"ended":"2025-01-01T00:00:01.250Z","id":"00112233445566778899aabbccddeeff","mode":"apply","outcome":"converged","owner":"site","took_ms":1250}"#);
        insta::assert_snapshot!(fields(&record(RunKind::Apply, None)), @r#"{"began":"2025-01-01T00:00:00.000Z","bundle":"sha256:abababababababababababababababababababababababababababababababab","counts":null,"ended":null,"id":"00112233445566778899aabbccddeeff","mode":"apply","outcome":"lost","owner":"site","took_ms":null}"#);
    }

    #[test]
    fn a_clock_that_was_set_back_gives_no_time_and_no_error() {
        let back = RunRecord { ended_at: Some(1), ..applied() };
        assert_eq!(took(&back), None);
        assert_eq!(fields(&back)["took_ms"], Json::Null);
        assert_eq!(began(&RunRecord { began_at: i64::MAX, ..applied() }), "-");
    }
}
