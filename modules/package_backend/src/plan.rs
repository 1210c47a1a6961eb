//! From what is there to the steps that bring about what is declared. Pure: every provider takes the same ones.

use crate::desired::{Desired, Ensure};
use crate::observation::{Observation, Order, State};

/// One thing to ask the manager for. All of them go into one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Install it, at this version or at the manager's choice.
    Install(Option<String>),
    /// Go to this higher version, or to the manager's choice.
    Upgrade(Option<String>),
    /// Go to this lower version.
    Downgrade(String),
    /// Remove it.
    Remove,
    /// Remove it with its configuration files.
    Purge,
    /// Hold it at its version.
    Hold,
    /// Let it go from its version.
    Unhold,
}

/// The steps from what was found to what is declared; none if nothing differs.
pub fn steps(desired: &Desired, found: &Observation) -> Vec<Step> {
    let mut steps: Vec<Step> = version_step(desired, found).into_iter().collect();
    steps.extend(match desired.hold {
        Some(true) if !found.held => Some(Step::Hold),
        Some(false) if found.held => Some(Step::Unhold),
        _ => None,
    });
    steps
}

fn version_step(desired: &Desired, found: &Observation) -> Option<Step> {
    let version = desired.version.clone();
    match (desired.ensure, found.state) {
        (Ensure::Absent, State::Installed | State::Partial) => Some(Step::Remove),
        (Ensure::Purged, State::Installed | State::Partial | State::ConfigurationFiles) => Some(Step::Purge),
        (Ensure::Absent | Ensure::Purged, _) => None,
        (_, State::Installed) => match (found.order?, desired.ensure) {
            (Order::Lower, _) => Some(Step::Upgrade(version)),
            (Order::Higher, Ensure::Present) => version.map(Step::Downgrade),
            _ => None,
        },
        _ => Some(Step::Install(version)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desired(ensure: Ensure, version: Option<&str>) -> Desired {
        Desired { version: version.map(str::to_owned), allow_downgrade: true, ..Desired::plain("demo", ensure) }
    }

    fn found(state: State, order: Option<Order>) -> Observation {
        Observation {
            state,
            detail: None,
            installed_version: None,
            architecture: None,
            held: false,
            target_version: None,
            target_version_unconfirmed: false,
            needs_index_update: false,
            order,
        }
    }

    #[test]
    fn each_state_has_its_step() {
        use Order::{Equal, Higher, Lower};
        use State::{Absent, ConfigurationFiles, Installed, Partial};
        let one = |ensure, version, state, order| steps(&desired(ensure, version), &found(state, order)).pop();
        let two = || Some("2".to_owned());
        assert_eq!(one(Ensure::Present, None, Absent, None), Some(Step::Install(None)));
        assert_eq!(one(Ensure::Present, None, ConfigurationFiles, None), Some(Step::Install(None)));
        assert_eq!(one(Ensure::Present, None, Partial, None), Some(Step::Install(None)));
        assert_eq!(one(Ensure::Present, None, Installed, Some(Equal)), None);
        assert_eq!(one(Ensure::Present, Some("2"), Installed, Some(Lower)), Some(Step::Upgrade(two())));
        assert_eq!(one(Ensure::Present, Some("2"), Installed, Some(Higher)), Some(Step::Downgrade("2".into())));
        assert_eq!(one(Ensure::Latest, None, Installed, Some(Lower)), Some(Step::Upgrade(None)));
        assert_eq!(one(Ensure::Latest, None, Installed, Some(Higher)), None, "a newer one stays");
        assert_eq!(one(Ensure::Latest, None, Installed, None), None);
        assert_eq!(one(Ensure::Absent, None, Installed, None), Some(Step::Remove));
        assert_eq!(one(Ensure::Absent, None, ConfigurationFiles, None), None);
        assert_eq!(one(Ensure::Purged, None, ConfigurationFiles, None), Some(Step::Purge));
        assert_eq!(one(Ensure::Purged, None, Absent, None), None);
    }

    #[test]
    fn holding_goes_with_what_is_installed() {
        let desired = Desired { hold: Some(true), ..desired(Ensure::Present, None) };
        assert_eq!(steps(&desired, &found(State::Absent, None)), [Step::Install(None), Step::Hold]);
        let held = Observation { held: true, ..found(State::Installed, None) };
        assert_eq!(steps(&desired, &held), []);
        assert_eq!(steps(&Desired { hold: Some(false), ..desired }, &held), [Step::Unhold]);
    }
}
