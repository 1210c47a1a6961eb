//! The half that meets the node.

use runtime_sdk::bindings::exports::runtime::module::lifecycle::{
    CheckResult, Conflict, Declared, Guest, GuestWork, Needed, Reading, Verification, Work,
};
use runtime_sdk::files::{Attributes, Content, Detail, Object, discard_staged};
use runtime_sdk::{
    Action, Asset, Change, Context, HostCall as _, InterruptedOperation, NodeResult, Outcome, Prior, Progress, Safety, json, node,
};
use serde_json::json as value;

use crate::Sampler;
use crate::desired::{Desired, Ensure, Target};

/// Keeps what `check` was given.
pub struct HeldWork(Desired);

impl Guest for Sampler {
    type Work = HeldWork;

    fn capabilities() -> Vec<String> {
        vec!["files.read".into(), "files.write".into()]
    }

    fn inspect_safety(_desired: String, _context: Context) -> NodeResult<Safety> {
        Err(node::not_supported("the sampler has no claims that only the node can tell".into()))
    }

    fn composition_conflicts(_group: Vec<Declared>, _context: Context) -> NodeResult<Vec<Conflict>> {
        Err(node::not_supported("samplers do not conflict but by their claims".into()))
    }

    fn check(desired: String, _context: Context) -> NodeResult<CheckResult> {
        let desired = Desired::parse_on_node(&desired)?;
        let differing = differing(&desired)?;
        if differing.is_empty() {
            return Ok(CheckResult::InSync(Reading {
                observed: Some("{}".into()),
                outputs: Some(outputs(&desired)?),
                refreshable: false,
            }));
        }
        let action = match desired.ensure {
            Ensure::Present if differing.iter().all(|(_, found)| found.is_none()) => Action::Create,
            Ensure::Present => Action::Update,
            Ensure::Absent => Action::Delete,
        };
        let changes = changes(&desired, &differing)?;
        let work = Work::new(HeldWork(desired));
        Ok(CheckResult::NeedsApply(Needed {
            action,
            changes,
            work,
            incomplete_preview: None,
            prerequisite: None,
            handles_refresh: false,
        }))
    }

    fn perform(_action: String, _desired: String, _context: Context) -> NodeResult<Outcome> {
        Err(node::not_supported("the sampler has no shared actions".into()))
    }

    fn refresh(_desired: String, _context: Context) -> NodeResult<Outcome> {
        Err(node::not_supported("the sampler takes no refresh".into()))
    }

    fn recover_interrupted(desired: String, operation: InterruptedOperation, _context: Context) -> NodeResult<()> {
        for target in Desired::parse_on_node(&desired)?.targets() {
            discard_staged(target.path.as_bytes(), &operation.staging_name).before_change("remove what was staged")?;
        }
        Ok(())
    }

    fn read(_prior: Prior, _context: Context) -> NodeResult<Option<String>> {
        Err(node::not_supported("the sampler records nothing".into()))
    }

    fn delete(_prior: Prior, _context: Context) -> NodeResult<Outcome> {
        Err(node::not_supported("the sampler records nothing".into()))
    }
}

impl GuestWork for HeldWork {
    fn apply(&self, _context: Context) -> NodeResult<Outcome> {
        let mut progress = Progress::new();
        for (target, _) in differing(&self.0)? {
            bring_about(self.0.ensure, &target, &mut progress)?;
        }
        Ok(Outcome { outputs: Some(outputs(&self.0)?), ..Outcome::changed() })
    }

    fn verify(&self, _context: Context) -> NodeResult<Verification> {
        let differing = differing(&self.0)?;
        if differing.is_empty() {
            return Ok(Verification::Converged(Some("{}".into())));
        }
        Ok(Verification::NotConverged(changes(&self.0, &differing)?))
    }
}

/// What is at a path: none if nothing is, else the name of its content.
type Found = Option<String>;

/// The files that are not as they should be.
fn differing(desired: &Desired) -> NodeResult<Vec<(Target<'_>, Found)>> {
    let mut differing = Vec::new();
    for target in desired.targets() {
        let handle = Object::open(target.path.as_bytes()).before_change("look at the path")?;
        let observed = handle.observe(Detail::DIGEST).before_change("look at the path")?;
        let found = observed.map(|observed| observed.digest.unwrap_or_default());
        let wanted = target.content.and_then(Asset::name);
        let is_right = match (desired.ensure, &found) {
            (Ensure::Absent, found) => found.is_none(),
            (Ensure::Present, None) => false,
            (Ensure::Present, Some(digest)) => wanted.is_none_or(|wanted| wanted == digest),
        };
        if !is_right {
            differing.push((target, found));
        }
    }
    Ok(differing)
}

fn changes(desired: &Desired, differing: &[(Target<'_>, Found)]) -> NodeResult<Vec<Change>> {
    let change = |(target, found): &(Target<'_>, Found)| {
        let wanted = target.content.and_then(Asset::name).filter(|_| desired.ensure == Ensure::Present);
        let reason = if found.is_some() { "what is there differs" } else { "nothing is there" };
        let change =
            Change::new(&target.attribute, found.as_ref().map(|name| value!(name)), wanted.map(|name| value!(name)), reason)?;
        Ok(wanted.map_or(change.clone(), |wanted| change.content(target.path, wanted)))
    };
    differing.iter().map(change).collect()
}

fn bring_about(ensure: Ensure, target: &Target<'_>, progress: &mut Progress) -> NodeResult<()> {
    let handle = progress.harmless("look at the path", Object::open(target.path.as_bytes()))?;
    progress.harmless("look at the path", handle.observe(Detail::empty()))?;
    if ensure == Ensure::Absent {
        return progress.whole("remove the file", handle.remove(false));
    }
    let content = match target.content.and_then(Asset::name) {
        Some(name) => Content::Asset(name.to_owned()),
        None => Content::Inline(Vec::new()),
    };
    let attributes = Attributes { owner: None, group: None, mode: None };
    let staged = progress.harmless("write the new file", handle.stage(&content, attributes))?;
    progress.whole("put the new file in its place", staged.commit())
}

fn outputs(desired: &Desired) -> NodeResult<String> {
    let handle = Object::open(desired.path.as_bytes()).before_change("look at the path")?;
    let size = handle.observe(Detail::empty()).before_change("look at the path")?.map_or(0, |observed| observed.size);
    Ok(json::canonical(&value!({ "size": size }))?)
}
