//! The package managers that the host knows, and what each of them calls a name, a version and an architecture.
//!
//! The grammars are narrower than what the managers' command lines take: what passes here can be no option, no path, no pattern, no
//! group and no second package, whatever program it is handed to. Nothing is started here.

use std::cmp::Ordering;

use super::versions;
use crate::error::CallError;
use crate::text::{cut, escape};

/// The longest name of a package, in bytes.
pub const MAX_NAME: usize = 128;

/// The longest version, in bytes.
pub const MAX_VERSION: usize = 128;

/// The longest name of an architecture, in bytes.
pub const MAX_ARCHITECTURE: usize = 32;

/// A package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Manager {
    /// dpkg with apt-get.
    Apt,
    /// rpm with dnf.
    Dnf,
    /// rpm with zypper.
    Zypper,
    /// pacman.
    Pacman,
    /// apk-tools.
    Apk,
}

impl Manager {
    /// Every manager.
    pub const ALL: [Manager; 5] = [Manager::Apt, Manager::Dnf, Manager::Zypper, Manager::Pacman, Manager::Apk];

    /// Its name, as people call it.
    pub fn name(self) -> &'static str {
        match self {
            Manager::Apt => "apt",
            Manager::Dnf => "dnf",
            Manager::Zypper => "zypper",
            Manager::Pacman => "pacman",
            Manager::Apk => "apk",
        }
    }

    /// How `left` compares with `right` in its own order.
    pub fn compare(self, left: &str, right: &str) -> Ordering {
        match self {
            Manager::Apt => versions::dpkg::compare(left, right),
            Manager::Dnf | Manager::Zypper => versions::rpm::compare(left, right),
            Manager::Pacman => versions::pacman::compare(left, right),
            Manager::Apk => versions::apk::compare(left, right),
        }
    }

    /// Holds a name against the grammar.
    ///
    /// # Errors
    /// `invalid-argument`, which says what a name may be.
    pub fn check_name(self, name: &str) -> Result<(), CallError> {
        let (first, rest, what): (fn(u8) -> bool, &[u8], _) = match self {
            Manager::Apt => {
                (lower_or_digit, b"+-.", "lower-case letters, digits, `+`, `-` and `.`, starting with a letter or digit")
            }
            Manager::Dnf | Manager::Zypper => {
                (letter_or_digit, b"+-._", "letters, digits, `+`, `-`, `.` and `_`, starting with a letter or digit")
            }
            Manager::Pacman => (
                lower_or_digit,
                b"@._+-",
                "lower-case letters, digits, `@`, `.`, `_`, `+` and `-`, starting with a letter or digit",
            ),
            Manager::Apk => (letter_or_digit, b"+-._", "letters, digits, `+`, `-`, `.` and `_`, starting with a letter or digit"),
        };
        let lower_only = matches!(self, Manager::Apt | Manager::Pacman);
        let allowed = |byte: u8| first(byte) || (!lower_only && byte.is_ascii_uppercase()) || rest.contains(&byte);
        self.check("a package's name", name, MAX_NAME, first, allowed, what)
    }

    /// Holds a version against the grammar.
    ///
    /// # Errors
    /// `invalid-argument`, which says what a version may be.
    pub fn check_version(self, version: &str) -> Result<(), CallError> {
        let (rest, what): (&[u8], _) = match self {
            Manager::Apt => (b".+-~:", "letters, digits, `.`, `+`, `-`, `~` and `:`, starting with a letter or digit"),
            Manager::Dnf | Manager::Zypper => {
                (b".+-~:^_", "letters, digits, `.`, `+`, `-`, `~`, `^`, `_` and `:`, starting with a letter or digit")
            }
            Manager::Pacman => (b".+-~:_", "letters, digits, `.`, `+`, `-`, `~`, `_` and `:`, starting with a letter or digit"),
            Manager::Apk => (b".-_~", "letters, digits, `.`, `-`, `_` and `~`, starting with a letter or digit"),
        };
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || rest.contains(&byte);
        self.check("a version", version, MAX_VERSION, |byte| byte.is_ascii_alphanumeric(), allowed, what)
    }

    /// Holds the name of an architecture against the grammar.
    ///
    /// # Errors
    /// `invalid-argument`, which says what it may be.
    pub fn check_architecture(self, architecture: &str) -> Result<(), CallError> {
        let allowed = |byte: u8| lower_or_digit(byte) || matches!(byte, b'_' | b'-');
        let what = "lower-case letters, digits, `-` and `_`, starting with a letter";
        self.check("an architecture", architecture, MAX_ARCHITECTURE, |byte| byte.is_ascii_lowercase(), allowed, what)
    }

    fn check(
        self,
        kind: &str,
        text: &str,
        longest: usize,
        first: impl Fn(u8) -> bool,
        allowed: impl Fn(u8) -> bool,
        what: &str,
    ) -> Result<(), CallError> {
        let starts = text.bytes().next().is_some_and(first);
        if starts && text.len() <= longest && text.bytes().all(allowed) {
            return Ok(());
        }
        let shown = escape(&cut(text.to_owned(), 80));
        Err(CallError::invalid(format!("`{shown}` cannot be {kind} for {}: it has 1 to {longest} {what}", self.name())))
    }
}

fn lower_or_digit(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn letter_or_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_passes_can_be_an_option_a_path_or_a_pattern() {
        let bad = [
            "",
            "-y",
            "--root=/",
            "-",
            "a b",
            "a/b",
            "/etc/x.deb",
            "a=1",
            "a*",
            "a?",
            "a[b]",
            "^a",
            "a$",
            "a,b",
            "a;b",
            "@core",
            "a\n",
            "a\0",
            "a\u{202e}",
            "a:amd64",
            "a>1",
            "a<1",
            "!a",
            "(a)",
            "+a",
            ".a",
            "é",
        ];
        for manager in Manager::ALL {
            for name in bad {
                assert!(matches!(manager.check_name(name), Err(CallError::InvalidArgument(_))), "{manager:?} {name:?}");
            }
            assert!(manager.check_name(&"a".repeat(MAX_NAME)).is_ok());
            assert!(manager.check_name(&"a".repeat(MAX_NAME + 1)).is_err());
            for version in ["", "-t", "1 2", "1/2", "1=2", "1*", "~1", ":1", "1,2", "1\n", "(none)", "/x"] {
                assert!(manager.check_version(version).is_err(), "{manager:?} {version:?}");
            }
            for architecture in ["", "-a", "amd64 x", "a/b", "all,x", "X86"] {
                assert!(manager.check_architecture(architecture).is_err(), "{manager:?} {architecture:?}");
            }
        }
    }

    #[test]
    fn real_names_and_versions_pass() {
        for name in ["nginx", "g++", "libstdc++6", "0ad", "libc6.1-dev", "python3.11"] {
            Manager::Apt.check_name(name).unwrap();
        }
        for name in ["NetworkManager", "java-1.8.0-openjdk", "perl-Text_CSV", "ImageMagick-c++"] {
            Manager::Dnf.check_name(name).unwrap();
            Manager::Zypper.check_name(name).unwrap();
        }
        assert!(Manager::Apt.check_name("NetworkManager").is_err(), "dpkg has no upper case");
        for name in ["gtk3", "lib32-glibc", "ca-certificates-utils"] {
            Manager::Pacman.check_name(name).unwrap();
        }
        for (manager, version) in [
            (Manager::Apt, "1:2.3.4~rc1+dfsg-5+deb12u1"),
            (Manager::Dnf, "1:2.3.4^git20240101-1.fc42"),
            (Manager::Zypper, "20240101-1.1"),
            (Manager::Pacman, "1:2.3.r45.gabcdef-1"),
            (Manager::Apk, "1.2.3_rc1-r0"),
        ] {
            manager.check_version(version).unwrap();
        }
        for architecture in ["amd64", "x86_64", "noarch", "all", "any", "i686", "kfreebsd-amd64"] {
            Manager::Apt.check_architecture(architecture).unwrap();
        }
    }
}
