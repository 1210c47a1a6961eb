//! Why a command did not give its result.

use std::io;
use std::path::{Path, PathBuf};

use super::exit::Exit;
use super::scaffold::ScaffoldError;
use crate::run::RunError;

/// The largest component that `module inspect` reads, as in a bundle: 16 MiB.
pub(super) const MAX_COMPONENT_BYTES: u64 = 16 << 20;

/// An error of the command line itself, or of what it called.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// A step of the pipeline.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The file that was given as a bundle.
    #[error("the bundle `{}` cannot be used", path.display())]
    Bundle {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: RunError,
    },
    /// Arguments that clap cannot judge.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// A file cannot be read.
    #[error("`{}` cannot be read", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A file or folder cannot be written.
    #[error("`{}` cannot be written", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Standard output cannot be written to.
    #[error("the output cannot be written")]
    Output(#[source] io::Error),
    /// A component is too large to be one.
    #[error("`{}` is larger than {MAX_COMPONENT_BYTES} bytes, the most that a component may have", path.display())]
    TooLarge {
        /// Which file.
        path: PathBuf,
    },
    /// The node has no such fact.
    #[error("there is no fact `{query}`")]
    UnknownFact {
        /// What was asked for.
        query: String,
        /// What comes closest, or what there is.
        hint: String,
    },
    /// A crate for a module cannot be written.
    #[error(transparent)]
    Scaffold(#[from] ScaffoldError),
    /// There is nothing to build components with.
    #[error("components cannot be built on this machine")]
    Toolchain(#[from] component_build::ToolchainError),
    /// A crate does not build.
    #[error("the module was not built")]
    Build(#[from] component_build::BuildError),
}

impl CliError {
    /// An error of a step that was given the bundle at `path`, which the step does not name.
    pub fn with_bundle(path: &Path) -> impl FnOnce(RunError) -> Self {
        move |error| match error {
            RunError::Bundle(_) => Self::Bundle { path: path.to_owned(), source: error },
            other => Self::Run(other),
        }
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Run(error) | Self::Bundle { source: error, .. } => error.kind().into(),
            Self::Usage { .. } | Self::UnknownFact { .. } => Exit::Usage,
            Self::Read { .. } | Self::Write { .. } | Self::Output(_) => Exit::Io,
            Self::TooLarge { .. } => Exit::BadData,
            Self::Scaffold(error) => error.exit(),
            Self::Toolchain(_) | Self::Build(_) => Exit::Failed,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Run(error) | Self::Bundle { source: error, .. } => error.hint(),
            Self::Usage { hint, .. } | Self::UnknownFact { hint, .. } => Some(hint.clone()),
            Self::Scaffold(error) => error.hint(),
            Self::Toolchain(error) => error.hint(),
            Self::Build(error) => error.hint(),
            Self::Read { .. } | Self::Write { .. } | Self::Output(_) | Self::TooLarge { .. } => None,
        }
    }
}
