//! Properties of the language: hostile text ends in a message, and what is left for the node means what the manifest meant.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use runtime::language::value::Value;
use runtime::language::{NodeScope, check_travelled, evaluate_on_node};
use runtime::manifest::{Evaluation, ExportError, Exported, Exports, Inputs, NoFiles, Part, Trail, read};
use runtime::model::expression::Expression;
use runtime::model::ids::{ResourceId, SecretName, SecretSlot};
use serde_json::{Value as Json, json};

/// Every resource exports one attribute, `known`, and one that the node settles, `later`.
struct Outputs;

impl Exports for Outputs {
    fn export(&self, _resource: &ResourceId, attribute: &str, _trail: &Trail) -> Result<Exported, ExportError> {
        match attribute {
            "known" => Ok(Exported::Known(Value::from_json(&json!("k")).unwrap())),
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

    fn export(&self, _resource: &ResourceId, _name: &str) -> Result<Value, String> {
        Ok(Value::from_json(&json!([5, 6])).unwrap())
    }

    fn slot(&self, slot: &SecretSlot) -> Result<Json, String> {
        Err(format!("no `{slot}`"))
    }

    fn secret(&self, name: &SecretName) -> Result<Json, String> {
        Err(format!("no `{name}`"))
    }
}

fn facts() -> Json {
    json!({ "t": true, "f": false, "n": 2, "s": "web", "l": [1, 3], "o": { "a": 1, "b": { "c": "x" } } })
}

/// What an expression gives: settled, or for the node, or an error.
fn compile(expression: &str, facts: Option<&Json>) -> Result<Result<Json, Expression>, String> {
    let text = format!(
        "variable \"v\" {{ default = [1, {{ a = \"x\" }}] }}\nlocals {{\n  k = \"known\"\n  d = facts.s\n}}\n\
         resource \"u\" \"r\" {{}}\nresource \"t\" \"r\" {{\n  a = {expression}\n}}\n"
    );
    let manifest = Arc::new(read("p.hcl", text).map_err(|errors| errors.to_string())?);
    if let Some(error) = manifest.errors.first() {
        return Err(error.render(&manifest.sources));
    }
    let evaluation = Evaluation::new(manifest.clone(), &Inputs::default(), facts, Arc::new(NoFiles)).unwrap();
    let id: ResourceId = "t.r".parse().unwrap();
    let place = &manifest.resource(&id).unwrap().attributes["a"].value.place;
    match evaluation.attribute(&id, Part::Own, "a", &Trail::default(), &Outputs) {
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

#[derive(Debug, Clone, Copy)]
enum Of {
    Number,
    Text,
    Bool,
    List,
    Object,
}

/// Builds an expression from a row of choices; when they run out, it takes the first each time.
struct Builder {
    choices: std::vec::IntoIter<u8>,
}

/// Expressions as text, most of them right, of known and unknown parts.
fn expression() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<u8>(), 1..60).prop_map(|choices| {
        let mut builder = Builder { choices: choices.into_iter() };
        let kind = builder.kind();
        builder.of(kind, 5)
    })
}

impl Builder {
    fn pick<'p>(&mut self, from: &[&'p str]) -> &'p str {
        from[usize::from(self.choices.next().unwrap_or(0)) % from.len()]
    }

    fn kind(&mut self) -> Of {
        match self.pick(&["t", "n", "b", "l", "o"]) {
            "t" => Of::Text,
            "n" => Of::Number,
            "b" => Of::Bool,
            "l" => Of::List,
            _ => Of::Object,
        }
    }

    fn leaf(&mut self, kind: Of) -> String {
        let leaves: &[&str] = match kind {
            Of::Number => &["1", "0", "2.5", "facts.n", "var.v[0]", "facts.l[0]", "facts.o.a"],
            Of::Text => {
                &["\"x\"", "\"\"", "local.k", "local.d", "facts.s", "facts.o.b.c", "u.r.known", "var.v[1].a", "facts.none"]
            }
            Of::Bool => &["true", "false", "facts.t", "facts.f"],
            Of::List => &["[]", "[3, 1]", "facts.l", "u.r.later", "[facts.n, 7]", "null[*]", "facts.l[*]"],
            Of::Object => &["{}", "{ a = 1, b = 2 }", "facts.o", "{ a = facts.s }", "var.v[1]"],
        };
        self.pick(leaves).to_owned()
    }

    /// An expression of a kind, or now and then of another: each letter of a pattern after `$` stands for a part of that kind.
    fn of(&mut self, kind: Of, depth: u32) -> String {
        let wrong = self.choices.next().is_some_and(|choice| choice < 8);
        let kind = if wrong { self.kind() } else { kind };
        if depth == 0 || self.choices.len() == 0 {
            return self.leaf(kind);
        }
        let general = [
            "($b ? $s : $s)",
            "try([$a][1], $s)",
            "try($s, $s)",
            "{ a = $s, b = $a }.a",
            "[$a, $s][1]",
            "jsondecode(jsonencode($s))",
        ];
        let own: &[&str] = match kind {
            Of::Number => {
                &["($n + $n)", "($n * $n)", "($n - $n)", "($n / $n)", "($n % $n)", "(-($n))", "length($l)", "max($n, $l...)"]
            }
            Of::Text => &[
                "\"p${$t}%{ if $b }y%{ else }n%{ endif }\"",
                "\"%{ for i, x in $l }${i}${x}${$n},%{ endfor }\"",
                "upper($t)",
                "join($t, $l)",
                "jsonencode($a)",
                "format(\"%s-%v\", $t, $a)",
                "nonsensitive(sensitive($t))",
            ],
            Of::Bool => {
                &["($b && $b)", "($b || $b)", "($n < $n)", "($a == $a)", "($s != $s)", "(!$b)", "can($a)", "contains($l, $n)"]
            }
            Of::List => &[
                "[$n, $n]",
                "[for x in $l : $n]",
                "[for i, x in $l : i if x != i]",
                "flatten([for i, x in $l : [for x in $l : [i, x]]])",
                "flatten([for x in $l : [for y in [x] : [for x in $l : [y, x]]]])",
                "concat($l, $l)",
                "[for x in ($l)[*] : try(x + $n, 0)]",
                "[for k, x in $o : length(k)]",
            ],
            Of::Object => &[
                "{ (\"k${$t}\") = $a, z = 1 }",
                "merge($o, $o)",
                "{ for i, x in $l : \"${i}\" => [x, $a] }",
                "{ for x in $l : $t => x... }",
                "{ for k, x in $o : k => x if $b }",
            ],
        };
        let pattern = if self.pick(&["own", "own", "general"]) == "own" { self.pick(own) } else { self.pick(&general) };
        self.fill(pattern, kind, depth - 1)
    }

    fn fill(&mut self, pattern: &str, kind: Of, depth: u32) -> String {
        let mut text = String::new();
        let mut rest = pattern.chars().peekable();
        while let Some(c) = rest.next() {
            let part = rest.peek().filter(|_| c == '$').copied();
            let kind = match part {
                Some('n') => Of::Number,
                Some('t') => Of::Text,
                Some('b') => Of::Bool,
                Some('l') => Of::List,
                Some('o') => Of::Object,
                Some('s') => kind,
                Some('a') => self.kind(),
                _ => {
                    text.push(c);
                    continue;
                }
            };
            rest.next();
            text.push_str(&self.of(kind, depth));
        }
        text
    }
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
        "try({ a = 1, b = facts.none }.a, 2)",
        "try({ a = 1, b = facts.none }, 2)",
        "[1 / 0, facts.n][1]",
        "can([facts.none])",
        "[for x in [1, 2] : x == 1 ? 5 : upper(facts.n)][0]",
        "length([1 / 0])",
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
    let errors = read("a.hcl", " ".repeat(17 << 20)).unwrap_err().to_string();
    assert_eq!(errors, "error: `a.hcl` is larger than 16 MiB\n");
    let errors = read("a.hcl", format!("locals {{\n  a = {{{}}}\n}}\n", "b=1,".repeat(200_000))).unwrap_err().to_string();
    assert!(errors.starts_with("error: the objects of `a.hcl` have more than 100000 members"), "{errors}");
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
