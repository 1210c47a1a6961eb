//! Rust types that attribute values are read as: what descriptors say of them, and how a value becomes one.
//!
//! Nothing is coerced: a text of digits is no number. A refusal names the attribute and never quotes the value.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::values::{Sensitive, secret_slot};
use crate::{Diagnostic, ResourceId, Type};

/// A type of attribute values.
///
/// It is there for text, numbers, `bool`, [`Value`] (anything), [`ResourceId`] (another resource), [`Sensitive`], and lists and maps of
/// these. Derive it for an enum of words:
///
/// ```
/// # use runtime_sdk::AttributeType;
/// /// In the manifest `tcp` and `udp-lite`. `Serialize` and `Deserialize` come along, with the same words.
/// #[derive(AttributeType)]
/// enum Protocol {
///     Tcp,
///     #[attribute(word = "udp-lite")]
///     UdpLite,
/// }
/// ```
///
/// and for an untagged union, of which the first variant that takes the value is chosen:
///
/// ```
/// # use runtime_sdk::AttributeType;
/// #[derive(AttributeType)]
/// #[attribute(untagged)]
/// enum Account {
///     Name(String),
///     Id(u32),
/// }
/// ```
///
/// Implement it by hand for a type with a grammar of its own, as text that must be a path: then compiling and exporting
/// refuse the same values, in the same words.
pub trait AttributeType: Sized {
    /// What a descriptor says.
    fn attribute_type() -> Type;

    /// Whether an attribute of this type is flagged sensitive.
    fn is_sensitive() -> bool {
        false
    }

    /// The value that was given for `attribute`, which is not null.
    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic>;
}

/// Why `value` is no `T`: it is hidden, or of another type.
pub fn refusal<T: AttributeType>(attribute: &str, value: &Value) -> Diagnostic {
    if secret_slot(value).is_some() && !T::is_sensitive() { may_not_be_sensitive(attribute) } else { another_type(attribute) }
}

pub(crate) fn may_not_be_sensitive(attribute: &str) -> Diagnostic {
    Diagnostic::at(attribute, format!("`{attribute}` may not be sensitive"))
        .hint("only the attributes that say so can take a sensitive value")
}

pub(crate) fn another_type(attribute: &str) -> Diagnostic {
    Diagnostic::at(attribute, format!("`{attribute}` has a value of another type"))
}

impl AttributeType for String {
    fn attribute_type() -> Type {
        Type::String
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(refusal::<Self>(attribute, &other)),
        }
    }
}

impl AttributeType for bool {
    fn attribute_type() -> Type {
        Type::Boolean
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        value.as_bool().ok_or_else(|| refusal::<Self>(attribute, &value))
    }
}

impl AttributeType for f64 {
    fn attribute_type() -> Type {
        Type::Number
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        value.as_f64().ok_or_else(|| refusal::<Self>(attribute, &value))
    }
}

macro_rules! whole_numbers {
    ($($number:ty),*) => {$(
        impl AttributeType for $number {
            fn attribute_type() -> Type {
                Type::Integer
            }

            fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
                let number = value.as_i64().ok_or_else(|| refusal::<Self>(attribute, &value))?;
                number.try_into().map_err(|_| out_of_range(attribute, &Self::MIN.to_string(), &Self::MAX.to_string()))
            }
        }
    )*};
}

whole_numbers!(i8, i16, i32, i64, u8, u16, u32, u64);

fn out_of_range(attribute: &str, least: &str, most: &str) -> Diagnostic {
    Diagnostic::at(attribute, format!("`{attribute}` is out of range")).hint(format!("use a whole number from {least} to {most}"))
}

impl AttributeType for Value {
    fn attribute_type() -> Type {
        Type::Any
    }

    fn from_value(_attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        Ok(value)
    }
}

impl AttributeType for ResourceId {
    fn attribute_type() -> Type {
        Type::Resource
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        value.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| refusal::<Self>(attribute, &value))
    }
}

impl<T: AttributeType> AttributeType for Vec<T> {
    fn attribute_type() -> Type {
        Type::List(Box::new(T::attribute_type()))
    }

    fn is_sensitive() -> bool {
        T::is_sensitive()
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        match value {
            Value::Array(items) => items.into_iter().map(|item| T::from_value(attribute, item)).collect(),
            other => Err(refusal::<String>(attribute, &other)),
        }
    }
}

impl<T: AttributeType> AttributeType for BTreeMap<String, T> {
    fn attribute_type() -> Type {
        Type::Map(Box::new(T::attribute_type()))
    }

    fn is_sensitive() -> bool {
        T::is_sensitive()
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        match value {
            Value::Object(fields) if secret_slot_of(&fields).is_none() => {
                fields.into_iter().map(|(name, item)| Ok((name, T::from_value(attribute, item)?))).collect()
            }
            other => Err(refusal::<String>(attribute, &other)),
        }
    }
}

fn secret_slot_of(fields: &serde_json::Map<String, Value>) -> Option<&Value> {
    fields.get("$secret").filter(|slot| fields.len() == 1 && slot.is_string())
}

impl<T: AttributeType> AttributeType for Sensitive<T> {
    fn attribute_type() -> Type {
        T::attribute_type()
    }

    fn is_sensitive() -> bool {
        true
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        match secret_slot(&value) {
            Some(slot) => Ok(Self::Slot(slot.to_owned())),
            None => T::from_value(attribute, value).map(Self::Plain),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, Clone, Copy, PartialEq, runtime_sdk_derive::AttributeType)]
    enum Protocol {
        Tcp,
        #[attribute(word = "udp-lite")]
        UdpLite,
    }

    #[derive(Debug, PartialEq, runtime_sdk_derive::AttributeType)]
    #[attribute(untagged)]
    enum Account {
        Name(String),
        Id(u32),
    }

    fn read<T: AttributeType>(value: Value) -> Result<T, String> {
        T::from_value("a", value).map_err(|diagnostic| diagnostic.message)
    }

    fn type_of<T: AttributeType>() -> String {
        T::attribute_type().json().to_string()
    }

    #[test]
    fn rust_types_have_types_of_the_contract() {
        assert_eq!(type_of::<String>(), r#""string""#);
        assert_eq!(type_of::<u16>(), r#""integer""#);
        assert_eq!(type_of::<f64>(), r#""number""#);
        assert_eq!(type_of::<bool>(), r#""boolean""#);
        assert_eq!(type_of::<Value>(), r#""any""#);
        assert_eq!(type_of::<ResourceId>(), r#""resource""#);
        assert_eq!(type_of::<Vec<BTreeMap<String, Sensitive<String>>>>(), r#"{"list":{"map":"string"}}"#);
        assert_eq!(type_of::<Protocol>(), r#"{"enum":["tcp","udp-lite"]}"#);
        assert_eq!(type_of::<Account>(), r#"{"union":["string","integer"]}"#);
        assert!(<Vec<BTreeMap<String, Sensitive<String>>>>::is_sensitive() && !Account::is_sensitive());
    }

    #[test]
    fn values_are_never_coerced() {
        assert_eq!(read::<u8>(json!(255)), Ok(255));
        assert_eq!(read::<Protocol>(json!("udp-lite")), Ok(Protocol::UdpLite));
        assert_eq!(read::<Account>(json!("root")), Ok(Account::Name("root".into())));
        assert_eq!(read::<Account>(json!(0)), Ok(Account::Id(0)));
        assert_eq!(read::<f64>(json!(3)), Ok(3.0));
        assert_eq!(read::<Vec<bool>>(json!([true])), Ok(vec![true]));
        let refused = Err("`a` has a value of another type".to_owned());
        assert_eq!(read::<u8>(json!("1")).map(|_| ()), refused);
        assert_eq!(read::<u8>(json!(1.5)).map(|_| ()), refused);
        assert_eq!(read::<String>(json!(1)).map(|_| ()), refused);
        assert_eq!(read::<bool>(json!("true")).map(|_| ()), refused);
        assert_eq!(read::<Vec<String>>(json!("x")).map(|_| ()), refused);
        assert_eq!(read::<Protocol>(json!("UdpLite")).map(|_| ()), refused);
        assert_eq!(read::<Account>(json!(-1)).map(|_| ()), refused);
        assert_eq!(read::<ResourceId>(json!("motd")).map(|_| ()), refused);
        assert_eq!(read::<u8>(json!(256)), Err("`a` is out of range".to_owned()));
    }

    #[test]
    fn a_sensitive_value_goes_only_where_it_may() {
        let slot = || json!({"$secret": "s"});
        assert_eq!(read::<Sensitive<String>>(slot()), Ok(Sensitive::Slot("s".into())));
        assert_eq!(read::<Vec<Sensitive<String>>>(json!([slot(), "x"])).map(|list| list.len()), Ok(2));
        assert_eq!(read::<Value>(slot()), Ok(slot()));
        let refused = Err("`a` may not be sensitive".to_owned());
        assert_eq!(read::<String>(slot()).map(|_| ()), refused);
        assert_eq!(read::<Vec<String>>(json!([slot()])).map(|_| ()), refused);
        assert_eq!(read::<BTreeMap<String, String>>(slot()).map(|_| ()), refused);
        assert_eq!(read::<Account>(slot()).map(|_| ()), refused);
        assert_eq!(read::<Protocol>(slot()).map(|_| ()), refused);
    }

    #[test]
    fn words_are_the_same_in_the_desired_state() {
        assert_eq!(serde_json::to_string(&Protocol::UdpLite).unwrap(), r#""udp-lite""#);
        assert_eq!(serde_json::from_str::<Protocol>(r#""tcp""#).unwrap(), Protocol::Tcp);
        let error = serde_json::from_str::<Protocol>(r#""hunter2""#).unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
}
