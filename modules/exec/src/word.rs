//! A text for a program, plain or sensitive on its own: one argument may be a secret while the others are shown.

use std::fmt;

use runtime_sdk::processes::Text;
use runtime_sdk::{AttributeType, Diagnostic, Sensitive, Type, Value};
use serde::{Deserialize, Serialize};

/// One argument, one variable, or the input of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Word(pub Sensitive<String>);

impl AttributeType for Word {
    fn attribute_type() -> Type {
        Type::String
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        Sensitive::from_value(attribute, value).map(Self)
    }
}

impl Word {
    /// The text, if anybody may see it.
    pub fn plain(&self) -> Option<&str> {
        match &self.0 {
            Sensitive::Plain(text) => Some(text),
            Sensitive::Slot(_) => None,
        }
    }

    /// As it goes to a program.
    pub fn text(&self) -> Text {
        Text::from(&self.0)
    }
}

/// For people: nothing of a sensitive one.
impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-=:,@%+".contains(&byte));
        match self.plain() {
            None => f.write_str("(sensitive)"),
            Some(text) if !text.is_empty() && plain(text) => f.write_str(text),
            Some(text) => write!(f, "'{}'", text.replace('\'', r"'\''")),
        }
    }
}

/// A command line for people, as a shell would take it.
pub fn line(words: &[Word]) -> String {
    words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_word_may_be_sensitive_among_others() {
        let words: Vec<Word> = Vec::from_value("command", json!(["a b", {"$secret": "s"}, "it's", ""])).unwrap();
        assert_eq!(line(&words), r"'a b' (sensitive) 'it'\''s' ''");
        assert!(!Vec::<Word>::is_sensitive(), "or none could be shown");
        assert!(Vec::<Word>::from_value("command", json!({"$secret": "s"})).is_err());
    }
}
