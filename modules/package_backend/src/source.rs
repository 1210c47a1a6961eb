//! The options `source` and `checksum` of providers that install a package file.

use runtime_sdk::{AssetSource, Compiled, DefinitionResult, Diagnostic};

/// Where a package file comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    source: AssetSource,
    checksum: Option<String>,
}

/// The slot of the one asset.
const SLOT: &str = "source";

/// `sha256:` and 64 lower-case hex digits.
fn is_digest(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && hex.bytes().all(is_hex))
}

impl Source {
    /// What the two options say; none without a `source`.
    pub(crate) fn given(source: Option<String>, checksum: Option<String>) -> DefinitionResult<Option<Self>> {
        let Some(source) = source else {
            return match checksum {
                Some(_) => Err(Diagnostic::at("checksum", "`checksum` has no meaning without a `source`").into()),
                None => Ok(None),
            };
        };
        let is_address = source.contains("://");
        if is_address && checksum.is_none() {
            let diagnostic = Diagnostic::at("checksum", "a `source` that is an address needs a `checksum`");
            return Err(diagnostic.hint("give the digest of the file: `sha256:` and 64 hex digits").into());
        }
        if checksum.as_deref().is_some_and(|checksum| !is_digest(checksum)) {
            let diagnostic = Diagnostic::at("checksum", "`checksum` is not the digest of a file");
            return Err(diagnostic.hint("write `sha256:` and 64 lower-case hex digits").into());
        }
        let source = if is_address { AssetSource::Url(source) } else { AssetSource::Local(source) };
        Ok(Some(Self { source, checksum }))
    }

    /// Asks for its bytes.
    pub(crate) fn ask<O>(self, compiled: Compiled<O>) -> Compiled<O> {
        let asked = compiled.asset(SLOT, self.source, "source");
        if self.checksum.is_some() {
            asked.checksum(self.checksum).checksum_error("the package file is not the one that `checksum` names")
        } else {
            asked
        }
    }

    /// Whether this is the slot of the asset.
    pub(crate) fn is_slot(slot: &str) -> bool {
        slot == SLOT
    }
}
