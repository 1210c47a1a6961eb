//! The catalog's text: one form for each catalog, and nothing in it that this version does not know.
//!
//! What the catalog means on a node, and whether its resources' modules agree with it, is found out at receipt.

use serde::Deserialize;

use crate::model::canonical::MAX_EXACT_INTEGER;
use crate::model::catalog::{CATALOG_VERSION, Catalog, LANGUAGE_VERSION};
use crate::model::key::escape;

use super::canonical::{self, Difference};
use super::error::shown;
use super::invariants;
use super::limits::{MAX_CATALOG, MAX_JSON_DEPTH};

/// Why a catalog is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// Larger than it may be.
    #[error("it has {size} bytes, more than the {cap} that it may have")]
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// [`MAX_CATALOG`].
        cap: u64,
    },
    /// Nested too deep.
    #[error("it is nested deeper than {cap} at byte {offset}")]
    TooDeep {
        /// Where.
        offset: usize,
        /// [`MAX_JSON_DEPTH`].
        cap: usize,
    },
    /// An integer that canonical JSON cannot hold.
    #[error("the integer at byte {offset} is beyond 2^53")]
    Integer {
        /// Where.
        offset: usize,
    },
    /// Not the JSON that a catalog is.
    #[error("{reason}")]
    Syntax {
        /// What the parser says, escaped.
        reason: String,
    },
    /// Another version of the format.
    #[error("it has the {what} version {found}, where this program reads {known} alone")]
    Version {
        /// `catalog` or `language`.
        what: &'static str,
        /// The version it has.
        found: u64,
        /// The version that is read.
        known: u32,
    },
    /// The same content in another form than the canonical one.
    #[error("it is not canonical JSON: it differs from that at byte {offset}")]
    NotCanonical {
        /// Where.
        offset: usize,
    },
    /// Something in it contradicts something else.
    #[error("{at}: {rule}")]
    Rule {
        /// Where, as in "resource `file.motd`"; escaped.
        at: String,
        /// What does not hold; escaped.
        rule: String,
    },
}

impl CatalogError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Version { .. } => {
                Some("compile the manifest again with the version of `runtime` that this node has".to_owned())
            }
            _ => None,
        }
    }

    pub(super) fn rule(at: impl AsRef<str>, rule: impl AsRef<str>) -> Self {
        Self::Rule { at: escape(at.as_ref()), rule: escape(rule.as_ref()) }
    }
}

/// The version members alone, whatever else there is.
#[derive(Deserialize)]
struct Versions {
    catalog_version: u64,
    language_version: u64,
}

/// The catalog that `bytes` are.
///
/// # Errors
/// See [`CatalogError`]. Versions are looked at before anything that another version might have changed.
pub fn parse(bytes: &[u8]) -> Result<Catalog, CatalogError> {
    if bytes.len() as u64 > MAX_CATALOG {
        return Err(CatalogError::TooLarge { size: bytes.len() as u64, cap: MAX_CATALOG });
    }
    check_text(bytes)?;
    let versions: Versions = serde_json::from_slice(bytes).map_err(syntax)?;
    check_version("catalog", versions.catalog_version, CATALOG_VERSION)?;
    check_version("language", versions.language_version, LANGUAGE_VERSION)?;
    let catalog: Catalog = serde_json::from_slice(bytes).map_err(syntax)?;
    canonical::check(bytes, &catalog).map_err(|difference| match difference {
        Difference::At(offset) => CatalogError::NotCanonical { offset },
        Difference::Json(error) => syntax(error),
    })?;
    invariants::check(&catalog)?;
    Ok(catalog)
}

/// The bytes of `catalog`: canonical JSON that [`parse`] takes and gives the same catalog for.
///
/// # Errors
/// If there are no such bytes: it breaks an invariant, is too large, or holds a number that canonical JSON cannot.
pub fn encode(catalog: &Catalog) -> Result<Vec<u8>, CatalogError> {
    let bytes = serde_jcs::to_vec(catalog).map_err(syntax)?;
    if parse(&bytes)? != *catalog {
        return Err(CatalogError::rule("a number", "it would not survive as JSON; integers may go to 2^53"));
    }
    Ok(bytes)
}

fn check_version(what: &'static str, found: u64, known: u32) -> Result<(), CatalogError> {
    if found == u64::from(known) { Ok(()) } else { Err(CatalogError::Version { what, found, known }) }
}

fn syntax(error: serde_json::Error) -> CatalogError {
    CatalogError::Syntax { reason: shown(error.to_string().as_bytes()) }
}

/// Looks through the text once, without recursion: how deep it nests, and how large its integers are. The text need not be
/// JSON; where it is not, the parser says so later.
fn check_text(bytes: &[u8]) -> Result<(), CatalogError> {
    let (mut depth, mut offset) = (0_usize, 0);
    while offset < bytes.len() {
        match bytes[offset] {
            b'"' => offset = skip_string(bytes, offset),
            b'[' | b'{' if depth == MAX_JSON_DEPTH => return Err(CatalogError::TooDeep { offset, cap: MAX_JSON_DEPTH }),
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'0'..=b'9' => {
                let number = number(&bytes[offset..]);
                check_integer(number, offset)?;
                offset += number.len() - 1;
            }
            _ => {}
        }
        offset += 1;
    }
    Ok(())
}

/// The offset of the quote that ends the string which starts at `start`, or of the last byte.
fn skip_string(bytes: &[u8], start: usize) -> usize {
    let mut offset = start + 1;
    while offset < bytes.len() && bytes[offset] != b'"' {
        offset += if bytes[offset] == b'\\' { 2 } else { 1 };
    }
    offset
}

/// The digits, point and exponent at the start of `bytes`.
fn number(bytes: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    &bytes[..bytes.iter().take_while(|byte| is_part(byte)).count()]
}

fn check_integer(number: &[u8], offset: usize) -> Result<(), CatalogError> {
    if !number.iter().all(u8::is_ascii_digit) {
        return Ok(());
    }
    let value = std::str::from_utf8(number).ok().and_then(|digits| digits.parse::<u64>().ok());
    if value.is_some_and(|value| value <= MAX_EXACT_INTEGER) { Ok(()) } else { Err(CatalogError::Integer { offset }) }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{assets, catalog_of, component, resource};
    use super::*;

    fn sample() -> Catalog {
        catalog_of(&component(b""), &assets(&[b"hello"]))
    }

    fn text() -> String {
        String::from_utf8(encode(&sample()).unwrap()).unwrap()
    }

    fn refused(text: &str) -> CatalogError {
        parse(text.as_bytes()).expect_err(text)
    }

    #[test]
    fn a_catalog_round_trips() {
        let mut catalog = sample();
        catalog.resources.push(resource("issue", &[]));
        assert_eq!(parse(&encode(&catalog).unwrap()).unwrap(), catalog);
    }

    #[test]
    fn another_form_of_the_same_content_is_refused() {
        let good = text();
        let forms = [
            good.replacen(':', ": ", 1),
            format!("{good}\n"),
            format!("\u{feff}{good}"),
            good.replace(r#""serial":7"#, r#""serial":7.0"#),
            good.replace(r#""mode":420"#, r#""mode":4.2e2"#),
            good.replace(r#""mode":420"#, r#""mode":420,"mode":420"#),
            good.replace("/etc/motd", r"\u002fetc/motd"),
            good.replace(r#""control":null,"#, ""),
        ];
        for form in forms {
            assert_ne!(form, good);
            let error = refused(&form);
            assert!(matches!(error, CatalogError::NotCanonical { .. } | CatalogError::Syntax { .. }), "{form}: {error:?}");
        }
    }

    #[test]
    fn unknown_members_are_refused_and_their_names_escaped() {
        let error = refused(&text().replacen('{', r#"{"a\u001b[31m":1,"#, 1));
        assert!(matches!(error, CatalogError::Syntax { .. }), "{error:?}");
        assert!(!error.to_string().contains('\u{1b}'), "{error}");
        assert!(error.to_string().contains("unknown field"), "{error}");
    }

    #[test]
    fn another_version_is_refused_by_name_whatever_else_it_holds() {
        let error = refused(r#"{"catalog_version":2,"language_version":1,"news":[]}"#);
        assert_eq!(error, CatalogError::Version { what: "catalog", found: 2, known: 1 });
        assert!(error.hint().is_some());
        let error = refused(&text().replace(r#""language_version":1"#, r#""language_version":9"#));
        assert_eq!(error, CatalogError::Version { what: "language", found: 9, known: 1 });
    }

    #[test]
    fn depth_is_held_without_recursion() {
        let nested = |levels: usize| {
            let desired = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            text().replace(r#""mode":420"#, &format!(r#""mode":{desired}"#))
        };
        let open = ["catalog", "resources", "resource", "state", "compiled", "desired"].len();
        parse(nested(MAX_JSON_DEPTH - open).as_bytes()).unwrap();
        let error = refused(&nested(MAX_JSON_DEPTH - open + 1));
        assert!(matches!(error, CatalogError::TooDeep { .. }), "{error:?}");
        assert!(matches!(refused(&"[".repeat(1 << 20)), CatalogError::TooDeep { .. }));
    }

    #[test]
    fn brackets_and_digits_within_strings_are_text() {
        let mut catalog = sample();
        catalog.audience = vec!["[".repeat(500), "9".repeat(30), r#"\"[{"#.to_owned()];
        assert_eq!(parse(&encode(&catalog).unwrap()).unwrap(), catalog);
    }

    #[test]
    fn integers_go_to_two_to_the_53() {
        let with = |number: &str| text().replace(r#""mode":420"#, &format!(r#""mode":{number}"#));
        for good in ["9007199254740992", "-9007199254740992", "1e+21", "0.5"] {
            parse(with(good).as_bytes()).unwrap();
        }
        for bad in ["9007199254740993", "9007199254740994", "-9007199254740994", "100000000000000000000"] {
            assert!(matches!(refused(&with(bad)), CatalogError::Integer { .. }), "{bad}");
        }
        let mut catalog = sample();
        for serial in [(1 << 53) + 1, u64::MAX] {
            catalog.serial = serial;
            assert!(encode(&catalog).is_err(), "{serial} would change as it is written");
        }
    }

    #[test]
    fn text_that_is_no_catalog_is_refused() {
        for text in ["", "null", "[]", "{}", "\"", "\"\\", "1", "{\"catalog_version\":1,\"language_version\":1}"] {
            assert!(matches!(refused(text), CatalogError::Syntax { .. }), "{text}");
        }
    }
}
