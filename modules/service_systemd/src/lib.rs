//! The provider `systemd` of the resource type `service`: units, over the bus.
//!
//! The host speaks to systemd and awaits its jobs; this says what its states mean for a service, and when one that was started is believed
//! to run.

mod observe;

use runtime_sdk::node::not_supported;
use runtime_sdk::provider::{Backend, BackendContext, Interrupted, OptionsSemantics, ProviderDefinition, System};
use runtime_sdk::systemd::{self, JobResult};
use runtime_sdk::{
    Capability, Compiled, DefinitionResult, Diagnostic, Footprint, HostCall as _, HostError, NodeResult, Outcome, Parameters,
    Progress, Value,
};
use serde::{Deserialize, Serialize};
use service_backend::{Activity, DAEMON_RELOAD, Desired, Identity, Observation, ServiceName, Step};

/// How long a service is waited for that is on its way, in milliseconds, before it is told as such.
const PATIENCE_MS: u32 = 10_000;

/// How long a service must stay up to be believed, in milliseconds: a simple one counts as started as soon as its process is there.
const STEADY_MS: u32 = 200;

/// The provider.
pub struct Systemd;

runtime_sdk::export_provider!(Systemd);

/// It has no options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {}

impl ProviderDefinition for Systemd {
    const TYPE: &'static str = "service";
    const NAME: &'static str = "systemd";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "Services as units of systemd, where it is the init system.";

    type Given = ();
    type Options = Options;
    type Desired = Desired;

    fn systems() -> Vec<System> {
        vec![System::any()]
    }

    fn conditions() -> Vec<String> {
        vec!["init:systemd".to_owned()]
    }

    fn capabilities() -> Vec<Capability> {
        let verbs = [
            ("read", "to compare units with what is declared"),
            ("start", "to start what is declared running"),
            ("stop", "to stop what is declared stopped"),
            ("restart", "to restart what changed beneath it"),
            ("reload", "to have a unit read its configuration again"),
            ("reset-failed", "to start a unit that failed too often"),
            ("enable", "to have a unit start at boot"),
            ("disable", "to keep a unit from starting at boot"),
            ("mask", "to make it impossible to start a unit"),
            ("unmask", "to make it possible again"),
            ("daemon-reload", "to have definitions read that have changed"),
        ];
        verbs.map(|(verb, reason)| Capability::new("systemd", verb, "*", reason)).into()
    }

    fn compile(_given: &Parameters) -> DefinitionResult<Compiled<Options>> {
        Ok(Compiled::new(Options {}))
    }

    fn validate(_options: &Options, _base: &Footprint, desired: Option<&Desired>) -> DefinitionResult<OptionsSemantics> {
        if desired.is_some_and(|desired| desired.name.unit().contains('+')) {
            return Err(Diagnostic::at("name", "a unit of systemd has no `+` in its name").into());
        }
        Ok(OptionsSemantics::new(Footprint::empty()).capability("systemd.read"))
    }
}

impl Backend for Systemd {
    type Observation = Observation;

    fn inspect(desired: &Desired, _options: &Options, _context: &BackendContext) -> NodeResult<Value> {
        let names = systemd::identity(desired.name.unit()).before_change("tell the names of the service")?;
        let identity = Identity { names: names.unwrap_or_default() };
        Ok(serde_json::json!(identity))
    }

    fn read(desired: &Desired, _options: &Options, _context: &BackendContext) -> NodeResult<Observation> {
        let unit = systemd::settled(desired.name.unit(), PATIENCE_MS, 0).before_change("read the state of the service")?;
        Ok(observe::observation(&desired.name, &unit))
    }

    fn apply(desired: &Desired, _options: &Options, current: &Observation, _context: &BackendContext) -> NodeResult<Outcome> {
        service_backend::converge(desired, current, |step, progress| take(step, &desired.name, progress))
    }

    fn refresh(desired: &Desired, _options: &Options, _context: &BackendContext) -> NodeResult<Outcome> {
        service_backend::refresh(desired, |step, progress| take(step, &desired.name, progress))
    }

    fn perform(action: &str, _desired: &Desired, _options: &Options, _context: &BackendContext) -> NodeResult<Outcome> {
        if action != DAEMON_RELOAD {
            return Err(not_supported(format!("systemd has no shared action `{action}`")));
        }
        Progress::new().whole("have systemd read the files of units again", systemd::daemon_reload())?;
        let mut outcome = Outcome::changed();
        outcome.executed = true;
        Ok(outcome)
    }

    /// systemd goes on by itself with what was asked for, and to ask again for what is so already does nothing.
    fn recover(_desired: &Desired, _options: &Options, _operation: &Interrupted, _context: &BackendContext) -> NodeResult<()> {
        Ok(())
    }
}

fn take(step: Step, name: &ServiceName, progress: &mut Progress) -> NodeResult<()> {
    let unit = name.unit();
    match step {
        Step::Unmask => file(progress, "unmask the service", systemd::unmask(unit)),
        Step::Enable => file(progress, "enable the service", systemd::enable(unit)),
        Step::Disable => file(progress, "disable the service", systemd::disable(unit)),
        Step::Mask => mask(progress, unit),
        Step::ForgetFailure => progress.whole("forget that the service failed", systemd::reset_failed(unit)),
        Step::Stop => job(progress, "stop the service", systemd::stop(unit)),
        Step::Start => up(progress, "start the service", name, systemd::start(unit)),
        Step::Restart => up(progress, "restart the service", name, systemd::restart(unit)),
        Step::Reload => up(progress, "have the service read its configuration again", name, systemd::reload(unit)),
        Step::ReloadOrRestart => up(progress, "reload or restart the service", name, systemd::reload_or_restart(unit)),
    }
}

fn file(progress: &mut Progress, doing: &str, made: Result<bool, HostError>) -> NodeResult<()> {
    progress.stepwise(doing, made).map(|_| ())
}

fn mask(progress: &mut Progress, unit: &str) -> NodeResult<()> {
    match systemd::mask(unit) {
        Err(HostError::AlreadyExists) => Err(progress.failed(
            Diagnostic::at("masked", "its definition stands where the mask would go, in `/etc/systemd/system`")
                .hint("declare that file absent, or leave `masked` out"),
        )),
        made => file(progress, "mask the service", made),
    }
}

fn job(progress: &mut Progress, doing: &str, ended: Result<JobResult, HostError>) -> NodeResult<()> {
    match progress.stepwise(doing, ended)? {
        JobResult::Done => Ok(()),
        ended => Err(failed(progress, format!("cannot {doing}: {}", observe::job(&ended)))),
    }
}

/// A job after which the service is to be up, and stay so.
fn up(progress: &mut Progress, doing: &str, name: &ServiceName, ended: Result<JobResult, HostError>) -> NodeResult<()> {
    job(progress, doing, ended)?;
    let unit = progress.harmless("look at the service", systemd::settled(name.unit(), PATIENCE_MS, STEADY_MS))?;
    let found = observe::observation(name, &unit);
    if found.activity == Activity::Running {
        return Ok(());
    }
    Err(failed(progress, format!("the service does not stay up: {}", found.words)))
}

fn failed(progress: &Progress, message: String) -> runtime_sdk::LifecycleError {
    progress.failed(Diagnostic::new(message).hint("`journalctl -u` with the service's name has what it said"))
}
