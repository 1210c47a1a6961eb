//! Units of systemd, over D-Bus.
//!
//! What changes a unit is a job, awaited to its result, or a link of its unit file. Nothing is read from the output of a program. Units
//! are those of the running system: beneath another root nothing runs, and everything is `unsupported`.

mod bus;
mod call;
mod convert;
mod definitions;
mod error;
mod host;
mod manager;
mod name;
pub(crate) mod policy;
mod unit;
mod wait;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bus::{Bus, until};
pub use call::{Call, Function};
pub use error::SystemdError;
pub use name::{MAX_UNIT_NAME, UnitName, UnitNameError};
pub use unit::Unit;
pub use wait::Wait;

/// What systemd can be asked to do with a unit, as a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is named after what systemctl calls it")]
pub enum Job {
    Start,
    Stop,
    Restart,
    Reload,
    ReloadOrRestart,
}

impl Job {
    fn method(self) -> &'static str {
        match self {
            Job::Start => "StartUnit",
            Job::Stop => "StopUnit",
            Job::Restart => "RestartUnit",
            Job::Reload => "ReloadUnit",
            Job::ReloadOrRestart => "ReloadOrRestartUnit",
        }
    }
}

/// What systemd can do with the file of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is named after what systemctl calls it")]
pub enum FileChange {
    Enable,
    Disable,
    Mask,
    Unmask,
}

/// systemd on one node.
pub struct Systemd {
    /// Where the node's `/` is in this process; none where the node's units do not run.
    base: Option<PathBuf>,
    bus: Bus,
}

impl fmt::Debug for Systemd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Systemd").field("socket", &self.bus.socket()).finish_non_exhaustive()
    }
}

/// The directory that is there just when systemd is the init system (sd_booted(3)).
const BOOTED: &str = "run/systemd/system";
const SOCKET: &str = "run/dbus/system_bus_socket";

impl Systemd {
    /// That of the system whose `/` this process sees at `base`; none for a root in which nothing runs.
    pub fn new(base: Option<&Path>) -> Self {
        let socket = base.unwrap_or(Path::new("/")).join(SOCKET);
        Self { base: base.map(Path::to_owned), bus: Bus::new(socket) }
    }

    /// Whether systemd is the init system of the node.
    pub fn is_init(&self) -> bool {
        self.base.as_ref().is_some_and(|base| rustix::fs::lstat(base.join(BOOTED)).is_ok())
    }

    fn require(&self) -> Result<(), SystemdError> {
        if self.base.is_none() {
            return Err(SystemdError::Unsupported("units run on the running system alone, and this run has another root"));
        }
        if !self.is_init() {
            return Err(SystemdError::Unsupported("systemd is not the init system of this node"));
        }
        Ok(())
    }

    /// The canonical name of a unit, and all its names; none if there is none.
    ///
    /// # Errors
    /// If systemd cannot be asked.
    pub fn identity(&self, name: &UnitName, deadline: Instant) -> Result<Option<(String, Vec<String>)>, SystemdError> {
        self.require()?;
        let name = name.clone();
        self.bus.with_manager(
            deadline,
            move |manager, deadline| async move { until(deadline, unit::identity(&manager, &name)).await },
        )
    }

    /// What a unit is now.
    ///
    /// # Errors
    /// If systemd cannot be asked.
    pub fn unit(&self, name: &UnitName, deadline: Instant) -> Result<Unit, SystemdError> {
        let now = Wait { patience: Duration::ZERO, steady: Duration::ZERO };
        self.settled(name, now, deadline)
    }

    /// What a unit is once it has been in one state for as long as `steady`, and is on its way to another no longer; or as it is when
    /// `patience` is over.
    ///
    /// # Errors
    /// If systemd cannot be asked, or the deadline passes first.
    pub fn settled(&self, name: &UnitName, wait: Wait, deadline: Instant) -> Result<Unit, SystemdError> {
        self.require()?;
        let name = name.clone();
        let mut unit = self.bus.with_manager(deadline, move |manager, deadline| async move {
            until(deadline, wait::settled(&manager, &name, wait)).await
        })?;
        unit.need_daemon_reload |= self.base.as_deref().is_some_and(|base| definitions::has_unread_drop_in(base, &unit));
        Ok(unit)
    }

    /// Has a job done, and gives how it ended, in systemd's words: `done`, `failed`, `canceled`, `timeout`, `dependency`, `skipped`.
    ///
    /// # Errors
    /// If systemd refuses the job, or it has not ended at the deadline; then it is given up, and what it has begun goes on.
    pub fn run_job(&self, job: Job, name: &UnitName, deadline: Instant) -> Result<String, SystemdError> {
        self.require()?;
        let name = name.clone();
        self.bus
            .with_manager(deadline, move |manager, deadline| async move { manager.run_job(job.method(), &name, deadline).await })
    }

    /// Forgets that a unit failed, and how often it was started of late.
    ///
    /// # Errors
    /// If systemd refuses.
    pub fn reset_failed(&self, name: &UnitName, deadline: Instant) -> Result<(), SystemdError> {
        self.require()?;
        let name = name.clone();
        self.bus.with_manager(deadline, move |manager, deadline| async move {
            until(deadline, manager.ask("ResetFailedUnit", &name.as_str())).await
        })
    }

    /// Changes the links of a unit's file, for good, and has systemd read its files again if any link changed, as `systemctl` does. Whether
    /// one did.
    ///
    /// # Errors
    /// If systemd refuses.
    pub fn change_file(&self, change: FileChange, name: &UnitName, deadline: Instant) -> Result<bool, SystemdError> {
        self.require()?;
        let name = name.clone();
        self.bus.with_manager(deadline, move |manager, deadline| async move {
            until(deadline, async {
                let changed = change_file(&manager, change, &name).await?;
                if changed {
                    manager.ask::<_, ()>("Reload", &()).await?;
                }
                Ok(changed)
            })
            .await
        })
    }

    /// Has systemd read all its files again.
    ///
    /// # Errors
    /// If systemd refuses, or has not done so at the deadline.
    pub fn daemon_reload(&self, deadline: Instant) -> Result<(), SystemdError> {
        self.require()?;
        self.bus.with_manager(deadline, move |manager, deadline| async move { until(deadline, manager.ask("Reload", &())).await })
    }
}

/// What was done to the links of unit files: of which kind, at which path, to which target.
type Changes = Vec<(String, String, String)>;

async fn change_file(manager: &manager::Manager, change: FileChange, name: &UnitName) -> Result<bool, SystemdError> {
    let names = vec![name.as_str()];
    // For good, not until the next boot; never over something that is there.
    let (runtime, force) = (false, false);
    let changes: Changes = match change {
        FileChange::Enable => {
            let (_, changes): (bool, Changes) = manager.ask("EnableUnitFiles", &(names, runtime, force)).await?;
            changes
        }
        FileChange::Disable => manager.ask("DisableUnitFiles", &(names, runtime)).await?,
        FileChange::Mask => manager.ask("MaskUnitFiles", &(names, runtime, force)).await?,
        FileChange::Unmask => manager.ask("UnmaskUnitFiles", &(names, runtime)).await?,
    };
    Ok(!changes.is_empty())
}

#[cfg(test)]
mod tests;
