//! Names and ids of users and groups, as declarations give them: with the grammar of the host's `accounts` interface, so that what compiles
//! can be made.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attribute_type::refusal;
use crate::{AttributeType, Diagnostic, Type};

/// The longest name, in bytes.
const MAX_NAME: usize = 32;

/// The largest id: the system takes the one above it for "leave it as it is".
const MAX_ID: u32 = u32::MAX - 1;

/// The name of a user or group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccountName(pub String);

impl AccountName {
    /// Whether an account can be made with this name.
    pub fn is_valid(&self) -> bool {
        let stem = self.0.strip_suffix('$').unwrap_or(&self.0);
        let begins = stem.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        begins && stem.bytes().all(is_part) && self.0.len() <= MAX_NAME
    }

    /// The message for a name that is not valid.
    pub fn refusal(attribute: &str) -> Diagnostic {
        Diagnostic::at(attribute, format!("`{attribute}` has a name that no user or group can be made with"))
            .hint("a name begins with a letter or `_`, has letters, digits, `_`, `.` and `-`, and at most 32 characters")
    }
}

impl AttributeType for AccountName {
    fn attribute_type() -> Type {
        Type::String
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        let name = Self(String::from_value(attribute, value)?);
        if name.is_valid() { Ok(name) } else { Err(Self::refusal(attribute)) }
    }
}

/// A numeric id of a user or group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccountId(pub u32);

impl AccountId {
    /// Whether an account can be made with this id: not that of the superuser, and not the one that means none.
    pub fn is_valid(self) -> bool {
        (1..=MAX_ID).contains(&self.0)
    }

    /// The message for an id that is not valid.
    pub fn refusal(attribute: &str) -> Diagnostic {
        Diagnostic::at(attribute, format!("`{attribute}` is no id that an account can be given"))
            .hint("an id is from 1 to 4294967294")
    }
}

impl AttributeType for AccountId {
    fn attribute_type() -> Type {
        Type::Integer
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        let number = value.as_i64().ok_or_else(|| refusal::<Self>(attribute, &value))?;
        match u32::try_from(number).map(Self) {
            Ok(id) if id.is_valid() => Ok(id),
            _ => Err(Self::refusal(attribute)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_those_that_account_tools_take() {
        for good in ["root", "_apt", "systemd-network", "web.2", "HOST$"] {
            assert!(AccountName::from_value("name", json!(good)).is_ok(), "{good}");
        }
        for bad in ["", "-r", "a:b", "a\nb", "a b", "0", "1a", "a,b", "a$b", "$", ".a", "ä", &"a".repeat(33)] {
            let error = AccountName::from_value("name", json!(bad)).unwrap_err();
            assert_eq!(error.attribute.as_deref(), Some("name"), "{bad}");
        }
    }

    #[test]
    fn the_superusers_id_is_given_to_nobody() {
        assert_eq!(AccountId::from_value("uid", json!(1)), Ok(AccountId(1)));
        assert_eq!(AccountId::from_value("uid", json!(4_294_967_294_u32)), Ok(AccountId(4_294_967_294)));
        for bad in [json!(0), json!(-1), json!(4_294_967_295_u32), json!("7"), json!(1.5)] {
            assert!(AccountId::from_value("uid", bad.clone()).is_err(), "{bad}");
        }
    }
}
