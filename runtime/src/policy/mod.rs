//! The node owner's policy: which modules may run on this node, and what they may do.
//!
//! [`Policy::load`] reads a policy file, strictly: what it does not know is an error, never ignored. [`Policy::decide`] then says of one
//! component what it is granted, or why it is refused and which row would allow it. Deny by default; deny beats allow. It only
//! decides: host functions hold every call to the grant. docs/reference/policy.md is the manual.

mod decide;
mod error;
mod executable;
mod health;
mod load;
mod parse;
mod providers;
mod row;
mod secrets;
mod units;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use host_functions::files::policy::PathPattern;
use host_functions::objects::{ArgumentsPattern, Domain, Interface, NamePattern, ObjectRow};

use crate::model::digest::ComponentDigest;
use crate::model::ids::{OwnerName, ProviderName, SecretName, TypeName};

pub use decide::{Builtin, Decision, ModuleIdentity, Refusal, Unused, Want, outside};
pub use error::{PolicyError, Problem};
pub use load::MAX_POLICY;
pub use parse::parse;
pub use row::row_that_would_allow;
pub use secrets::SecretReaders;

/// A policy. The default one, of a node without a policy file, lets the modules that are built into the program run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    modules: Vec<ModuleRow>,
    builtins: BTreeMap<ComponentDigest, Line>,
    secrets: Vec<SecretRow>,
    providers: BTreeMap<TypeName, ProviderRow>,
    /// Command lines that health checks may have; none where there is no policy file.
    health: Option<Vec<ArgumentsPattern>>,
    deny: Deny,
}

/// All `provider "TYPE" { … }`: what the node's owner says of the providers of a type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct ProviderRow {
    /// The one to use.
    use_: Option<(ProviderName, Line)>,
    /// Those not to use.
    forbid: BTreeMap<ProviderName, Line>,
}

/// `secret "NAME" { … }`: who may use a secret of the node.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SecretRow {
    name: SecretName,
    /// Names of manifests.
    owners: BTreeSet<OwnerName>,
    /// Resource types.
    modules: BTreeSet<TypeName>,
    line: Line,
}

/// A line of the policy file, from 1.
type Line = usize;

/// `module "NAME" { … }`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ModuleRow {
    name: TypeName,
    digest: Option<ComponentDigest>,
    files: FileRow,
    objects: ObjectRows,
    /// Whether names of users and groups may be looked up; unsaid means yes.
    accounts: Option<bool>,
    /// Whether facts may be read; unsaid means yes.
    facts: Option<bool>,
    limits: LimitRow,
    line: Line,
}

/// All `files { … }` of a module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct FileRow {
    read: Option<Vec<PathPattern>>,
    write: Option<Vec<PathPattern>>,
    deny: Vec<PathPattern>,
    setuid: Option<bool>,
    chown: Option<bool>,
    links: Option<bool>,
}

/// All `packages`, `systemd`, `accounts` and `processes` blocks of a module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct ObjectRows {
    rows: Vec<ObjectRow>,
    maintenance: BTreeSet<(Interface, &'static str)>,
    /// By verb.
    commands: BTreeMap<&'static str, Vec<ArgumentsPattern>>,
    unconfined_queries: Option<bool>,
    /// Those that a row says something of: of these a module that is built in gets just that.
    said: BTreeSet<Interface>,
}

/// `limits { … }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct LimitRow {
    memory: Option<u64>,
    deadline: Option<Duration>,
}

/// `deny { … }`: for every module, built-in or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Deny {
    files: Vec<PathPattern>,
    objects: BTreeMap<Domain, Vec<NamePattern>>,
    modules: BTreeMap<TypeName, Line>,
    digests: BTreeMap<ComponentDigest, Line>,
}
