//! What a declaration says.

use runtime_sdk::{Attributes, DefinitionResult, Parameters};
use service_backend::{Desired, Ensure, OnRefresh, ServiceName};

/// A declaration. What is to be of the service decides what the resource may do with it, so all of it is known on the controller.
#[derive(Attributes)]
pub struct Given {
    /// The service's name: `nginx`, or with the kind of the unit, `nginx.service`, `certbot.timer`. Without a kind it is a service.
    #[attribute(identity, exported)]
    pub name: ServiceName,
    /// Whether the service runs. Omitted, it is left as it is.
    #[attribute(ensure, alias = "state", identity, exported)]
    pub ensure: Option<Ensure>,
    /// Whether the service starts at boot.
    #[attribute(identity, exported)]
    pub enabled: Option<bool>,
    /// Whether it is made impossible to start the service, for whoever tries.
    #[attribute(identity, exported)]
    pub masked: Option<bool>,
    /// What is done when something that the service subscribes to has changed, and the service is ensured `running`: `restart`, `reload`, or
    /// `reload_or_restart`. Of another service nothing but `restart` can be said, since none of these is ever done to it.
    #[attribute(identity, default = "restart")]
    pub on_refresh: OnRefresh,
    /// Whether the definitions of services are read again before this one is started or enabled, where they have changed; and whether it goes
    /// after the resources that write such definitions.
    #[attribute(identity, default = true)]
    pub daemon_reload: bool,
}

/// The desired state.
pub fn desired(given: &Parameters) -> DefinitionResult<Desired> {
    let desired = Desired {
        name: Given::name(given)?,
        ensure: Given::ensure(given)?,
        enabled: Given::enabled(given)?,
        masked: Given::masked(given)?,
        on_refresh: Given::on_refresh(given)?,
        daemon_reload: Given::daemon_reload(given)?,
    };
    desired.check()?;
    Ok(desired)
}
