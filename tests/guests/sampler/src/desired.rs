//! The desired state.

use std::collections::BTreeMap;

use runtime_sdk::{Asset, Claim, DefinitionResult, Effect, Footprint, NodeResult, Value, json};
use serde::{Deserialize, Serialize};

/// Whether the files are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ensure {
    /// They are.
    Present,
    /// They are not.
    Absent,
}

/// The desired state. What is none is not managed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desired {
    /// The path of the file.
    pub path: String,
    /// Whether the files are there.
    pub ensure: Ensure,
    /// What is in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Asset>,
    /// Attributes as they are given.
    pub settings: BTreeMap<String, Value>,
    /// The block `retry`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// The blocks `rule`.
    pub rules: Vec<Rule>,
    /// The blocks `vhost`.
    pub vhosts: Vec<Vhost>,
}

/// A block `retry`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// How often.
    pub tries: i64,
    /// How long between two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
}

/// A block `rule`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What to do.
    pub action: String,
    /// With what.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matched: Option<Value>,
}

/// A block `vhost`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vhost {
    /// Its label.
    pub label: String,
    /// Where its page is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// What is in its page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<Asset>,
    /// Its port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<i64>,
    /// A resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
}

/// A file that is managed.
pub struct Target<'d> {
    /// The attribute that says what is in it, by its path.
    pub attribute: String,
    /// Where it is.
    pub path: &'d str,
    /// What is in it.
    pub content: Option<&'d Asset>,
}

impl Desired {
    /// The state that a text says, for a definition.
    pub fn parse(text: &str) -> DefinitionResult<Self> {
        Ok(json::parse_canonical(text)?)
    }

    /// The state that a text says, on the node.
    pub fn parse_on_node(text: &str) -> NodeResult<Self> {
        Ok(json::parse_canonical(text)?)
    }

    /// The files that it manages.
    pub fn targets(&self) -> Vec<Target<'_>> {
        let own = Target { attribute: "content".into(), path: &self.path, content: self.content.as_ref() };
        let pages = self.vhosts.iter().enumerate().filter_map(|(place, vhost)| {
            let attribute = format!("vhost[{place}].page");
            Some(Target { attribute, path: vhost.root.as_deref()?, content: vhost.page.as_ref() })
        });
        std::iter::once(own).chain(pages).collect()
    }

    /// Every asset that it names.
    pub fn assets(&self) -> impl Iterator<Item = &Asset> {
        self.content.iter().chain(self.vhosts.iter().filter_map(|vhost| vhost.page.as_ref()))
    }

    /// What it holds and touches.
    pub fn footprint(&self) -> Footprint {
        let hosts = self.vhosts.iter().map(|vhost| (vhost.label.as_str(), vhost.root.as_deref()));
        footprint(&self.path, hosts)
    }
}

/// What a declaration with these hosts, each with its root, holds and touches.
pub fn footprint<'h>(path: &str, hosts: impl Iterator<Item = (&'h str, Option<&'h str>)>) -> Footprint {
    let mut footprint = Footprint::empty().effect(Effect::write_path(path)).affects(path);
    for (label, root) in hosts {
        let key = label.as_bytes().to_vec();
        footprint.claims.push(Claim { domain: "host".into(), key, qualifier: String::new() });
        if let Some(root) = root {
            footprint = footprint.effect(Effect::write_path(root)).affects(root);
        }
    }
    footprint
}
