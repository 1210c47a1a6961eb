//! The functions of `systemd`.

use std::time::{Duration, Instant};

use super::convert;
use super::{Call, FileChange, Function, Job, SystemdError, UnitName, Wait};
use crate::bindings::runtime::host::systemd::{self as wit, JobResult};
use crate::call::HostCall;
use crate::context::HostContext;
use crate::error::CallError;
use crate::text::escape;

/// What of a name is kept for the audit trail where it is none, in characters.
const MAX_SHOWN: usize = 80;

impl wit::Host for HostContext {
    fn identity(&mut self, name: String) -> Result<Option<Vec<String>>, CallError> {
        let name = self.unit_name(&name)?;
        self.authorize(&HostCall::Systemd(Call::on(Function::Identity, &name)))?;
        let found = self.node().systemd().identity(&name, self.deadline()).map_err(|error| failed(&name, error))?;
        Ok(found.map(|(canonical, names)| {
            let others = names.into_iter().filter(|other| *other != canonical).collect::<Vec<_>>();
            [vec![canonical], others].concat()
        }))
    }

    fn status(&mut self, name: String) -> Result<wit::Unit, CallError> {
        let name = self.unit_name(&name)?;
        self.authorize(&HostCall::Systemd(Call::on(Function::Status, &name)))?;
        let unit = self.node().systemd().unit(&name, self.deadline()).map_err(|error| failed(&name, error))?;
        Ok(convert::unit(unit))
    }

    fn settled(&mut self, name: String, patience_ms: u32, steady_ms: u32) -> Result<wit::Unit, CallError> {
        let name = self.unit_name(&name)?;
        self.authorize(&HostCall::Systemd(Call::on(Function::Settled, &name)))?;
        let wait = Wait { patience: Duration::from_millis(patience_ms.into()), steady: Duration::from_millis(steady_ms.into()) };
        let unit = self.node().systemd().settled(&name, wait, self.deadline()).map_err(|error| failed(&name, error))?;
        Ok(convert::unit(unit))
    }

    fn start(&mut self, name: String) -> Result<JobResult, CallError> {
        self.job(Function::Start, Job::Start, &name)
    }

    fn stop(&mut self, name: String) -> Result<JobResult, CallError> {
        self.job(Function::Stop, Job::Stop, &name)
    }

    fn restart(&mut self, name: String) -> Result<JobResult, CallError> {
        self.job(Function::Restart, Job::Restart, &name)
    }

    fn reload(&mut self, name: String) -> Result<JobResult, CallError> {
        self.job(Function::Reload, Job::Reload, &name)
    }

    fn reload_or_restart(&mut self, name: String) -> Result<JobResult, CallError> {
        self.job(Function::ReloadOrRestart, Job::ReloadOrRestart, &name)
    }

    fn reset_failed(&mut self, name: String) -> Result<(), CallError> {
        let name = self.unit_name(&name)?;
        let deadline = self.begin_change(&HostCall::Systemd(Call::on(Function::ResetFailed, &name)))?;
        self.node().systemd().reset_failed(&name, deadline).map_err(|error| failed(&name, error))
    }

    fn enable(&mut self, name: String) -> Result<bool, CallError> {
        self.file(Function::Enable, FileChange::Enable, &name)
    }

    fn disable(&mut self, name: String) -> Result<bool, CallError> {
        self.file(Function::Disable, FileChange::Disable, &name)
    }

    fn mask(&mut self, name: String) -> Result<bool, CallError> {
        self.file(Function::Mask, FileChange::Mask, &name)
    }

    fn unmask(&mut self, name: String) -> Result<bool, CallError> {
        self.file(Function::Unmask, FileChange::Unmask, &name)
    }

    fn daemon_reload(&mut self) -> Result<(), CallError> {
        let deadline = self.begin_change(&HostCall::Systemd(Call::daemon_reload()))?;
        self.node().systemd().daemon_reload(deadline).map_err(convert::error)
    }
}

impl HostContext {
    /// The unit that a guest names. What is no name is refused before anything else: no right could be about it.
    fn unit_name(&self, name: &str) -> Result<UnitName, CallError> {
        UnitName::parse(name).map_err(|error| {
            let shown: String = name.chars().take(MAX_SHOWN).collect();
            CallError::invalid(format!("`{}` cannot be the name of a unit: {error}", escape(&shown)))
        })
    }

    /// Allows a call that changes the node, and notes that it may have.
    fn begin_change(&mut self, call: &HostCall) -> Result<Instant, CallError> {
        self.authorize(call)?;
        self.note_change();
        Ok(self.deadline())
    }

    fn job(&mut self, function: Function, job: Job, name: &str) -> Result<JobResult, CallError> {
        let name = self.unit_name(name)?;
        let deadline = self.begin_change(&HostCall::Systemd(Call::on(function, &name)))?;
        let result = self.node().systemd().run_job(job, &name, deadline);
        // What the unit's programs did to packages nobody knows.
        self.node().packages().invalidate();
        Ok(convert::job_result(result.map_err(|error| failed(&name, error))?))
    }

    fn file(&mut self, function: Function, change: FileChange, name: &str) -> Result<bool, CallError> {
        let name = self.unit_name(name)?;
        let deadline = self.begin_change(&HostCall::Systemd(Call::on(function, &name)))?;
        self.node().systemd().change_file(change, &name, deadline).map_err(|error| failed(&name, error))
    }
}

/// The error with the unit that it is about.
fn failed(name: &UnitName, error: SystemdError) -> CallError {
    match error {
        SystemdError::Masked => CallError::PermissionDenied(format!("`{name}` is masked")),
        SystemdError::NotApplicable(said) => CallError::invalid(format!("`{name}`: {said}")),
        SystemdError::Refused(said) => CallError::Other(format!("systemd refused it for `{name}`: {said}")),
        other => convert::error(other),
    }
}
