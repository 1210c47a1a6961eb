//! Arguments that are more than a word.

use std::path::PathBuf;

use crate::conformance::Rule;
use crate::language::suggest;
use crate::model::ids::TypeName;

/// `key=value`; the value may be empty or hold another `=`.
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("it must be KEY=VALUE".to_owned()),
    }
}

/// `name=path` with the name of a resource type.
pub(super) fn module(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("it must be NAME=PATH")?;
    name.parse::<TypeName>().map_err(|error| error.to_string())?;
    if path.is_empty() {
        return Err("the path is empty".to_owned());
    }
    Ok((name.to_owned(), PathBuf::from(path)))
}

/// The name of a rule of `module check`.
pub(super) fn rule(text: &str) -> Result<Rule, String> {
    let hint = || suggest::one_of(text, Rule::ALL.iter().map(|rule| rule.id())).unwrap_or_default();
    Rule::named(text).ok_or_else(|| format!("there is no such rule; {}", hint()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_split_at_the_first_equals_sign() {
        assert_eq!(variable("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert_eq!(variable("a="), Ok(("a".to_owned(), String::new())));
        assert!(variable("a").is_err() && variable("=b").is_err());
        assert_eq!(module("nginx=x=y.wasm"), Ok(("nginx".to_owned(), PathBuf::from("x=y.wasm"))));
        assert!(module("nginx=").is_err() && module("Nginx=a").is_err() && module("nginx").is_err());
    }
}
