//! Properties of the language: hostile text ends in a message, and what is left for the node means what the manifest meant.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use runtime::language::{NodeScope, check_travelled, evaluate_on_node};
use runtime::manifest::{Evaluation, ExportError, Exported, Exports, Inputs, NoFiles, Trail, read};
use runtime::model::expression::Expression;
use runtime::model::ids::ResourceId;
use serde_json::{Value as Json, json};

/// Every resource exports one attribute, `known`, and one that the node settles, `later`.
struct Outputs;

impl Exports for Outputs {
    fn export(&self, _resource: &ResourceId, attribute: &str, _trail: &Trail) -> Result<Exported, ExportError> {
        match attribute {
            "known" => Ok(Exported::Known(runtime::language::value::Value::from_json(&json!("k")).unwrap())),
            "later" => Ok(Exported::Deferred(Default::default())),
            _ => Err(ExportError::NotExported { exported: vec!["known".into(), "later".into()] }),
        }
    }
}

struct Node(Json);

impl NodeScope for Node {
    fn fact(&self, path: &[String]) -> Option<Json> {
        path.iter().try_fold(&self.0, |found, step| found.get(step)).cloned()
    }

    fn output(&self, _resource: &ResourceId, _attribute: &str) -> Result<Json, String> {
        Ok(json!(["o", 1]))
    }
}

fn facts() -> Json {
    json!({ "t": true, "f": false, "n": 2, "s": "web", "l": [1, "b", [3]], "o": { "a": 1, "b": { "c": "x" } } })
}

/// What an expression gives: settled, or for the node, or an error.
fn compile(expression: &str, facts: Option<&Json>) -> Result<Result<Json, Expression>, String> {
    let text = format!(
        "variable \"v\" {{ default = [1, {{ a = \"x\" }}] }}\nlocals {{\n  k = \"known\"\n  d = facts.s\n}}\n\
         resource \"u\" \"r\" {{}}\nresource \"t\" \"r\" {{\n  a = {expression}\n}}\n"
    );
    let manifest = Arc::new(read("p.hcl", text).map_err(|errors| errors.to_string())?);
    let evaluation = Evaluation::new(manifest.clone(), &Inputs::default(), facts, Arc::new(NoFiles)).unwrap();
    let id: ResourceId = "t.r".parse().unwrap();
    let place = &manifest.resource(&id).unwrap().attributes["a"].value.place;
    match evaluation.attribute(&id, "a", &Trail::default(), &Outputs) {
        Ok(value) => Ok(value.map(|value| value.json().ok_or_else(|| value.residual(place))).unwrap()),
        Err(_) => Err(evaluation.diagnostics().to_string()),
    }
}

/// Through the catalog to the node.
fn settle(left_over: &Expression) -> Result<Json, String> {
    let text = serde_json::to_string(left_over).unwrap();
    let read: Expression = serde_json::from_str(&text).unwrap();
    assert_eq!(read, *left_over);
    check_travelled(&read).unwrap_or_else(|error| panic!("{error} in {text}"));
    evaluate_on_node(&read, &Node(facts())).map(|settled| settled.json).map_err(|error| error.to_string())
}

/// Expressions as text, right and wrong ones, of known and unknown parts.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1"),
        Just("0"),
        Just("2.5"),
        Just("true"),
        Just("false"),
        Just("null"),
        Just("\"x\""),
        Just("\"\""),
        Just("[]"),
        Just("{}"),
        Just("[1, \"b\"]"),
        Just("{ a = 1, b = [2] }"),
        Just("var.v"),
        Just("var.v[1].a"),
        Just("local.k"),
        Just("local.d"),
        Just("facts.t"),
        Just("facts.f"),
        Just("facts.n"),
        Just("facts.s"),
        Just("facts.l"),
        Just("facts.o"),
        Just("facts.o.b.c"),
        Just("facts.none"),
        Just("u.r.known"),
        Just("u.r.later"),
    ]
    .prop_map(str::to_owned);
    leaf.prop_recursive(5, 48, 4, |inner| {
        let e = || inner.clone();
        let operator = prop_oneof![
            Just("+"),
            Just("-"),
            Just("*"),
            Just("/"),
            Just("%"),
            Just("=="),
            Just("!="),
            Just("<"),
            Just(">="),
            Just("&&"),
            Just("||")
        ];
        let one = prop_oneof![
            Just("upper"),
            Just("length"),
            Just("keys"),
            Just("tostring"),
            Just("jsonencode"),
            Just("flatten"),
            Just("try"),
            Just("can"),
            Just("abs"),
            Just("distinct"),
            Just("nonsensitive"),
            Just("sensitive")
        ];
        let two = prop_oneof![
            Just("concat"),
            Just("merge"),
            Just("lookup"),
            Just("contains"),
            Just("try"),
            Just("max"),
            Just("format")
        ];
        prop_oneof![
            (e(), operator, e()).prop_map(|(a, operator, b)| format!("({a} {operator} {b})")),
            (e(), e(), e()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            (e(), e()).prop_map(|(a, b)| format!("[{a}, {b}]")),
            (e(), e()).prop_map(|(a, b)| format!("{{ (tostring({a})) = {b}, z = {a} }}")),
            (e(), e()).prop_map(|(a, b)| format!("{a}[{b}]")),
            e().prop_map(|a| format!("({a}).a")),
            e().prop_map(|a| format!("({a})[*]")),
            e().prop_map(|a| format!("({a})[*].a")),
            e().prop_map(|a| format!("(!{a})")),
            e().prop_map(|a| format!("(-({a}))")),
            (one, e()).prop_map(|(name, a)| format!("{name}({a})")),
            (two.clone(), e(), e()).prop_map(|(name, a, b)| format!("{name}({a}, {b})")),
            (two, e()).prop_map(|(name, a)| format!("{name}({a}...)")),
            (e(), e()).prop_map(|(a, b)| format!("\"p${{{a}}}%{{ if {b} }}y%{{ else }}n%{{ endif }}\"")),
            (e(), e()).prop_map(|(a, b)| format!("\"%{{ for x in {a} }}${{x}}${{{b}}}%{{ endfor }}\"")),
            (e(), e()).prop_map(|(a, b)| format!("[for x in {a} : [x, {b}]]")),
            (e(), e()).prop_map(|(a, b)| format!("[for i, x in {a} : [for x in {b} : [i, x]] if x != i]")),
            (e(), e()).prop_map(|(a, b)| format!("{{ for k, x in {a} : \"${{k}}\" => [x, {b}] }}")),
            (e(), e()).prop_map(|(a, b)| format!("{{ for x in {a} : tostring({b}) => x... }}")),
            (e(), e()).prop_map(|(a, b)| format!("[for x in {a} : [for y in [x] : [for x in {b} : [y, x]]]]")),
        ]
    })
}

/// Both ways of evaluating, compared.
fn compare(expression: &str) -> Result<(), String> {
    // What resources export is settled on the node either way.
    let node = |outcome: Result<Json, Expression>| outcome.or_else(|left_over| settle(&left_over));
    let direct = compile(expression, Some(&facts())).and_then(node);
    let through_node = compile(expression, None).and_then(node);
    match (direct, through_node) {
        (Ok(direct), Ok(through_node)) if direct == through_node => Ok(()),
        (Err(_), Err(_)) => Ok(()),
        (direct, through_node) => Err(format!("{expression}\ndirect: {direct:?}\nthrough the node: {through_node:?}")),
    }
}

#[test]
fn left_overs_mean_the_same() {
    for case in [
        "[for x in facts.l : [for y in [x] : [for x in [7] : [for x in facts.l : [x, y]]]]]",
        "facts.t || [][1]",
        "facts.f ? [][1] : try([][1], facts.s, 1)",
        "{ for k, x in facts.o : k => can(x.c) }",
        "true && facts.n",
        "u.r.later[*]",
    ] {
        compare(case).unwrap_or_else(|message| panic!("{message}"));
    }
}

#[test]
fn generated_expressions_are_worth_comparing() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = expression();
    let (mut settled, mut left_over) = (0, 0);
    for _ in 0..400 {
        let tree = strategy.new_tree(&mut runner).unwrap();
        match compile(&tree.current(), None) {
            Ok(Ok(_)) => settled += 1,
            Ok(Err(expression)) if settle(&expression).is_ok() => left_over += 1,
            _ => {}
        }
    }
    assert!(settled > 40 && left_over > 40, "{settled} settled, {left_over} settled on the node, of 400");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_left_for_the_node_means_the_same(expression in expression()) {
        compare(&expression).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn any_text_ends_in_a_value_or_a_message(text in "(\\PC|[\\[\\]{}()\"$%~=.,:<>\n -]){0,200}") {
        let _ = read("a.hcl", text.clone()).map_err(|errors| errors.to_string());
        let _ = compile(&text, None);
    }

    #[test]
    fn mutated_expressions_end_in_a_value_or_a_message(
        expression in expression(),
        at in any::<prop::sample::Index>(),
        with in prop_oneof![Just(""), Just("\""), Just("${"), Just("}"), Just("["), Just("<<-A\n"), Just("...\n"), Just("\u{e9}"), Just("%{ if ")],
    ) {
        let mut at = at.index(expression.len() + 1);
        while !expression.is_char_boundary(at) {
            at -= 1;
        }
        let _ = compile(&format!("{}{with}{}", &expression[..at], expression.get(at + 1..).unwrap_or_default()), Some(&facts()));
    }
}

#[test]
fn hostile_text_is_refused_in_time_and_without_overflow() {
    for unit in [
        "[",
        "{",
        "(",
        "!",
        "-",
        "\"${",
        "a[",
        "{a=",
        "f(",
        "1?",
        "1?1:",
        "[for x in ",
        "<<A\n${",
        "\"%{ if ",
        "a {\n",
        "x.",
        "x[*]",
        "1+",
    ] {
        for prefix in ["a = ", "", "locals {\n  a = "] {
            let text = format!("{prefix}{}", unit.repeat((1 << 18) / unit.len()));
            let errors = read("a.hcl", text).unwrap_err().to_string();
            assert!(errors.len() < 10_000, "{unit}: {} bytes", errors.len());
        }
    }
    let errors = read("a.hcl", " ".repeat(5 << 20)).unwrap_err().to_string();
    assert_eq!(errors, "error: `a.hcl` is larger than 4 MiB\n");
    let errors = read("a.hcl", format!("locals {{\n  a = {{{}}}\n}}\n", "b=1,".repeat(200_000))).unwrap_err().to_string();
    assert!(errors.starts_with("error: `a.hcl` holds more than"), "{errors}");
}

/// The section on functions as the reference should have it.
fn function_reference() -> String {
    let mut text = String::from("\n| function | gives |\n|---|---|\n");
    for function in runtime::language::functions::all() {
        text.push_str(&format!("| `{}` | {} |\n", function.signature(), function.doc.replace('|', "\\|")));
    }
    text + "\n"
}

#[test]
#[expect(clippy::disallowed_methods, reason = "compares a file of the source tree")]
fn the_reference_lists_every_function() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/language.md");
    let text = std::fs::read_to_string(path).unwrap();
    let start = text.find("with BLESS=1 writes. -->\n").unwrap() + "with BLESS=1 writes. -->\n".len();
    let end = text.find("<!-- end of functions -->").unwrap();
    let wanted = format!("{}{}{}", &text[..start], function_reference(), &text[end..]);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), wanted, "run with BLESS=1 to write it");
}
