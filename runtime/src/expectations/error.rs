//! Why an expectation could not be held against a resource.

use crate::engine::DefinitionError;
use crate::model::ids::ResourceId;

/// A test that cannot be right.
#[derive(Debug, thiserror::Error)]
pub enum ExpectationError {
    /// The manifest has no such resource.
    #[error("there is no resource `{id}`{}", hint.as_ref().map(|hint| format!(": {hint}")).unwrap_or_default())]
    UnknownResource {
        /// What was asked for.
        id: ResourceId,
        /// What comes closest, or what there is.
        hint: Option<String>,
    },
    /// Nobody serves its type.
    #[error("there is no module for `{id}`")]
    NoModule {
        /// The resource.
        id: ResourceId,
    },
    /// Its state is settled on the node.
    #[error("`{id}` waits for the node: give the facts of one to the test")]
    Waits {
        /// The resource.
        id: ResourceId,
    },
    /// The type has no such attribute.
    #[error("`{id}` has no attribute `{}`; it has `{}`", attribute.escape_debug(), declared.join("`, `"))]
    UnknownAttribute {
        /// The resource.
        id: ResourceId,
        /// What was asked for.
        attribute: String,
        /// What there is.
        declared: Vec<String>,
    },
    /// The type has the attribute, and tests do not see it.
    #[error("`{attribute}` of `{id}` is not in its test view: expect something of the content instead")]
    NotShown {
        /// The resource.
        id: ResourceId,
        /// The attribute.
        attribute: String,
    },
    /// The module does not show the state.
    #[error("the state of `{id}` cannot be shown")]
    View {
        /// The resource.
        id: ResourceId,
        /// Why.
        #[source]
        source: DefinitionError,
    },
    /// The content cannot be read.
    #[error("the content of `{id}` cannot be read")]
    Content {
        /// The resource.
        id: ResourceId,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The content is larger than what is compared.
    #[error("the content of `{id}` has more than {} MiB, the most that a test compares", super::MAX_CONTENT >> 20)]
    TooLarge {
        /// The resource.
        id: ResourceId,
    },
    /// The content is not text.
    #[error("the content of `{id}` is not UTF-8 text")]
    NotText {
        /// The resource.
        id: ResourceId,
    },
    /// A pattern is none.
    #[error("`{}` is not a pattern", pattern.escape_debug())]
    Pattern {
        /// What was given.
        pattern: String,
        /// What is wrong with it.
        #[source]
        source: regex::Error,
    },
}
