//! Names that must be unique: of staged candidates, and of runs.

use std::fmt;
use std::str::FromStr;

use rustix::rand::{GetRandomFlags, getrandom};

use crate::model::ids::RunId;

const PREFIX: &str = ".runtime-";
const DIGITS: usize = 32;

/// The name under which an operation stages its candidate, beside what it will replace: `.runtime-` and 32 lower-case hex digits.
/// Nothing else on a node has such a name, so whatever has one is a leftover of an interrupted run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StagingName(String);

/// A text that is no staging name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a staging name: it must be `.runtime-` and 32 lower-case hex digits", found.escape_debug())]
pub struct StagingNameError {
    /// The text that was given, cut to 80 characters.
    pub found: String,
}

impl StagingName {
    /// A new one, from the kernel's random numbers.
    pub fn random() -> Self {
        Self(format!("{PREFIX}{}", random_hex()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `name`, of a directory entry, is one.
    pub fn is(name: &[u8]) -> bool {
        name.strip_prefix(PREFIX.as_bytes())
            .is_some_and(|hex| hex.len() == DIGITS && hex.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
    }
}

impl FromStr for StagingName {
    type Err = StagingNameError;

    fn from_str(text: &str) -> Result<Self, StagingNameError> {
        if Self::is(text.as_bytes()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(StagingNameError { found: text.chars().take(80).collect() })
        }
    }
}

impl fmt::Display for StagingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A new run id, from the kernel's random numbers.
pub fn random_run_id() -> RunId {
    random_hex().parse().expect("32 hex digits are a run id")
}

/// A new name that nothing else has: 32 lower-case hex digits.
pub fn random_name() -> String {
    random_hex()
}

fn random_hex() -> String {
    let mut bytes = [0_u8; DIGITS / 2];
    let mut filled = 0;
    while filled < bytes.len() {
        // Without flags it fails only where a signal interrupts it, and then it is asked again.
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty()).unwrap_or(0);
    }
    hex::encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_recognisable() {
        let (one, two) = (StagingName::random(), StagingName::random());
        assert_ne!(one, two);
        assert_eq!(one.as_str().parse::<StagingName>().unwrap(), one);
        assert_ne!(random_run_id(), random_run_id());
        for bad in ["", ".runtime-", ".runtime-0123", &one.as_str()[1..], &format!("{one}0"), &one.as_str().to_uppercase()] {
            assert!(bad.parse::<StagingName>().is_err(), "{bad}");
        }
    }
}
