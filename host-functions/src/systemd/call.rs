//! The functions of `systemd` as values.

use super::UnitName;
use crate::phase::Reach;

/// A call of one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Which.
    pub function: Function,
    /// The unit that it is about; none for `daemon-reload`.
    pub unit: Option<UnitName>,
}

/// A function of the WIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is named after the function in the WIT")]
pub enum Function {
    Identity,
    Status,
    Settled,
    Start,
    Stop,
    Restart,
    Reload,
    ReloadOrRestart,
    ResetFailed,
    Enable,
    Disable,
    Mask,
    Unmask,
    DaemonReload,
}

/// The shared action.
pub(super) const DAEMON_RELOAD: &str = "daemon-reload";

impl Call {
    /// A call about a unit.
    pub fn on(function: Function, unit: &UnitName) -> Self {
        Self { function, unit: Some(unit.clone()) }
    }

    /// A call of `daemon-reload`.
    pub fn daemon_reload() -> Self {
        Self { function: Function::DaemonReload, unit: None }
    }

    /// What it is about, for people.
    pub(crate) fn subject(&self) -> String {
        self.unit.as_ref().map_or_else(|| "the manager".to_owned(), ToString::to_string)
    }
}

impl Function {
    /// Its name in the WIT.
    pub(crate) fn wit_name(self) -> &'static str {
        match self {
            Function::Identity => "systemd#identity",
            Function::Status => "systemd#status",
            Function::Settled => "systemd#settled",
            Function::Start => "systemd#start",
            Function::Stop => "systemd#stop",
            Function::Restart => "systemd#restart",
            Function::Reload => "systemd#reload",
            Function::ReloadOrRestart => "systemd#reload-or-restart",
            Function::ResetFailed => "systemd#reset-failed",
            Function::Enable => "systemd#enable",
            Function::Disable => "systemd#disable",
            Function::Mask => "systemd#mask",
            Function::Unmask => "systemd#unmask",
            Function::DaemonReload => "systemd#daemon-reload",
        }
    }

    /// What kind of thing it does.
    pub(crate) fn reach(self) -> Reach {
        match self {
            Function::Identity => Reach::Metadata,
            Function::Status | Function::Settled => Reach::Content,
            Function::DaemonReload => Reach::Maintenance,
            _ => Reach::Change,
        }
    }

    /// The action that it needs.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Function::Identity | Function::Status | Function::Settled => "read",
            Function::Start => "start",
            Function::Stop => "stop",
            // It may restart, so it is no less.
            Function::Restart | Function::ReloadOrRestart => "restart",
            Function::Reload => "reload",
            Function::ResetFailed => "reset-failed",
            Function::Enable => "enable",
            Function::Disable => "disable",
            Function::Mask => "mask",
            Function::Unmask => "unmask",
            Function::DaemonReload => DAEMON_RELOAD,
        }
    }
}
