//! `runtime facts`.

use host_functions::facts::Facts;
use serde_json::{Value as Json, json};

use crate::cli::args::FactsArgs;
use crate::cli::context;
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::language::suggest;
use crate::report::line;
use crate::run;

pub(super) fn run(args: &FactsArgs) -> Result<Answer, CliError> {
    let facts = run::facts(&context::root(args.root.as_deref()))?;
    match &args.query {
        None => {
            let all = facts.all();
            Ok(super::data(format!("{all:#}\n"), json!({ "facts": all })))
        }
        Some(query) => answer(&asked(&facts, query), query),
    }
}

/// As much of the facts as the query needs: one group, or all where there is no such group and the answer is what there is.
fn asked(facts: &Facts, query: &str) -> Json {
    let name = query.split('.').next().unwrap_or_default();
    match facts.get([name]) {
        Some(group) => json!({ name: group }),
        None => facts.all(),
    }
}

fn answer(facts: &Json, query: &str) -> Result<Answer, CliError> {
    let value = lookup(facts, query)?;
    let text = match value {
        Json::String(text) => line(text),
        other => format!("{other:#}"),
    };
    Ok(super::data(format!("{text}\n"), json!({ "query": query, "value": value })))
}

fn lookup<'a>(facts: &'a Json, query: &str) -> Result<&'a Json, CliError> {
    let mut found = facts;
    for name in query.split('.') {
        found = member(found, name).ok_or_else(|| unknown(query, found, name))?;
    }
    Ok(found)
}

fn member<'a>(value: &'a Json, name: &str) -> Option<&'a Json> {
    match value {
        Json::Array(list) => list.get(name.parse::<usize>().ok()?),
        other => other.get(name),
    }
}

fn unknown(query: &str, within: &Json, name: &str) -> CliError {
    let names = within.as_object().into_iter().flatten().map(|(known, _)| known.as_str());
    let hint = suggest::one_of(name, names).unwrap_or_else(|| "there is nothing below this fact".to_owned());
    CliError::UnknownFact { query: query.to_owned(), hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Json {
        json!({ "hostname": "db1", "os": { "family": "debian", "version": "12" }, "cpus": 4, "addresses": ["::1"] })
    }

    #[test]
    fn queries_give_bare_text_and_json() {
        let text = |query| answer(&facts(), query).unwrap().text;
        assert_eq!(text("os.family"), "debian\n");
        assert_eq!(text("cpus"), "4\n");
        assert_eq!(text("addresses.0"), "::1\n");
        assert_eq!(text("addresses"), "[\n  \"::1\"\n]\n");
        assert_eq!(answer(&facts(), "os.family").unwrap().data, json!({ "query": "os.family", "value": "debian" }));
    }

    #[test]
    fn unknown_facts_say_what_there_is() {
        let hint = |query| {
            let error = answer(&facts(), query).unwrap_err();
            assert_eq!(error.exit().code(), 64);
            error.hint().unwrap()
        };
        assert_eq!(hint("os.famly"), "did you mean `family`?");
        assert_eq!(hint("os.x"), "known here: `family`, `version`");
        assert_eq!(hint("cpus.x"), "there is nothing below this fact");
        assert_eq!(hint("addresses.7"), "there is nothing below this fact");
    }
}
