use insta::assert_snapshot;

use crate::model::report::{Action, Note, Outcome, Report, ResourceReport, Severity};
use crate::report::{Palette, View, render, samples};

fn plain(report: &Report) -> String {
    render(report, &View::default())
}

#[test]
fn created_file_with_content_diff() {
    assert_snapshot!(plain(&samples::report(vec![samples::created_with_diff(), samples::unchanged()])), @r#"
    plan of `site`, serial 3, bundle abababababab

      + file.motd: would create [file 1c1c1c1c1c1c]
        ensure: "absent" -> "file" (it is not there)
        content: (the bytes differ)
          @@ -0,0 +1,2 @@
          +Welcome to db1
          +	Be kind
        mode: (none) -> "0644" (the mode differs)

    plan: 1 would change, 1 unchanged, 0 skipped
    "#);
}

#[test]
fn update_of_mode() {
    assert_snapshot!(plain(&samples::report(vec![samples::mode_update()])), @r#"
    plan of `site`, serial 3, bundle abababababab

      ~ file.hosts: would update [file 1c1c1c1c1c1c]
        mode: "0600" -> "0644" (the mode differs)

    plan: 1 would change, 0 unchanged, 0 skipped
    "#);
}

#[test]
fn the_provider_stands_in_the_line_of_its_resource() {
    let resource = samples::resource("package.web", Outcome::WouldChange, Action::Create);
    let text = plain(&samples::report(vec![ResourceReport { provider: Some("apt".parse().unwrap()), ..resource }]));
    assert!(text.contains("+ package.web: would create [package, provider apt]\n"), "{text}");
}

#[test]
fn drift_is_named() {
    assert_snapshot!(plain(&samples::applied(vec![samples::drifted()])), @r#"
    run 00112233445566778899aabbccddeeff of `site`, serial 3, bundle abababababab

      ~ file.hosts: updated [file 1c1c1c1c1c1c]
        drift: the last run left it as declared, and it was changed since
        mode: "0600" -> "0644" (the mode differs)

    apply: 1 changed, 0 unchanged, 0 skipped, 1 drifted
    "#);
}

#[test]
fn failure_with_limit_and_what_waited_for_it() {
    assert_snapshot!(plain(&samples::applied(vec![samples::failed(), samples::unmet()])), @r"
    run 00112233445566778899aabbccddeeff of `site`, serial 3, bundle abababababab

      ! file.slow: failed in apply [file 1c1c1c1c1c1c]
        error: it ran past its deadline of 30000 ms
        where: module `file`, phase `apply`, attribute `content`, limit deadline 30000ms
        left: it is not known whether it has changed
        hint: raise `meta { timeout }` if the work is really that long
        log: writing
        log: still writing

      ? file.later: unmet [file 1c1c1c1c1c1c]
        reason: it needs `file.slow`, which failed

    apply: 1 failed, 1 unmet, 0 unchanged, 0 skipped
    ");
}

#[test]
fn refused_skipped_and_unresolved() {
    let resources = vec![samples::refused(), samples::skipped(), samples::unresolved()];
    assert_snapshot!(plain(&samples::report(resources)), @r"
    plan of `site`, serial 3, bundle abababababab

      ! file.sly: refused [file 1c1c1c1c1c1c]
        error: `files.write` of `/etc/shadow` is denied: nothing may be written in the phase `check`
        where: module `file`, phase `check`
        left: nothing had changed yet

      > file.gated: skipped [file 1c1c1c1c1c1c]
        reason: `control { if }` is false

      ! file.open: unresolved [file 1c1c1c1c1c1c]
        reason: run 00112233445566778899aabbccddeeff was interrupted while it changed it

    plan: 1 refused, 1 unresolved, 0 unchanged, 1 skipped
    ");
}

#[test]
fn what_did_not_converge() {
    let resources = vec![
        samples::because("package.web", Outcome::NoProvider, "no provider serves `alpine`"),
        samples::because("service.web", Outcome::CannotPlan, "services do not run below `--root`"),
        samples::because("file.last", Outcome::NotReached, "the run stopped at the first failure"),
    ];
    assert_snapshot!(plain(&samples::applied(resources)), @r"
    run 00112233445566778899aabbccddeeff of `site`, serial 3, bundle abababababab

      ? package.web: no provider [package]
        reason: no provider serves `alpine`

      ? service.web: cannot plan [service]
        reason: services do not run below `--root`

      ? file.last: not reached [file 1c1c1c1c1c1c]
        reason: the run stopped at the first failure

    apply: 1 without a provider, 1 not plannable, 1 not reached, 0 unchanged, 0 skipped
    ");
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
    assert_snapshot!(plain(&report), @r"
    run 00112233445566778899aabbccddeeff of `site`, serial 3, bundle abababababab
    note: the policy row `nginx` is not used
      hint: remove the row
    warning: the cache is not used

    apply: nothing to do, 1 unchanged, 0 skipped
    ");
}

#[test]
fn unchanged_resources_are_listed_when_asked() {
    let view = View { list_unchanged: true, ..View::default() };
    assert_snapshot!(render(&samples::report(vec![samples::unchanged()]), &view), @r"
    plan of `site`, serial 3, bundle abababababab

      = file.same: unchanged [file 1c1c1c1c1c1c]

    plan: nothing to do, 1 unchanged, 0 skipped
    ");
}

#[test]
fn what_an_attempt_took_is_told_when_asked() {
    let view = View { measures: true, list_unchanged: true, ..View::default() };
    let resources = vec![samples::failed(), samples::unchanged(), ResourceReport { duration_us: 0, ..samples::skipped() }];
    assert_snapshot!(render(&samples::applied(resources), &view), @r#"
    run 00112233445566778899aabbccddeeff of `site`, serial 3, bundle abababababab

      ! file.slow: failed in apply [file 1c1c1c1c1c1c]
        error: it ran past its deadline of 30000 ms
        where: module `file`, phase `apply`, attribute `content`, limit deadline 30000ms
        left: it is not known whether it has changed
        hint: raise `meta { timeout }` if the work is really that long
        used: 1.5 ms of 30 s, 1216 KiB of 64 MiB
        log: writing
        log: still writing

      = file.same: unchanged [file 1c1c1c1c1c1c]
        used: 1.5 ms

      > file.gated: skipped [file 1c1c1c1c1c1c]
        reason: `control { if }` is false

    apply: 1 failed, 1 unchanged, 1 skipped
    "#);
}

#[test]
fn colours_only_add_escape_sequences() {
    let resources = || vec![samples::created_with_diff(), samples::failed(), samples::skipped()];
    let coloured = View { palette: Palette::coloured(), ..View::default() };
    let text = render(&samples::report(resources()), &coloured);
    assert!(text.contains("\u{1b}[32m  +\u{1b}[0m"), "{text}");
    assert_eq!(anstream::adapter::strip_str(&text).to_string(), plain(&samples::report(resources())));
}

#[test]
fn no_text_of_others_brings_an_escape_sequence() {
    let evil = "\u{1b}]52;c;cm0gLXJm\u{7}\u{9b}31m\u{202e}\rgone";
    let text = plain(&hostile(evil));
    let bad: Vec<char> = text.chars().filter(|c| crate::model::key::needs_escape(*c) && *c != '\n').collect();
    assert!(bad.is_empty(), "{bad:?} in {text}");
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
