//! The half that meets the node.

use std::cell::RefCell;

use runtime_sdk::bindings::exports::runtime::module::definition as pure;
use runtime_sdk::bindings::exports::runtime::module::lifecycle::{
    CheckResult, Conflict, Declared, Guest, GuestWork, Needed, Reading, Verification, Work,
};
use runtime_sdk::bindings::runtime::module::parameters as wit;
use runtime_sdk::files::{Attributes, Content, Detail, Object};
use runtime_sdk::node::{not_supported, unchanged};
use runtime_sdk::{
    Action, Adapter, AssetRef, CatalogView, Change, Context, DefinitionResult, Diagnostic, Edge, Footprint, HostCall,
    InterruptedOperation, NodeResult, Outcome, Prior, Progress, RecordedState, ResourceId, Safety, Semantics, TestedState, json,
};

use crate::{Bell, Desired, RELOAD};

/// The pure half is the adapter's.
type Pure = Adapter<Bell>;

fn parse(text: &str) -> NodeResult<Desired> {
    Ok(json::parse_canonical(text)?)
}

fn open(path: &str) -> NodeResult<Object> {
    Object::open(path.as_bytes()).before_change("look at the path")
}

fn is_there(path: &str) -> NodeResult<bool> {
    Ok(open(path)?.observe(Detail::empty()).before_change("look at the path")?.is_some())
}

/// The text of a file; none if it is not there.
fn read(path: &str) -> NodeResult<Option<String>> {
    let handle = open(path)?;
    if handle.observe(Detail::empty()).before_change("look at the path")?.is_none() {
        return Ok(None);
    }
    let bytes = handle.read(0, 65_536).before_change("read the file")?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn put(path: &str, text: String, progress: &mut Progress) -> NodeResult<()> {
    let handle = open(path)?;
    progress.harmless("look at the path", handle.observe(Detail::empty()))?;
    let attributes = Attributes { owner: None, group: None, mode: Some(0o644) };
    let staged = progress.harmless("stage the file", handle.stage(&Content::Inline(text.into_bytes()), attributes))?;
    progress.whole("put the file in place", staged.commit())
}

fn changes(desired: &Desired) -> NodeResult<(Vec<Change>, Option<String>)> {
    let found = read(&desired.path)?;
    if found.as_deref() == Some(desired.text().as_str()) {
        return Ok((Vec::new(), found));
    }
    let before = found.clone().map(Into::into);
    Ok((vec![Change::new("note", before, Some(desired.text().into()), "the bell is another one")?], found))
}

/// Whether to bring it about is to hang a bell that does not hang.
fn hangs_it(desired: &Desired, found: Option<&str>) -> bool {
    desired.hung && !found.is_some_and(|text| text.starts_with("hung\n"))
}

/// What the check found.
pub struct HeldWork(RefCell<Desired>);

impl Guest for Bell {
    type Work = HeldWork;

    fn capabilities() -> Vec<String> {
        Vec::new()
    }

    fn inspect_safety(desired: String, _context: Context) -> NodeResult<Safety> {
        let moved = parse(&desired)?.beside("moved");
        let affected_paths = if is_there(&moved)? { vec![moved.into_bytes()] } else { Vec::new() };
        Ok(Safety { claims: Vec::new(), affected_paths })
    }

    fn composition_conflicts(_group: Vec<Declared>, _context: Context) -> NodeResult<Vec<Conflict>> {
        Err(not_supported("bells do not conflict but by their claims".into()))
    }

    fn check(desired: String, _context: Context) -> NodeResult<CheckResult> {
        let desired = parse(&desired)?;
        let (changes, found) = changes(&desired)?;
        let prerequisite = is_there(&desired.beside("reload"))?.then(|| RELOAD.to_owned());
        if changes.is_empty() && prerequisite.is_none() {
            return Ok(CheckResult::InSync(Reading { observed: None, outputs: None, refreshable: desired.hung }));
        }
        Ok(CheckResult::NeedsApply(Needed {
            action: if found.is_some() { Action::Update } else { Action::Create },
            changes,
            handles_refresh: hangs_it(&desired, found.as_deref()),
            work: Work::new(HeldWork(RefCell::new(desired))),
            incomplete_preview: None,
            prerequisite,
        }))
    }

    fn perform(action: String, _desired: String, _context: Context) -> NodeResult<Outcome> {
        if action != RELOAD {
            return Err(not_supported(format!("bells have no shared action `{action}`")));
        }
        Ok(Outcome { outputs: None, executed: true, handled_refresh: false, output: Some("the bells were told".into()) })
    }

    fn refresh(desired: String, _context: Context) -> NodeResult<Outcome> {
        let desired = parse(&desired)?;
        if is_there(&desired.beside("jam"))? {
            return Err(unchanged(Diagnostic::new("the bell is jammed")));
        }
        let mut progress = Progress::new();
        let rings = read(&desired.beside("rings"))?.unwrap_or_default();
        put(&desired.beside("rings"), format!("{rings}ring\n"), &mut progress)?;
        if is_there(&desired.beside("cracked"))? {
            put(&desired.path, "fallen\n".into(), &mut progress)?;
        }
        Ok(Outcome { outputs: None, executed: true, handled_refresh: false, output: None })
    }

    /// A bell can be hung and rung again. What the lost run staged beside it is left to the host, as by authors who think of nothing.
    fn recover_interrupted(_desired: String, _operation: InterruptedOperation, _context: Context) -> NodeResult<()> {
        Ok(())
    }

    fn read(_prior: Prior, _context: Context) -> NodeResult<Option<String>> {
        Err(not_supported("bells have no recorded outputs".into()))
    }

    fn delete(_prior: Prior, _context: Context) -> NodeResult<Outcome> {
        Err(not_supported("bells have no recorded objects to delete".into()))
    }
}

impl GuestWork for HeldWork {
    fn apply(&self, _context: Context) -> NodeResult<Outcome> {
        let desired = self.0.borrow();
        let found = read(&desired.path)?;
        put(&desired.path, desired.text(), &mut Progress::new())?;
        let handled_refresh = hangs_it(&desired, found.as_deref());
        Ok(Outcome { outputs: None, executed: false, handled_refresh, output: None })
    }

    fn verify(&self, _context: Context) -> NodeResult<Verification> {
        let (changes, _) = changes(&self.0.borrow())?;
        Ok(if changes.is_empty() { Verification::Converged(None) } else { Verification::NotConverged(changes) })
    }
}

impl pure::Guest for Bell {
    fn describe() -> pure::Description {
        Pure::describe()
    }

    fn identity(id: ResourceId, given: &wit::Parameters) -> DefinitionResult<Footprint> {
        Pure::identity(id, given)
    }

    fn compile(id: ResourceId, given: &wit::Parameters) -> DefinitionResult<pure::Compiled> {
        <Pure as pure::Guest>::compile(id, given)
    }

    fn assign_asset(desired: String, slot: String, asset: AssetRef) -> DefinitionResult<String> {
        <Pure as pure::Guest>::assign_asset(desired, slot, asset)
    }

    fn validate(desired: String) -> DefinitionResult<Semantics> {
        <Pure as pure::Guest>::validate(desired)
    }

    fn relationships(id: ResourceId, desired: Option<String>, catalog: &CatalogView) -> DefinitionResult<Vec<Edge>> {
        <Pure as pure::Guest>::relationships(id, desired, catalog)
    }

    fn resolve_export(id: ResourceId, attribute: String, given: &wit::Parameters) -> DefinitionResult<String> {
        <Pure as pure::Guest>::resolve_export(id, attribute, given)
    }

    fn test_view(desired: String) -> DefinitionResult<TestedState> {
        <Pure as pure::Guest>::test_view(desired)
    }

    fn migrate(from_version: u32, recorded: RecordedState) -> DefinitionResult<RecordedState> {
        <Pure as pure::Guest>::migrate(from_version, recorded)
    }

    fn equal(attribute: String, left: String, right: String) -> DefinitionResult<bool> {
        <Pure as pure::Guest>::equal(attribute, left, right)
    }

    fn must_replace(attribute: String, prior: String, desired: String) -> DefinitionResult<bool> {
        <Pure as pure::Guest>::must_replace(attribute, prior, desired)
    }

    fn must_replace_on_drift(output: String, recorded: String, observed: String) -> DefinitionResult<bool> {
        <Pure as pure::Guest>::must_replace_on_drift(output, recorded, observed)
    }

    fn stable_id(recorded: RecordedState) -> DefinitionResult<String> {
        <Pure as pure::Guest>::stable_id(recorded)
    }
}
