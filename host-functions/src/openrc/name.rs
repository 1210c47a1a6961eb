//! Names of services and runlevels.

use std::fmt;

/// The longest name of a file.
const MAX_BYTES: usize = 255;

/// The name of a script in `/etc/init.d`, or of a runlevel: never an option, never a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServiceName(String);

/// A text that cannot be the name of a service or runlevel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has 1 to {MAX_BYTES} letters, digits and `_.+@-`, and begins with a letter, a digit or `_`")]
pub struct ServiceNameError;

impl ServiceName {
    /// Reads a name.
    ///
    /// # Errors
    /// If it cannot be one.
    pub fn parse(name: &str) -> Result<Self, ServiceNameError> {
        let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let sound = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.+@-".contains(&byte));
        if first && sound && name.len() <= MAX_BYTES { Ok(Self(name.to_owned())) } else { Err(ServiceNameError) }
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the unit that its rights are about.
    pub(crate) fn unit(&self) -> String {
        format!("{}.service", self.0)
    }
}

impl fmt::Display for ServiceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_neither_an_option_nor_a_path() {
        for name in ["nginx", "net.eth0", "php-fpm82", "agetty.tty1", "g++", "a@b"] {
            assert_eq!(ServiceName::parse(name).unwrap().as_str(), name);
        }
        for name in ["", "-S", "..", ".hidden", "a/b", "a b", "a\n", "*", &"x".repeat(256)] {
            assert_eq!(ServiceName::parse(name), Err(ServiceNameError), "{name:?}");
        }
        assert_eq!(ServiceName::parse("nginx").unwrap().unit(), "nginx.service");
    }
}
