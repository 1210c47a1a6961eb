//! The half that meets the node.

use runtime_sdk::bindings::exports::runtime::module::lifecycle::{
    CheckResult, Conflict, Declared, Guest, GuestWork, Needed, Reading, Verification, Work,
};
use runtime_sdk::files::{Detail, Object};
use runtime_sdk::node::unchanged;
use runtime_sdk::{
    Action, Change, Claim, ContentChange, Context, Diagnostic, HostCall as _, InterruptedOperation, LifecycleError, NodeResult,
    Outcome, Prior, ResourceId, Safety,
};

use crate::Hostile;
use crate::acts;
use crate::behaviour::{Act, Behaviour, Place};
use crate::desired::Desired;
use crate::outputs;
use crate::spoil::{HUGE_BYTES, HUGE_COUNT, MISLEADING, is_of_json, misleading, text};

/// Keeps what `check` was given.
pub struct HeldWork(Desired);

impl Guest for Hostile {
    type Work = HeldWork;

    fn capabilities() -> Vec<String> {
        let told = Behaviour::told(Place::Capabilities);
        acts::perform_unasked(told);
        match told {
            Some(Act::HugeList) => vec!["files.write".into(); HUGE_COUNT],
            Some(Act::HugeString) => vec!["x".repeat(HUGE_BYTES)],
            Some(Act::ControlCharacters) => vec![MISLEADING.into()],
            _ => vec!["files.write".into()],
        }
    }

    fn inspect_safety(desired: String, _context: Context) -> NodeResult<Safety> {
        let desired = Desired::parse_on_node(&desired)?;
        let act = begin(Place::InspectSafety, &desired)?;
        let path = match act {
            Some(Act::ClaimOther) => &desired.other,
            _ => &desired.path,
        };
        let domain = if act == Some(Act::UnknownWord) { "no domain" } else { "path" };
        let claim = Claim { domain: domain.into(), key: path.as_bytes().to_vec(), qualifier: String::new() };
        let count = if act == Some(Act::HugeList) { HUGE_COUNT } else { 1 };
        Ok(Safety { claims: vec![claim], affected_paths: vec![path.as_bytes().to_vec(); count] })
    }

    fn composition_conflicts(group: Vec<Declared>, _context: Context) -> NodeResult<Vec<Conflict>> {
        let mut conflicts = Vec::new();
        for declared in &group {
            let desired = Desired::parse_on_node(&declared.desired)?;
            let message = match begin(Place::CompositionConflicts, &desired)? {
                Some(Act::ControlCharacters) => MISLEADING.to_owned(),
                Some(Act::HugeString) => "x".repeat(HUGE_BYTES),
                Some(Act::UnknownWord) => {
                    let id = ResourceId { type_name: "No Such!".into(), name: String::new() };
                    conflicts.push(Conflict { resources: vec![id], message: "it does not go with nobody".into() });
                    continue;
                }
                Some(Act::Conflict) => "it is never alone, it says".to_owned(),
                Some(Act::ConflictWithOther) if is_there(&desired.other)? => "it does not go with the other one".to_owned(),
                _ => continue,
            };
            conflicts.push(Conflict { resources: vec![declared.id.clone()], message });
        }
        Ok(conflicts)
    }

    fn check(desired: String, _context: Context) -> NodeResult<CheckResult> {
        let desired = Desired::parse_on_node(&desired)?;
        let act = begin(Place::Check, &desired)?;
        let answers = act.is_none() || outputs::spoils(act);
        // In the storm to come, to look here already would end it before it begins.
        let looks = desired.act(Place::Apply) != Some(Act::Storm);
        if act == Some(Act::ClaimSuccess) || looks && is_there(&desired.path)? && answers {
            let stamp = outputs::found(desired.path.as_bytes());
            return Ok(CheckResult::InSync(Reading {
                observed: Some(text(act, "{}".into())),
                outputs: outputs::of(act, &stamp),
                refreshable: false,
            }));
        }
        let prerequisite = (act == Some(Act::UndeclaredPrerequisite)).then(|| "daemon-reload".to_owned());
        let changes = changes(act)?;
        let work = Work::new(HeldWork(desired));
        let action = Action::Create;
        Ok(CheckResult::NeedsApply(Needed {
            action,
            changes,
            work,
            incomplete_preview: None,
            prerequisite,
            handles_refresh: false,
        }))
    }

    fn perform(_action: String, desired: String, _context: Context) -> NodeResult<Outcome> {
        outcome_if_told(Place::Perform, &desired, "the hostile guest has no shared actions")
    }

    fn refresh(desired: String, _context: Context) -> NodeResult<Outcome> {
        outcome_if_told(Place::Refresh, &desired, "the hostile guest takes no refresh")
    }

    fn recover_interrupted(desired: String, _operation: InterruptedOperation, _context: Context) -> NodeResult<()> {
        begin(Place::Recover, &Desired::parse_on_node(&desired)?).map(drop)
    }

    fn read(_prior: Prior, _context: Context) -> NodeResult<Option<String>> {
        Err(LifecycleError::Unsupported(Diagnostic::new("the hostile guest records nothing")))
    }

    fn delete(_prior: Prior, _context: Context) -> NodeResult<Outcome> {
        Err(LifecycleError::Unsupported(Diagnostic::new("the hostile guest records nothing")))
    }
}

impl GuestWork for HeldWork {
    fn apply(&self, _context: Context) -> NodeResult<Outcome> {
        let act = begin(Place::Apply, &self.0)?;
        let mut outcome = Outcome { outputs: outputs::of(act, outputs::made()), ..Outcome::changed() };
        match act {
            Some(Act::DenyChange) => return Err(unchanged(Diagnostic::new("nothing was changed, it says"))),
            Some(Act::ControlCharacters) => outcome.output = Some(MISLEADING.into()),
            Some(Act::HugeString) => outcome.output = Some("x".repeat(HUGE_BYTES)),
            Some(act) if is_of_json(act) => outcome.outputs = Some(text(Some(act), "{}".into())),
            Some(act) if outputs::spoils(Some(act)) => acts::write(self.0.path.as_bytes()).before_change("write the file")?,
            Some(_) => {}
            None if self.0.act(Place::Verify) == Some(Act::ClaimSuccess) => {}
            None => acts::write(self.0.path.as_bytes()).before_change("write the file")?,
        }
        Ok(outcome)
    }

    fn verify(&self, _context: Context) -> NodeResult<Verification> {
        let act = begin(Place::Verify, &self.0)?;
        match act {
            Some(Act::NeverConverge | Act::ControlCharacters) => Ok(Verification::NotConverged(changes(act)?)),
            Some(Act::ClaimSuccess) => Ok(Verification::Converged(None)),
            Some(act) => Ok(Verification::Converged(Some(text(Some(act), "{}".into())))),
            None if is_there(&self.0.path)? => Ok(Verification::Converged(Some("{}".into()))),
            None => Ok(Verification::NotConverged(changes(None)?)),
        }
    }
}

/// Does what is told for this function, and gives the act for the answer to be made by.
fn begin(place: Place, desired: &Desired) -> NodeResult<Option<Act>> {
    let Some(act) = desired.act(place) else { return Ok(None) };
    let is_message = act == Act::ControlCharacters && matches!(place, Place::InspectSafety | Place::Recover);
    if is_message {
        return Err(unchanged(misleading()));
    }
    acts::perform(act, desired).before_change("do what it was told")?;
    Ok(Some(act))
}

/// The outcome of a function that the guest has only where it is told to do something in it.
fn outcome_if_told(place: Place, desired: &str, otherwise: &str) -> NodeResult<Outcome> {
    let desired = Desired::parse_on_node(desired)?;
    let Some(act) = begin(place, &desired)? else {
        return Err(LifecycleError::Unsupported(Diagnostic::new(otherwise)));
    };
    let output = match act {
        Act::HugeString => Some("x".repeat(HUGE_BYTES)),
        Act::ControlCharacters => Some(MISLEADING.to_owned()),
        _ => None,
    };
    let outputs = is_of_json(act).then(|| text(Some(act), "{}".into()));
    Ok(Outcome { output, outputs, ..Outcome::changed() })
}

fn is_there(path: &str) -> NodeResult<bool> {
    let handle = Object::open(path.as_bytes()).before_change("look at the path")?;
    Ok(handle.observe(Detail::empty()).before_change("look at the path")?.is_some())
}

fn changes(act: Option<Act>) -> NodeResult<Vec<Change>> {
    let mut change = Change::new("path", None, None, "nothing is there yet")?;
    match act {
        Some(Act::HugeList) => return Ok(vec![change; HUGE_COUNT]),
        Some(Act::HugeString) => change.reason = "x".repeat(HUGE_BYTES),
        Some(Act::BadJson | Act::LooseJson | Act::DeepJson) => change.after = Some(text(act, "{}".into())),
        Some(Act::UnknownWord) => change.content = Some(ContentChange { path: b"/x".to_vec(), asset: "md5:0".into() }),
        Some(Act::ControlCharacters) => {
            change.attribute = MISLEADING.into();
            change.reason = MISLEADING.into();
        }
        _ => {}
    }
    Ok(vec![change])
}
