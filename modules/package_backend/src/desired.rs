//! The desired state of a package.

use runtime_sdk::{AttributeType, Diagnostic, Effect, Footprint};
use serde::{Deserialize, Serialize};

/// The longest name, version or architecture, in bytes.
const MAX_WORD: usize = 128;

/// What is to be of the package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, runtime_sdk::Ensure)]
#[ensure(default = Present, nullable)]
pub enum Ensure {
    /// It is installed: at `version` if one is given, else at any.
    #[ensure(alias = "installed")]
    Present,
    /// It is installed, at the highest version that the repositories offer or a higher one.
    Latest,
    /// It is not installed. Configuration files that were changed may stay.
    #[ensure(alias = "removed")]
    Absent,
    /// Nothing of it is left, its configuration files included.
    Purged,
}

impl Ensure {
    /// Whether the package is to be there.
    pub fn installs(self) -> bool {
        matches!(self, Ensure::Present | Ensure::Latest)
    }
}

/// What happens when the package differs and the manager holds it at its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AttributeType)]
pub enum WhenHeld {
    /// The resource fails.
    Fail,
    /// It is left as it is.
    Keep,
    /// It is changed all the same, and stays held.
    Change,
}

/// What becomes of a configuration file that was changed on the node, when the package brings another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AttributeType)]
pub enum ConfigurationFiles {
    /// The node's stays.
    Keep,
    /// The package's takes its place.
    Replace,
}

/// The desired state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desired {
    /// The package's name.
    pub name: String,
    /// What is to be of it.
    pub ensure: Ensure,
    /// The version it is to have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its architecture, as its manager names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Whether the manager is to hold it at its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<bool>,
    /// What happens when it differs and is held.
    pub when_held: WhenHeld,
    /// Whether it may go to a lower version.
    pub allow_downgrade: bool,
    /// What becomes of changed configuration files.
    pub configuration_files: ConfigurationFiles,
}

impl Desired {
    /// This and nothing else declared.
    pub fn plain(name: &str, ensure: Ensure) -> Self {
        Self {
            name: name.to_owned(),
            ensure,
            version: None,
            architecture: None,
            hold: None,
            when_held: WhenHeld::Fail,
            allow_downgrade: false,
            configuration_files: ConfigurationFiles::Keep,
        }
    }

    /// The package itself, with the verbs that bringing this about can need.
    pub fn footprint(&self) -> Footprint {
        let mut verbs = vec!["read"];
        match self.ensure {
            Ensure::Present if self.version.is_some() => verbs.extend(["install", "upgrade"]),
            Ensure::Present => verbs.push("install"),
            Ensure::Latest => verbs.extend(["install", "upgrade"]),
            Ensure::Absent => verbs.push("remove"),
            Ensure::Purged => verbs.push("purge"),
        }
        if self.allow_downgrade {
            verbs.push("downgrade");
        }
        verbs.extend(match self.hold {
            Some(true) => Some("hold"),
            Some(false) => Some("unhold"),
            None => None,
        });
        if self.when_held == WhenHeld::Change && self.hold != Some(false) {
            verbs.push("unhold");
        }
        let actions = verbs.into_iter().map(str::to_owned).collect();
        let effect = Effect { domain: "package".into(), key: self.name.clone().into(), actions, qualifier: self.version.clone() };
        Footprint::empty().effect(effect)
    }

    /// What cannot be, whatever the manager.
    pub fn check(&self) -> Result<(), Diagnostic> {
        check_name("name", &self.name)?;
        for (attribute, word) in [("version", &self.version), ("architecture", &self.architecture)] {
            if let Some(word) = word {
                check_name(attribute, word)?;
            }
        }
        for (attribute, is_given) in [
            ("version", self.version.is_some() && self.ensure != Ensure::Present),
            ("hold", self.hold.is_some() && !self.ensure.installs()),
            ("allow_downgrade", self.allow_downgrade && self.version.is_none()),
        ] {
            if is_given {
                return Err(meaningless(attribute, self.ensure));
            }
        }
        Ok(())
    }
}

fn meaningless(attribute: &str, ensure: Ensure) -> Diagnostic {
    use runtime_sdk::Ensure as _;
    if attribute == "allow_downgrade" {
        return Diagnostic::at(attribute, "`allow_downgrade` has no meaning without a `version`")
            .hint("give a `version`, or leave `allow_downgrade` out");
    }
    Diagnostic::at(attribute, format!("`{attribute}` has no meaning when `ensure` is `{}`", ensure.word()))
        .hint(format!("leave `{attribute}` out, or change `ensure`"))
}

/// Refuses what no manager could take for a name or a version. What its own grammar is, the provider of the node says.
pub fn check_name(attribute: &str, word: &str) -> Result<(), Diagnostic> {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.~:_^@".contains(&byte);
    let starts = word.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if starts && word.len() <= MAX_WORD && word.bytes().all(sound) && (attribute == "version" || !word.contains(':')) {
        return Ok(());
    }
    let what = format!(
        "`{attribute}` has 1 to {MAX_WORD} letters, digits, `+`, `-`, `.`, `~`, `_`, `^` and `@`, starting with a letter or digit"
    );
    let diagnostic = Diagnostic::at(attribute, what);
    Err(if attribute == "name" {
        diagnostic.hint("an architecture stands in `architecture`, and a version in `version`")
    } else {
        diagnostic
    })
}
