//! The program that looks at a new file: its path, and arguments of which one names the file.

use runtime_sdk::{AttributeType, Diagnostic, Type, Value, path};
use serde::{Deserialize, Serialize};

/// What stands for the new file in an argument.
const STAGED: &str = "{}";

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Validation(Vec<String>);

impl Validation {
    /// The path of the program.
    pub fn program(&self) -> &str {
        self.0.first().map(String::as_str).unwrap_or_default()
    }

    /// Its arguments.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.iter().skip(1).map(String::as_str)
    }

    /// Refuses what cannot be run, or would not look at the file.
    pub fn check(&self, attribute: &str) -> Result<(), Diagnostic> {
        let refusal = |what: &str| {
            let hint = "list the absolute path of a program and its arguments, one of them with `{}` for the new file";
            Err(Diagnostic::at(attribute, format!("`{attribute}` {what}")).hint(hint))
        };
        if self.0.is_empty() {
            return refusal("has no program");
        }
        path::check(self.program()).map_err(|error| error.at(attribute))?;
        if self.program() == "/" || self.program().chars().any(char::is_control) || self.0.iter().any(|word| word.contains('\0'))
        {
            return refusal("is no program, or an argument has a NUL character in it");
        }
        if !self.arguments().any(|argument| argument.contains(STAGED)) {
            return refusal("has no argument with `{}`");
        }
        Ok(())
    }
}

impl AttributeType for Validation {
    fn attribute_type() -> Type {
        Vec::<String>::attribute_type()
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        let validation = Self(Vec::from_value(attribute, value)?);
        validation.check(attribute)?;
        Ok(validation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_validation_is_a_program_that_gets_the_file() {
        let read = |value: Value| Validation::from_value("validate", value);
        let validation = read(json!(["/usr/sbin/visudo", "-cf", "{}"])).unwrap();
        assert_eq!((validation.program(), validation.arguments().count()), ("/usr/sbin/visudo", 2));
        for wrong in [
            json!([]),
            json!(["visudo", "{}"]),
            json!(["/usr/sbin/visudo"]),
            json!(["/", "{}"]),
            json!(["/a\n", "{}"]),
            json!(["/a", "{}\0"]),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
