//! Why a secret of the node cannot be used.

use std::path::{Path, PathBuf};

use crate::model::ids::SecretName;
use crate::model::key::escape;
use crate::store::StoreError;

/// Why a secret of the node cannot be used. It names the file and never what is in it.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// Others could change what lies in the folder, or put another in its place.
    #[error("the folder of secrets cannot be used")]
    Folder {
        /// What is not safe.
        #[source]
        source: StoreError,
    },
    /// It does not exist.
    #[error("this node has no secret `{name}`: there is no `{}`", show(path))]
    Missing {
        /// Its name.
        name: SecretName,
        /// Where it would be.
        path: PathBuf,
    },
    /// It belongs to somebody else.
    #[error("`{}` belongs to the user id {owner}, and must belong to root or to you", show(path))]
    Owner {
        /// Which file or folder.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// Others may do something with it.
    #[error("`{}` can be used by others (mode {mode:04o})", show(path))]
    Access {
        /// Which file or folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It is a link, a folder, a pipe.
    #[error("`{}` is not a regular file", show(path))]
    NotAFile {
        /// Which.
        path: PathBuf,
    },
    /// It is too large to be a secret.
    #[error("`{}` is larger than {cap} bytes", show(path))]
    TooLarge {
        /// Which.
        path: PathBuf,
        /// The cap in bytes.
        cap: u64,
    },
    /// It is not text.
    #[error("`{}` is not UTF-8 text", show(path))]
    NotText {
        /// Which.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot read `{}`", show(path))]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl SecretError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Folder { source } => source.hint(),
            Self::Missing { path, .. } => {
                Some(format!("the owner of this node puts it there, for root alone: `install -m 600 FILE {}`", show(path)))
            }
            Self::Owner { path, .. } => Some(format!("chown root {}", show(path))),
            Self::Access { path, .. } => Some(format!("chmod go= {}", show(path))),
            Self::NotAFile { .. } => Some("put the secret itself there: links are not followed".to_owned()),
            Self::TooLarge { .. } | Self::NotText { .. } => {
                Some("a secret is a short text, such as a password or a key".to_owned())
            }
            Self::Io { .. } => None,
        }
    }
}

fn show(path: &Path) -> String {
    escape(&path.display().to_string())
}
