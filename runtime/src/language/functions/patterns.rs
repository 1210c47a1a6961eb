//! Regular expressions, within limits on pattern and text; matching takes linear time.

use regex::{Captures, Regex, RegexBuilder};

use super::{Arguments, Function, Outcome, Run, Text};
use crate::language::value::Value;

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 4096;

/// The most memory of a compiled pattern, in bytes.
const MAX_COMPILED: usize = 256 << 10;

/// The longest text to search, in bytes.
const MAX_SEARCHED: usize = 1 << 20;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "replace",
        parameters: &["string", "search", "replacement"],
        required: 3,
        rest: None,
        doc: "Every occurrence of `search` replaced. A `search` between slashes, `/…/`, is a regular expression, and `$1` or `${name}` in the \
              replacement stand for its groups.",
        run: Run::Pattern(replace),
    },
    Function {
        name: "regex",
        parameters: &["pattern", "string"],
        required: 2,
        rest: None,
        doc: "The first match: a string without groups, a list of unnamed groups, an object of named ones. No match is an error.",
        run: Run::Pattern(first_match),
    },
    Function {
        name: "regexall",
        parameters: &["pattern", "string"],
        required: 2,
        rest: None,
        doc: "The list of all matches, each as `regex` gives it.",
        run: Run::Pattern(all_matches),
    },
];

fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > MAX_PATTERN {
        return Err(format!("the pattern is longer than {MAX_PATTERN} bytes"));
    }
    let built = RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "the pattern is too large".to_owned(),
        // Its text quotes the pattern, which may be sensitive.
        _ => "the pattern is not a valid regular expression".to_owned(),
    })
}

fn searched(text: &str) -> Result<&str, String> {
    if text.len() > MAX_SEARCHED {
        return Err(format!("the string is longer than {} MiB, too long to search with a pattern", MAX_SEARCHED >> 20));
    }
    Ok(text)
}

fn replace(a: &Arguments<'_>) -> Outcome {
    let (string, search, replacement) = (a.text(0)?, a.text(1)?, a.text(2)?);
    let mut text = Text::default();
    let pattern = search.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let mut last = 0;
    match pattern {
        Some(pattern) => {
            for groups in compile(pattern)?.captures_iter(searched(string)?) {
                let whole = groups.get_match();
                text.push(&string[last..whole.start()])?;
                let mut expanded = String::new();
                groups.expand(replacement, &mut expanded);
                text.push(&expanded)?;
                last = whole.end();
            }
        }
        None => {
            for (start, part) in string.match_indices(search) {
                text.push(&string[last..start])?;
                text.push(replacement)?;
                last = start + part.len();
            }
        }
    }
    text.push(&string[last..])?;
    Ok(text.value()?)
}

fn first_match(a: &Arguments<'_>) -> Outcome {
    let pattern = compile(a.text(0)?)?;
    let groups = pattern.captures(searched(a.text(1)?)?).ok_or("the pattern does not match the string")?;
    match_value(&pattern, &groups)
}

fn all_matches(a: &Arguments<'_>) -> Outcome {
    let pattern = compile(a.text(0)?)?;
    let matches = pattern.captures_iter(searched(a.text(1)?)?).map(|groups| match_value(&pattern, &groups));
    Ok(Value::list(matches.collect::<Result<_, _>>()?)?)
}

fn match_value(pattern: &Regex, groups: &Captures<'_>) -> Outcome {
    let group = |index| groups.get(index).map_or(Ok(Value::null()), |group| Value::text(group.as_str()));
    let names: Vec<&str> = pattern.capture_names().flatten().collect();
    if groups.len() == 1 {
        return Ok(group(0)?);
    }
    if names.is_empty() {
        return Ok(Value::list((1..groups.len()).map(group).collect::<Result<_, _>>()?)?);
    }
    if names.len() + 1 != groups.len() {
        return Err("the pattern mixes named and unnamed groups".to_owned());
    }
    let named = pattern.capture_names().enumerate().filter_map(|(index, name)| Some((name?.to_owned(), group(index))));
    Ok(Value::object(named.map(|(name, value)| Ok((name, value?))).collect::<Result<_, String>>()?)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::call;

    #[test]
    fn patterns_match_and_replace() {
        for (name, arguments, wanted) in [
            ("replace", json!(["1 + 2 + 3", "+", "-"]), json!("1 - 2 - 3")),
            ("replace", json!(["hello world", "/w.*d/", "all"]), json!("hello all")),
            ("replace", json!(["a-b", "/(\\w)-(\\w)/", "$2-$1"]), json!("b-a")),
            ("replace", json!(["ab", "", "."]), json!(".a.b.")),
            ("regex", json!(["[a-z]+", "53453453.345345aaabbbccc23454"]), json!("aaabbbccc")),
            ("regex", json!(["(\\d+)-(\\d+)", "2019-02"]), json!(["2019", "02"])),
            ("regex", json!(["(?P<y>\\d+)-(?P<m>\\d+)?", "2019-"]), json!({"y": "2019", "m": null})),
            ("regexall", json!(["[a-z]+", "1a2bc"]), json!(["a", "bc"])),
            ("regexall", json!(["z", "a"]), json!([])),
        ] {
            assert_eq!(call(name, arguments.as_array().unwrap()), Ok(wanted), "{name} {arguments}");
        }
    }

    #[test]
    fn hostile_patterns_are_refused() {
        let refused = |pattern: &str| call("regexall", &[json!(pattern), json!("a")]).unwrap_err();
        assert_eq!(refused("((a{1000}){1000}){1000}"), "the pattern is too large");
        assert_eq!(refused(&"a".repeat(5000)), "the pattern is longer than 4096 bytes");
        assert_eq!(refused("(secret"), "the pattern is not a valid regular expression");
        assert!(call("regex", &[json!("(a)(?P<n>b)"), json!("ab")]).unwrap_err().contains("mixes"));
        let huge = "a".repeat((1 << 20) + 1);
        assert!(call("regex", &[json!("a"), json!(huge)]).unwrap_err().contains("too long to search"));
        let widened = call("replace", &[json!("a".repeat(1 << 16)), json!("a"), json!("x".repeat(1 << 12))]);
        assert!(widened.unwrap_err().contains("grows beyond"));
    }
}
