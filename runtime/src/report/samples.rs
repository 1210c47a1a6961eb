//! Reports for tests.

use std::collections::BTreeMap;

use serde_json::json;

use crate::model::digest::{BundleDigest, ComponentDigest};
use crate::model::report::{
    Action, Change, EffectClass, Failure, Limits, Outcome, Phase, REPORT_VERSION, Report, ResourceReport, RunMode,
};

pub(crate) fn report(resources: Vec<ResourceReport>) -> Report {
    Report {
        report_version: REPORT_VERSION,
        run: None,
        mode: RunMode::Noop,
        owner: "site".parse().unwrap(),
        serial: 3,
        bundle: BundleDigest::from_bytes([0xab; 32]),
        modules: BTreeMap::from([("file".to_owned(), ComponentDigest::from_bytes([0x1c; 32]))]),
        started: "2025-01-01T00:00:00Z".to_owned(),
        ended: "2025-01-01T00:00:01Z".to_owned(),
        notes: Vec::new(),
        resources,
    }
}

pub(crate) fn applied(resources: Vec<ResourceReport>) -> Report {
    let run = Some("00112233445566778899aabbccddeeff".parse().unwrap());
    Report { mode: RunMode::Apply, run, ..report(resources) }
}

pub(crate) fn resource(id: &str, outcome: Outcome, action: Action) -> ResourceReport {
    ResourceReport {
        id: id.parse().unwrap(),
        provider: None,
        outcome,
        action,
        changes: Vec::new(),
        drift: false,
        reason: None,
        incomplete_preview: None,
        prerequisites: Vec::new(),
        refresh: None,
        health: None,
        failure: None,
        log: Vec::new(),
        duration_us: 1500,
        limits: None,
    }
}

pub(crate) fn unchanged() -> ResourceReport {
    resource("file.same", Outcome::Unchanged, Action::Unchanged)
}

pub(crate) fn created_with_diff() -> ResourceReport {
    let change = |attribute: &str, before, after, reason: &str, diff: Option<&str>| Change {
        attribute: attribute.to_owned(),
        before,
        after,
        reason: reason.to_owned(),
        diff: diff.map(str::to_owned),
    };
    ResourceReport {
        changes: vec![
            change("ensure", Some(json!("absent")), Some(json!("file")), "it is not there", None),
            change("content", None, None, "the bytes differ", Some("@@ -0,0 +1,2 @@\n+Welcome to db1\n+\tBe kind\n")),
            change("mode", None, Some(json!("0644")), "the mode differs", None),
        ],
        ..resource("file.motd", Outcome::WouldChange, Action::Create)
    }
}

pub(crate) fn mode_update() -> ResourceReport {
    let change = Change {
        attribute: "mode".to_owned(),
        before: Some(json!("0600")),
        after: Some(json!("0644")),
        reason: "the mode differs".to_owned(),
        diff: None,
    };
    ResourceReport { changes: vec![change], ..resource("file.hosts", Outcome::WouldChange, Action::Update) }
}

pub(crate) fn drifted() -> ResourceReport {
    ResourceReport { drift: true, outcome: Outcome::Changed, ..mode_update() }
}

pub(crate) fn failure() -> Failure {
    Failure {
        module: "file".to_owned(),
        phase: Phase::Apply,
        effect: EffectClass::UnknownOutcome,
        attribute: Some("content".to_owned()),
        message: "it ran past its deadline of 30000 ms".to_owned(),
        hint: Some("raise `meta { timeout }` if the work is really that long".to_owned()),
        limit: Some("deadline 30000ms".to_owned()),
    }
}

pub(crate) fn limits() -> Limits {
    Limits { deadline_ms: 30_000, memory_bytes: 64 << 20, memory_used_bytes: 1_245_184 }
}

pub(crate) fn failed() -> ResourceReport {
    ResourceReport {
        limits: Some(limits()),
        failure: Some(failure()),
        log: vec!["writing\nstill writing".to_owned()],
        ..resource("file.slow", Outcome::Failed, Action::Update)
    }
}

pub(crate) fn refused() -> ResourceReport {
    let denial = Failure {
        phase: Phase::Check,
        effect: EffectClass::BeforeChange,
        attribute: None,
        message: "`files.write` of `/etc/shadow` is denied: nothing may be written in the phase `check`".to_owned(),
        hint: None,
        limit: None,
        ..failure()
    };
    ResourceReport { failure: Some(denial), ..resource("file.sly", Outcome::Refused, Action::Update) }
}

pub(crate) fn because(id: &str, outcome: Outcome, reason: &str) -> ResourceReport {
    ResourceReport { reason: Some(reason.to_owned()), ..resource(id, outcome, Action::Skip) }
}

pub(crate) fn skipped() -> ResourceReport {
    because("file.gated", Outcome::Skipped, "`control { if }` is false")
}

pub(crate) fn unmet() -> ResourceReport {
    because("file.later", Outcome::Unmet, "it needs `file.slow`, which failed")
}

pub(crate) fn unresolved() -> ResourceReport {
    because("file.open", Outcome::Unresolved, "run 00112233445566778899aabbccddeeff was interrupted while it changed it")
}
