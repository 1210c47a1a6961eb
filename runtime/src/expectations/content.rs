//! The managed content of a resource, read once, and what it is held against.

use std::cell::OnceCell;
use std::io;

use regex::RegexBuilder;
use serde_json::Value as Json;

use super::{ExpectationError, Mismatch, Shown};
use crate::model::asset::AssetRef;
use crate::model::ids::ResourceId;
use crate::report::shortened;

/// The largest content that is compared, in bytes.
pub const MAX_CONTENT: u64 = 4 << 20;

/// The largest compiled pattern, in bytes.
const MAX_PATTERN: usize = 1 << 20;

/// How much of a content a mismatch shows, in characters.
const SHOWN_CHARS: usize = 500;

/// The bytes of a manifest's assets.
pub trait Contents {
    /// The bytes of an asset; of one with more than `cap` bytes just more than that.
    ///
    /// # Errors
    /// If there is no such asset, or it cannot be read.
    fn read(&self, asset: &AssetRef, cap: u64) -> io::Result<Vec<u8>>;
}

/// What the content is to be like. All but `Unmanaged` want UTF-8 text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentMatcher {
    /// No content is managed.
    Unmanaged,
    /// It is this text.
    Equals(String),
    /// This text occurs in it.
    Contains(String),
    /// This text does not occur in it.
    Lacks(String),
    /// This regular expression matches somewhere in it; `^` and `$` are ends of lines.
    Matches(String),
}

impl ContentMatcher {
    fn holds(&self, text: &str) -> Result<bool, ExpectationError> {
        Ok(match self {
            Self::Unmanaged => false,
            Self::Equals(wanted) => text == wanted,
            Self::Contains(part) => text.contains(part.as_str()),
            Self::Lacks(part) => !text.contains(part.as_str()),
            Self::Matches(pattern) => {
                let built = RegexBuilder::new(pattern).multi_line(true).size_limit(MAX_PATTERN).build();
                built.map_err(|source| ExpectationError::Pattern { pattern: pattern.clone(), source })?.is_match(text)
            }
        })
    }

    fn words(&self) -> String {
        match self {
            Self::Unmanaged => "none".to_owned(),
            Self::Equals(text) => quoted(text),
            Self::Contains(text) => format!("text with {}", quoted(text)),
            Self::Lacks(text) => format!("text without {}", quoted(text)),
            Self::Matches(pattern) => format!("text that matches {}", quoted(pattern)),
        }
    }
}

fn quoted(text: &str) -> String {
    Json::from(shortened(text, SHOWN_CHARS)).to_string()
}

/// The content of one resource.
pub(super) struct Content<'a> {
    contents: &'a dyn Contents,
    asset: Option<&'a AssetRef>,
    is_sensitive: bool,
    bytes: OnceCell<Vec<u8>>,
}

impl<'a> Content<'a> {
    pub(super) fn new(contents: &'a dyn Contents, asset: Option<&'a AssetRef>, is_sensitive: bool) -> Self {
        let is_secret = asset.is_some_and(|asset| asset.digest().is_none());
        Self { contents, asset, is_sensitive: is_sensitive || is_secret, bytes: OnceCell::new() }
    }

    /// Whether `value` is the name of this content.
    pub(super) fn is_named_by(&self, value: &Json) -> bool {
        self.asset.is_some_and(|asset| value.as_str() == Some(asset.to_string().as_str()))
    }

    /// What differs from `matcher`; none if it holds.
    pub(super) fn mismatch(&self, matcher: &ContentMatcher, id: &ResourceId) -> Result<Option<Mismatch>, ExpectationError> {
        let (holds, found) = match (self.asset, matcher) {
            (None, ContentMatcher::Unmanaged) => return Ok(None),
            (None, _) => (false, Shown::Words("not managed".to_owned())),
            (Some(_), ContentMatcher::Unmanaged) => (false, Shown::Words("managed".to_owned())),
            (Some(asset), _) => {
                let text = self.text(asset, id)?;
                (matcher.holds(text)?, Shown::Words(quoted(text)))
            }
        };
        if holds {
            return Ok(None);
        }
        let shown = |shown: Shown| if self.is_sensitive { Shown::Hidden } else { shown };
        Ok(Some(Mismatch { attribute: None, expected: shown(Shown::Words(matcher.words())), found: shown(found) }))
    }

    fn text(&self, asset: &AssetRef, id: &ResourceId) -> Result<&str, ExpectationError> {
        let bytes = match self.bytes.get() {
            Some(bytes) => bytes,
            None => {
                let read = self.contents.read(asset, MAX_CONTENT);
                let read = read.map_err(|source| ExpectationError::Content { id: id.clone(), source })?;
                self.bytes.get_or_init(|| read)
            }
        };
        if bytes.len() as u64 > MAX_CONTENT {
            return Err(ExpectationError::TooLarge { id: id.clone() });
        }
        std::str::from_utf8(bytes).map_err(|_| ExpectationError::NotText { id: id.clone() })
    }
}
