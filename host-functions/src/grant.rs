//! What policy lets one module do on this node, and what the module asks for.
//!
//! Data only. The policy file is parsed elsewhere; [`crate::authorize`] holds each call against these.

use std::time::Duration;

use crate::files::policy::{PathPattern, PatternError};
use crate::objects::{ANY, Interface, NamePattern, NamePatternError, ObjectGrant};

/// What the node's owner grants to one module. [`Grant::none`] is where a policy row starts: nothing is granted by default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Whether the module is one of those embedded in this binary. Others are held below the literal folder of the pattern that lets
    /// them in.
    pub builtin: bool,
    /// Files.
    pub files: FileGrant,
    /// Whether names of users and groups may be looked up. Any process on the node can, so [`Grant::none`] has it; the module must
    /// still ask.
    pub accounts: bool,
    /// Packages, units, accounts and programs.
    pub objects: ObjectGrant,
    /// Whether facts may be read. Any process on the node can, so [`Grant::none`] has it; the module must still ask.
    pub facts: bool,
    /// Limits that replace the engine's own where they are set.
    pub limits: Limits,
}

/// Paths that a module may read and change, and the words for what goes beyond changing a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileGrant {
    /// May be read: kind, owner, mode, size, digest and content.
    pub read: Vec<PathPattern>,
    /// May be changed. Does not include reading.
    pub write: Vec<PathPattern>,
    /// Neither, whatever `read` and `write` say.
    pub deny: Vec<PathPattern>,
    /// May set the set-user-ID, set-group-ID and sticky bits.
    pub setuid: bool,
    /// May give files to an owner or group other than the run's own.
    pub chown: bool,
    /// May make symbolic links that point outside `write`.
    pub links: bool,
}

/// Limits on one attempt at one resource of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Bytes of memory over all memories and tables.
    pub memory: Option<u64>,
    /// The longest that an attempt may take.
    pub deadline: Option<Duration>,
}

impl Grant {
    /// Nothing but what any process on the node may read.
    pub fn none() -> Self {
        Self {
            builtin: false,
            files: FileGrant::default(),
            accounts: true,
            objects: ObjectGrant::default(),
            facts: true,
            limits: Limits::default(),
        }
    }

    /// Whatever the module asks for: every path and every word. What a built-in gets unless policy says otherwise.
    pub fn requested(builtin: bool) -> Self {
        let everything = vec![PathPattern::root(), PathPattern::everything()];
        let files =
            FileGrant { read: everything.clone(), write: everything, deny: Vec::new(), setuid: true, chown: true, links: true };
        Self { builtin, files, accounts: true, objects: ObjectGrant::requested(), facts: true, limits: Limits::default() }
    }
}

/// What one may do with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Read it.
    Read,
    /// Change it.
    Write,
}

impl Access {
    /// The word for it in policy, in effects and in what modules ask for.
    pub fn word(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
        }
    }

    /// The access that `word` names.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "read" => Some(Access::Read),
            "write" => Some(Access::Write),
            _ => None,
        }
    }
}

/// One right that a module asks for in `describe`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// To read or change files.
    Files(Access, PathPattern),
    /// To look up users and groups.
    Accounts,
    /// To do something with packages, units, accounts or programs, or one of their shared actions.
    Object {
        /// Of which interface.
        interface: Interface,
        /// What is to be done: one of its verbs or shared actions.
        verb: &'static str,
        /// With which of its objects; for programs their paths, for shared actions `*`.
        names: NamePattern,
    },
    /// To read facts.
    Facts,
}

/// What a module asked for that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// No such interface, or one that needs no asking.
    #[error("no right can be asked for in an interface `{}`", interface.escape_debug())]
    Interface {
        /// As it was given.
        interface: String,
    },
    /// The interface has no such action.
    #[error("interface `{interface}` has no action `{}`", action.escape_debug())]
    Action {
        /// The interface.
        interface: &'static str,
        /// As it was given.
        action: String,
    },
    /// The interface has no scopes.
    #[error("the scope of `{interface}` must be `*`, not `{}`", scope.escape_debug())]
    Scope {
        /// The interface.
        interface: &'static str,
        /// As it was given.
        scope: String,
    },
    /// The scope of `files` is not a path pattern.
    #[error("the scope of `files` is not a path pattern")]
    Pattern(#[source] PatternError),
    /// The scope is not a pattern of names.
    #[error("the scope of `{}` is not a pattern of names", interface.word())]
    Names {
        /// The interface.
        interface: Interface,
        /// Why.
        #[source]
        source: NamePatternError,
    },
}

impl Ask {
    /// Reads one capability of a `describe`: for `files` the actions `read` and `write` with a path pattern; for `accounts` and
    /// `facts` the action `read` with the scope `*`; for `packages`, `systemd`, `accounts` and `processes` a verb with a pattern of names, or a shared
    /// action with the scope `*`. Other interfaces need no asking.
    ///
    /// # Errors
    /// If there is no such interface, action or scope.
    pub fn parse(interface: &str, action: &str, scope: &str) -> Result<Self, AskError> {
        match interface {
            "files" => {
                let access =
                    Access::from_word(action).ok_or_else(|| AskError::Action { interface: "files", action: cut(action) })?;
                Ok(Ask::Files(access, PathPattern::parse(scope).map_err(AskError::Pattern)?))
            }
            "accounts" if action == "read" => read_all("accounts", action, scope).map(|()| Ask::Accounts),
            "facts" => read_all("facts", action, scope).map(|()| Ask::Facts),
            _ => match Interface::from_word(interface) {
                Some(interface) => object(interface, action, scope),
                None => Err(AskError::Interface { interface: cut(interface) }),
            },
        }
    }
}

fn read_all(interface: &'static str, action: &str, scope: &str) -> Result<(), AskError> {
    match (action, scope) {
        ("read", "*") => Ok(()),
        ("read", _) => Err(AskError::Scope { interface, scope: cut(scope) }),
        _ => Err(AskError::Action { interface, action: cut(action) }),
    }
}

fn object(interface: Interface, action: &str, scope: &str) -> Result<Ask, AskError> {
    let Some(verb) = interface.verb(action) else {
        return Err(AskError::Action { interface: interface.word(), action: cut(action) });
    };
    if interface.maintenance().contains(&verb) && scope != ANY {
        return Err(AskError::Scope { interface: interface.word(), scope: cut(scope) });
    }
    let names = scope.parse().map_err(|source| AskError::Names { interface, source })?;
    Ok(Ask::Object { interface, verb, names })
}

/// The first 80 characters.
fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_are_parsed_strictly() {
        assert!(matches!(Ask::parse("files", "write", "/etc/*"), Ok(Ask::Files(Access::Write, _))));
        assert_eq!(Ask::parse("accounts", "read", "*"), Ok(Ask::Accounts));
        assert_eq!(Ask::parse("facts", "read", "*"), Ok(Ask::Facts));
        let install = Ask::parse("packages", "install", "nginx*").unwrap();
        assert!(matches!(install, Ask::Object { interface: Interface::Packages, verb: "install", .. }));
        assert!(Ask::parse("systemd", "daemon-reload", "*").is_ok() && Ask::parse("processes", "run", "/usr/sbin/*").is_ok());
        for (interface, action, scope) in [
            ("packages", "frobnicate", "*"),
            ("systemd", "daemon-reload", "nginx.service"),
            ("processes", "run", ""),
            ("accounts", "install", "*"),
            ("files", "execute", "/etc/*"),
            ("files", "write", "etc"),
            ("facts", "write", "*"),
            ("facts", "read", "os.id"),
            ("accounts", "read", ""),
            ("everything", "read", "*"),
        ] {
            assert!(Ask::parse(interface, action, scope).is_err(), "{interface} {action} {scope}");
        }
    }

    #[test]
    fn nothing_is_granted_by_default() {
        let FileGrant { read, write, deny, setuid, chown, links } = Grant::none().files;
        assert!(read.is_empty() && write.is_empty() && deny.is_empty() && !setuid && !chown && !links);
        assert!(!Grant::none().builtin);
        assert_eq!(Grant::none().objects, ObjectGrant::default());
    }
}
