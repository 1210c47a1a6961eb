//! The pure half. Each function asks what it is told to do, does that, and answers honestly where the act leaves the answer alone.

use runtime_sdk::bindings::exports::runtime::module::definition::{
    Attribute as DescribedAttribute, Compiled, Description, Guest, Output,
};
use runtime_sdk::bindings::runtime::module::parameters::Parameters as Handle;
use runtime_sdk::{
    Asset, AssetRequest, AssetSource, Attribute, Capability, CatalogView, Claim, DefinitionError, DefinitionResult, Edge,
    EdgeReason, Footprint, HostError, Parameters, RecordSelectors, RecordedState, ResourceId, Semantics, TestedState, json,
};

use crate::Hostile;
use crate::acts::{self, FOREIGN_DIGEST};
use crate::asks;
use crate::behaviour::{Act, Behaviour, Place};
use crate::desired::{Desired, FOREIGN_SECRET};
use crate::spoil::{HUGE_BYTES, HUGE_COUNT, MISLEADING, huge_path, is_of_json, misleading, text};

/// The key of a shared action.
const ACTION: &str = "hostile.tidy";

impl Guest for Hostile {
    fn describe() -> Description {
        let path = |name: &str| Attribute::string(name).required().identity();
        let attributes = [
            path("path").exported().doc("The path that the effects name."),
            path("other").doc("A path that they do not name."),
            Attribute::string("behaviour").nullable().identity().doc("What to do, as `act@place`."),
            Attribute::string("secret").nullable().exported().doc("Content that may be sensitive, taken along and not written."),
            Attribute::string("note").nullable().doc("What some acts need. Not for `identity` to read."),
        ];
        let output = |name: &str, sensitive, doc: &str| Output {
            name: name.into(),
            type_json: "\"string\"".into(),
            sensitive,
            doc: doc.into(),
        };
        let told = Behaviour::told(Place::Describe);
        acts::perform_unasked(told);
        let mut attributes: Vec<DescribedAttribute> = attributes.into_iter().map(Into::into).collect();
        describe_otherwise(&mut attributes, told);
        Description {
            type_name: "hostile".into(),
            schema_version: 1,
            summary: if told == Some(Act::ControlCharacters) { MISLEADING.into() } else { "Misbehaves as it is told to.".into() },
            attributes,
            blocks: Vec::new(),
            outputs: vec![output("stamp", false, "What stands at `path`."), output("token", true, "What nobody is to see.")],
            ensure: None,
            capabilities: vec![
                Capability::new("files", "read", "/**", "to read what it should not"),
                Capability::new("files", "write", "/**", "to write where it should not"),
            ],
            selectors: RecordSelectors {
                equality: Vec::new(),
                replace: Vec::new(),
                replace_when: Vec::new(),
                configuration: Vec::new(),
                drift: Vec::new(),
                has_stable_id: false,
            },
            has_providers: false,
        }
    }

    fn identity(id: ResourceId, given: &Handle) -> DefinitionResult<Footprint> {
        let handle = given.handle();
        let given = Parameters::new(&id, given);
        let desired = read(&given)?;
        ask_if_told(Place::Identity, &desired, handle)?;
        let act = begin(Place::Identity, &desired)?;
        let mut footprint = desired.footprint();
        match act {
            Some(Act::ReadUnflagged) => drop(given.string("note")?),
            Some(Act::ReadUnknown) => drop(given.string("nothing")?),
            Some(Act::HugeString) => footprint.affected_paths.push(huge_path()),
            Some(Act::HugeList) => footprint.affected_paths = vec![b"/x".to_vec(); HUGE_COUNT],
            Some(Act::ClaimOther) => claim_other(&mut footprint, &desired),
            Some(act @ (Act::ClaimPart | Act::ClaimWhole)) => claim_object(&mut footprint, &desired, act),
            Some(Act::UnknownWord) => footprint.effects[0].actions.push("frobnicate".into()),
            _ => {}
        }
        Ok(footprint)
    }

    fn compile(id: ResourceId, given: &Handle) -> DefinitionResult<Compiled> {
        let handle = given.handle();
        let given = Parameters::new(&id, given);
        let mut desired = read(&given)?;
        desired.check()?;
        ask_if_told(Place::Compile, &desired, handle)?;
        let act = begin(Place::Compile, &desired)?;
        desired.note = given.string("note")?;
        if act == Some(Act::ReadUnknown) {
            given.string("nothing")?;
        }
        if act == Some(Act::UnknownWord) {
            return Ok(Compiled { desired: json::canonical(&desired)?, assets: vec![request_with("md5:0")] });
        }
        if !given.has("secret")? {
            return Ok(Compiled { desired: text(act, json::canonical(&desired)?), assets: Vec::new() });
        }
        let desired = Desired { secret: Some(Asset::pending()), ..desired };
        let request = AssetRequest { checksum: None, ..request_with("") };
        Ok(Compiled { desired: text(act, json::canonical(&desired)?), assets: vec![request] })
    }

    fn assign_asset(desired: String, _slot: String, asset: String) -> DefinitionResult<String> {
        let mut desired = Desired::parse(&desired)?;
        let act = begin(Place::AssignAsset, &desired)?;
        desired.secret.get_or_insert_default().assign(asset);
        Ok(text(act, json::canonical(&desired)?))
    }

    fn validate(text: String) -> DefinitionResult<Semantics> {
        let desired = Desired::parse(&text)?;
        desired.check()?;
        let act = begin(Place::Validate, &desired)?;
        let mut footprint = desired.footprint();
        let claims_other =
            [Place::Identity, Place::Validate].into_iter().any(|place| desired.act(place) == Some(Act::ClaimOther));
        if claims_other {
            claim_other(&mut footprint, &desired);
        }
        if let Some(act @ (Act::ClaimPart | Act::ClaimWhole)) = desired.act(Place::Identity) {
            claim_object(&mut footprint, &desired, act);
        }
        if let (Some(Act::ClaimNoted), Some(note)) = (act, &desired.note) {
            footprint.claims.push(path_claim(note));
        }
        let mut semantics = Semantics::new(footprint, std::time::Duration::from_secs(5)).capability("files.write");
        if desired.act(Place::Relationships) == Some(Act::OrderAction) {
            semantics.prerequisites.push(ACTION.into());
        }
        if let Some(name) = desired.secret.as_ref().and_then(Asset::name) {
            semantics = semantics.asset(name);
        }
        match act {
            Some(Act::NameSecret) => semantics = semantics.asset(FOREIGN_SECRET),
            Some(Act::NeedMore) => semantics = semantics.capability("files.read"),
            Some(Act::NoTimeout) => semantics.timeout_ms = 0,
            Some(Act::EndlessTimeout) => semantics.timeout_ms = u64::MAX,
            Some(Act::NameAsset) => semantics = semantics.asset(FOREIGN_DIGEST),
            Some(Act::UnknownWord) => semantics.assets.push("md5:0".into()),
            Some(Act::HugeList) => semantics.capabilities = vec!["files.read".into(); HUGE_COUNT],
            Some(Act::HugeString) => semantics.capabilities.push("x".repeat(HUGE_BYTES)),
            _ => {}
        }
        Ok(semantics)
    }

    fn relationships(id: ResourceId, desired: Option<String>, catalog: &CatalogView) -> DefinitionResult<Vec<Edge>> {
        let Some(desired) = desired else { return Ok(Vec::new()) };
        let desired = Desired::parse(&desired)?;
        let after = |prerequisite: &ResourceId, reason| vec![Edge { reason, ..edge(prerequisite, &id) }];
        ask_if_told(Place::Relationships, &desired, catalog.handle())?;
        let first = || catalog.all().into_iter().map(|peer| peer.id).find(|other| other != &id).unwrap_or_else(|| id.clone());
        match begin(Place::Relationships, &desired)? {
            Some(Act::OrderOthers) => Ok(edges_of_others(&id, catalog)),
            Some(Act::OrderFirst) => Ok(vec![edge(&first(), &id)]),
            Some(Act::OrderAction | Act::SmuggleAction) => Ok(after(&first(), EdgeReason::Action(ACTION.into()))),
            Some(Act::PushAction) => Ok(vec![Edge { reason: EdgeReason::Action(ACTION.into()), ..edge(&id, &first()) }]),
            Some(Act::OrderItself) => Ok(vec![edge(&id, &id)]),
            Some(Act::OrderNobody) => Ok(vec![edge(&address("file.nobody"), &id)]),
            Some(Act::OrderNoted) => Ok(desired.note.iter().map(|note| edge(&address(note), &id)).collect()),
            Some(Act::UnknownWord) => Ok(vec![edge(&address("No Such!.x"), &id)]),
            Some(Act::HugeList) => Ok(vec![edge(&id, &id); HUGE_COUNT]),
            Some(Act::HugeString) => Ok(vec![Edge { reason: EdgeReason::Order("x".repeat(HUGE_BYTES)), ..edge(&id, &id) }]),
            _ => Ok(Vec::new()),
        }
    }

    fn resolve_export(id: ResourceId, attribute: String, given: &Handle) -> DefinitionResult<String> {
        let handle = given.handle();
        let given = Parameters::new(&id, given);
        let desired = read(&given)?;
        ask_if_told(Place::ResolveExport, &desired, handle)?;
        let act = begin(Place::ResolveExport, &desired)?;
        if attribute == "secret" {
            return Ok(text(act, json::canonical(&given.value("secret")?)?));
        }
        Ok(text(act, json::canonical(&desired.path)?))
    }

    fn test_view(desired: String) -> DefinitionResult<TestedState> {
        let desired = Desired::parse(&desired)?;
        let act = begin(Place::TestView, &desired)?;
        let content = (act == Some(Act::UnknownWord)).then(|| "md5:0".to_owned());
        Ok(TestedState { attributes: text(act, json::canonical(&desired)?), content })
    }

    fn migrate(_from_version: u32, recorded: RecordedState) -> DefinitionResult<RecordedState> {
        match begin_if_told(Place::Migrate, &recorded.inputs)? {
            None => Err(no_such("migration")),
            act => Ok(RecordedState { inputs: text(act, recorded.inputs), outputs: recorded.outputs }),
        }
    }

    fn equal(_attribute: String, left: String, _right: String) -> DefinitionResult<bool> {
        begin_if_told(Place::Equal, &left)?.map(|_| true).ok_or_else(|| no_such("equality"))
    }

    fn must_replace(_attribute: String, prior: String, _desired: String) -> DefinitionResult<bool> {
        begin_if_told(Place::MustReplace, &prior)?.map(|_| true).ok_or_else(|| no_such("replacement"))
    }

    fn must_replace_on_drift(_output: String, recorded: String, _observed: String) -> DefinitionResult<bool> {
        begin_if_told(Place::MustReplaceOnDrift, &recorded)?.map(|_| true).ok_or_else(|| no_such("drift"))
    }

    fn stable_id(recorded: RecordedState) -> DefinitionResult<String> {
        begin_if_told(Place::StableId, &recorded.inputs)?.map(|act| text(Some(act), "id".into())).ok_or_else(|| no_such("id"))
    }
}

fn no_such(what: &str) -> DefinitionError {
    DefinitionError::Unsupported(format!("the hostile guest has no {what}"))
}

/// The attributes that name it; `note` is none of them.
fn read(given: &Parameters) -> DefinitionResult<Desired> {
    Ok(Desired {
        note: None,
        behaviour: given.string("behaviour")?,
        path: given.required("path")?,
        other: given.required("other")?,
        secret: None,
    })
}

/// Does what is told for this function, and gives the act for the answer to be made by.
fn begin(place: Place, desired: &Desired) -> DefinitionResult<Option<Act>> {
    let act = desired.act(place);
    match act {
        Some(Act::ControlCharacters) => Err(misleading().into()),
        Some(act) => acts::perform(act, desired).map(|()| Some(act)).map_err(refused),
        None => Ok(None),
    }
}

/// Makes the call that is told for a function with a handle, which then has nothing else to answer.
fn ask_if_told(place: Place, desired: &Desired, handle: u32) -> DefinitionResult<()> {
    if desired.act(place) == Some(Act::Ask) {
        Err(DefinitionError::Other(asks::ask(&desired.other, Some(handle))))
    } else {
        Ok(())
    }
}

/// As [`begin`], with what a past run recorded; none if that is no state of this guest.
fn begin_if_told(place: Place, recorded: &str) -> DefinitionResult<Option<Act>> {
    Desired::parse(recorded).ok().map_or(Ok(None), |desired| begin(place, &desired))
}

/// The request of the one asset, with a checksum.
fn request_with(checksum: &str) -> AssetRequest {
    AssetRequest {
        slot: "secret".into(),
        source: AssetSource::Parameter("secret".into()),
        checksum: Some(checksum.into()),
        checksum_error: None,
        attribute: "secret".into(),
    }
}

/// Describes the first attribute, or all of them, in a way that the contract does not have.
fn describe_otherwise(attributes: &mut Vec<DescribedAttribute>, told: Option<Act>) {
    let first = &mut attributes[0];
    match told {
        Some(Act::UnknownWord) => first.type_json = "\"float\"".into(),
        Some(Act::HugeString) => first.doc = "x".repeat(HUGE_BYTES),
        Some(Act::HugeList) => *attributes = vec![first.clone(); HUGE_COUNT],
        Some(act) if is_of_json(act) => first.default_json = Some(text(Some(act), "\"x\"".into())),
        _ => {}
    }
}

fn refused(error: HostError) -> DefinitionError {
    DefinitionError::Other(runtime_sdk::node::explain(&error))
}

fn path_claim(path: &str) -> Claim {
    Claim { domain: "path".into(), key: path.as_bytes().to_vec(), qualifier: String::new() }
}

fn claim_other(footprint: &mut Footprint, desired: &Desired) {
    footprint.claims.push(path_claim(&desired.other));
    footprint.affected_paths.push(desired.other.as_bytes().to_vec());
}

/// A claim on an object that only this type knows, or on a part of it.
fn claim_object(footprint: &mut Footprint, desired: &Desired, act: Act) {
    let qualifier = if act == Act::ClaimWhole { "*".to_owned() } else { desired.path.clone() };
    footprint.claims.push(Claim { domain: "object".into(), key: desired.other.as_bytes().to_vec(), qualifier });
}

fn address(text: &str) -> ResourceId {
    let (type_name, name) = text.split_once('.').unwrap_or((text, ""));
    ResourceId { type_name: type_name.into(), name: name.into() }
}

fn edge(prerequisite: &ResourceId, dependent: &ResourceId) -> Edge {
    Edge {
        prerequisite: prerequisite.clone(),
        dependent: dependent.clone(),
        reason: EdgeReason::Order("because".into()),
        way_out: None,
    }
}

/// An edge between each two resources that are not this one.
fn edges_of_others(id: &ResourceId, catalog: &CatalogView) -> Vec<Edge> {
    let others: Vec<_> = catalog.all().into_iter().map(|peer| peer.id).filter(|other| other != id).collect();
    others.windows(2).map(|pair| edge(&pair[1], &pair[0])).collect()
}
