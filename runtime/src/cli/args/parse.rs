//! Arguments that are more than a word.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::conformance::Rule;
use crate::language::suggest;
use crate::model::ids::TypeName;
use crate::model::key::Key;
use crate::model::units;
use crate::store::Object;

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

/// The beginning of a run's id, or all of it.
pub(super) fn run(text: &str) -> Result<String, String> {
    let is_one = (1..=32).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_one { Ok(text.to_owned()) } else { Err("it must be 1 to 32 lower-case hex digits".to_owned()) }
}

/// `domain:key`. The key may be any bytes, as the name of a file may.
pub(super) fn object() -> impl TypedValueParser<Value = Object> {
    OsStringValueParser::new().try_map(|text| {
        let bytes = text.into_encoded_bytes();
        let colon = bytes.iter().position(|byte| *byte == b':').filter(|at| *at > 0 && *at + 1 < bytes.len());
        let at = colon.ok_or("it must be DOMAIN:KEY, as in `path:/etc/motd`")?;
        let domain = std::str::from_utf8(&bytes[..at]).map_err(|_| "the domain is not text")?;
        Ok::<_, &'static str>(Object { domain: domain.to_owned(), key: Key(bytes[at + 1..].to_vec()) })
    })
}

/// Bytes, from `64MiB` and the like; not none.
pub(super) fn size(text: &str) -> Result<u64, String> {
    units::bytes(text)
        .filter(|size| *size > 0)
        .ok_or_else(|| "write a whole number and `KiB`, `MiB` or `GiB`, as in `64MiB`".to_owned())
}

/// A time of at most 24 hours, from `30s` and the like; not none.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let time = units::milliseconds(text).filter(|ms| (1..=MAX_TIME_MS).contains(ms));
    time.map(Duration::from_millis).ok_or_else(|| "write a whole number and `s`, `m` or `h`, up to `24h`".to_owned())
}

/// 24 hours.
const MAX_TIME_MS: u64 = 86_400_000;

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

    #[test]
    fn runs_are_named_by_their_beginning() {
        assert_eq!(run("0a9f"), Ok("0a9f".to_owned()));
        assert!(run("").is_err() && run("0A").is_err() && run(&"0".repeat(33)).is_err() && run("last").is_err());
    }

    #[test]
    fn objects_are_a_domain_and_any_bytes() {
        use std::os::unix::ffi::OsStrExt as _;
        let command = clap::Command::new("x").arg(clap::Arg::new("object").value_parser(object()));
        let read = |bytes: &[u8]| {
            let typed = [std::ffi::OsStr::new("x"), std::ffi::OsStr::from_bytes(bytes)];
            command.clone().try_get_matches_from(typed).ok().and_then(|mut found| found.remove_one::<Object>("object"))
        };
        let one = |domain: &str, key: &[u8]| Some(Object { domain: domain.to_owned(), key: Key(key.to_vec()) });
        assert_eq!(read(b"path:/a:b"), one("path", b"/a:b"));
        assert_eq!(read(b"thing/port:\xff"), one("thing/port", b"\xff"));
        assert_eq!((read(b"path:"), read(b":/a"), read(b"/a"), read(b"\xff:/a")), (None, None, None, None));
    }

    #[test]
    fn amounts_have_units_and_are_not_zero() {
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert!(size("0KiB").is_err() && size("5").is_err() && size("5MB").is_err());
        assert!(time("0s").is_err() && time("25h").is_err() && time("5").is_err());
    }
}
