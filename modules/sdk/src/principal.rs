//! Owners and groups: by name, which the node looks up, or by numeric id.

use crate::node::{HostCall as _, NodeResult, unchanged};
use crate::{AttributeType, Diagnostic, HostError, Type, Value, accounts};
use serde::{Deserialize, Serialize};

/// No system allows a longer name, and none needs it.
const MAX_NAME_BYTES: usize = 256;

/// A user or a group. A name of digits alone is an id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Principal {
    /// A numeric id.
    Id(u32),
    /// A name.
    Name(String),
}

/// As it is written in a manifest.
#[derive(runtime_sdk_derive::AttributeType)]
#[attribute(untagged)]
enum Written {
    /// A name, or a number as text.
    Text(String),
    /// A number.
    Number(i64),
}

impl AttributeType for Principal {
    fn attribute_type() -> Type {
        Written::attribute_type()
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        Self::from_written(attribute, Written::from_value(attribute, value)?)
    }
}

impl Principal {
    /// The principal that the attribute `attribute` names.
    fn from_written(attribute: &str, written: Written) -> Result<Self, Diagnostic> {
        let principal = match written {
            Written::Number(number) => id(number.to_string().as_str()),
            Written::Text(text) if is_number(&text) => id(&text),
            Written::Text(text) => Some(Self::Name(text)),
        };
        match principal {
            Some(principal) if principal.is_valid() => Ok(principal),
            _ => Err(Self::refusal(attribute)),
        }
    }

    /// Whether a declaration can give this.
    pub fn is_valid(&self) -> bool {
        match self {
            // The system calls take the largest id for "leave it as it is".
            Self::Id(id) => *id != u32::MAX,
            Self::Name(name) => is_name(name) && !is_number(name),
        }
    }

    /// The numeric id of the user that `attribute` names, on this node; there must be one.
    pub fn find_user(&self, attribute: &str) -> NodeResult<u32> {
        self.look_up_user(attribute)?.ok_or_else(|| unchanged(Self::unknown(attribute, "user")))
    }

    /// The numeric id of the group that `attribute` names, on this node; there must be one.
    pub fn find_group(&self, attribute: &str) -> NodeResult<u32> {
        self.look_up_group(attribute)?.ok_or_else(|| unchanged(Self::unknown(attribute, "group")))
    }

    /// The same; none if there is no such user yet: in a plan, another resource may be about to make it.
    pub fn look_up_user(&self, attribute: &str) -> NodeResult<Option<u32>> {
        self.look_up(attribute, accounts::find_user)
    }

    /// The same; none if there is no such group yet.
    pub fn look_up_group(&self, attribute: &str) -> NodeResult<Option<u32>> {
        self.look_up(attribute, accounts::find_group)
    }

    fn look_up(&self, attribute: &str, find: impl Fn(&str) -> Result<Option<u32>, HostError>) -> NodeResult<Option<u32>> {
        match self {
            Self::Id(id) => Ok(Some(*id)),
            Self::Name(name) => find(name).before_change(&format!("look up `{attribute}`")),
        }
    }

    /// The message for a name that nobody has; `what` is `user` or `group`.
    pub fn unknown(attribute: &str, what: &str) -> Diagnostic {
        Diagnostic::at(attribute, format!("this node has no {what} of the name in `{attribute}`"))
            .hint(format!("create the {what} before this resource, or give a numeric id"))
    }

    /// The message for a principal that is not valid.
    pub fn refusal(attribute: &str) -> Diagnostic {
        Diagnostic::at(attribute, format!("`{attribute}` is neither a name nor a numeric id"))
            .hint("an id is from 0 to 4294967294; a name has no `:`, `/`, `,` or control characters, nor spaces at its ends")
    }
}

fn id(digits: &str) -> Option<Principal> {
    digits.parse().ok().map(Principal::Id)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_name(name: &str) -> bool {
    let is_bad = |c: char| c.is_control() || matches!(c, ':' | '/' | ',');
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.trim() == name && !name.starts_with('-') && !name.contains(is_bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LifecycleError;

    fn parse(json: &str) -> Option<Principal> {
        Principal::from_value("owner", serde_json::from_str(json).unwrap()).ok()
    }

    #[test]
    fn names_and_ids_are_told_apart_by_their_digits() {
        assert_eq!(parse(r#""root""#), Some(Principal::Name("root".into())));
        assert_eq!(parse(r#""0""#), Some(Principal::Id(0)));
        assert_eq!(parse("1000"), Some(Principal::Id(1000)));
        assert_eq!(parse(r#""1000""#), parse("1000"));
        assert_eq!(parse(r#""00""#), parse("0"));
        assert_eq!(parse(r#""EXAMPLE\\domain users""#), Some(Principal::Name(r"EXAMPLE\domain users".into())));
    }

    #[test]
    fn what_no_account_can_be_is_refused() {
        for wrong in ["-1", "4294967295", "4294967296", r#""4294967295""#, r#""""#, r#""a:b""#, r#"" a""#, r#""-a""#, r#""a\n""#]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_eq!(parse(&format!("\"{}\"", "a".repeat(257))), None);
        assert!(!Principal::Name("7".into()).is_valid(), "a name of digits has another canonical form");
    }

    #[test]
    fn accounts_are_looked_up_by_name_only() {
        let find = |name: &str| if name == "root" { Ok(Some(0)) } else { Ok(None) };
        assert_eq!(Principal::Id(7).look_up("owner", find).unwrap(), Some(7));
        assert_eq!(Principal::Name("root".into()).look_up("owner", find).unwrap(), Some(0));
        assert_eq!(Principal::Name("nobody".into()).look_up("group", find).unwrap(), None);
        let unknown = Principal::unknown("group", "group");
        assert_eq!(unknown.attribute.as_deref(), Some("group"));
        assert_eq!(unknown.message, "this node has no group of the name in `group`");
    }

    #[test]
    fn a_denied_lookup_is_not_an_unknown_account() {
        let find = |_: &str| Err(HostError::Denied("no rule".into()));
        let error = Principal::Name("root".into()).look_up("owner", find).unwrap_err();
        assert!(matches!(error, LifecycleError::Denied(_)));
    }
}
