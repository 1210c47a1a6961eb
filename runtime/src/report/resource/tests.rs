use insta::assert_snapshot;

use crate::model::report::{Note, Outcome, Report, ResourceReport, Severity};
use crate::report::{Palette, View, render, samples};

fn plain(report: &Report) -> String {
    render(report, &View::default())
}

#[test]
fn created_file_with_content_diff() {
    assert_snapshot!(plain(&samples::report(vec![samples::created_with_diff(), samples::unchanged()])), @"");
}

#[test]
fn update_of_mode() {
    assert_snapshot!(plain(&samples::report(vec![samples::mode_update()])), @"");
}

#[test]
fn drift_is_named() {
    assert_snapshot!(plain(&samples::applied(vec![samples::drifted()])), @"");
}

#[test]
fn failure_with_limit_and_what_waited_for_it() {
    assert_snapshot!(plain(&samples::applied(vec![samples::failed(), samples::unmet()])), @"");
}

#[test]
fn refused_skipped_and_unresolved() {
    let resources = vec![samples::refused(), samples::skipped(), samples::unresolved()];
    assert_snapshot!(plain(&samples::report(resources)), @"");
}

#[test]
fn what_did_not_converge() {
    let resources = vec![
        samples::because("package.web", Outcome::NoProvider, "no provider serves `alpine`"),
        samples::because("service.web", Outcome::CannotPlan, "services do not run below `--root`"),
        samples::because("file.last", Outcome::NotReached, "the run stopped at the first failure"),
    ];
    assert_snapshot!(plain(&samples::applied(resources)), @"");
}

#[test]
fn nothing_to_do_and_notes() {
    let hint = Some("remove the row".to_owned());
    let message = "the policy row `nginx` is not used".to_owned();
    let notes = vec![
        Note { severity: Severity::Info, message, hint },
        Note { severity: Severity::Warning, message: "the cache is not used".to_owned(), hint: None },
    ];
    let report = Report { notes, ..samples::applied(vec![samples::unchanged()]) };
    assert_snapshot!(plain(&report), @"");
}

#[test]
fn unchanged_resources_are_listed_when_asked() {
    let view = View { list_unchanged: true, ..View::default() };
    assert_snapshot!(render(&samples::report(vec![samples::unchanged()]), &view), @"");
}

#[test]
fn colours_only_add_escape_sequences() {
    let resources = || vec![samples::created_with_diff(), samples::failed(), samples::skipped()];
    let coloured = View { palette: Palette::coloured(), list_unchanged: false };
    let text = render(&samples::report(resources()), &coloured);
    assert!(text.contains("\u{1b}[32m  +\u{1b}[0m"), "{text}");
    assert_eq!(anstream::adapter::strip_str(&text).to_string(), plain(&samples::report(resources())));
}

#[test]
fn no_text_of_others_brings_an_escape_sequence() {
    let evil = "\u{1b}]52;c;cm0gLXJm\u{7}\u{9b}31m\u{202e}\rgone";
    let text = plain(&hostile(evil));
    let bad: Vec<char> = text.chars().filter(|c| crate::model::key::needs_escape(*c) && *c != '\n').collect();
    assert_eq!(bad, [], "{text}");
    assert_eq!(text.matches("\\u{9b}31m").count(), 14, "every place shows the text:\n{text}");
}

/// A report with `evil` in every place that takes text.
fn hostile(evil: &str) -> Report {
    let text = || Some(evil.to_owned());
    let mut failed: ResourceReport = samples::failed();
    let failure = failed.failure.as_mut().unwrap();
    failure.module = evil.to_owned();
    failure.attribute = text();
    failure.message = evil.to_owned();
    failure.hint = text();
    failure.limit = text();
    failed.log = vec![evil.to_owned()];
    failed.reason = text();
    failed.incomplete_preview = text();
    let mut changed = samples::mode_update();
    let change = &mut changed.changes[0];
    change.attribute = evil.to_owned();
    change.before = Some(evil.into());
    change.reason = evil.to_owned();
    change.diff = text();
    let notes = vec![Note { severity: Severity::Info, message: evil.to_owned(), hint: text() }];
    Report { notes, ..samples::report(vec![failed, changed]) }
}
