//! The primary group: by name or by id.

use runtime_sdk::{AccountName, AttributeType, Diagnostic, Type, Value};
use serde::{Deserialize, Serialize};

/// A group by name or by numeric id. Text of digits is an id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PrimaryGroup {
    /// By id.
    Id(u32),
    /// By name.
    Name(AccountName),
}

/// As it is written in a manifest.
#[derive(AttributeType)]
#[attribute(untagged)]
enum Written {
    /// A name, or a number as text.
    Text(String),
    /// A number.
    Number(i64),
}

impl AttributeType for PrimaryGroup {
    fn attribute_type() -> Type {
        Written::attribute_type()
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        let group = match Written::from_value(attribute, value)? {
            Written::Number(number) => u32::try_from(number).ok().map(Self::Id),
            Written::Text(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().ok().map(Self::Id)
            }
            Written::Text(text) => Some(Self::Name(AccountName(text))),
        };
        group.filter(Self::is_valid).ok_or_else(|| Self::refusal(attribute))
    }
}

impl PrimaryGroup {
    /// Whether a declaration can give this.
    pub fn is_valid(&self) -> bool {
        match self {
            Self::Id(id) => *id != u32::MAX,
            Self::Name(name) => name.is_valid(),
        }
    }

    /// The message for a group that is not valid.
    pub fn refusal(attribute: &str) -> Diagnostic {
        Diagnostic::at(attribute, format!("`{attribute}` is neither the name nor the numeric id of a group"))
            .hint("an id is from 0 to 4294967294; a name begins with a letter or `_`")
    }

    /// As the host takes it, and as an effect names it.
    pub fn text(&self) -> String {
        match self {
            Self::Id(id) => id.to_string(),
            Self::Name(name) => name.0.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_group_is_a_name_or_an_id() {
        let parse = |value| PrimaryGroup::from_value("group", value).ok();
        assert_eq!(parse(json!("web")), Some(PrimaryGroup::Name(AccountName("web".into()))));
        assert_eq!(parse(json!("007")), Some(PrimaryGroup::Id(7)));
        assert_eq!(parse(json!(0)), Some(PrimaryGroup::Id(0)));
        for bad in [json!(-1), json!(4_294_967_295_u32), json!("a:b"), json!(""), json!("4294967295"), json!("1a")] {
            assert_eq!(parse(bad.clone()), None, "{bad}");
        }
    }
}
