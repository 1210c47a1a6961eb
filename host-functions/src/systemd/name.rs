//! Names of units, as systemd has them (systemd.unit(5)).

use std::fmt;

/// The longest name that systemd takes, in bytes.
pub const MAX_UNIT_NAME: usize = 255;

/// Every kind of unit.
const SUFFIXES: [&str; 11] =
    [".service", ".socket", ".device", ".mount", ".automount", ".swap", ".target", ".path", ".timer", ".slice", ".scope"];

/// The name of one unit, with its suffix: `nginx.service`, `getty@tty1.service`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitName(String);

/// Why a text cannot be the name of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnitNameError {
    /// Empty or too long.
    #[error("the name of a unit has 1 to {MAX_UNIT_NAME} bytes")]
    Length,
    /// A character that no name has.
    #[error("the name of a unit has letters, digits and `:-_.\\@` alone")]
    Character,
    /// No suffix, or one that no unit has.
    #[error("the name of a unit ends in its kind, as in `nginx.service`")]
    Suffix,
    /// Nothing before the suffix or the `@`, or more than one `@` at its place.
    #[error("the name of a unit has a part before its kind, and at most one instance after `@`")]
    Stem,
    /// A template, which is no unit before it has an instance.
    #[error("a template is no unit: name an instance of it, as in `getty@tty1.service`")]
    Template,
}

impl UnitName {
    /// Reads a name. It is taken as it is: nothing is added, escaped or folded.
    ///
    /// # Errors
    /// If systemd could not have such a unit.
    pub fn parse(name: &str) -> Result<Self, UnitNameError> {
        if name.is_empty() || name.len() > MAX_UNIT_NAME {
            return Err(UnitNameError::Length);
        }
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":-_.\\@".contains(&byte)) {
            return Err(UnitNameError::Character);
        }
        let stem = SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).ok_or(UnitNameError::Suffix)?;
        match stem.split_once('@') {
            None if stem.is_empty() => Err(UnitNameError::Stem),
            None => Ok(Self(name.to_owned())),
            Some(("", _)) => Err(UnitNameError::Stem),
            Some((_, "")) => Err(UnitNameError::Template),
            Some((_, instance)) if instance.contains('@') => Err(UnitNameError::Stem),
            Some(_) => Ok(Self(name.to_owned())),
        }
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is a service, which has a main process.
    pub(super) fn is_service(&self) -> bool {
        self.0.ends_with(".service")
    }
}

impl fmt::Display for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_systemd_has_are_taken_as_they_are() {
        for name in ["nginx.service", "getty@tty1.service", "dev-disk-by\\x2dlabel.swap", "a.b:c_d.timer", "-.slice", "-.mount"] {
            assert_eq!(UnitName::parse(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn other_names_are_refused_with_the_reason() {
        for (name, error) in [
            ("", UnitNameError::Length),
            (&format!("{}.service", "x".repeat(MAX_UNIT_NAME)), UnitNameError::Length),
            ("nginx", UnitNameError::Suffix),
            ("nginx.services", UnitNameError::Suffix),
            ("nginx.conf", UnitNameError::Suffix),
            (".service", UnitNameError::Stem),
            ("@a.service", UnitNameError::Stem),
            ("a@b@c.service", UnitNameError::Stem),
            ("getty@.service", UnitNameError::Template),
            ("../nginx.service", UnitNameError::Character),
            ("a/b.service", UnitNameError::Character),
            ("--now.service\n", UnitNameError::Character),
            ("a b.service", UnitNameError::Character),
            ("*.service", UnitNameError::Character),
            ("é.service", UnitNameError::Character),
        ] {
            assert_eq!(UnitName::parse(name), Err(error), "{name}");
        }
    }
}
