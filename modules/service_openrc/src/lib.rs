//! The provider `openrc` of the resource type `service`: scripts in `/etc/init.d`, on Alpine and wherever else OpenRC is the init system.

use runtime_sdk::openrc::{self, State};
use runtime_sdk::provider::{Backend, BackendContext, Interrupted, OptionsSemantics, ProviderDefinition, System};
use runtime_sdk::{
    Attributes, Capability, Compiled, DefinitionResult, Diagnostic, Footprint, HostCall as _, HostError, NodeResult, Outcome,
    Parameters, Progress, Value,
};
use serde::{Deserialize, Serialize};
use service_backend::{Activity, Boot, Desired, Identity, Mask, Observation, ServiceName, Step};

/// The provider.
pub struct Openrc;

runtime_sdk::export_provider!(Openrc);

/// The options block.
#[derive(Attributes)]
pub struct Given {
    /// The runlevel that an enabled service starts with.
    #[attribute(default = "default")]
    pub runlevel: String,
}

/// Compiled options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The runlevel that an enabled service starts with.
    pub runlevel: String,
}

impl ProviderDefinition for Openrc {
    const TYPE: &'static str = "service";
    const NAME: &'static str = "openrc";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "Services of OpenRC, where it is the init system.";

    type Given = Given;
    type Options = Options;
    type Desired = Desired;

    fn systems() -> Vec<System> {
        vec![System::any()]
    }

    fn conditions() -> Vec<String> {
        vec!["init:openrc".to_owned()]
    }

    fn capabilities() -> Vec<Capability> {
        // Services of OpenRC have the rights of units.
        let verbs = [
            ("read", "to compare services with what is declared"),
            ("start", "to start what is declared running"),
            ("stop", "to stop what is declared stopped"),
            ("restart", "to restart what changed beneath it"),
            ("reload", "to have a service read its configuration again"),
            ("enable", "to have a service start at boot"),
            ("disable", "to keep a service from starting at boot"),
        ];
        verbs.map(|(verb, reason)| Capability::new("systemd", verb, "*", reason)).into()
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Options>> {
        let options = Options { runlevel: Given::runlevel(given)? };
        check(&options)?;
        Ok(Compiled::new(options))
    }

    fn validate(options: &Options, _base: &Footprint, desired: Option<&Desired>) -> DefinitionResult<OptionsSemantics> {
        check(options)?;
        if let Some(desired) = desired {
            refuse(desired)?;
        }
        Ok(OptionsSemantics::new(Footprint::empty()).capability("systemd.read"))
    }
}

fn check(options: &Options) -> Result<(), Diagnostic> {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let first = options.runlevel.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if first && options.runlevel.len() <= 64 && options.runlevel.bytes().all(sound) {
        return Ok(());
    }
    Err(Diagnostic::at("runlevel", "`runlevel` has 1 to 64 letters, digits, `_`, `.` and `-`, starting with a letter or digit"))
}

/// What OpenRC does not have.
fn refuse(desired: &Desired) -> Result<(), Diagnostic> {
    let Some(script) = desired.name.script() else {
        return Err(Diagnostic::at("name", "OpenRC has services alone, and no units of other kinds"));
    };
    if script.contains([':', '\\']) {
        return Err(Diagnostic::at("name", "a service of OpenRC has no `:` and no `\\` in its name"));
    }
    if desired.masked.is_some() {
        return Err(
            Diagnostic::at("masked", "OpenRC has no masked services").hint("leave `masked` out, or set `enabled = false`")
        );
    }
    Ok(())
}

impl Backend for Openrc {
    type Observation = Observation;

    /// A service of OpenRC has one name.
    fn inspect(_desired: &Desired, _options: &Options, _context: &BackendContext) -> NodeResult<Value> {
        Ok(serde_json::json!(Identity { names: Vec::new() }))
    }

    fn read(desired: &Desired, options: &Options, _context: &BackendContext) -> NodeResult<Observation> {
        let found = openrc::status(script(&desired.name)?).before_change("read the state of the service")?;
        Ok(observation(desired, options, found.as_ref()))
    }

    fn apply(desired: &Desired, options: &Options, current: &Observation, _context: &BackendContext) -> NodeResult<Outcome> {
        let script = script(&desired.name)?;
        service_backend::converge(desired, current, |step, progress| take(step, script, options, progress))
    }

    fn refresh(desired: &Desired, options: &Options, _context: &BackendContext) -> NodeResult<Outcome> {
        let script = script(&desired.name)?;
        service_backend::refresh(desired, |step, progress| take(step, script, options, progress))
    }

    /// OpenRC keeps a record of each service, so checking and applying again is safe.
    fn recover(_desired: &Desired, _options: &Options, _operation: &Interrupted, _context: &BackendContext) -> NodeResult<()> {
        Ok(())
    }
}

fn script(name: &ServiceName) -> NodeResult<&str> {
    name.script().ok_or_else(|| runtime_sdk::node::unchanged(Diagnostic::at("name", "OpenRC has services alone")))
}

fn observation(desired: &Desired, options: &Options, found: Option<&openrc::Service>) -> Observation {
    let (activity, words) = found.map_or((Activity::Stopped, "stopped"), |service| activity(service.state));
    let is_enabled = found.is_some_and(|service| match desired.enabled {
        // What is not to start at boot starts with no runlevel at all.
        Some(false) => !service.runlevels.is_empty(),
        _ => service.runlevels.contains(&options.runlevel),
    });
    Observation {
        exists: found.is_some(),
        alias_of: None,
        activity,
        words: words.to_owned(),
        boot: if is_enabled { Boot::Enabled } else { Boot::Disabled },
        mask: Mask::Unmasked,
        definition_changed: false,
    }
}

fn activity(state: State) -> (Activity, &'static str) {
    match state {
        State::Stopped => (Activity::Stopped, "stopped"),
        State::Started => (Activity::Running, "started"),
        // It was started, and runs once what it waits for is there: to start it again does nothing.
        State::Inactive => (Activity::Running, "inactive"),
        State::Starting => (Activity::Changing, "starting"),
        State::Stopping => (Activity::Changing, "stopping"),
        State::Crashed => (Activity::Failed, "crashed"),
    }
}

fn take(step: Step, script: &str, options: &Options, progress: &mut Progress) -> NodeResult<()> {
    match step {
        Step::Enable => made(progress, "enable the service", openrc::add(script, &options.runlevel)),
        Step::Disable => disable(script, progress),
        Step::ForgetFailure => made(progress, "forget that the service crashed", openrc::zap(script)),
        Step::Start => made(progress, "start the service", openrc::start(script)),
        Step::Stop => made(progress, "stop the service", openrc::stop(script)),
        // Whether its script can do more than restart is not on record.
        Step::Restart | Step::ReloadOrRestart => made(progress, "restart the service", openrc::restart(script)),
        Step::Reload => made(progress, "have the service read its configuration again", openrc::reload(script)),
        Step::Mask | Step::Unmask => Err(progress.failed(Diagnostic::at("masked", "OpenRC has no masked services"))),
    }
}

/// Takes the service out of every runlevel that it is in.
fn disable(script: &str, progress: &mut Progress) -> NodeResult<()> {
    let found = progress.harmless("read the runlevels of the service", openrc::status(script))?;
    for runlevel in found.map(|service| service.runlevels).unwrap_or_default() {
        made(progress, "disable the service", openrc::remove(script, &runlevel))?;
    }
    Ok(())
}

/// What became of a call: the text is what a script said that failed.
fn made(progress: &mut Progress, doing: &str, said: Result<Option<String>, HostError>) -> NodeResult<()> {
    match progress.stepwise(doing, said)? {
        None => Ok(()),
        Some(text) if text.is_empty() => Err(progress.failed(Diagnostic::new(format!("cannot {doing}: its script failed")))),
        Some(text) => Err(progress.failed(Diagnostic::new(format!("cannot {doing}: {text}")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime_sdk::testing::Given as Declared;
    use service_backend::{Ensure, OnRefresh};

    fn desired(name: &str) -> Desired {
        let name = ServiceName::parse("name", name).unwrap();
        Desired {
            name,
            ensure: Some(Ensure::Running),
            enabled: Some(true),
            masked: None,
            on_refresh: OnRefresh::Restart,
            daemon_reload: true,
        }
    }

    fn options() -> Options {
        Options { runlevel: "default".to_owned() }
    }

    fn service(state: State, runlevels: &[&str]) -> openrc::Service {
        openrc::Service { state, runlevels: runlevels.iter().map(|name| (*name).to_owned()).collect() }
    }

    #[test]
    fn the_runlevel_is_the_default_one_unless_it_is_given() {
        let compile = |given: Declared| Openrc::compile(&given.parameters()).map(|compiled| compiled.desired);
        assert_eq!(compile(Declared::new()).unwrap(), options());
        assert_eq!(compile(Declared::new().set("runlevel", "boot")).unwrap().runlevel, "boot");
        for bad in ["", "-d", "a/b", ".."] {
            assert!(compile(Declared::new().set("runlevel", bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_openrc_does_not_have_is_refused() {
        let refused = |desired: &Desired| Openrc::validate(&options(), &desired.footprint(), Some(desired)).is_err();
        assert!(!refused(&desired("nginx")));
        assert!(refused(&desired("ssh.socket")));
        assert!(refused(&Desired { masked: Some(false), ..desired("nginx") }));
        assert!(refused(&desired("a:b")));
    }

    #[test]
    fn a_service_is_enabled_in_its_runlevel_and_disabled_in_all() {
        let boot = |enabled, runlevels: &[&str]| {
            let desired = Desired { enabled, ..desired("nginx") };
            observation(&desired, &options(), Some(&service(State::Started, runlevels))).boot
        };
        assert_eq!(boot(Some(true), &["default"]), Boot::Enabled);
        assert_eq!(boot(Some(true), &["boot"]), Boot::Disabled);
        assert_eq!(boot(Some(false), &["boot"]), Boot::Enabled, "it is to be in none");
        assert_eq!(boot(Some(false), &[]), Boot::Disabled);
    }

    #[test]
    fn every_state_is_one_of_a_service() {
        let seen = |state| observation(&desired("nginx"), &options(), Some(&service(state, &[]))).activity;
        assert_eq!(seen(State::Stopped), Activity::Stopped);
        assert_eq!(seen(State::Started), Activity::Running);
        assert_eq!(seen(State::Inactive), Activity::Running);
        assert_eq!(seen(State::Starting), Activity::Changing);
        assert_eq!(seen(State::Stopping), Activity::Changing);
        assert_eq!(seen(State::Crashed), Activity::Failed);
        let absent = observation(&desired("nginx"), &options(), None);
        assert!(!absent.exists && absent.activity == Activity::Stopped);
    }
}
