//! What a provider says about itself: which type it serves, on which systems, with which options.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::description::{Attribute, Block, BlockKind, Capability, Description, Selectors};
use super::ids::{ProviderName, TypeName};

/// A provider as its component describes it. docs/module-authoring.md explains each part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderDescription {
    /// The resource type that it serves.
    pub type_name: TypeName,
    /// Its name among the providers of that type.
    pub name: ProviderName,
    /// The version of its options, from 1.
    pub schema_version: u32,
    /// What it works with, one sentence.
    pub summary: String,
    /// The systems that it serves.
    pub systems: Vec<System>,
    /// What must hold on the running node besides.
    pub conditions: Vec<Condition>,
    /// Its options, in its order.
    pub options: Vec<Attribute>,
    /// The rights that it asks for.
    pub capabilities: Vec<Capability>,
}

impl ProviderDescription {
    /// The name of its module, which policy rows have: `TYPE_NAME`.
    ///
    /// # Errors
    /// If it is too long to be one.
    pub fn module_name(&self) -> Result<TypeName, super::ids::NameError> {
        module_name(&self.type_name, &self.name)
    }

    /// Its options as those of a type of their own, under the name of its module: for whatever reads descriptors.
    ///
    /// # Panics
    /// Never for one that was loaded: a name that is too long is refused.
    pub fn options_as_type(&self) -> Description {
        Description {
            type_name: self.module_name().expect("a longer name is refused when it is loaded"),
            schema_version: self.schema_version,
            summary: self.summary.clone(),
            attributes: self.options.clone(),
            blocks: Vec::new(),
            outputs: Vec::new(),
            ensure: None,
            capabilities: self.capabilities.clone(),
            selectors: Selectors::default(),
            has_providers: false,
        }
    }

    /// Its options block, as a block of its type.
    pub fn block(&self) -> Block {
        Block {
            name: self.name.to_string(),
            kind: BlockKind::Single,
            required: false,
            attributes: self.options.clone(),
            doc: format!("Options of the provider `{}`.", self.name),
        }
    }
}

/// The name of a provider's module: `package_apt`.
///
/// # Errors
/// If it is too long to be one.
pub fn module_name(type_name: &TypeName, provider: &ProviderName) -> Result<TypeName, super::ids::NameError> {
    format!("{type_name}_{provider}").parse()
}

/// The word for any system.
pub const ANY_SYSTEM: &str = "*";

/// A system that a provider serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// `ID` of os-release, or [`ANY_SYSTEM`].
    pub id: String,
    /// Values of `VERSION_ID`; empty for any.
    pub versions: Vec<String>,
}

/// Something that must hold on the running node. There are few kinds of them, and any number of each kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// `init:NAME`: the init system of that name runs.
    Init(String),
}

/// Text that is no [`Condition`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a condition: write `init:` and the name of an init system", found.escape_debug())]
pub struct ConditionError {
    /// The text, cut to 80 characters.
    pub found: String,
}

impl Condition {
    /// What it needs, for people: "systemd as the init system".
    pub fn needs(&self) -> String {
        match self {
            Self::Init(name) => format!("{name} as the init system"),
        }
    }
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let is_word = |name: &&str| {
            (1..=63).contains(&name.len()) && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.'))
        };
        let name = text.strip_prefix("init:").filter(is_word);
        name.map(|name| Self::Init(name.to_owned())).ok_or_else(|| ConditionError { found: text.chars().take(80).collect() })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Init(name) => write!(f, "init:{name}"),
        }
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_names_what_it_needs() {
        let condition: Condition = "init:systemd".parse().unwrap();
        assert_eq!((condition.to_string().as_str(), condition.needs().as_str()), ("init:systemd", "systemd as the init system"));
        for bad in ["", "init:", "init", "systemd", "init:a b", "init:A", "kernel:6", &format!("init:{}", "a".repeat(64))] {
            assert!(bad.parse::<Condition>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_module_is_named_after_type_and_provider() {
        let name = |provider: &str| module_name(&"package".parse().unwrap(), &provider.parse().unwrap());
        assert_eq!(name("apt").unwrap().as_str(), "package_apt");
        assert!(name(&"a".repeat(60)).is_err(), "too long for one name");
    }
}
