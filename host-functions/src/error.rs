//! How a host call fails: the cases of the WIT's `host-error`, and traps.

use rustix::io::Errno;

use crate::authorize::Denial;
use crate::text::{cut, escape};

/// The longest text that an error carries to the guest, in bytes.
pub const MAX_ERROR_TEXT: usize = 1024;

/// Why a host call did not do what was asked. Texts are the host's own and never hold content.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Refused by phase, effects, what the module asked for, or policy.
    #[error("{0}")]
    Denied(Box<Denial>),
    /// Nothing is there.
    #[error("nothing is there")]
    NotFound,
    /// Something is there already.
    #[error("something is there already")]
    AlreadyExists,
    /// The object has another kind than the call needs.
    #[error("{0}")]
    WrongKind(String),
    /// A directory is not empty.
    #[error("the directory is not empty")]
    NotEmpty,
    /// The path cannot be resolved safely.
    #[error("{0}")]
    UnsafePath(String),
    /// The object is not the one that was observed.
    #[error("{0}")]
    Changed(String),
    /// The object is in use.
    #[error("{0}")]
    Busy(String),
    /// The operating system refused.
    #[error("{0}")]
    PermissionDenied(String),
    /// The disk or a quota is full.
    #[error("the disk or a quota is full")]
    NoSpace,
    /// Above a cap of the host.
    #[error("{0}")]
    TooLarge(String),
    /// The deadline of the attempt has passed.
    #[error("the deadline of this resource has passed")]
    Deadline,
    /// This node cannot do it.
    #[error("{0}")]
    Unsupported(String),
    /// An argument has no meaning.
    #[error("{0}")]
    InvalidArgument(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
    /// The guest cannot be told: the call ends the guest.
    #[error("the host call ended the guest")]
    Trap(wasmtime::Error),
}

impl CallError {
    /// What the operating system's answer means. `doing` says what the host was about, as in "opening `/etc/motd`".
    pub fn system(errno: Errno, doing: &str) -> Self {
        let text = || cut(format!("{doing}: {}", describe(errno)), MAX_ERROR_TEXT);
        match errno {
            Errno::NOENT => CallError::NotFound,
            Errno::EXIST => CallError::AlreadyExists,
            Errno::NOTEMPTY => CallError::NotEmpty,
            Errno::NOTDIR | Errno::ISDIR => CallError::WrongKind(text()),
            Errno::LOOP | Errno::XDEV | Errno::NAMETOOLONG => CallError::UnsafePath(text()),
            Errno::BUSY | Errno::AGAIN | Errno::TXTBSY => CallError::Busy(text()),
            Errno::ACCESS | Errno::PERM | Errno::ROFS => CallError::PermissionDenied(text()),
            Errno::NOSPC | Errno::DQUOT => CallError::NoSpace,
            Errno::FBIG => CallError::TooLarge(text()),
            _ => CallError::Other(text()),
        }
    }

    /// This error as a trap: for functions whose WIT has no error.
    pub(crate) fn into_trap(self) -> wasmtime::Error {
        match self {
            CallError::Trap(error) => error,
            error => wasmtime::Error::msg(error.to_string()),
        }
    }

    /// An invalid argument.
    pub fn invalid(text: impl Into<String>) -> Self {
        CallError::InvalidArgument(cut(text.into(), MAX_ERROR_TEXT))
    }
}

/// The system's words for an error, without its number.
fn describe(errno: Errno) -> String {
    let text = std::io::Error::from(errno).to_string();
    escape(text.split(" (os error").next().unwrap_or(&text))
}

impl From<wasmtime::component::ResourceTableError> for CallError {
    fn from(error: wasmtime::component::ResourceTableError) -> Self {
        match error {
            wasmtime::component::ResourceTableError::Full => {
                CallError::TooLarge(format!("a resource may hold at most {} handles at once", crate::context::MAX_HANDLES))
            }
            other => CallError::Trap(other.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A real quota needs a kernel and a file system that have them; what the system answers is this.
    #[test]
    fn a_quota_is_told_like_a_full_disk() {
        for errno in [Errno::NOSPC, Errno::DQUOT] {
            assert!(matches!(CallError::system(errno, "x"), CallError::NoSpace));
        }
    }

    #[test]
    fn refusal_is_not_absence() {
        assert!(matches!(CallError::system(Errno::ACCESS, "x"), CallError::PermissionDenied(_)));
        assert!(matches!(CallError::system(Errno::NOENT, "x"), CallError::NotFound));
        assert_eq!(CallError::system(Errno::ROFS, "writing `/a`").to_string(), "writing `/a`: Read-only file system");
    }
}
