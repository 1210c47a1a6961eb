//! Why bytes could not be had, and what to do about it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::manifest::FileError;
use crate::model::digest::AssetDigest;

/// Why bytes could not be had. Nothing half-written is left.
#[derive(Debug, thiserror::Error)]
pub enum AcquireError {
    /// A folder that the command line allows cannot be opened.
    #[error("the allowed folder `{}` cannot be opened", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file lies where none may be taken from.
    #[error("it lies outside the manifest's folder")]
    Outside {
        /// The folder that would have to be allowed.
        folder: PathBuf,
    },
    /// A file beneath an allowed folder cannot be had.
    #[error("{}", .0.describe())]
    File(FileError),
    /// It cannot be read to its end.
    #[error("it cannot be read: {}", .0.kind())]
    Unreadable(#[source] io::Error),
    /// It is larger than it may be.
    #[error("it is larger than the {limit} bytes that a source may have")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// It is no address that could be fetched.
    #[error("it is not an address that can be fetched: {reason}")]
    NotAnAddress {
        /// What is wrong with it.
        reason: String,
    },
    /// It is not to be fetched.
    #[error("fetching from there is not allowed")]
    NotAllowed {
        /// The prefix that would allow it.
        prefix: String,
    },
    /// Another address, to which the server sends us, is not to be fetched.
    #[error("the server sends us on to `{to}`: {reason}")]
    Redirect {
        /// Where it sends us, without its query.
        to: String,
        /// What speaks against it.
        reason: RedirectError,
    },
    /// No connection came about.
    #[error("`{host}` cannot be reached: {reason}")]
    Unreachable {
        /// The host and port.
        host: String,
        /// What was in the way.
        reason: String,
    },
    /// The server could not show that it is who it should be.
    #[error("there is no trusted connection to `{host}`: {reason}")]
    Tls {
        /// The host and port.
        host: String,
        /// What is wrong.
        reason: String,
    },
    /// The proxy does not let us through.
    #[error("the proxy does not let us through: {reason}")]
    Proxy {
        /// What it said; never its address, which may hold a password.
        reason: String,
    },
    /// The server does not give it.
    #[error("the server answers with status {status}")]
    Status {
        /// The status of the answer.
        status: u16,
    },
    /// It took too long.
    #[error("it took longer than {} s", limit.as_secs_f64())]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// The connection broke off again and again.
    #[error("the download broke off after {received} bytes, and {resumes} attempts to go on failed: {reason}")]
    BrokenOff {
        /// How many bytes were there.
        received: u64,
        /// How often it was tried to go on.
        resumes: u32,
        /// What was in the way at last.
        reason: String,
    },
    /// The bytes are others than were asked for.
    #[error("the content does not have the checksum that is given")]
    Mismatch {
        /// The digest that they have.
        found: AssetDigest,
    },
    /// The certificates in a file cannot be used.
    #[error("the certificates in `{}` cannot be used: {reason}", path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Fetched bytes cannot be kept on this machine.
    #[error("it cannot be kept on this machine: {}", source.kind())]
    Keep {
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// What speaks against going where a server sends us.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedirectError {
    /// It is not to be fetched.
    #[error("that is not allowed")]
    NotAllowed {
        /// The prefix that would allow it.
        prefix: String,
    },
    /// It is no address that could be fetched.
    #[error("{reason}")]
    NotAnAddress {
        /// What is wrong with it.
        reason: String,
    },
    /// It has sent us on often enough.
    #[error("that is once more than the {limit} times that are followed")]
    TooMany {
        /// How often it is followed.
        limit: usize,
    },
}

impl AcquireError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let allow = |prefix: &String| format!("if it is to be trusted, pass `--allow-url {prefix}`");
        match self {
            Self::Outside { folder } => {
                Some(format!("put it beneath the manifest's folder, or pass `--allow-source {}`", folder.display()))
            }
            Self::NotAllowed { prefix } => Some(allow(prefix)),
            Self::Redirect { reason: RedirectError::NotAllowed { prefix }, .. } => Some(allow(prefix)),
            Self::TooLarge { .. } => Some("if it must be that large, raise `--max-source-size`".to_owned()),
            Self::TimedOut { .. } => Some("if it needs that long, raise `--source-timeout`".to_owned()),
            Self::Tls { .. } => {
                Some("certificates of your own are trusted with `--ca-file FILE`, or by SSL_CERT_FILE".to_owned())
            }
            Self::Proxy { .. } => {
                Some("it is the one that `https_proxy` names; `no_proxy` lists hosts to reach without".to_owned())
            }
            _ => None,
        }
    }

    /// Whether trying again may do better: the network was in the way, not a rule.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Status { status } => *status >= 500,
            _ => false,
        }
    }
}
