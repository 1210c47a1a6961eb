//! Who may do what with a unit.

use super::Call;
use super::call::DAEMON_RELOAD;
use crate::authorize::{Rule, Standing};
use crate::objects::{self, Domain, Interface};

/// Holds a call against effects, what the module asks for and what it is granted.
pub(crate) fn permit(standing: &Standing<'_>, call: &Call) -> Result<(), Rule> {
    match &call.unit {
        Some(unit) => objects::policy::permit(standing, Domain::Unit, call.function.verb(), unit.as_str()),
        None => objects::policy::permit_maintenance(standing, Interface::Systemd, DAEMON_RELOAD),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::authorize::authorize;
    use crate::call::HostCall;
    use crate::effects::Effect;
    use crate::grant::{Ask, Grant};
    use crate::phase::{Phase, Reach};
    use crate::rights::Rights;
    use crate::systemd::{Function, UnitName};
    use crate::testing::all_rights;

    fn rights(actions: &[&str], asks: &[&str]) -> Rights {
        let actions = actions.iter().map(|action| (*action).to_owned()).collect();
        let effect = Effect { domain: "unit".into(), key: b"demo.service".to_vec(), actions, qualifier: None };
        let asks: Vec<Ask> = asks.iter().map(|verb| Ask::parse("systemd", verb, "*").unwrap()).collect();
        Rights { effects: vec![effect], asks: asks.into(), ..all_rights("service.demo") }
    }

    fn rule(rights: &Rights, phase: Phase, call: Call) -> Option<Rule> {
        let standing = Standing { rights, phase, intent_open: true, staging_name: None, run_as: (0, 0) };
        authorize(&standing, &HostCall::Systemd(call), None).err().map(|denial| denial.rule)
    }

    fn on(function: Function, unit: &str) -> Call {
        Call::on(function, &UnitName::parse(unit).unwrap())
    }

    #[test]
    fn a_unit_is_held_to_effects_asks_and_grant() {
        let start = || on(Function::Start, "demo.service");
        let all = rights(&["start"], &["read", "start"]);
        assert_eq!(rule(&all, Phase::Apply, start()), None);
        assert_eq!(rule(&all, Phase::Check, on(Function::Status, "demo.service")), None, "whatever is declared may be read");
        let not_declared = Rule::ObjectEffects { domain: Domain::Unit, verb: "start" };
        assert_eq!(rule(&all, Phase::Apply, on(Function::Start, "other.service")), Some(not_declared));
        assert!(matches!(
            rule(&all, Phase::Apply, on(Function::Stop, "demo.service")),
            Some(Rule::ObjectEffects { verb: "stop", .. })
        ));
        let not_asked = rights(&["start"], &["read"]);
        assert_eq!(rule(&not_asked, Phase::Apply, start()), Some(Rule::NotAsked { right: "systemd.start".into() }));
        let not_granted = Rights { grant: Arc::new(Grant::none()), ..all };
        assert!(matches!(rule(&not_granted, Phase::Apply, start()), Some(Rule::ObjectNotGranted { verb: "start", .. })));
    }

    #[test]
    fn what_may_restart_needs_the_right_to_restart() {
        let reload = rights(&["reload"], &["reload", "restart"]);
        assert_eq!(rule(&reload, Phase::Apply, on(Function::Reload, "demo.service")), None);
        let refused = rule(&reload, Phase::Apply, on(Function::ReloadOrRestart, "demo.service"));
        assert_eq!(refused, Some(Rule::ObjectEffects { domain: Domain::Unit, verb: "restart" }));
    }

    #[test]
    fn each_call_has_its_phases() {
        let all = rights(&["start"], &["read", "start", "daemon-reload"]);
        let phases =
            |call: Call| Phase::ALL.into_iter().filter(|phase| rule(&all, *phase, call.clone()).is_none()).collect::<Vec<_>>();
        let changing = [Phase::Apply, Phase::Recover];
        assert_eq!(phases(on(Function::Start, "demo.service")), changing);
        assert_eq!(phases(Call::daemon_reload()), [Phase::Perform]);
        assert!(!phases(on(Function::Status, "demo.service")).contains(&Phase::Inspect));
        assert!(phases(on(Function::Identity, "demo.service")).contains(&Phase::Inspect), "claims depend on it");
        let refused = rule(&all, Phase::Check, on(Function::Start, "demo.service"));
        assert_eq!(refused, Some(Rule::Phase { phase: Phase::Check, reach: Reach::Change }));
    }
}
