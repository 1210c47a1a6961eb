//! The name under which an operation stages what it will put in place.

use std::fmt;
use std::str::FromStr;

/// How every staging name starts, so that a leftover can be told from other hidden files.
pub const STAGING_PREFIX: &str = ".runtime-";

/// The longest staging name, in bytes.
pub const MAX_STAGING_NAME: usize = 64;

/// A file name for staged objects: `.runtime-` and lower-case letters, digits or `-`. Recorded with the intent, so that recovery
/// finds what a lost run left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagingName(String);

/// A text that is not a staging name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a staging name must be `{STAGING_PREFIX}` and lower-case letters, digits or `-`, at most {MAX_STAGING_NAME} bytes")]
pub struct StagingNameError;

impl StagingName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for StagingName {
    type Err = StagingNameError;

    fn from_str(text: &str) -> Result<Self, StagingNameError> {
        let rest = text.strip_prefix(STAGING_PREFIX).ok_or(StagingNameError)?;
        let plain = rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if rest.is_empty() || text.len() > MAX_STAGING_NAME || !plain {
            return Err(StagingNameError);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for StagingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_with_the_prefix() {
        assert!(".runtime-0a1b-2".parse::<StagingName>().is_ok());
        for bad in ["", ".runtime-", "x", ".runtime-A", ".runtime-a/b", ".runtime-a\0", &format!(".runtime-{}", "a".repeat(64))] {
            assert_eq!(bad.parse::<StagingName>(), Err(StagingNameError), "{bad:?}");
        }
    }
}
