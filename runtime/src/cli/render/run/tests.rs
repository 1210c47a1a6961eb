use insta::assert_snapshot;

use super::super::history::tests::record;
use super::*;
use crate::journal::{Ending, IntentEvent};
use crate::report::samples;
use crate::store::{RunKind, RunRecord};

fn run(record: RunRecord) -> RunOnRecord {
    RunOnRecord { record, report: None, entries: Vec::new(), open: Vec::new() }
}

fn entry_of(event: Event, resource: Option<&str>, detail: Option<&str>) -> Entry {
    Entry {
        sequence: 1,
        run: "00112233445566778899aabbccddeeff".parse().unwrap(),
        resource: resource.map(|id| id.parse().unwrap()),
        event,
        detail: detail.map(str::to_owned),
    }
}

fn text(run: &RunOnRecord) -> String {
    render(run, &View { list_unchanged: true, measures: true, ..View::default() })
}

#[test]
fn a_failed_run_tells_the_cause_before_anything_else() {
    let resources = vec![samples::unchanged(), samples::unmet(), samples::failed(), samples::refused()];
    let failed =
        RunOnRecord { report: Some(samples::applied(resources)), ..run(record(RunKind::Apply, Some(RunEnding::Failed))) };
    assert_snapshot!(text(&failed), @r#"
    run 00112233445566778899aabbccddeeff: apply of `site`, failed
    cause: `file.slow` failed in apply: it ran past its deadline of 30000 ms (and 1 more)
    hint: raise `meta { timeout }` if the work is really that long
    serial 3, bundle abababababab, began 2025-01-01T00:00:00.000Z, took 1.2 s

      = file.same: unchanged [file 1c1c1c1c1c1c]
        used: 1.5 ms

      ? file.later: unmet [file 1c1c1c1c1c1c]
        reason: it needs `file.slow`, which failed
        used: 1.5 ms

      ! file.slow: failed in apply [file 1c1c1c1c1c1c]
        error: it ran past its deadline of 30000 ms
        where: module `file`, phase `apply`, attribute `content`, limit deadline 30000ms
        left: it is not known whether it has changed
        hint: raise `meta { timeout }` if the work is really that long
        used: 1.5 ms of 30 s, 1216 KiB of 64 MiB
        log: writing
        log: still writing

      ! file.sly: refused [file 1c1c1c1c1c1c]
        error: `files.write` of `/etc/shadow` is denied: nothing may be written in the phase `check`
        where: module `file`, phase `check`
        left: nothing had changed yet
        used: 1.5 ms

    apply: 1 failed, 1 refused, 1 unmet, 1 unchanged, 0 skipped
    "#);
    let first: Vec<String> = text(&failed).lines().take(3).map(str::to_owned).collect();
    assert!(
        first.join("\n").contains("`file.slow` failed in apply: it ran past its deadline of 30000 ms (and 1 more)"),
        "{first:?}"
    );
}

#[test]
fn a_run_that_ended_well_has_no_cause() {
    let report = Some(samples::applied(vec![samples::unchanged(), samples::drifted()]));
    let converged = RunOnRecord { report, ..run(record(RunKind::Apply, Some(RunEnding::Converged))) };
    assert_snapshot!(text(&converged), @r#"
    run 00112233445566778899aabbccddeeff: apply of `site`, converged
    serial 3, bundle abababababab, began 2025-01-01T00:00:00.000Z, took 1.2 s

      = file.same: unchanged [file 1c1c1c1c1c1c]
        used: 1.5 ms

      ~ file.hosts: updated [file 1c1c1c1c1c1c]
        drift: the last run left it as declared, and it was changed since
        mode: "0600" -> "0644" (the mode differs)
        used: 1.5 ms

    apply: 1 changed, 1 unchanged, 0 skipped, 1 drifted
    "#);
    assert_eq!(fields(&converged)["cause"], Json::Null);
    assert_eq!(fields(&converged)["report"]["summary"]["changed"], 1);
}

#[test]
fn a_refused_run_tells_why_from_its_journal() {
    let why = "path `/etc/motd`, claimed by `file.a` of `site`, is held by `file.b` of `other`\npath `/etc/issue`, and so on";
    let ended = entry_of(Event::RunEnded, None, Some(why));
    let entries = vec![entry_of(Event::RunBegan, None, None), ended];
    assert_snapshot!(text(&RunOnRecord { entries, ..run(record(RunKind::Apply, Some(RunEnding::Refused))) }), @r#"
    run 00112233445566778899aabbccddeeff: apply of `site`, refused
    cause: path `/etc/motd`, claimed by `file.a` of `site`, is held by `file.b` of `other` (and 1 more)
    bundle abababababab, began 2025-01-01T00:00:00.000Z, took 1.2 s
    "#);
}

#[test]
fn a_lost_run_tells_what_is_open() {
    let entries = vec![
        entry_of(Event::RunBegan, None, None),
        entry_of(Event::Intent(IntentEvent::Intended), Some("file.a"), None),
        entry_of(Event::Intent(IntentEvent::Ended(Ending::PartialUnknown)), Some("file.a"), Some("it \u{1b} broke\noff")),
    ];
    let lost = RunOnRecord { entries, open: vec!["file.a".parse().unwrap()], ..run(record(RunKind::Apply, None)) };
    assert_snapshot!(text(&lost), @r#"
    run 00112233445566778899aabbccddeeff: apply of `site`, lost
    cause: it began and never ended: its process was killed, the machine went down, or its state could not be written; what it was doing to `file.a` is not settled
    hint: apply again, or `runtime recover`
    bundle abababababab, began 2025-01-01T00:00:00.000Z

      file.a: intended
      file.a: partial unknown: it \u{1b} broke (and 1 more)
    "#);
    assert!(cause(&run(record(RunKind::Apply, None))).unwrap().hint.is_none(), "nothing is open, so nothing is to be done");
}

#[test]
fn a_release_tells_what_was_given_up() {
    let detail = r#"{"claim":{"domain":"path","key":"/etc/motd","qualifier":"*"},"resource":"file.motd"}"#;
    let entries = vec![entry_of(Event::RunBegan, None, None), entry_of(Event::Released, None, Some(detail))];
    let release = RunOnRecord { entries, ..run(record(RunKind::Release, Some(RunEnding::Released))) };
    assert_snapshot!(text(&release), @r#"
    run 00112233445566778899aabbccddeeff: release of `site`, released
    bundle abababababab, began 2025-01-01T00:00:00.000Z, took 1.2 s

      file.motd: path /etc/motd (*)

    release: 1 claim given up
    "#);
    assert_snapshot!(fields(&release), @r#"{"cause":null,"journal":[{"detail":null,"event":"run_began","resource":null},{"detail":{"claim":{"domain":"path","key":"/etc/motd","qualifier":"*"},"resource":"file.motd"},"event":"released","resource":null}],"open":[],"report":null,"run":{"began":"2025-01-01T00:00:00.000Z","bundle":"sha256:abababababababababababababababababababababababababababababababab","counts":null,"ended":"2025-01-01T00:00:01.250Z","id":"00112233445566778899aabbccddeeff","mode":"release","outcome":"released","owner":"site","took_ms":1250}}"#);
}

#[test]
fn colours_only_add_escape_sequences() {
    let report = Some(samples::applied(vec![samples::failed()]));
    let failed = RunOnRecord { report, ..run(record(RunKind::Apply, Some(RunEnding::Failed))) };
    let coloured = View { palette: Palette::coloured(), list_unchanged: true, measures: true };
    let stripped = anstream::adapter::strip_str(&render(&failed, &coloured)).to_string();
    assert_eq!(stripped, text(&failed));
}
