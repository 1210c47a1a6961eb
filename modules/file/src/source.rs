//! Where the content of a file comes from: text, a file beneath the manifest's folder, or an address with its checksum.
//!
//! Only what the attributes say is looked at. The bytes are the host's matter: it reads, fetches and verifies them.

use runtime_sdk::values::is_digest;
use runtime_sdk::{AssetSource, DefinitionResult, Diagnostic, Digest, Parameters};

use crate::attributes::Given;

/// What an address that can be fetched begins with.
const HTTPS: &str = "https://";

/// What to say when the bytes are others.
pub const CHECKSUM_ERROR: &str = "the bytes of `source` do not have the digest in `checksum`";

/// Where the content comes from.
#[derive(Debug, PartialEq)]
pub struct Origin {
    /// The bytes.
    pub source: AssetSource,
    /// The digest that they must have.
    pub checksum: Option<Digest>,
    /// The attribute that says so.
    pub attribute: &'static str,
}

/// Where the content of a declaration comes from, if it is managed. The text of `content` is not read: the host takes it from the
/// declaration.
pub fn origin(given: &Parameters) -> DefinitionResult<Option<Origin>> {
    let source = match (given.has("content")?, given.has("source")?) {
        (true, true) => {
            return Err(Diagnostic::at("source", "`content` and `source` are both given").hint("keep one of them").into());
        }
        (_, false) if given.has("checksum")? => return Err(without_source().into()),
        (true, false) => return Ok(Some(text())),
        (false, false) => return Ok(None),
        (false, true) => Given::source(given)?.unwrap_or_default(),
    };
    let checksum = Given::checksum(given)?.map(checked).transpose()?;
    let source = match scheme(&source) {
        None => AssetSource::Local(source),
        Some(_) if !source.starts_with(HTTPS) => return Err(other_scheme().into()),
        Some(_) if checksum.is_none() => return Err(without_checksum().into()),
        Some(_) => AssetSource::Url(source),
    };
    Ok(Some(Origin { source, checksum, attribute: "source" }))
}

fn text() -> Origin {
    Origin { source: AssetSource::Parameter("content".into()), checksum: None, attribute: "content" }
}

/// The scheme of an address; none of a path. Whatever has one is taken for an address, so that a mistyped one is not looked for as a file.
fn scheme(source: &str) -> Option<&str> {
    let (scheme, _) = source.split_once("://")?;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    (scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_part)).then_some(scheme)
}

fn checked(checksum: String) -> Result<Digest, Diagnostic> {
    if is_digest(&checksum) {
        return Ok(checksum);
    }
    Err(Diagnostic::at("checksum", "the checksum is no SHA-256 digest").hint("write `sha256:` and 64 lower-case hex digits"))
}

fn other_scheme() -> Diagnostic {
    Diagnostic::at("source", "the address does not begin with `https://`")
        .hint("only `https` is fetched, in lower case; for other bytes name a file beneath the manifest's folder")
}

fn without_checksum() -> Diagnostic {
    Diagnostic::at("source", "`source` is an address, and `checksum` is missing")
        .hint("give the digest of the bytes, as `sha256sum` prints it: `checksum = \"sha256:…\"`")
}

fn without_source() -> Diagnostic {
    Diagnostic::at("checksum", "`checksum` is the digest of what `source` names, and `source` is not given")
        .hint("leave `checksum` out, or give `source`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime_sdk::DefinitionError;
    use runtime_sdk::testing::{self, Given as Written};

    fn of(source: &str) -> Written {
        Written::new().set("source", source)
    }

    fn digest() -> String {
        testing::any_digest("content")
    }

    fn refusal(given: &Written) -> (String, String, String) {
        match origin(&given.parameters()).expect_err("it is refused") {
            DefinitionError::Invalid(Diagnostic { attribute, message, hint }) => {
                (attribute.unwrap(), message, hint.unwrap_or_default())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_path_is_a_local_file_with_or_without_checksum() {
        for path in ["files/motd", "a:b", "weird//name", "://x", "a b://c"] {
            let found = origin(&of(path).parameters()).unwrap().unwrap();
            assert_eq!(found, Origin { source: AssetSource::Local(path.into()), checksum: None, attribute: "source" });
        }
        let found = origin(&of("files/motd").set("checksum", digest()).parameters()).unwrap().unwrap();
        assert_eq!(found.checksum, Some(digest()));
    }

    #[test]
    fn an_https_address_is_fetched_and_needs_a_checksum() {
        let address = "https://example.org/motd";
        let found = origin(&of(address).set("checksum", digest()).parameters()).unwrap().unwrap();
        let expected = Origin { source: AssetSource::Url(address.into()), checksum: Some(digest()), attribute: "source" };
        assert_eq!(found, expected);
        let (attribute, message, hint) = refusal(&of(address));
        assert_eq!((attribute.as_str(), message.as_str()), ("source", "`source` is an address, and `checksum` is missing"));
        assert!(hint.contains("sha256sum"));
    }

    #[test]
    fn other_schemes_are_refused_with_a_hint() {
        for address in ["http://example.org/motd", "HTTPS://example.org/motd", "ftp://x", "s3://bucket/key", "file:///etc/motd"] {
            let (attribute, message, hint) = refusal(&of(address).set("checksum", digest()));
            assert_eq!((attribute.as_str(), message.as_str()), ("source", "the address does not begin with `https://`"));
            assert!(hint.starts_with("only `https` is fetched") && !hint.contains("example"), "{hint}");
        }
    }

    #[test]
    fn a_checksum_is_a_digest_of_a_source() {
        for wrong in ["", "ab", "sha512:00", &digest().to_uppercase(), &digest()[7..]] {
            let (attribute, message, _) = refusal(&of("files/motd").set("checksum", wrong));
            assert_eq!((attribute.as_str(), message.as_str()), ("checksum", "the checksum is no SHA-256 digest"));
        }
        assert_eq!(refusal(&Written::new().set("checksum", digest())).0, "checksum");
        assert_eq!(refusal(&Written::new().set("content", "x").set("checksum", digest())).0, "checksum");
    }

    #[test]
    fn the_text_of_the_content_is_not_read() {
        let given = Written::new().sensitive("content", "s");
        assert_eq!(origin(&given.parameters()).unwrap(), Some(text()));
        assert_eq!(given.values_read(), [""; 0]);
    }
}
