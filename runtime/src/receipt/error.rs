//! Why a node does not take a bundle in.

use std::fmt;

use super::OrderError;
use host_functions::grant::AskError;
use serde_json::Value as Json;

use crate::bundle::BundleError;
use crate::engine::{DefinitionError, EngineError};
use crate::model::digest::ComponentDigest;
use crate::model::ids::{ResourceId, TypeName};
use crate::model::key::escape;
use crate::policy::Refusal;

/// Why a node does not take a bundle in. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptError {
    /// The bundle itself is wrong, or cannot be read.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Policy refuses components, or what their resources declare.
    #[error("{}", lines(.0))]
    Policy(Vec<Refusal>),
    /// A component cannot be loaded.
    #[error("the component of the resource type `{type_name}` cannot be used")]
    Component {
        /// The type that it is to serve.
        type_name: TypeName,
        /// Why.
        #[source]
        source: EngineError,
    },
    /// A component is not the module that the catalog says it is.
    #[error("the catalog says that the component {digest} is `{wanted}`, and the component says that it is `{found}`")]
    OtherModule {
        /// Which component.
        digest: ComponentDigest,
        /// Type and schema version by the catalog.
        wanted: String,
        /// Type and schema version by the component.
        found: String,
    },
    /// A module asks for a right that does not exist.
    #[error("the module `{type_name}` asks for a right that does not exist")]
    Ask {
        /// The module.
        type_name: TypeName,
        /// What is wrong with it.
        #[source]
        source: AskError,
    },
    /// A module does not take a desired state of the catalog.
    #[error("the module of `{resource}` does not take what the catalog has for it")]
    Definition {
        /// Which resource.
        resource: ResourceId,
        /// What it says.
        #[source]
        source: DefinitionError,
    },
    /// A module says something else of a desired state than the catalog.
    #[error("the catalog has other {what} for `{resource}` than its module")]
    Disagrees {
        /// Which resource.
        resource: ResourceId,
        /// What differs.
        what: &'static str,
    },
    /// An order is missing, fabricated or changed.
    #[error(transparent)]
    Order(OrderError),
    /// A value that is to be settled on the node has no meaning there.
    #[error("`{attribute}` of `{resource}` cannot be settled on a node: {reason}")]
    Deferred {
        /// Which resource.
        resource: ResourceId,
        /// Which attribute.
        attribute: String,
        /// Why not.
        reason: String,
    },
    /// The bundle was compiled for a node with other facts.
    #[error("the bundle was compiled for another node: {}", lines(.0))]
    TargetFacts(Vec<FactDifference>),
}

/// A fact that the controller took for granted and that is otherwise here.
#[derive(Debug, Clone, PartialEq)]
pub struct FactDifference {
    /// Its dotted path.
    pub path: String,
    /// What the controller took.
    pub expected: Json,
    /// What it is here; null if there is no such fact.
    pub found: Json,
}

impl fmt::Display for FactDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, expected, found } = self;
        let shown = |json: &Json| escape(&json.to_string().chars().take(240).collect::<String>());
        write!(f, "`facts.{}` is {} here, not {}", escape(path), shown(found), shown(expected))
    }
}

impl ReceiptError {
    /// Whether the bundle is well, and it is this node that does not want it.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Policy(_) | Self::TargetFacts(_))
    }

    /// Whether the fault is the machine's.
    pub fn is_io(&self) -> bool {
        matches!(self, Self::Bundle(error) if error.is_io())
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Bundle(error) => error.hint(),
            Self::Policy(refusals) => {
                let rows: Vec<&str> = refusals.iter().filter_map(|refusal| refusal.row.as_deref()).collect();
                (!rows.is_empty()).then(|| format!("the owner of this node can allow it in the policy:\n{}", rows.join("\n")))
            }
            Self::TargetFacts(_) => Some("compile the manifest with `--target` and the facts of this node".to_owned()),
            Self::Disagrees { .. }
            | Self::OtherModule { .. }
            | Self::Definition { .. }
            | Self::Order(_)
            | Self::Deferred { .. } => Some("compile the manifest again".to_owned()),
            Self::Component { .. } | Self::Ask { .. } => None,
        }
    }
}

fn lines<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join("\n")
}
