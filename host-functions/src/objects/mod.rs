//! Objects of the node beyond files: packages, units, users, groups, and programs that are run.
//!
//! What kinds there are, what may be done with each, and how policy and modules name them. One `policy::permit` holds every call about
//! such an object against effects, asks and grant. What the calls do is elsewhere, one folder an interface.

pub mod grant;
pub mod pattern;
pub(crate) mod policy;

use crate::effects::MAKE_DIRECTORY;
pub use grant::{ObjectGrant, ObjectRow};
pub use pattern::{ArgumentsPattern, NamePattern, NamePatternError};

/// The longest name of an object, in bytes; a program's is a path.
pub const MAX_NAME: usize = 4_096;

/// A host interface that works on such objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interface {
    /// `packages`.
    Packages,
    /// `systemd`.
    Systemd,
    /// `accounts`.
    Accounts,
    /// `processes`.
    Processes,
}

impl Interface {
    /// Every one.
    pub const ALL: [Interface; 4] = [Interface::Packages, Interface::Systemd, Interface::Accounts, Interface::Processes];

    /// Its name in the WIT, in policy and in what modules ask for.
    pub const fn word(self) -> &'static str {
        match self {
            Interface::Packages => "packages",
            Interface::Systemd => "systemd",
            Interface::Accounts => "accounts",
            Interface::Processes => "processes",
        }
    }

    /// The interface that `word` names.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|interface| interface.word() == word)
    }

    /// What may be done with its objects.
    pub const fn verbs(self) -> &'static [&'static str] {
        match self {
            Interface::Packages => &["read", "install", "upgrade", "downgrade", "remove", "purge", "hold", "unhold"],
            Interface::Systemd => {
                &["read", "start", "stop", "restart", "reload", "reset-failed", "enable", "disable", "mask", "unmask"]
            }
            Interface::Accounts => &["read", "create", "modify", "delete", JOIN],
            Interface::Processes => &["query", "run"],
        }
    }

    /// Shared actions: what concerns no object of one resource, is done in the perform phase only, and by a module that asks.
    pub const fn maintenance(self) -> &'static [&'static str] {
        match self {
            Interface::Packages => &["refresh-index"],
            Interface::Systemd => &["daemon-reload"],
            Interface::Accounts | Interface::Processes => &[],
        }
    }

    /// The verb or shared action that `word` names.
    pub fn verb(self, word: &str) -> Option<&'static str> {
        self.verbs().iter().chain(self.maintenance()).copied().find(|verb| *verb == word)
    }
}

/// A kind of object, as effects and claims name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Domain {
    /// A package of the system's package manager, by name.
    Package,
    /// A unit of systemd, by its full name: `nginx.service`.
    Unit,
    /// A user, by name.
    User,
    /// A group, by name.
    Group,
    /// A program, by its absolute path; `*` is any.
    Process,
}

impl Domain {
    /// Every one.
    pub const ALL: [Domain; 5] = [Domain::Package, Domain::Unit, Domain::User, Domain::Group, Domain::Process];

    /// Its word in effects and claims.
    pub const fn word(self) -> &'static str {
        match self {
            Domain::Package => "package",
            Domain::Unit => "unit",
            Domain::User => "user",
            Domain::Group => "group",
            Domain::Process => "process",
        }
    }

    /// The domain that `word` names.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|domain| domain.word() == word)
    }

    /// The interface that works on it.
    pub const fn interface(self) -> Interface {
        match self {
            Domain::Package => Interface::Packages,
            Domain::Unit => Interface::Systemd,
            Domain::User | Domain::Group => Interface::Accounts,
            Domain::Process => Interface::Processes,
        }
    }

    /// What may be done with it.
    pub const fn verbs(self) -> &'static [&'static str] {
        self.interface().verbs()
    }

    /// Whether to change it is to hold it. A program is nobody's: two resources may run the same one.
    pub const fn is_claimed(self) -> bool {
        !matches!(self, Domain::Process)
    }

    /// Whether `key` can be the name of such an object in an effect: text without control characters or blanks, of at most [`MAX_NAME`]
    /// bytes; for a program an absolute path, or `*`. What a real name is, each interface says itself.
    pub fn is_name(self, key: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(key) else { return false };
        let sound = |c: char| !c.is_control() && (!c.is_whitespace() || self == Domain::Process);
        let shaped = match self {
            Domain::Process => text == ANY || text.starts_with('/'),
            _ => !text.starts_with('-') && !text.contains(['/', '*']),
        };
        !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(sound) && shaped
    }
}

/// The key of an effect on any program.
pub const ANY: &str = "*";

/// To put a user into a group, or take it as the primary one: a right over the group that changes the user.
pub const JOIN: &str = "join";

/// Whether a verb leaves the object as it is.
pub fn is_read_only(verb: &str) -> bool {
    matches!(verb, "read" | "query")
}

/// Whether to do this with an object is to hold it. Many users may be in one group, and it may be managed beside them; so it is with a folder
/// on the way to several objects.
pub fn is_exclusive(verb: &str) -> bool {
    !is_read_only(verb) && verb != JOIN && verb != MAKE_DIRECTORY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_lead_back() {
        for domain in Domain::ALL {
            assert_eq!(Domain::from_word(domain.word()), Some(domain));
        }
        for interface in Interface::ALL {
            assert_eq!(Interface::from_word(interface.word()), Some(interface));
            for verb in interface.verbs().iter().chain(interface.maintenance()) {
                assert_eq!(interface.verb(verb), Some(*verb));
            }
        }
        assert_eq!((Domain::from_word("path"), Interface::from_word("files")), (None, None), "files have their own");
    }

    #[test]
    fn a_name_is_text_that_can_be_no_option() {
        for name in ["nginx", "libc6:amd64", "getty@tty1.service", "g++"] {
            assert!(Domain::Package.is_name(name.as_bytes()), "{name}");
        }
        for name in ["", "-y", "a b", "a\n", "../x", "a*"] {
            assert!(!Domain::Package.is_name(name.as_bytes()), "{name:?}");
        }
        assert!(!Domain::User.is_name(b"\xff"));
        assert!(Domain::Process.is_name(b"/opt/a b/run") && Domain::Process.is_name(b"*"));
        assert!(!Domain::Process.is_name(b"run") && !Domain::Process.is_name(b"/a\0"));
    }
}
