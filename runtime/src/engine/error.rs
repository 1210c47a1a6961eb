//! How a component or a call into it fails.

use crate::model::digest::ComponentDigest;
use crate::model::ids::TypeName;

/// Why the engine cannot work or a component cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// wasmtime refused its configuration.
    #[error("the WebAssembly engine did not start")]
    Start(#[source] wasmtime::Error),
    /// The component is larger than the cap.
    #[error("the component {digest} has {size} bytes, more than the {cap} allowed")]
    TooLarge {
        /// Which component.
        digest: ComponentDigest,
        /// Its size in bytes.
        size: usize,
        /// The cap in bytes.
        cap: usize,
    },
    /// It is machine code, which is never taken from outside.
    #[error("the component {digest} is precompiled machine code, which is never accepted")]
    Precompiled {
        /// Which component.
        digest: ComponentDigest,
    },
    /// It does not compile, or is not a component.
    #[error("the component {digest} is not a valid WebAssembly component")]
    Invalid {
        /// Which component.
        digest: ComponentDigest,
        /// What wasmtime says.
        #[source]
        source: wasmtime::Error,
    },
    /// Compiling it takes more than any component may take.
    #[error(
        "compiling the component {digest} took more than {limit}, and was ended: an honest component of this size does not; ask where it comes from, \
         or split what it does among smaller functions"
    )]
    Costly {
        /// Which component.
        digest: ComponentDigest,
        /// What it took too much of, in words.
        limit: String,
    },
    /// The process that compiles components did not do so.
    #[error(
        "the component {digest} could not be compiled: {doing} failed; try again, with more memory if the machine was short of it"
    )]
    Compiler {
        /// Which component.
        digest: ComponentDigest,
        /// What failed.
        doing: &'static str,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It imports or exports something else than the contract.
    #[error("the component {digest} does not fit the worlds of `runtime:module@0.1.0`")]
    World {
        /// Which component.
        digest: ComponentDigest,
        /// What wasmtime says.
        #[source]
        source: wasmtime::Error,
    },
    /// It is the other kind of component than the one that is wanted.
    #[error("the component {digest} serves no resource type: it is the provider `{provider}` of `{type_name}`")]
    IsProvider {
        /// Which component.
        digest: ComponentDigest,
        /// The provider's name.
        provider: crate::model::ids::ProviderName,
        /// The type that it is for.
        type_name: TypeName,
    },
    /// It needs an interface that this host does not have.
    #[error("the component {digest} imports `{import}`, which this host does not offer")]
    UnknownImport {
        /// Which component.
        digest: ComponentDigest,
        /// The import's name.
        import: String,
    },
    /// What it says about its resource type cannot be.
    #[error("the component {digest} describes its resource type wrongly: {reason}")]
    Description {
        /// Which component.
        digest: ComponentDigest,
        /// What is wrong.
        reason: String,
    },
    /// Asking it to describe itself failed.
    #[error("the component {digest} did not describe itself")]
    Describe {
        /// Which component.
        digest: ComponentDigest,
        /// Why.
        #[source]
        source: CallError,
    },
}

/// A call into a component that did not return an answer of the contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("module `{module}` failed in `{function}`: {fault}")]
pub struct CallError {
    /// The module.
    pub module: String,
    /// The function of the contract.
    pub function: &'static str,
    /// What happened.
    pub fault: Fault,
}

/// What ended a call. Every text from the guest is escaped and cut.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It ran past its deadline.
    #[error("it ran past its deadline of {limit_ms} ms")]
    Deadline {
        /// The deadline's length in milliseconds.
        limit_ms: u64,
    },
    /// It wanted more memory than it may have.
    #[error("it needs more than its memory limit of {limit} bytes")]
    Memory {
        /// The limit in bytes.
        limit: usize,
    },
    /// It wanted more table elements than it may have.
    #[error("it needs more than its limit of {limit} table elements")]
    Table {
        /// The limit in elements.
        limit: usize,
    },
    /// It recursed too deep.
    #[error("its stack overflowed")]
    Stack,
    /// A definition function used something impure.
    #[error("it called `{import}`, which is not there in a definition: nothing but the declaration may decide the result")]
    Impure {
        /// What it called.
        import: String,
    },
    /// `identity` read an attribute that is not flagged identity.
    #[error("`identity` read the attribute `{attribute}`, which is not flagged as identity")]
    NotIdentity {
        /// Which attribute.
        attribute: String,
    },
    /// It trapped.
    #[error("it trapped: {message}")]
    Trap {
        /// wasmtime's words for the trap.
        message: String,
    },
    /// It answered something that the contract forbids.
    #[error("its answer breaks the contract: {message}")]
    Answer {
        /// What is wrong with it.
        message: String,
    },
}

impl Fault {
    /// The limit that ended the call, as a report names it.
    pub fn limit(&self) -> Option<String> {
        match self {
            Self::Deadline { limit_ms } => Some(format!("deadline {limit_ms}ms")),
            Self::Memory { limit } => Some(format!("memory {limit}B")),
            Self::Table { limit } => Some(format!("table elements {limit}")),
            Self::Stack => Some(format!("stack {}B", super::WASM_STACK_BYTES)),
            Self::Impure { .. } | Self::NotIdentity { .. } | Self::Trap { .. } | Self::Answer { .. } => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Deadline { .. } => Some("raise `meta { timeout }` if the work is really that long".into()),
            Self::Memory { .. } => Some("raise `limits { memory }` of the module's policy row if it is trusted with more".into()),
            Self::Impure { .. } => Some("pass what it needs as an attribute, or read facts in the manifest".into()),
            Self::Table { .. } | Self::Stack | Self::NotIdentity { .. } | Self::Trap { .. } | Self::Answer { .. } => None,
        }
    }
}

/// Why a definition function gave no result.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// It could not read a parameter: what the [`super::Parameters`] said last is the reason.
    #[error("a parameter could not be read")]
    Parameter,
    /// The module refuses the declaration.
    #[error("{}", .0.message)]
    Invalid(Diagnostic),
    /// The type has no such function.
    #[error("{type_name} does not support this: {message}")]
    Unsupported {
        /// The resource type.
        type_name: TypeName,
        /// In the module's words.
        message: String,
    },
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// A module's message about one attribute or a whole resource, escaped and cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The attribute it is about.
    pub attribute: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}
