//! Services of OpenRC: read from its own records, changed by its own tools.
//!
//! A tool gets a name that is checked, and nothing else of a guest's. It is not run by `processes`, which ends whatever a program leaves behind: what an
//! init script leaves behind is the service.

mod call;
mod host;
mod name;
pub(crate) mod policy;
mod state;
mod tool;

use std::path::{Path, PathBuf};
use std::time::Instant;

pub use call::{Call, Function};
pub use name::{ServiceName, ServiceNameError};
pub use state::{Service, State};

/// Why OpenRC did not do, or tell, what was asked.
#[derive(Debug, thiserror::Error)]
pub enum OpenrcError {
    /// This node has no OpenRC to ask.
    #[error("{0}")]
    Unsupported(&'static str),
    /// A tool could not be run, or a record not be read.
    #[error("{doing}: {source}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The deadline has passed.
    #[error("the deadline has passed")]
    Deadline,
}

/// What OpenRC's tools can be asked to do with a service.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is named after what rc-service or rc-update calls it")]
pub enum Change {
    Start,
    Stop,
    Restart,
    Reload,
    Zap,
    Add(ServiceName),
    Remove(ServiceName),
}

/// OpenRC on one node.
#[derive(Debug)]
pub struct Openrc {
    /// Where the node's `/` is in this process; none where the node's services do not run.
    base: Option<PathBuf>,
}

const SERVICE: &str = "/sbin/rc-service";
const UPDATE: &str = "/sbin/rc-update";

/// The record that is there just when OpenRC has booted the system.
const BOOTED: &str = "run/openrc/softlevel";

impl Openrc {
    /// That of the system whose `/` this process sees at `base`; none for a root in which nothing runs.
    pub fn new(base: Option<&Path>) -> Self {
        Self { base: base.map(Path::to_owned) }
    }

    /// Whether OpenRC is the init system of the node.
    pub fn is_init(&self) -> bool {
        self.base.as_ref().is_some_and(|base| rustix::fs::stat(base.join(BOOTED)).is_ok())
    }

    fn require(&self) -> Result<&Path, OpenrcError> {
        let base = self.base.as_deref();
        let base =
            base.ok_or(OpenrcError::Unsupported("services run on the running system alone, and this run has another root"))?;
        if self.is_init() { Ok(base) } else { Err(OpenrcError::Unsupported("OpenRC is not the init system of this node")) }
    }

    /// What a service is now; none if there is none.
    ///
    /// # Errors
    /// If its records cannot be read.
    pub fn service(&self, name: &ServiceName) -> Result<Option<Service>, OpenrcError> {
        state::read(self.require()?, name)
    }

    /// Has a change made, and waits for it: none, or the end of what was said where it failed.
    ///
    /// # Errors
    /// If the tool cannot be run, or has not ended at the deadline; then it is ended, and what it has begun may go on.
    pub fn change(&self, change: &Change, name: &ServiceName, deadline: Instant) -> Result<Option<String>, OpenrcError> {
        self.require()?;
        let name = name.as_str();
        let (program, arguments): (&str, &[&str]) = match change {
            Change::Start => (SERVICE, &[name, "start"]),
            Change::Stop => (SERVICE, &[name, "stop"]),
            Change::Restart => (SERVICE, &[name, "restart"]),
            Change::Reload => (SERVICE, &[name, "reload"]),
            Change::Zap => (SERVICE, &[name, "zap"]),
            Change::Add(runlevel) => (UPDATE, &["add", name, runlevel.as_str()]),
            Change::Remove(runlevel) => (UPDATE, &["del", name, runlevel.as_str()]),
        };
        tool::run(program, &[&["--nocolor", "--quiet"], arguments].concat(), deadline)
    }
}
