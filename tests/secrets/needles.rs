//! What is looked for: a value, its other forms, and any beginning of it of four characters or more.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use sha2::{Digest as _, Sha256};

/// Forms of sensitive values that must not be found.
pub struct Needles(Vec<String>);

impl Needles {
    /// Those of `values`, each of which has four characters at its start that occur nowhere by chance.
    pub fn of(values: &[&str]) -> Self {
        Self(values.iter().flat_map(|value| forms(value)).collect())
    }

    /// Which form is in `haystack`, and where; none if none is.
    pub fn find(&self, haystack: &[u8]) -> Option<String> {
        let haystack = String::from_utf8_lossy(haystack);
        self.0.iter().find_map(|needle| {
            let (before, after) = haystack.split_once(needle.as_str())?;
            let before: String = before.chars().rev().take(80).collect::<Vec<_>>().into_iter().rev().collect();
            let after: String = after.chars().take(40).collect();
            Some(format!("`{needle}` in …{before}{needle}{after}…"))
        })
    }

    #[track_caller]
    pub fn assert_none_in(&self, what: &str, haystack: &[u8]) {
        if let Some(found) = self.find(haystack) {
            panic!("{what}: {found}");
        }
    }

    /// Looks through every file beneath `folder` but those that `allowed` names. Of a bundle, all but its layer of secrets is looked through.
    #[track_caller]
    pub fn assert_none_beneath(&self, folder: &Path, allowed: &[PathBuf]) {
        for path in files(folder) {
            self.assert_none_in("the name of a file", path.as_os_str().as_encoded_bytes());
            if allowed.contains(&path) {
                continue;
            }
            let mut content = std::fs::read(&path).unwrap();
            if path.extension().is_some_and(|extension| extension == "tar") {
                content = without_layer(&path, content);
            }
            self.assert_none_in(&path.display().to_string(), &content);
        }
    }
}

/// The value's first characters stand for every longer beginning, and for the value.
fn forms(value: &str) -> Vec<String> {
    let beginning: String = value.chars().take(4).collect();
    let digest = |text: &str| hex::encode(Sha256::digest(text.as_bytes()));
    let hex = hex::encode(value);
    let mut forms = vec![beginning, hex[..8].to_owned(), hex[..8].to_uppercase()];
    // Where it begins within a text decides how base64 spells it; six characters are four and a half bytes.
    for before in ["", "x", "xx"] {
        for engine in [&STANDARD, &URL_SAFE] {
            let encoded = engine.encode(format!("{before}{value}"));
            forms.push(encoded[before.len() * 2..][..8].to_owned());
        }
    }
    for text in [value.to_owned(), format!("{value}\n")] {
        forms.extend([digest(&text), digest(&text)[..12].to_owned()]);
    }
    forms
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(path) = open.pop() {
        let kind = std::fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if kind.is_file() {
            found.push(path);
        }
    }
    found
}

/// The bytes of a bundle without its layer of secrets; a bundle that has one is for its owner alone.
fn without_layer(path: &Path, bundle: Vec<u8>) -> Vec<u8> {
    let begin = b"{\"salt\":\"";
    let Some(at) = bundle.windows(begin.len()).position(|window| window == begin) else { return bundle };
    let mode = std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode, 0o600, "{} has secrets", path.display());
    let end = at + bundle[at..].iter().position(|byte| *byte == 0).unwrap();
    [&bundle[..at], &bundle[end..]].concat()
}

#[test]
fn every_form_would_be_found() {
    let needles = Needles::of(&["Zq7#hunter"]);
    let digest = hex::encode(Sha256::digest(b"Zq7#hunter"));
    let encoded = ["", "ab", "abc", "abcd"].map(|before| STANDARD.encode(format!("{before}Zq7#hunter and more")));
    let texts = ["a Zq7# b", "Zq7#hunter", &hex::encode("Zq7#hunter"), &digest, &digest[..12]];
    for text in texts.into_iter().chain(encoded.iter().map(String::as_str)) {
        assert!(needles.find(text.as_bytes()).is_some(), "{text}");
    }
    assert!(needles.find(b"Zq7 #hunter").is_none());
}
