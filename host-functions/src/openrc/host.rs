//! The functions of `openrc`.

use super::{Call, Change, Function, OpenrcError, Service, ServiceName, State};
use crate::bindings::runtime::host::openrc as wit;
use crate::call::HostCall;
use crate::context::HostContext;
use crate::error::{CallError, MAX_ERROR_TEXT};
use crate::text::{cut, escape};

/// What is kept of a text that is no name, in characters.
const MAX_SHOWN: usize = 80;

/// What the init system's tool said, where it failed.
type Said = Result<Option<String>, CallError>;

impl wit::Host for HostContext {
    fn status(&mut self, name: String) -> Result<Option<wit::Service>, CallError> {
        let name = service_name(&name)?;
        self.authorize(&HostCall::Openrc(Call { function: Function::Status, name: name.clone(), runlevel: None }))?;
        Ok(self.node().openrc().service(&name).map_err(failed)?.map(told))
    }

    fn start(&mut self, name: String) -> Said {
        self.openrc(Function::Start, &name, Change::Start, None)
    }

    fn stop(&mut self, name: String) -> Said {
        self.openrc(Function::Stop, &name, Change::Stop, None)
    }

    fn restart(&mut self, name: String) -> Said {
        self.openrc(Function::Restart, &name, Change::Restart, None)
    }

    fn reload(&mut self, name: String) -> Said {
        self.openrc(Function::Reload, &name, Change::Reload, None)
    }

    fn zap(&mut self, name: String) -> Said {
        self.openrc(Function::Zap, &name, Change::Zap, None)
    }

    fn add(&mut self, name: String, runlevel: String) -> Said {
        let runlevel = service_name(&runlevel)?;
        self.openrc(Function::Add, &name, Change::Add(runlevel.clone()), Some(runlevel))
    }

    fn remove(&mut self, name: String, runlevel: String) -> Said {
        let runlevel = service_name(&runlevel)?;
        self.openrc(Function::Remove, &name, Change::Remove(runlevel.clone()), Some(runlevel))
    }
}

impl HostContext {
    fn openrc(&mut self, function: Function, name: &str, change: Change, runlevel: Option<ServiceName>) -> Said {
        let name = service_name(name)?;
        self.authorize(&HostCall::Openrc(Call { function, name: name.clone(), runlevel }))?;
        self.note_change();
        let said = self.node().openrc().change(&change, &name, self.deadline());
        // What the service's programs did to packages nobody knows.
        self.node().packages().invalidate();
        Ok(said.map_err(failed)?.map(|text| escape(&text)))
    }
}

fn service_name(name: &str) -> Result<ServiceName, CallError> {
    ServiceName::parse(name).map_err(|error| {
        let shown: String = name.chars().take(MAX_SHOWN).collect();
        CallError::invalid(format!("`{}` cannot be the name of a service or runlevel: {error}", escape(&shown)))
    })
}

fn told(service: Service) -> wit::Service {
    let state = match service.state {
        State::Stopped => wit::State::Stopped,
        State::Started => wit::State::Started,
        State::Starting => wit::State::Starting,
        State::Stopping => wit::State::Stopping,
        State::Inactive => wit::State::Inactive,
        State::Crashed => wit::State::Crashed,
    };
    wit::Service { state, runlevels: service.runlevels }
}

fn failed(error: OpenrcError) -> CallError {
    match error {
        OpenrcError::Unsupported(why) => CallError::Unsupported(why.to_owned()),
        OpenrcError::Deadline => CallError::Deadline,
        OpenrcError::System { doing, source } => {
            CallError::Other(cut(format!("{doing}: {}", escape(&source.to_string())), MAX_ERROR_TEXT))
        }
    }
}
