//! Why a bundle is not accepted.

use host_functions::grant::AskError;

use crate::bundle::BundleError;
use crate::engine::{DefinitionError, EngineError};
use crate::model::digest::ComponentDigest;
use crate::model::ids::{ResourceId, TypeName};
use crate::policy::Refusal;

/// A component that policy does not let run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The resource type that it is to serve.
    pub module: TypeName,
    /// The component.
    pub component: ComponentDigest,
    /// The reason, and the row that would allow it.
    pub refusal: Refusal,
}

/// What a bundle says otherwise than its modules do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// Claims.
    Claims,
    /// Effects.
    Effects,
    /// Affected paths.
    AffectedPaths,
    /// Capabilities, assets, deadline and the rest.
    Semantics,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Claims => "claims",
            Self::Effects => "effects",
            Self::AffectedPaths => "affected paths",
            Self::Semantics => "semantics",
        })
    }
}

/// Why a bundle is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptError {
    /// It is no bundle.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Policy refuses components.
    #[error("{}", refusals(refused))]
    Policy {
        /// Each with its reason.
        refused: Vec<Refused>,
    },
    /// A component cannot be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A component serves another type than the catalog says.
    #[error("the catalog names the component {component} for {named}, and it serves {serves}")]
    OtherType {
        /// Which component.
        component: ComponentDigest,
        /// What the catalog says.
        named: String,
        /// What it says.
        serves: String,
    },
    /// A module asks for a right that does not exist here.
    #[error("the module `{module}` asks for a right that this program does not know")]
    Ask {
        /// The module.
        module: TypeName,
        /// Which.
        #[source]
        source: AskError,
    },
    /// A module does not accept the desired state that the catalog has.
    #[error("the module of `{resource}` does not accept what the bundle holds for it")]
    Validate {
        /// The resource.
        resource: ResourceId,
        /// What the module says.
        #[source]
        source: DefinitionError,
    },
    /// The catalog says something else of a resource than its module does.
    #[error("the {what} that the bundle has for `{resource}` are not what its module gives")]
    Differs {
        /// The resource.
        resource: ResourceId,
        /// What differs.
        what: Difference,
    },
    /// A value that is to be settled here has no meaning here.
    #[error("the attribute `{attribute}` of `{resource}` cannot be settled on a node: {reason}")]
    Deferred {
        /// The resource.
        resource: ResourceId,
        /// The attribute.
        attribute: String,
        /// Why.
        reason: String,
    },
    /// The order that the modules derive is not the catalog's.
    #[error("the order that modules derive is not the one in the bundle: {edge} is {problem}")]
    Order {
        /// The edge, `a -> b`.
        edge: String,
        /// Missing or made up.
        problem: &'static str,
    },
    /// The bundle was compiled for a node with other facts.
    #[error("it was compiled for another node: {}", told(differing))]
    Facts {
        /// Name, assumed value, value here.
        differing: Vec<(String, String, String)>,
    },
}

fn refusals(refused: &[Refused]) -> String {
    let told = refused.iter().map(|one| format!("policy does not let the module `{}` run: {}", one.module, one.refusal));
    told.collect::<Vec<_>>().join("\n")
}

fn told(differing: &[(String, String, String)]) -> String {
    use crate::model::key::escape;
    let told = differing
        .iter()
        .map(|(name, assumed, here)| format!("`facts.{}` is {}, not {}", escape(name), escape(here), escape(assumed)));
    told.collect::<Vec<_>>().join("; ")
}

impl ReceiptError {
    /// Whether the bundle is sound but not for this node.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Policy { .. } | Self::Facts { .. })
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Policy { refused } => {
                let rows: Vec<&str> = refused.iter().filter_map(|one| one.refusal.row.as_deref()).collect();
                (!rows.is_empty()).then(|| format!("to allow it, put this into the policy:\n{}", rows.join("\n")))
            }
            Self::Facts { .. } => Some("compile it for this node, with `--target`, or without".into()),
            Self::Bundle(error) => error.hint(),
            Self::Validate { .. } | Self::Differs { .. } | Self::Order { .. } => {
                Some("the bundle was not made by `runtime compile`, or was changed since: compile it again".into())
            }
            _ => None,
        }
    }
}
