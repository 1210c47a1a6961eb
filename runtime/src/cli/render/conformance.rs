//! What `module check` tells: a line a rule, and under it what was found and how to see it again.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::{count, table};
use crate::conformance::{Finding, Report, RuleReport, Severity, Verdict};
use crate::report::{Palette, line, shortened};

/// The longest input that is shown, in characters.
const MAX_INPUT: usize = 300;

/// What was typed, for the command that shows a finding again.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Retry<'a> {
    /// The component.
    pub(in crate::cli) subject: &'a Path,
    /// The manifests with declarations.
    pub(in crate::cli) declarations: &'a [PathBuf],
}

impl Retry<'_> {
    fn command(&self, rule: &RuleReport) -> String {
        let mut command = format!("runtime module check {}", word(self.subject));
        for declaration in self.declarations {
            let _ = write!(command, " --declaration {}", word(declaration));
        }
        format!("{command} --rule {}", rule.rule)
    }
}

/// A path as one would type it.
fn word(path: &Path) -> String {
    let text = line(&path.display().to_string());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+=:,".contains(&byte);
    if text.bytes().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// The whole report for people.
pub(in crate::cli) fn render(report: &Report, retry: &Retry<'_>, palette: &Palette) -> String {
    let mut text = format!("{}\n\n", heading(report));
    let rows: Vec<Vec<String>> = report.rules.iter().map(row).collect();
    for (rule, row) in report.rules.iter().zip(table(&rows, "  ")) {
        let style = match rule.verdict {
            Verdict::Passed => palette.create,
            Verdict::Failed => palette.error,
            Verdict::NotTried(_) => palette.warning,
            Verdict::NotApplicable(_) => palette.dim,
        };
        let _ = writeln!(text, "{style}{row}{style:#}");
        findings(rule, retry, &mut text);
    }
    text + "\n" + &totals(report) + "\n"
}

fn heading(report: &Report) -> String {
    let what =
        report.type_name.as_ref().map_or("a component that does not describe itself".to_owned(), |name| format!("`{name}`"));
    let samples = format!("{} given, {} made", count(report.given, "declaration"), report.generated);
    format!("{what}, {}: {samples}", report.component)
}

fn row(rule: &RuleReport) -> Vec<String> {
    let verdict = match rule.verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "FAILED",
        Verdict::NotTried(_) => "not tried",
        Verdict::NotApplicable(_) => "-",
    };
    let said = rule.verdict.reason().map_or_else(|| rule.rule.holds().to_owned(), line);
    vec![verdict.to_owned(), rule.rule.id().to_owned(), said]
}

fn findings(rule: &RuleReport, retry: &Retry<'_>, text: &mut String) {
    for finding in &rule.findings {
        let sample = finding.sample.as_ref().map(|name| format!(" [{}]", line(name))).unwrap_or_default();
        let _ = writeln!(text, "      {}: {}{sample}", finding.severity.word(), line(&finding.what));
        if let Some(input) = shown(finding) {
            let _ = writeln!(text, "        with {input}");
        }
    }
    if rule.more > 0 {
        let _ = writeln!(text, "      and {} more", rule.more);
    }
    if rule.findings.iter().any(|finding| finding.severity > Severity::Note) {
        let _ = writeln!(text, "      see it again: {}", retry.command(rule));
    }
}

fn shown(finding: &Finding) -> Option<String> {
    let input = finding.input.as_ref().filter(|input| !input.is_null())?;
    Some(shortened(&line(&input.to_string()), MAX_INPUT))
}

fn totals(report: &Report) -> String {
    let counted = |verdict: &str, words: &str| (report.count(verdict), words.to_owned());
    let parts = [counted("passed", "passed"), counted("failed", "failed"), counted("not-tried", "not tried")];
    let parts: Vec<String> = parts.iter().map(|(count, words)| format!("{count} {words}")).collect();
    format!("{}: {}, {} without a subject", count(report.rules.len(), "rule"), parts.join(", "), report.count("not-applicable"))
}

/// The fields of a rule's record.
pub(in crate::cli) fn record(rule: &RuleReport, retry: &Retry<'_>) -> Vec<(&'static str, Json)> {
    let finding = |finding: &Finding| {
        json!({
            "severity": finding.severity.word(),
            "what": finding.what,
            "declaration": finding.sample,
            "input": finding.input,
        })
    };
    vec![
        ("rule", json!(rule.rule.id())),
        ("holds", json!(rule.rule.holds())),
        ("verdict", json!(rule.verdict.word())),
        ("reason", json!(rule.verdict.reason())),
        ("tried", json!(rule.tried)),
        ("findings", rule.findings.iter().map(finding).collect()),
        ("more", json!(rule.more)),
        ("again", json!(retry.command(rule))),
    ]
}

/// The data of the result.
pub(in crate::cli) fn summary(report: &Report) -> Json {
    json!({
        "component": report.component,
        "type": report.type_name,
        "declarations": { "given": report.given, "made": report.generated },
        "passed": report.count("passed"),
        "failed": report.count("failed"),
        "not_tried": report.count("not-tried"),
        "not_applicable": report.count("not-applicable"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Rule;
    use crate::model::digest::ComponentDigest;

    #[test]
    fn a_failure_says_what_with_what_and_how_to_see_it_again() {
        let finding = Finding {
            severity: Severity::Failure,
            what: "`validate` accepts\u{1b} a state".into(),
            sample: Some("motd".into()),
            input: Some(json!({"a": "x".repeat(500)})),
        };
        let rules = vec![
            RuleReport { rule: Rule::DescribeTotal, verdict: Verdict::Passed, tried: 1, findings: vec![], more: 0 },
            RuleReport { rule: Rule::ValidateTypes, verdict: Verdict::Failed, tried: 9, findings: vec![finding], more: 2 },
            RuleReport {
                rule: Rule::EnsureWords,
                verdict: Verdict::NotTried("no declaration".into()),
                tried: 0,
                findings: vec![],
                more: 0,
            },
        ];
        let component = ComponentDigest::from_bytes([7; 32]);
        let report = Report { component, type_name: Some("thing".parse().unwrap()), given: 1, generated: 4, rules };
        let retry = Retry { subject: Path::new("my thing.wasm"), declarations: &[PathBuf::from("samples.hcl")] };
        let text = render(&report, &retry, &Palette::plain());
        let text = text.replace(&component.to_string(), "[digest]").replace(&"x".repeat(294), "[xs]");
        insta::assert_snapshot!(text, @r#"
        `thing`, [digest]: 1 declaration given, 4 made

          passed     describe-total  `describe` always answers
          FAILED     validate-types  `validate` refuses values of another type than `compile` gives
              failure: `validate` accepts\u{1b} a state [motd]
                with {"a":"[xs]... (508 characters)
              and 2 more
              see it again: runtime module check 'my thing.wasm' --declaration samples.hcl --rule validate-types
          not tried  ensure-words    no declaration

        3 rules: 1 passed, 1 failed, 1 not tried, 0 without a subject
        "#);
        assert_eq!(summary(&report)["not_tried"], json!(1));
    }
}
