//! What a declaration says.

use package_backend::{ConfigurationFiles, Desired, Ensure, WhenHeld, check_name};
use runtime_sdk::attribute_type::AttributeType;
use runtime_sdk::{Attributes, DefinitionResult, Diagnostic, Parameters, Type, Value};

/// A name, a version or an architecture.
#[derive(serde::Serialize)]
#[serde(transparent)]
pub struct Word(String);

impl AttributeType for Word {
    fn attribute_type() -> Type {
        Type::String
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        let text = String::from_value(attribute, value)?;
        check_name(attribute, &text)?;
        Ok(Self(text))
    }
}

/// A declaration.
#[derive(Attributes)]
pub struct Given {
    /// The package's name, without version and architecture.
    #[attribute(identity, exported)]
    pub name: Word,
    /// What is to be of the package.
    #[attribute(ensure, identity, exported)]
    pub ensure: Ensure,
    /// The version it is to have, as its package manager writes it. With `ensure = "present"` only.
    #[attribute(identity, exported)]
    pub version: Option<Word>,
    /// Its architecture, as its package manager names it (`amd64`, `x86_64`). Omitted, the package manager takes its own.
    #[attribute(identity)]
    pub architecture: Option<Word>,
    /// Whether the package manager is to hold the package at its version.
    #[attribute(identity)]
    pub hold: Option<bool>,
    /// What happens when the package differs and the package manager holds it: `fail`, `keep` it as it is, or `change` it all the same.
    #[attribute(identity, default = "fail")]
    pub when_held: WhenHeld,
    /// Whether the package may go to a lower `version`.
    #[attribute(identity, default = false)]
    pub allow_downgrade: bool,
    /// What becomes of configuration files that were changed on the node and come with another content: `keep` them, or `replace` them.
    #[attribute(identity, default = "keep")]
    pub configuration_files: ConfigurationFiles,
}

/// The desired state. All of it is known on the controller, since versions and verbs are what the resource may touch.
pub fn desired(given: &Parameters) -> DefinitionResult<Desired> {
    let desired = Desired {
        name: Given::name(given)?.0,
        ensure: Given::ensure(given)?,
        version: Given::version(given)?.map(|word| word.0),
        architecture: Given::architecture(given)?.map(|word| word.0),
        hold: Given::hold(given)?,
        when_held: Given::when_held(given)?,
        allow_downgrade: Given::allow_downgrade(given)?,
        configuration_files: Given::configuration_files(given)?,
    };
    desired.check()?;
    Ok(desired)
}
