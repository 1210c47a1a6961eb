//! `module check` names the one rule that a component breaks, for each flaw that `tests/guests/broken` can have, and no other.

use runtime::conformance::{self, DEADLINE, Elsewhere, Report, Rule, Sample, Transcript, Verdict};
use runtime::engine::{Engine, EngineOptions};
use testkit::guests;

/// Declarations of the guest's type that are right with any flaw that leaves any right.
const SAMPLES: &str = r#"
resource "broken" "bare" {
  path = "/srv/bare"
}

resource "broken" "full" {
  path   = "/srv/full"
  ensure = "present"
  perm   = "0600"
  size   = 3
  note   = { list = [1, "two"], none = false }
  key    = "hunter2"
  text   = "text"
}
"#;

struct Here<'a>(&'a [u8], &'a [Sample]);

impl Elsewhere for Here<'_> {
    fn transcript(&self) -> Result<Transcript, String> {
        conformance::transcribe(&engine(), self.0, self.1).map_err(|error| error.to_string())
    }
}

fn engine() -> Engine {
    // The component is compiled once for both.
    let cache = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken-code-cache");
    Engine::new(EngineOptions { cache: Some(cache), definition_deadline: DEADLINE, ..EngineOptions::default() }).unwrap()
}

fn check(word: &str) -> Report {
    let component = guests::broken(word);
    let samples = runtime::run::read_samples("samples.hcl", SAMPLES.to_owned()).unwrap();
    conformance::check(&engine(), &component, &samples, Some(&Here(&component, &samples))).unwrap()
}

#[track_caller]
fn assert_breaks(word: &str, rule: Rule) {
    let report = check(word);
    let broken: Vec<Rule> = report.rules.iter().filter(|rule| rule.verdict == Verdict::Failed).map(|rule| rule.rule).collect();
    assert_eq!(broken, [rule], "{word}: {report:#?}");
}

#[test]
fn without_a_flaw_every_rule_is_kept() {
    let report = check("none");
    for rule in &report.rules {
        let is_kept = rule.verdict == Verdict::Passed || rule.rule == Rule::RelationshipsActions;
        assert!(is_kept && rule.findings.is_empty(), "{rule:#?}");
    }
}

macro_rules! flaws {
    ($($test:ident: $word:literal breaks $rule:ident,)*) => {
        $(#[test]
        fn $test() {
            assert_breaks($word, Rule::$rule);
        })*

        const WORDS: &[&str] = &[$($word),*];

        const RULES: &[Rule] = &[$(Rule::$rule),*];
    };
}

flaws! {
    describing_counts: "describe-counts" breaks DescribeStable,
    describing_traps: "describe-traps" breaks DescribeTotal,
    describing_leaves_texts_out: "describe-silent" breaks DescribeDocumented,
    describing_a_default_of_another_type: "describe-default" breaks DescribeValid,
    asking_for_what_is_not_there: "ask-unknown" breaks CapabilityAsks,
    compiling_counts: "compile-counts" breaks CompilePure,
    compiling_looks_back: "compile-looks-back" breaks CompilePure,
    compiling_reads_the_clock: "compile-clock" breaks ImportsNone,
    compiling_runs_for_ever: "compile-spins" breaks LimitsKept,
    compiling_takes_all_memory: "compile-allocates" breaks LimitsKept,
    compiling_to_loose_json: "compile-loose" breaks AnswersForm,
    compiling_reads_the_unknown: "compile-reads-unknown" breaks ReadsDescribed,
    compiling_goes_on_without_what_waits: "compile-ignores-waiting" breaks DeferredPassedOn,
    compiling_quotes_values: "compile-quotes" breaks MessagesSilent,
    an_asset_blames_nothing: "asset-blames" breaks AssetsNamed,
    any_slot_takes_an_asset: "slot-any" breaks AssignSlots,
    an_asset_is_not_listed: "asset-unlisted" breaks AssignSlots,
    the_default_differs: "default-differs" breaks DefaultOmitted,
    an_alias_differs: "alias-differs" breaks EnsureCanonical,
    a_word_is_refused: "word-refused" breaks EnsureWords,
    identity_reads_another: "identity-reads" breaks IdentityReads,
    identity_says_otherwise: "identity-differs" breaks IdentityFootprint,
    validation_refuses_what_is_compiled: "validate-refuses" breaks ValidateAccepts,
    validation_counts: "validate-counts" breaks AnswersRepeat,
    validation_gives_no_time: "validate-no-time" breaks ValidateSemantics,
    validation_accepts_the_unknown: "validate-unknown" breaks ValidateUnknown,
    validation_accepts_other_types: "validate-types" breaks ValidateTypes,
    validation_is_loose: "validate-loose" breaks ValidateStrict,
    the_view_hides_an_attribute: "view-hides" breaks ViewDeclared,
    the_view_shows_an_alias: "view-alias" breaks ViewDeclared,
    the_view_shows_null: "view-null" breaks ViewDeclared,
    an_export_differs: "export-differs" breaks ExportEquals,
    an_export_traps: "export-traps" breaks NeverTraps,
    an_export_reads_a_secret: "export-reads" breaks ExportReads,
    an_order_of_others: "edge-others" breaks RelationshipsOwn,
    an_order_with_nobody: "edge-unknown" breaks RelationshipsOwn,
    an_order_for_an_action_of_nobody: "edge-action" breaks RelationshipsActions,
    equality_of_anything: "equal-any" breaks SelectorsTotal,
    equality_of_nothing: "equal-never" breaks SelectorsTotal,
    migration_of_today: "migrate-any" breaks SelectorsTotal,
}

#[test]
fn every_flaw_and_every_rule_is_tried() {
    let source = include_str!("../guests/broken/src/behaviour.rs");
    let known: Vec<&str> =
        source.lines().filter_map(|line| line.strip_suffix("\",")?.split_once(" = \"")).map(|(_, word)| word).collect();
    assert_eq!(known, WORDS);
    // The one rule without a flaw is about the declarations themselves: below.
    let all: std::collections::BTreeSet<Rule> = Rule::ALL.iter().copied().filter(|rule| *rule != Rule::SamplesAccepted).collect();
    assert_eq!(RULES.iter().copied().collect::<std::collections::BTreeSet<_>>(), all);
}

#[test]
fn declarations_that_are_wrong_are_named() {
    let samples = "resource \"broken\" \"a\" {\n  path = \"/etc\"\n}\nresource \"file\" \"b\" {\n  path = \"/srv/b\"\n}\n";
    let samples = runtime::run::read_samples("samples.hcl", samples.to_owned()).unwrap();
    let report = conformance::check(&engine(), guests::BROKEN, &samples, None).unwrap();
    let of = |rule: Rule| report.rules.iter().find(|report| report.rule == rule).unwrap();
    let told: Vec<&str> = of(Rule::SamplesAccepted).findings.iter().map(|finding| finding.what.as_str()).collect();
    assert_eq!(
        told,
        [
            "`compile` refuses it: `path`: the path is not beneath `/srv`",
            "it declares a `file`, and the component serves `broken`"
        ]
    );
    assert!(matches!(of(Rule::CompilePure).verdict, Verdict::NotTried(_)), "without another process it is not known");
}
