//! A resource type that keeps the contract but for the one flaw that a test puts into its bytes; README.md says how.
//!
//! What a module would do wrong with values is in `thing`; what it would do wrong around them, which the SDK does not let a module do, is here.

mod behaviour;

mod clock;

mod thing;

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use runtime_sdk::bindings::exports::runtime::module::{definition, lifecycle};
use runtime_sdk::bindings::runtime::module::parameters::Parameters;
use runtime_sdk::{
    Adapter, AssetRef, CatalogView, Context, DefinitionError, DefinitionResult, Edge, EdgeReason, Footprint, HeldWork,
    InterruptedOperation, NodeResult, Outcome, Prior, RecordedState, ResourceId, Safety, Semantics, TestedState, Value, json,
};

use behaviour::{Flaw, count, has};

pub use thing::{Desired, Ensure, Thing};

/// The component.
pub struct Broken;

runtime_sdk::export_component!(Broken);

type Honest = Adapter<Thing>;

impl definition::Guest for Broken {
    fn describe() -> definition::Description {
        assert!(!has(Flaw::DescribeTraps), "the flaw: `describe` traps");
        let mut description = <Honest as definition::Guest>::describe();
        if has(Flaw::DescribeCounts) {
            description.summary = format!("A thing that was described {} times.", count());
        }
        if has(Flaw::DescribeSilent) {
            description.attributes[0].doc.clear();
        }
        if has(Flaw::DescribeDefault) {
            description.attributes[2].default_json = Some("7".into());
        }
        if has(Flaw::AskUnknown) {
            description.capabilities[0].action = "execute".into();
        }
        description
    }

    fn identity(id: ResourceId, given: &Parameters) -> DefinitionResult<Footprint> {
        let mut footprint = <Honest as definition::Guest>::identity(id, given)?;
        if has(Flaw::IdentityDiffers) {
            footprint.affected_paths.push(b"/srv/other".to_vec());
        }
        Ok(footprint)
    }

    fn compile(id: ResourceId, given: &Parameters) -> DefinitionResult<definition::Compiled> {
        if has(Flaw::CompileClock) {
            black_box(clock::now());
        }
        if has(Flaw::CompileReadsUnknown) {
            let _ = given.read("colour");
        }
        if has(Flaw::CompileSpins) {
            spin();
        }
        if has(Flaw::CompileAllocates) {
            allocate();
        }
        let mut compiled = <Honest as definition::Guest>::compile(id, given)?;
        if has(Flaw::CompileLoose) {
            compiled.desired.insert(0, ' ');
        }
        // In an instance of its own, as each call has in a run, neither of these two shows.
        let earlier = if has(Flaw::CompileCounts) { count() } else { 0 };
        if earlier > 0 {
            compiled.desired = with_note(&compiled.desired, earlier.into())?;
        }
        if has(Flaw::CompileLooksBack)
            && let Some(before) = before(&compiled.desired)
        {
            compiled.desired = with_note(&compiled.desired, before.into())?;
        }
        Ok(compiled)
    }

    fn assign_asset(desired: String, slot: String, asset: AssetRef) -> DefinitionResult<String> {
        <Honest as definition::Guest>::assign_asset(desired, slot, asset)
    }

    fn validate(desired: String) -> DefinitionResult<Semantics> {
        let desired = if has(Flaw::ValidateUnknown) || has(Flaw::ValidateTypes) { forgiven(&desired)? } else { desired };
        let mut semantics = <Honest as definition::Guest>::validate(desired)?;
        if has(Flaw::ValidateNoTime) {
            semantics.timeout_ms = 0;
        }
        if has(Flaw::ValidateCounts) {
            semantics.timeout_ms += u64::from(count());
        }
        Ok(semantics)
    }

    fn relationships(id: ResourceId, desired: Option<String>, catalog: &CatalogView) -> DefinitionResult<Vec<Edge>> {
        let mut edges = <Honest as definition::Guest>::relationships(id.clone(), desired, catalog)?;
        let others: Vec<ResourceId> = catalog.all().into_iter().map(|peer| peer.id).filter(|other| *other != id).collect();
        let order = EdgeReason::Order("because of the flaw".into());
        if has(Flaw::EdgeOthers)
            && let [first, second, ..] = others.as_slice()
        {
            edges.push(Edge { prerequisite: first.clone(), dependent: second.clone(), reason: order.clone(), way_out: None });
        }
        if has(Flaw::EdgeUnknown) {
            let nobody = ResourceId { type_name: id.type_name.clone(), name: "nobody".into() };
            edges.push(Edge { prerequisite: nobody, dependent: id.clone(), reason: order, way_out: None });
        }
        if has(Flaw::EdgeAction)
            && let [first, ..] = others.as_slice()
        {
            edges.push(Edge {
                prerequisite: first.clone(),
                dependent: id,
                reason: EdgeReason::Action("reload".into()),
                way_out: None,
            });
        }
        Ok(edges)
    }

    fn resolve_export(id: ResourceId, attribute: String, given: &Parameters) -> DefinitionResult<String> {
        <Honest as definition::Guest>::resolve_export(id, attribute, given)
    }

    fn test_view(desired: String) -> DefinitionResult<TestedState> {
        <Honest as definition::Guest>::test_view(desired)
    }

    fn migrate(from_version: u32, recorded: RecordedState) -> DefinitionResult<RecordedState> {
        if from_version == 1 || has(Flaw::MigrateAny) {
            return Ok(recorded);
        }
        Err(DefinitionError::Unsupported("there is no such version".into()))
    }

    fn equal(attribute: String, left: String, right: String) -> DefinitionResult<bool> {
        <Honest as definition::Guest>::equal(attribute, left, right)
    }

    fn must_replace(attribute: String, prior: String, desired: String) -> DefinitionResult<bool> {
        <Honest as definition::Guest>::must_replace(attribute, prior, desired)
    }

    fn must_replace_on_drift(output: String, recorded: String, observed: String) -> DefinitionResult<bool> {
        <Honest as definition::Guest>::must_replace_on_drift(output, recorded, observed)
    }

    fn stable_id(recorded: RecordedState) -> DefinitionResult<String> {
        <Honest as definition::Guest>::stable_id(recorded)
    }
}

/// A state with another note.
fn with_note(desired: &str, note: Value) -> DefinitionResult<String> {
    let mut desired: Value = json::parse(desired)?;
    desired["note"] = note;
    Ok(json::canonical(&desired)?)
}

/// How long the state was that this instance compiled before, if that was another.
fn before(desired: &str) -> Option<usize> {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let last = LAST.swap(desired.len(), Ordering::Relaxed);
    Some(last).filter(|last| *last != 0 && *last != desired.len())
}

/// A state without what should have been refused in it: unknown fields, or a size of another type.
fn forgiven(desired: &str) -> DefinitionResult<String> {
    let mut desired: Value = json::parse(desired)?;
    if let Some(fields) = desired.as_object_mut() {
        if has(Flaw::ValidateUnknown) {
            fields.retain(|name, _| ["path", "ensure", "mode", "size", "note", "key", "text"].contains(&name.as_str()));
        }
        if has(Flaw::ValidateTypes) && fields.get("size").is_some_and(|size| !size.is_number()) {
            fields.remove("size");
        }
    }
    Ok(json::canonical(&desired)?)
}

fn spin() -> ! {
    let mut count = 0_u64;
    loop {
        count = black_box(count.wrapping_add(1));
    }
}

/// Touches each page, so that the memory is really used.
fn allocate() -> ! {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    loop {
        kept.push(vec![1; 1 << 20]);
        black_box(&kept);
    }
}

impl lifecycle::Guest for Broken {
    type Work = HeldWork<Thing>;

    fn capabilities() -> Vec<String> {
        <Honest as lifecycle::Guest>::capabilities()
    }

    fn inspect_safety(desired: String, context: Context) -> NodeResult<Safety> {
        <Honest as lifecycle::Guest>::inspect_safety(desired, context)
    }

    fn composition_conflicts(group: Vec<lifecycle::Declared>, context: Context) -> NodeResult<Vec<lifecycle::Conflict>> {
        <Honest as lifecycle::Guest>::composition_conflicts(group, context)
    }

    fn check(desired: String, context: Context) -> NodeResult<lifecycle::CheckResult> {
        <Honest as lifecycle::Guest>::check(desired, context)
    }

    fn perform(action: String, desired: String, context: Context) -> NodeResult<Outcome> {
        <Honest as lifecycle::Guest>::perform(action, desired, context)
    }

    fn refresh(desired: String, context: Context) -> NodeResult<Outcome> {
        <Honest as lifecycle::Guest>::refresh(desired, context)
    }

    fn recover_interrupted(desired: String, operation: InterruptedOperation, context: Context) -> NodeResult<()> {
        <Honest as lifecycle::Guest>::recover_interrupted(desired, operation, context)
    }

    fn read(prior: Prior, context: Context) -> NodeResult<Option<String>> {
        <Honest as lifecycle::Guest>::read(prior, context)
    }

    fn delete(prior: Prior, context: Context) -> NodeResult<Outcome> {
        <Honest as lifecycle::Guest>::delete(prior, context)
    }
}
