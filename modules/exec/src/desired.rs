//! The desired state, and what it touches.

use std::collections::BTreeMap;

use runtime_sdk::{Effect, Footprint, Principal, Value};
use serde::{Deserialize, Serialize};

use crate::umask::Umask;
use crate::word::Word;

/// When the output of a command is shown to the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, runtime_sdk::AttributeType)]
pub enum ShowOutput {
    /// When it fails.
    OnFailure,
    /// Whenever it ran.
    Always,
    /// Never.
    Never,
}

/// As the default that `describe` tells.
impl From<ShowOutput> for Value {
    fn from(show: ShowOutput) -> Self {
        serde_json::json!(show)
    }
}

/// The desired state. What is none is left to the host's defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desired {
    /// Program and arguments; or, with `shell`, what `/bin/sh -c` gets.
    pub command: Vec<Word>,
    /// Whether the one word of `command` is for a shell.
    pub shell: bool,
    /// The path that it makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creates: Option<String>,
    /// Guard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_if: Option<Vec<Word>>,
    /// Guard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unless: Option<Vec<Word>>,
    /// Only when a subscription changed.
    pub refresh_only: bool,
    /// In every run.
    pub always: bool,
    /// Codes of success, sorted, each once; 0 if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returns: Option<Vec<u8>>,
    /// All of the environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<BTreeMap<String, Word>>,
    /// Working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Whom it runs as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<Principal>,
    /// With which group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Principal>,
    /// Bits that new files do not get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub umask: Option<Umask>,
    /// What it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Word>,
    /// How often it is tried.
    pub tries: u32,
    /// Seconds in between.
    pub try_sleep: u32,
    /// Seconds that each may take.
    pub timeout: u32,
    /// Whether the output is sensitive.
    pub sensitive: bool,
    /// When it is shown.
    pub show_output: ShowOutput,
}

impl Desired {
    /// Codes with which it succeeds.
    pub fn codes(&self) -> &[u8] {
        self.returns.as_deref().unwrap_or(&[0])
    }

    /// The variables that are declared.
    pub fn variables(&self) -> impl Iterator<Item = (&String, &Word)> {
        self.environment.iter().flatten()
    }
}

/// What it touches: any program, which policy narrows by program and arguments, and the path that it makes.
pub fn footprint(creates: Option<&str>) -> Footprint {
    let footprint = Footprint::empty().effect(Effect::program("*", &["query", "run"]));
    match creates {
        Some(path) => footprint.effect(Effect::read_path(path)).affects(path),
        None => footprint,
    }
}
