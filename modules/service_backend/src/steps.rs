//! From what is there to the steps that bring about what is declared, and the order in which they are taken.

use runtime_sdk::node::unchanged;
use runtime_sdk::{Diagnostic, NodeResult, Outcome, Progress};

use crate::desired::{Desired, Ensure, OnRefresh};
use crate::observation::{Activity, Boot, Mask, Observation};

/// One thing to ask the init system for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is named after what it does")]
pub enum Step {
    Unmask,
    Enable,
    Disable,
    /// Forget that it failed, so that it can be started.
    ForgetFailure,
    Start,
    Stop,
    Mask,
    Restart,
    Reload,
    ReloadOrRestart,
}

/// The steps from what was found to what is declared, in order; none if nothing differs. What keeps it from starting goes first and comes last.
pub fn steps(desired: &Desired, found: &Observation) -> Vec<Step> {
    let mut steps = Vec::new();
    if desired.masked == Some(false) && found.mask != Mask::Unmasked {
        steps.push(Step::Unmask);
    }
    steps.extend(match (desired.enabled, found.boot) {
        (Some(true), Boot::Disabled | Boot::UntilReboot) => Some(Step::Enable),
        (Some(false), Boot::Enabled | Boot::UntilReboot) => Some(Step::Disable),
        _ => None,
    });
    match (desired.ensure, found.activity) {
        (Some(Ensure::Running), Activity::Failed) => steps.extend([Step::ForgetFailure, Step::Start]),
        (Some(Ensure::Running), Activity::Stopped | Activity::Changing) => steps.push(Step::Start),
        (Some(Ensure::Stopped), Activity::Running | Activity::Changing) => steps.push(Step::Stop),
        _ => {}
    }
    if desired.masked == Some(true) && found.mask != Mask::Masked {
        steps.push(Step::Mask);
    }
    steps
}

/// Takes the steps. `take` asks the init system for one of them.
pub fn converge(
    desired: &Desired,
    found: &Observation,
    mut take: impl FnMut(Step, &mut Progress) -> NodeResult<()>,
) -> NodeResult<Outcome> {
    let steps = steps(desired, found);
    if !found.exists && steps.iter().any(|step| matches!(step, Step::Enable | Step::Start)) {
        return Err(unchanged(
            Diagnostic::at("name", "there is no such service on this node")
                .hint("declare what brings it, its package or its definition, and let this resource require it"),
        ));
    }
    let mut progress = Progress::new();
    for step in &steps {
        take(*step, &mut progress)?;
    }
    let mut outcome = Outcome::changed();
    outcome.handled_refresh = steps.contains(&Step::Start);
    Ok(outcome)
}

/// Does what a changed subscription asks for.
pub fn refresh(desired: &Desired, take: impl FnOnce(Step, &mut Progress) -> NodeResult<()>) -> NodeResult<Outcome> {
    let step = match desired.on_refresh {
        OnRefresh::Restart => Step::Restart,
        OnRefresh::Reload => Step::Reload,
        OnRefresh::ReloadOrRestart => Step::ReloadOrRestart,
    };
    take(step, &mut Progress::new())?;
    let mut outcome = Outcome::changed();
    outcome.executed = true;
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desired::tests::desired;
    use runtime_sdk::{EffectClass, LifecycleError};

    fn found(activity: Activity, boot: Boot, mask: Mask) -> Observation {
        Observation { exists: true, alias_of: None, activity, words: "x".into(), boot, mask, definition_changed: false }
    }

    #[test]
    fn each_difference_has_its_step() {
        use Activity::{Changing, Failed, Running, Stopped};
        let of = |ensure, activity| steps(&desired(Some(ensure), None, None), &found(activity, Boot::Disabled, Mask::Unmasked));
        assert_eq!(of(Ensure::Running, Running), []);
        assert_eq!(of(Ensure::Running, Stopped), [Step::Start]);
        assert_eq!(of(Ensure::Running, Changing), [Step::Start]);
        assert_eq!(of(Ensure::Running, Failed), [Step::ForgetFailure, Step::Start]);
        assert_eq!(of(Ensure::Stopped, Stopped), []);
        assert_eq!(of(Ensure::Stopped, Failed), [], "what has failed does not run");
        assert_eq!(of(Ensure::Stopped, Running), [Step::Stop]);
        assert_eq!(of(Ensure::Stopped, Changing), [Step::Stop], "it would be started again");
        let boot = |enabled, boot| steps(&desired(None, Some(enabled), None), &found(Running, boot, Mask::Unmasked));
        assert_eq!(boot(true, Boot::UntilReboot), [Step::Enable]);
        assert_eq!(boot(false, Boot::UntilReboot), [Step::Disable]);
        assert_eq!(boot(false, Boot::Static), []);
        let nothing = desired(None, None, None);
        assert_eq!(steps(&nothing, &found(Failed, Boot::Enabled, Mask::Masked)), [], "what is omitted stays");
    }

    #[test]
    fn what_keeps_it_from_starting_goes_first_and_comes_last() {
        let start = desired(Some(Ensure::Running), Some(true), Some(false));
        let masked = found(Activity::Stopped, Boot::Disabled, Mask::UntilReboot);
        assert_eq!(steps(&start, &masked), [Step::Unmask, Step::Enable, Step::Start]);
        let end = desired(Some(Ensure::Stopped), Some(false), Some(true));
        let running = found(Activity::Running, Boot::Enabled, Mask::Unmasked);
        assert_eq!(steps(&end, &running), [Step::Disable, Step::Stop, Step::Mask]);
    }

    #[test]
    fn starting_it_does_what_a_refresh_would_do() {
        let start = desired(Some(Ensure::Running), Some(true), None);
        let run = |found: &Observation| {
            let mut taken = Vec::new();
            let outcome = converge(&start, found, |step, _| {
                taken.push(step);
                Ok(())
            });
            (taken, outcome.unwrap().handled_refresh)
        };
        let stopped = found(Activity::Stopped, Boot::Enabled, Mask::Unmasked);
        assert_eq!(run(&stopped), (vec![Step::Start], true));
        let running = found(Activity::Running, Boot::Disabled, Mask::Unmasked);
        assert_eq!(run(&running), (vec![Step::Enable], false));
    }

    #[test]
    fn what_is_not_there_is_not_started_but_need_not_be_stopped() {
        let absent = Observation { exists: false, ..found(Activity::Stopped, Boot::Disabled, Mask::Unmasked) };
        let error = converge(&desired(Some(Ensure::Running), None, None), &absent, |_, _| unreachable!("nothing is asked for"));
        let LifecycleError::Failed(failure) = error.unwrap_err() else { panic!() };
        assert_eq!(failure.effect_class, EffectClass::BeforeChange);
        let running = Observation { activity: Activity::Running, ..absent };
        assert!(converge(&desired(Some(Ensure::Stopped), None, None), &running, |_, _| Ok(())).is_ok());
    }

    #[test]
    fn a_refresh_is_what_was_declared() {
        for (on_refresh, step) in [
            (OnRefresh::Restart, Step::Restart),
            (OnRefresh::Reload, Step::Reload),
            (OnRefresh::ReloadOrRestart, Step::ReloadOrRestart),
        ] {
            let desired = Desired { on_refresh, ..desired(Some(Ensure::Running), None, None) };
            let mut taken = None;
            let outcome = refresh(&desired, |step, _| {
                taken = Some(step);
                Ok(())
            });
            assert_eq!((taken, outcome.unwrap().executed), (Some(step), true));
        }
    }
}
