//! Catalogs, as they are in bundles: parsed, and held against their own rules.
//!
//! A catalog has one form: what is taken is written as it was.

use std::time::Duration;

use runtime::bundle::catalog::{encode, parse};

use super::{Target, bundle};
use crate::seeds;

pub(super) const WORDS: &[&str] = &[
    "{\"",
    "\":",
    "\"",
    ",",
    "[",
    "]",
    "}",
    "null",
    "true",
    "1",
    "\"catalog_version\":1",
    "\"language_version\":1",
    "\"modules\":{",
    "\"resources\":[",
    "\"edges\":[",
    "\"state\":{\"compiled\":{",
    "\"deferred\":{",
    "\"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\"",
    "\"/etc/motd\"",
    "\"/**\"",
    "\"bytes:",
    "\\u0000",
    "9007199254740993",
    "1e400",
    "-0",
    "0.0",
    "\"secret:file.a/content\"",
    "[\"literal\",\"a:1:1+1\",1]",
];

pub(super) fn target() -> Target {
    Target {
        name: "catalog",
        seeds: || {
            let mut seeds = seeds::files("tests/fuzz/seeds/catalogs", "json");
            seeds.extend([bundle::catalog(false), bundle::catalog(true)]);
            seeds
        },
        words: WORDS,
        change: |mutator, input| {
            mutator.change(input);
            // The parser asks for the canonical form last: most changes are given it, to get there.
            if !mutator.random.once_in(4) {
                *input = canonical(input).unwrap_or_else(|| input.clone());
            }
        },
        run,
        time: Duration::from_secs(10),
        memory: 64 << 20,
    }
}

/// The canonical form of JSON.
pub(super) fn canonical(text: &[u8]) -> Option<Vec<u8>> {
    let json: serde_json::Value = serde_json::from_slice(text).ok()?;
    serde_jcs::to_vec(&json).ok()
}

fn run(input: &[u8]) {
    match parse(input) {
        Ok(catalog) => assert_eq!(encode(&catalog).as_deref(), Ok(input), "a catalog has one form"),
        Err(error) => assert!(!error.to_string().contains('\u{1b}'), "text of the catalog is escaped"),
    }
}
