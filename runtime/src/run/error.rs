//! Every way in which a run does not give its result, sorted into the few kinds that fix exit code and heading.

use std::fmt;

use crate::acquire::AcquireError;
use crate::bundle::catalog::CatalogError;
use crate::bundle::{BundleError, WriteError};
use crate::engine::{Conflict, EngineError};
use crate::journal::JournalError;
use crate::language::diagnostic::Diagnostics;
use crate::language::suggest;
use crate::model::catalog::Claim;
use crate::model::ids::{OwnerName, RunId};
use crate::model::key::escape;
use crate::model::report::REPORT_VERSION;
use crate::policy::PolicyError;
use crate::receipt::ReceiptError;
use crate::secrets::SecretError;
use crate::store::{Conflicts, Holding, Object, StoreError};

/// What kind of error it is; [`crate::cli`] has the exit code of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// What was asked for cannot be.
    Usage,
    /// A manifest, bundle, module or policy is wrong.
    BadData,
    /// A file or the machine could not be used.
    Io,
    /// Another run holds the lock.
    Locked,
    /// The run was refused, and nothing was touched.
    Refused,
    /// A change of an earlier run is neither done nor undone.
    Unresolved,
}

/// Why a run gave no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The manifest is wrong; the text has every error at its place.
    #[error("{0}")]
    Manifest(Diagnostics),
    /// A command that needs a bundle was given none.
    #[error("no bundle was given")]
    NoBundle,
    /// A file named on the command line cannot be read.
    #[error("cannot read `{}`", path.display())]
    Input {
        /// Which file.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file named on the command line is too large to be what it is meant for.
    #[error("`{}` is larger than {cap} bytes", path.display())]
    InputTooLarge {
        /// Which file.
        path: std::path::PathBuf,
        /// The cap in bytes.
        cap: u64,
    },
    /// A file named on the command line is not text.
    #[error("`{}` is not UTF-8 text", path.display())]
    InputNotText {
        /// Which file.
        path: std::path::PathBuf,
    },
    /// A file named on the command line is a bundle where text is wanted.
    #[error("`{}` is a bundle, and text is wanted here", path.display())]
    InputIsBundle {
        /// Which file.
        path: std::path::PathBuf,
    },
    /// The target's facts are not JSON.
    #[error("the facts in `{}` are not JSON", path.display())]
    Facts {
        /// Which file.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The catalog breaks a rule of its format.
    #[error("the manifest makes a catalog that no bundle can hold")]
    Catalog {
        /// Which rule.
        #[source]
        source: CatalogError,
    },
    /// A module named on the command line cannot be used.
    #[error("the module `{name}` cannot be used")]
    Module {
        /// The resource type that it was to serve.
        name: String,
        /// Why.
        #[source]
        source: EngineError,
    },
    /// A module named on the command line serves another type, or is another provider.
    #[error("the module given for `{name}` is `{serves}`")]
    OtherType {
        /// The name that was given.
        name: String,
        /// What it serves.
        serves: String,
    },
    /// A module on the command line takes a name that is reserved.
    #[error("the module `{name}` is built in, so no other can take its name")]
    Reserved {
        /// The name.
        name: String,
    },
    /// A provider that no type can use.
    #[error("the provider `{name}` cannot be used: {reason}")]
    Provider {
        /// The name of its module.
        name: String,
        /// Why.
        reason: String,
    },
    /// What the command line says about sources cannot be used.
    #[error(transparent)]
    Sources(AcquireError),
    /// The bundle.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Writing the bundle.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The policy file.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The receipt.
    #[error(transparent)]
    Receipt(#[from] ReceiptError),
    /// A secret of the node that the bundle reads.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The node.
    #[error(transparent)]
    Node(#[from] host_functions::node::NodeError),
    /// The state.
    #[error(transparent)]
    Store(StoreError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Objects that another manifest, or another resource, holds.
    #[error("{0}")]
    Claims(Conflicts),
    /// Resources of one type that cannot be managed together on this node.
    #[error("{}", conflicts(.0))]
    Conflicts(Vec<Conflict>),
    /// No such run is on record.
    #[error("no run on record begins with `{wanted}`")]
    NoRun {
        /// How the id was to begin.
        wanted: String,
    },
    /// More than one run could be meant.
    #[error("more than one run begins with `{wanted}`: {}", listed(runs))]
    SeveralRuns {
        /// How the id was to begin.
        wanted: String,
        /// The newest that do.
        runs: Vec<RunId>,
    },
    /// A report of another version of this program.
    #[error("the report of run `{run}` has version {version}, and this program reads version {REPORT_VERSION} only")]
    OtherReport {
        /// Whose report.
        run: RunId,
        /// Its version.
        version: u32,
    },
    /// A report that is none.
    #[error("the report of run `{run}` cannot be read")]
    UnreadableReport {
        /// Whose report.
        run: RunId,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// An owner that the node has never heard of.
    #[error("nothing of `{owner}` is on record here")]
    UnknownOwner {
        /// Who was named.
        owner: OwnerName,
        /// Who is on record.
        known: Vec<OwnerName>,
    },
    /// An object that the owner does not hold, and has not given up before.
    #[error("`{owner}` does not hold the {} `{}`{}", escape(&object.domain), object.key, held(held_by))]
    UnknownObject {
        /// Who was to give it up.
        owner: OwnerName,
        /// What was to be given up.
        object: Object,
        /// What the owner does hold.
        holds: Vec<Claim>,
        /// Who holds the object.
        held_by: Vec<Holding>,
    },
    /// The bundle would take the place of a file that it is made from.
    #[error("the bundle would take the place of `{}`, which it is made from", path.display())]
    OutputIsSource {
        /// Which file.
        path: std::path::PathBuf,
    },
    /// A thread could not be started.
    #[error("a thread could not be started")]
    Thread(#[source] std::io::Error),
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflicts(conflicts) => Self::Claims(conflicts),
            error => Self::Store(error),
        }
    }
}

fn conflicts(found: &[Conflict]) -> String {
    let told = found.iter().map(|conflict| {
        let names: Vec<String> = conflict.resources.iter().map(|id| format!("`{id}`")).collect();
        format!("{} cannot be managed together: {}", names.join(" and "), conflict.message)
    });
    told.collect::<Vec<_>>().join("\n")
}

fn held(by: &[Holding]) -> String {
    let holders = by.iter().map(|holding| format!("`{}` of `{}`", holding.held.resource, holding.owner));
    let holders = holders.collect::<Vec<_>>().join(", ");
    if holders.is_empty() { holders } else { format!(": it is held by {holders}") }
}

/// Objects as the command line takes them.
fn objects(claims: &[Claim]) -> Vec<String> {
    let mut objects: Vec<String> = claims.iter().map(|claim| format!("{}:{}", escape(&claim.domain), claim.key)).collect();
    objects.dedup();
    objects
}

fn listed(names: &[impl fmt::Display]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl RunError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoBundle
            | Self::OtherType { .. }
            | Self::Reserved { .. }
            | Self::NoRun { .. }
            | Self::SeveralRuns { .. }
            | Self::UnknownOwner { .. }
            | Self::UnknownObject { .. }
            | Self::OutputIsSource { .. } => ErrorKind::Usage,
            Self::Input { .. } | Self::Sources(_) | Self::Policy(PolicyError::Io { .. }) => ErrorKind::Io,
            Self::Manifest(_)
            | Self::InputTooLarge { .. }
            | Self::InputNotText { .. }
            | Self::InputIsBundle { .. }
            | Self::Facts { .. }
            | Self::Catalog { .. }
            | Self::Module { .. }
            | Self::Provider { .. }
            | Self::Engine(_)
            | Self::Policy(_) => ErrorKind::BadData,
            Self::Bundle(error) if error.is_io() => ErrorKind::Io,
            Self::Write(error) if error.is_io() => ErrorKind::Io,
            Self::Write(_) => ErrorKind::BadData,
            Self::Bundle(_) => ErrorKind::BadData,
            Self::Receipt(error) if error.is_refusal() => ErrorKind::Refused,
            Self::Receipt(error) if error.is_io() => ErrorKind::Io,
            Self::Receipt(_) => ErrorKind::BadData,
            Self::Store(error) if error.is_locked() => ErrorKind::Locked,
            Self::Store(StoreError::Blocked { .. }) => ErrorKind::Unresolved,
            Self::Node(_)
            | Self::Store(_)
            | Self::OtherReport { .. }
            | Self::UnreadableReport { .. }
            | Self::Journal(_)
            | Self::Thread(_) => ErrorKind::Io,
            Self::Claims(_) | Self::Conflicts(_) | Self::Secret(_) => ErrorKind::Refused,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Bundle(error) => error.hint(),
            Self::Write(error) => error.hint(),
            Self::Receipt(error) => error.hint(),
            Self::Policy(error) => error.hint(),
            Self::Secret(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Journal(error) => error.hint(),
            Self::Claims(_) => Some(
                "let one manifest manage the object, make both declare it alike, or `runtime release` it from its holder".into(),
            ),
            Self::NoRun { .. } => Some("`runtime history` lists the runs".into()),
            Self::SeveralRuns { .. } => Some("give more of its id".into()),
            Self::OtherReport { .. } => Some("read it with the version of this program that wrote it".into()),
            Self::UnknownOwner { owner, known } => suggest::one_of(owner.as_str(), known.iter().map(OwnerName::as_str)),
            Self::InputIsBundle { .. } => {
                Some("`runtime inspect` shows a bundle, `plan` and `apply` take one; `compile` makes one of a manifest".into())
            }
            Self::UnknownObject { object, holds, .. } => {
                let (wanted, holds) = (format!("{}:{}", object.domain, object.key), objects(holds));
                suggest::one_of_addresses(&wanted, ':', holds.iter().map(String::as_str))
                    .or_else(|| Some("it holds nothing here".into()))
            }
            Self::OutputIsSource { .. } => Some("give another file with `--output`".into()),
            Self::NoBundle => Some("name the bundle to apply".into()),
            Self::Reserved { .. } => Some("give the module a name of its own".into()),
            Self::OtherType { serves, .. } => Some(format!("write `--module {serves}=…`")),
            _ => None,
        }
    }
}
