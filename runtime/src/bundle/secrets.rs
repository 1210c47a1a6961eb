//! The layer for secrets: the sensitive values that a catalog names, with a random salt.
//!
//! Without the salt the layer's digest, which the manifest names and a node keeps on record, would let anybody try values. It has one form
//! for each salt and values, like every other part. No error in here quotes it.

use std::fmt;

use serde::Deserialize;
use serde_json::Value as Json;
use zeroize::Zeroizing;

use super::error::DocumentError;
use super::limits::MAX_SECRETS;
use super::oci::check_same;
use crate::model::secret::{SecretValue, Secrets};

/// How many random bytes the salt has.
pub const SALT_BYTES: usize = 32;

/// The layer's bytes, ready to be written. Wiped when it goes; its `Debug` shows nothing.
pub struct SecretLayer(Zeroizing<Vec<u8>>);

impl SecretLayer {
    /// The layer of `values`; none if there are none, for then a bundle has no such layer.
    pub fn new(values: &Secrets, salt: [u8; SALT_BYTES]) -> Option<Self> {
        (!values.is_empty()).then(|| Self(render(values, &hex::encode(salt))))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SecretLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretLayer(not shown)")
    }
}

/// Canonical JSON: slots are ASCII, so that their order is that of RFC 8785, and hold nothing to escape; values are canonical already.
fn render(values: &Secrets, salt: &str) -> Zeroizing<Vec<u8>> {
    let size = values.iter().map(|(slot, value)| slot.as_str().len() + value.text().len() + 4).sum::<usize>();
    let mut bytes = Zeroizing::new(Vec::with_capacity(size + salt.len() + 32));
    bytes.extend_from_slice(format!("{{\"salt\":\"{salt}\",\"values\":{{").as_bytes());
    for (number, (slot, value)) in values.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        bytes.extend_from_slice(format!("{comma}\"{slot}\":").as_bytes());
        bytes.extend_from_slice(value.text().as_bytes());
    }
    bytes.extend_from_slice(b"}}");
    bytes
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    salt: String,
    values: serde_json::Map<String, Json>,
}

/// The values of a layer, which has its digest and is within its cap.
///
/// # Errors
/// If it is no such layer; without its text, which the parser would quote.
pub(super) fn parse(bytes: &[u8]) -> Result<Secrets, DocumentError> {
    if bytes.len() as u64 > MAX_SECRETS {
        return Err(DocumentError::TooLarge { size: bytes.len() as u64, cap: MAX_SECRETS });
    }
    let wrong = |reason: &str| DocumentError::Syntax { reason: reason.to_owned() };
    let document: Document = serde_json::from_slice(bytes).map_err(|_| wrong("it is not a layer of secrets"))?;
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if document.salt.len() != 2 * SALT_BYTES || !document.salt.bytes().all(is_hex) {
        return Err(wrong("its salt is not 64 lower-case hex digits"));
    }
    if document.values.is_empty() {
        return Err(wrong("it holds no secret"));
    }
    let value = |(slot, json): (String, Json)| Ok((slot.parse()?, SecretValue::of(&json)));
    let values = document.values.into_iter().map(value).collect::<Result<Secrets, crate::model::ids::NameError>>();
    let values = values.map_err(|_| wrong("one of its names is not a secret slot"))?;
    check_same(bytes, &render(&values, &document.salt))?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values() -> Secrets {
        let value = |slot: &str, json: Json| (slot.parse().unwrap(), SecretValue::of(&json));
        Secrets::from([
            value("file.a/content", json!("hunter2\n\u{1f512}")),
            value("file.a/tags/0", json!({"z": [1, null, 2.5], "a": true})),
        ])
    }

    fn text() -> String {
        let layer = SecretLayer::new(&values(), [7; SALT_BYTES]).unwrap();
        String::from_utf8(layer.bytes().to_vec()).unwrap()
    }

    #[test]
    fn a_layer_is_canonical_and_round_trips() {
        let text = text();
        let json: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_jcs::to_string(&json).unwrap(), text);
        assert_eq!(parse(text.as_bytes()).unwrap(), values());
        assert!(SecretLayer::new(&Secrets::new(), [7; SALT_BYTES]).is_none());
        assert_ne!(SecretLayer::new(&values(), [8; SALT_BYTES]).unwrap().bytes(), text.as_bytes());
    }

    #[test]
    fn a_damaged_layer_is_refused_without_its_text() {
        let good = text();
        let forms = [
            good.replacen(':', ": ", 1),
            good.replace("0707", "07"),
            good.replace("07", "0G"),
            good.replace("file.a/content", "file a"),
            good.replace("{\"a\":true,\"z\":[1,null,2.5]}", "{\"z\":[1,null,2.5],\"a\":true}"),
            good.replace("[1,", "[9007199254740993,"),
            good.replace("\"salt\"", "\"hunter2\""),
            format!("{},\"more\":\"hunter2\"}}", good.strip_suffix('}').unwrap()),
            "\"hunter2\"".to_owned(),
            String::new(),
        ];
        for form in forms {
            assert_ne!(form, good);
            let error = parse(form.as_bytes()).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter"), "{error:?}");
        }
        let size = MAX_SECRETS + 1;
        assert_eq!(parse(&vec![b' '; size as usize]), Err(DocumentError::TooLarge { size, cap: MAX_SECRETS }));
    }

    #[test]
    fn nothing_shows_a_layer() {
        let layer = SecretLayer::new(&values(), [7; SALT_BYTES]);
        assert_eq!(format!("{layer:?}"), "Some(SecretLayer(not shown))");
    }
}
