//! The desired state of a service.

use runtime_sdk::{AttributeType, Diagnostic, Effect, Footprint};
use serde::{Deserialize, Serialize};

use crate::name::ServiceName;

/// Whether the service runs. Without a default, leaving it out leaves the activity alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, runtime_sdk::Ensure)]
#[ensure(nullable)]
pub enum Ensure {
    /// It runs.
    #[ensure(alias = "started")]
    Running,
    /// It does not run. It is neither deleted nor disabled nor masked by that.
    Stopped,
}

/// What is done when something that the service subscribes to has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AttributeType)]
pub enum OnRefresh {
    /// It is stopped and started.
    Restart,
    /// It reads its configuration again. A service that cannot fails.
    Reload,
    /// It reads its configuration again if it can, and is restarted if not.
    ReloadOrRestart,
}

/// The desired state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desired {
    /// Which service.
    pub name: ServiceName,
    /// Whether it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ensure: Option<Ensure>,
    /// Whether it starts at boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether it is made impossible to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masked: Option<bool>,
    /// What a refresh does.
    pub on_refresh: OnRefresh,
    /// Whether systemd reads the files of units again before this service is started, where they have changed.
    pub daemon_reload: bool,
}

impl Desired {
    /// Whether the service is to run.
    pub fn runs(&self) -> bool {
        self.ensure == Some(Ensure::Running)
    }

    /// Whether anything of the service is managed.
    pub fn changes_anything(&self) -> bool {
        self.ensure.is_some() || self.enabled.is_some() || self.masked.is_some()
    }

    /// Whether what is wanted depends on the definition of the service: to stop one, or to keep it from starting, does not.
    pub fn needs_definition(&self) -> bool {
        self.runs() || self.enabled == Some(true)
    }

    /// The service, with the verbs that bringing this about can need.
    pub fn footprint(&self) -> Footprint {
        let mut verbs = vec!["read"];
        match self.ensure {
            Some(Ensure::Running) => {
                verbs.extend(["start", "reset-failed"]);
                verbs.push(match self.on_refresh {
                    OnRefresh::Restart | OnRefresh::ReloadOrRestart => "restart",
                    OnRefresh::Reload => "reload",
                });
            }
            Some(Ensure::Stopped) => verbs.push("stop"),
            None => {}
        }
        verbs.extend(self.enabled.map(|enabled| if enabled { "enable" } else { "disable" }));
        verbs.extend(self.masked.map(|masked| if masked { "mask" } else { "unmask" }));
        Footprint::empty().effect(Effect::unit(self.name.unit(), &verbs))
    }

    /// What cannot be, whatever the init system.
    pub fn check(&self) -> Result<(), Diagnostic> {
        if ServiceName::parse("name", self.name.unit())? != self.name {
            return Err(Diagnostic::at("name", "`name` is not in its canonical form"));
        }
        let contradicts = |what: &str| {
            Err(Diagnostic::at("masked", format!("a masked service cannot be {what}")).hint("leave one of the two out"))
        };
        match (self.masked, self.runs(), self.enabled) {
            (Some(true), true, _) => contradicts("running"),
            (Some(true), _, Some(true)) => contradicts("enabled"),
            // What is the default anyway does no harm.
            (_, false, _) if self.on_refresh != OnRefresh::Restart => {
                Err(Diagnostic::at("on_refresh", "`on_refresh` has no effect on a service that is not ensured `running`")
                    .hint("leave it out, or write `ensure = \"running\"`"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn desired(ensure: Option<Ensure>, enabled: Option<bool>, masked: Option<bool>) -> Desired {
        let name = ServiceName::parse("name", "demo").unwrap();
        Desired { name, ensure, enabled, masked, on_refresh: OnRefresh::Restart, daemon_reload: true }
    }

    fn verbs(desired: &Desired) -> String {
        desired.footprint().effects[0].actions.join(" ")
    }

    #[test]
    fn a_resource_gets_the_verbs_that_it_needs_and_no_more() {
        assert_eq!(verbs(&desired(None, None, None)), "read");
        assert_eq!(verbs(&desired(Some(Ensure::Running), Some(true), None)), "read start reset-failed restart enable");
        assert_eq!(verbs(&desired(Some(Ensure::Stopped), Some(false), Some(true))), "read stop disable mask");
        let reload = Desired { on_refresh: OnRefresh::Reload, ..desired(Some(Ensure::Running), None, Some(false)) };
        assert_eq!(verbs(&reload), "read start reset-failed reload unmask");
        assert_eq!(desired(None, None, None).footprint().effects[0].key, b"demo.service");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(desired(Some(Ensure::Stopped), Some(false), Some(true)).check().is_ok());
        assert!(desired(Some(Ensure::Running), None, Some(true)).check().is_err());
        assert!(desired(None, Some(true), Some(true)).check().is_err());
    }

    #[test]
    fn only_what_starts_depends_on_the_definition() {
        assert!(desired(Some(Ensure::Running), None, None).needs_definition());
        assert!(desired(None, Some(true), None).needs_definition());
        assert!(!desired(Some(Ensure::Stopped), Some(false), Some(true)).needs_definition());
    }
}
