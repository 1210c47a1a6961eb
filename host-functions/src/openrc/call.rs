//! The functions of `openrc` as values.

use super::ServiceName;
use crate::phase::Reach;

/// A call of one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Which.
    pub function: Function,
    /// The service that it is about.
    pub name: ServiceName,
    /// The runlevel, of `add` and `remove`.
    pub runlevel: Option<ServiceName>,
}

/// A function of the WIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is named after the function in the WIT")]
pub enum Function {
    Status,
    Start,
    Stop,
    Restart,
    Reload,
    Zap,
    Add,
    Remove,
}

impl Call {
    /// What it is about, for people.
    pub(crate) fn subject(&self) -> String {
        match &self.runlevel {
            Some(runlevel) => format!("{} in the runlevel {runlevel}", self.name),
            None => self.name.to_string(),
        }
    }
}

impl Function {
    /// Its name in the WIT.
    pub(crate) fn wit_name(self) -> &'static str {
        match self {
            Function::Status => "openrc#status",
            Function::Start => "openrc#start",
            Function::Stop => "openrc#stop",
            Function::Restart => "openrc#restart",
            Function::Reload => "openrc#reload",
            Function::Zap => "openrc#zap",
            Function::Add => "openrc#add",
            Function::Remove => "openrc#remove",
        }
    }

    /// What kind of thing it does.
    pub(crate) fn reach(self) -> Reach {
        if self == Function::Status { Reach::Content } else { Reach::Change }
    }

    /// The action on the unit of that name that it needs.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Function::Status => "read",
            Function::Start | Function::Zap => "start",
            Function::Stop => "stop",
            Function::Restart => "restart",
            Function::Reload => "reload",
            Function::Add => "enable",
            Function::Remove => "disable",
        }
    }
}
