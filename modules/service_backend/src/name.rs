//! Names of services: one grammar for init systems with kinds of units and for those without.

use std::fmt;

use runtime_sdk::attribute_type::AttributeType;
use runtime_sdk::{Diagnostic, Type, Value};
use serde::{Deserialize, Serialize};

/// The longest name, in bytes.
const MAX_BYTES: usize = 255;

/// The kind that a name without one is of.
const SERVICE: &str = ".service";

/// The kinds of units that have a file, and can be started and stopped.
pub const KINDS: [&str; 9] = [SERVICE, ".socket", ".timer", ".path", ".target", ".mount", ".automount", ".swap", ".slice"];

/// Kinds of units that others make.
const FOREIGN_KINDS: [&str; 2] = [".device", ".scope"];

/// The name of a service, with its kind: `nginx.service` for `nginx`. There is one for each service, so that two declarations of it meet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServiceName(String);

impl ServiceName {
    /// Reads a name, with its kind or without.
    pub fn parse(attribute: &str, text: &str) -> Result<Self, Diagnostic> {
        let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let sound = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":-_.\\@+".contains(&byte));
        if !first || !sound {
            let message = format!(
                "`{attribute}` has letters, digits and `:`, `-`, `_`, `.`, `\\`, `@`, `+`, and begins with a letter, a digit or `_`"
            );
            return Err(Diagnostic::at(attribute, message));
        }
        if FOREIGN_KINDS.iter().any(|kind| text.ends_with(kind)) {
            return Err(Diagnostic::at(attribute, format!("`{attribute}` is of a kind that cannot be started and stopped")));
        }
        let name = if KINDS.iter().any(|kind| text.ends_with(kind)) { text.to_owned() } else { format!("{text}{SERVICE}") };
        let stem = KINDS.iter().find_map(|kind| name.strip_suffix(kind)).unwrap_or_default();
        if stem.is_empty() || name.len() > MAX_BYTES {
            return Err(Diagnostic::at(
                attribute,
                format!("`{attribute}` has a part before its kind, and at most {MAX_BYTES} bytes"),
            ));
        }
        if stem.ends_with('@') || stem.starts_with('@') {
            return Err(Diagnostic::at(attribute, format!("`{attribute}` names a template, which does not run itself"))
                .hint("name an instance of it, as in `getty@tty1`"));
        }
        Ok(Self(name))
    }

    /// With its kind.
    pub fn unit(&self) -> &str {
        &self.0
    }

    /// Without its kind, for init systems that have none; none if it is no service.
    pub fn script(&self) -> Option<&str> {
        self.0.strip_suffix(SERVICE)
    }
}

impl fmt::Display for ServiceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AttributeType for ServiceName {
    fn attribute_type() -> Type {
        Type::String
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        Self::parse(attribute, &String::from_value(attribute, value)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_has_one_name_however_it_is_written() {
        let unit = |text: &str| ServiceName::parse("name", text).unwrap().unit().to_owned();
        assert_eq!(unit("nginx"), "nginx.service");
        assert_eq!(unit("nginx.service"), "nginx.service");
        assert_eq!(unit("php8.2-fpm"), "php8.2-fpm.service");
        assert_eq!(unit("getty@tty1"), "getty@tty1.service");
        assert_eq!(unit("ssh.socket"), "ssh.socket");
        assert_eq!(ServiceName::parse("name", "nginx").unwrap().script(), Some("nginx"));
        assert_eq!(ServiceName::parse("name", "ssh.socket").unwrap().script(), None);
    }

    #[test]
    fn what_is_no_name_of_a_service_is_refused() {
        let long = "a".repeat(248);
        for text in
            ["", "-.mount", ".service", "a b", "a/b", "getty@", "getty@.service", "@a", "sda.device", "x.scope", "ä", &long]
        {
            assert!(ServiceName::parse("name", text).is_err(), "{text:?}");
        }
    }
}
