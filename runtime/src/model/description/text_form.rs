//! A form that text must have: what a type can say of text where no word list is enough, and a definition must not see the value.

use std::fmt;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use super::attribute_type::TypeError;
use crate::model::key::escape;

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 512;

/// How large a compiled pattern may be, in bytes: a module's pattern is a stranger's.
const MAX_COMPILED: usize = 64 << 10;

/// The longest name of a form, in bytes.
const MAX_NAME: usize = 120;

/// What text must be like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextForm {
    /// A regular expression that the whole text must match.
    pub pattern: String,
    /// What such a text is, for people: "a hash as crypt(5) has them".
    pub is: String,
}

impl TextForm {
    /// Whether `text` has this form.
    pub fn matches(&self, text: &str) -> bool {
        self.regex().is_ok_and(|regex| regex.is_match(text))
    }

    /// The pattern for the whole of a text.
    pub fn anchored(&self) -> String {
        format!("^(?:{})$", self.pattern)
    }

    pub(super) fn check(&self) -> Result<(), TypeError> {
        let refuse = |reason: &str| Err(TypeError { reason: reason.to_owned() });
        if self.pattern.len() > MAX_PATTERN {
            return refuse("the pattern of a text is too long");
        }
        if self.is.is_empty() || self.is.len() > MAX_NAME || escape(&self.is) != self.is {
            return refuse("what a text is must be said, in few words without control characters");
        }
        // What the parser says quotes the pattern over several lines.
        self.regex().map(drop).or_else(|_| refuse("the pattern of a text is no regular expression, or too large a one"))
    }

    fn regex(&self) -> Result<Regex, regex::Error> {
        RegexBuilder::new(&self.anchored()).size_limit(MAX_COMPILED).build()
    }
}

impl fmt::Display for TextForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.is)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(pattern: &str, is: &str) -> TextForm {
        TextForm { pattern: pattern.into(), is: is.into() }
    }

    #[test]
    fn the_whole_text_must_match() {
        let either = form("a+|b", "letters");
        assert!(either.matches("aa") && either.matches("b"));
        for other in ["", "ab", "xa", "ax", "b\n"] {
            assert!(!either.matches(other), "{other:?}");
        }
    }

    #[test]
    fn a_form_that_cannot_be_held_or_shown_is_refused() {
        form("[a-z]+", "a word").check().unwrap();
        let bad = [
            form("(", "a word"),
            form("[a-z]{1,60}{1,60}{1,60}", "a word"),
            form(&"a".repeat(MAX_PATTERN + 1), "a word"),
            form("a", ""),
            form("a", "a\u{1b}[31m"),
            form("a", &"a".repeat(MAX_NAME + 1)),
        ];
        for bad in bad {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
