//! Why a policy file is not taken.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::store::StoreError;

/// Something wrong in a policy's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is wrong; escaped.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// Why a policy is not taken. Without one, no run starts: a policy that cannot be read might have forbidden it.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The operating system refused.
    #[error("cannot read the policy `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A directory, link to nothing, pipe, device or socket.
    #[error("the policy `{}` is not a regular file", path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// It belongs to somebody who is not to decide this.
    #[error("the policy `{}` belongs to the user id {owner}, who is neither root nor the one who runs this", path.display())]
    Owner {
        /// The file.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// Others can change it.
    #[error("the policy `{}` can be written by others: its mode is {mode:04o}", path.display())]
    Writable {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Others can put another file in its place.
    #[error("the policy `{}` can be replaced by others", path.display())]
    Folder {
        /// The file.
        path: PathBuf,
        /// Where.
        #[source]
        source: Box<StoreError>,
    },
    /// Larger than any policy.
    #[error("the policy `{}` has more than {cap} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// [`super::MAX_POLICY`].
        cap: u64,
    },
    /// Not UTF-8.
    #[error("the policy `{}` is not text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// Wrong text; every problem, in the order of the text.
    #[error("the policy `{}` is wrong in {} {}", path.display(), problems.len(), if problems.len() == 1 { "place" } else { "places" })]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong, at least one.
        problems: Vec<Problem>,
    },
}

impl PolicyError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Owner { path, .. } => Some(format!("chown root {}", path.display())),
            Self::Writable { path, .. } => Some(format!("chmod go-w {}", path.display())),
            Self::Folder { source, .. } => source.hint(),
            _ => None,
        }
    }

    /// What is wrong in the text, if that is it.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Invalid { problems, .. } => problems,
            _ => &[],
        }
    }
}
