//! The node as one run sees it: a root opened once, and what its attempts share.

pub mod identity;
mod init;
pub(crate) mod protected;
pub(crate) mod registry;
pub(crate) mod resolve;
pub mod root;
pub mod staging;

use std::path::Path;
use std::sync::Arc;

use crate::accounts::Accounts;
use crate::audit::AuditTrail;
use crate::facts::{Facts, FactsError};
use crate::openrc::Openrc;
use crate::packages::cache::PackageCache;
use crate::processes::native::Runner;
use crate::systemd::Systemd;
use protected::Protected;
use registry::Registry;
pub use root::{Root, RootError};

/// What all attempts of a run share. Made once a run; a long-lived process makes one for each.
#[derive(Debug)]
pub struct Node {
    root: Arc<Root>,
    facts: Arc<Facts>,
    accounts: Accounts,
    systemd: Systemd,
    openrc: Openrc,
    protected: Protected,
    registry: Registry,
    packages: PackageCache,
    audit: AuditTrail,
    runner: Runner,
}

/// Why a node could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The root.
    #[error("the root of the node cannot be used")]
    Root(#[source] RootError),
    /// The facts.
    #[error("the facts of the node cannot be gathered")]
    Facts(#[source] FactsError),
    /// A protected object.
    #[error("`{}` cannot be protected from resources", path.display())]
    Protect {
        /// Its path as the host sees it.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl Node {
    /// Opens the node whose root is the directory `root`, and gathers the facts that cost nothing, and those of its owner. What lies at `protected` (paths as this process sees
    /// them: its binary, the policy file, the state folder, the code cache), and beneath, is kept from every resource, whether
    /// it exists yet or not.
    ///
    /// # Errors
    /// If the root cannot be opened, the kernel lacks `openat2`, or a fact file or a protected object cannot be looked at.
    pub fn open(root: &Path, protected: &[&Path]) -> Result<Self, NodeError> {
        Self::open_with(root, protected, Runner::this_program())
    }

    /// The same, with another executable as the helper that runs programs.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(root: &Path, protected: &[&Path], runner: Runner) -> Result<Self, NodeError> {
        let root = Arc::new(Root::open(root).map_err(NodeError::Root)?);
        let facts = Arc::new(Facts::of(&root, &runner).map_err(NodeError::Facts)?);
        let accounts = Accounts::of(&root);
        // What runs, runs on the running system alone.
        let running = root.is_system().then(|| Path::new("/"));
        let protected_objects = Protected::new(&root);
        let node = Self {
            root,
            facts,
            accounts,
            systemd: Systemd::new(running),
            openrc: Openrc::new(running),
            protected: protected_objects,
            registry: Registry::default(),
            packages: PackageCache::default(),
            audit: AuditTrail::default(),
            runner,
        };
        protected.iter().try_for_each(|path| node.protect(path))?;
        Ok(node)
    }

    /// Keeps one more object, and all beneath it, from every resource: one that did not exist when the node was opened.
    ///
    /// # Errors
    /// If it cannot be looked at. That it does not exist is no error.
    pub fn protect(&self, path: &Path) -> Result<(), NodeError> {
        self.protected.add(path).map_err(|source| NodeError::Protect { path: path.to_owned(), source })
    }

    /// Tells what the resources of the run may touch, as domain and key of their effects, so that what one of them asks for can be read for all.
    /// Nothing is allowed by it.
    pub fn announce<'e>(&self, objects: impl IntoIterator<Item = (&'e str, &'e [u8])>) {
        self.packages.announce(objects);
    }

    /// The root.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The facts.
    pub fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    /// The init system that runs on the node, such as `systemd`; none if it cannot be told.
    pub fn init(&self) -> Option<&'static str> {
        init::find(&self.root)
    }

    /// The record of every host call of the run.
    pub fn audit(&self) -> &AuditTrail {
        &self.audit
    }

    /// User and group that the run has: new objects belong to them.
    pub fn run_as(&self) -> (u32, u32) {
        self.root.run_as()
    }

    pub(crate) fn runner(&self) -> &Runner {
        &self.runner
    }

    /// Its systemd.
    pub(crate) fn systemd(&self) -> &Systemd {
        &self.systemd
    }

    /// Its OpenRC.
    pub(crate) fn openrc(&self) -> &Openrc {
        &self.openrc
    }

    pub(crate) fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    pub(crate) fn protected(&self) -> &Protected {
        &self.protected
    }

    /// What is known of the node's packages.
    pub(crate) fn packages(&self) -> &PackageCache {
        &self.packages
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }
}
