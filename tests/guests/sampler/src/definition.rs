//! The pure half.

use std::collections::BTreeMap;
use std::time::Duration;

use runtime_sdk::bindings::exports::runtime::module::definition::{Compiled, Description, Guest};
use runtime_sdk::bindings::runtime::module::parameters::{Child, Parameters as Handle};
use runtime_sdk::{
    Asset, AssetRequest, AssetSource, CatalogView, DefinitionError, DefinitionResult, Diagnostic, Edge, Footprint, Parameters,
    RecordedState, ResourceId, Semantics, TestedState, json,
};
use serde_json::json as value;

use crate::Sampler;
use crate::description::{SETTINGS, describe};
use crate::desired::{Desired, Ensure, Retry, Rule, Vhost, footprint};

impl Guest for Sampler {
    fn describe() -> Description {
        describe()
    }

    fn identity(id: ResourceId, given: &Handle) -> DefinitionResult<Footprint> {
        let path: String = Parameters::new(&id, given).required("path")?;
        let mut hosts = Vec::new();
        for child in children(given, "vhost")? {
            hosts.push((label(&child), Parameters::new(&id, &child.given).string("root")?));
        }
        Ok(footprint(&path, hosts.iter().map(|(label, root)| (label.as_str(), root.as_deref()))))
    }

    fn compile(id: ResourceId, given: &Handle) -> DefinitionResult<Compiled> {
        let own = Parameters::new(&id, given);
        throw_away(&own);
        let mut assets = Vec::new();
        let mut settings = BTreeMap::new();
        for name in SETTINGS {
            settings.extend(own.value(name)?.map(|value| (name.to_owned(), value)));
        }
        let mut desired = Desired {
            path: own.required("path")?,
            ensure: ensure(&own)?,
            content: asset(&own, "", "content", &mut assets)?,
            settings,
            retry: None,
            rules: Vec::new(),
            vhosts: Vec::new(),
        };
        for child in children(given, "retry")? {
            let part = Parameters::new(&id, &child.given);
            desired.retry = Some(Retry { tries: part.required("tries")?, wait: part.string("wait")? });
        }
        for child in children(given, "rule")? {
            let part = Parameters::new(&id, &child.given);
            desired.rules.push(Rule { action: part.required("action")?, matched: part.value("match")? });
        }
        for (place, child) in children(given, "vhost")?.iter().enumerate() {
            desired.vhosts.push(vhost(&id, place, child, &mut assets)?);
        }
        Ok(Compiled { desired: json::canonical(&desired)?, assets })
    }

    fn assign_asset(desired: String, slot: String, asset: String) -> DefinitionResult<String> {
        let mut desired = Desired::parse(&desired)?;
        let place = slot.strip_prefix("vhost[").and_then(|rest| rest.strip_suffix("].page")?.parse::<usize>().ok());
        let found = match place {
            Some(place) => desired.vhosts.get_mut(place).and_then(|vhost| vhost.page.as_mut()),
            None => desired.content.as_mut().filter(|_| slot == "content"),
        };
        let found = found.ok_or_else(|| DefinitionError::Other("no asset was asked for in this slot".into()))?;
        found.assign(asset);
        Ok(json::canonical(&desired)?)
    }

    fn validate(text: String) -> DefinitionResult<Semantics> {
        let desired = Desired::parse(&text)?;
        if let Some(name) = desired.settings.keys().find(|name| !SETTINGS.contains(&name.as_str())) {
            return Err(Diagnostic::new(format!("`{name}` is not one of its attributes")).into());
        }
        if desired.retry.as_ref().is_some_and(|retry| retry.tries < 1) {
            return Err(Diagnostic::at("retry[0].tries", "it must be tried at least once").into());
        }
        for (place, vhost) in desired.vhosts.iter().enumerate() {
            if vhost.port.is_some_and(|port| !(1..=65_535).contains(&port)) {
                return Err(Diagnostic::at(&format!("vhost[{place}].port"), "a port is from 1 to 65535").into());
            }
        }
        let semantics = Semantics::new(desired.footprint(), Duration::from_secs(5));
        let semantics = semantics.capability("files.read").capability("files.write");
        let names = desired.assets().map(|asset| asset.name().ok_or_else(|| Diagnostic::new("an asset is not assigned")));
        names
            .collect::<Result<Vec<&str>, _>>()
            .map(|names| names.into_iter().fold(semantics, Semantics::asset))
            .map_err(Into::into)
    }

    fn relationships(_id: ResourceId, desired: Option<String>, _catalog: &CatalogView) -> DefinitionResult<Vec<Edge>> {
        desired.map(|desired| Desired::parse(&desired)).transpose().map(|_| Vec::new())
    }

    fn resolve_export(id: ResourceId, attribute: String, given: &Handle) -> DefinitionResult<String> {
        let own = Parameters::new(&id, given);
        let exported = match attribute.as_str() {
            "path" => own.value("path")?,
            "content" => own.value("content")?,
            "ensure" => Some(value!(ensure(&own)?)),
            "level" => {
                throw_away(&own);
                Some(own.value("level")?.unwrap_or_else(|| value!("low")))
            }
            _ => return Err(DefinitionError::Unsupported("it exports nothing of this name".into())),
        };
        Ok(json::canonical(&exported)?)
    }

    fn test_view(text: String) -> DefinitionResult<TestedState> {
        let desired = Desired::parse(&text)?;
        let mut attributes = desired.settings.clone();
        attributes.insert("path".into(), value!(desired.path));
        attributes.insert("ensure".into(), value!(desired.ensure));
        let content = desired.content.as_ref().and_then(Asset::name).map(str::to_owned);
        Ok(TestedState { attributes: json::canonical(&attributes)?, content })
    }

    fn migrate(_from_version: u32, _recorded: RecordedState) -> DefinitionResult<RecordedState> {
        Err(no_such("migration"))
    }

    fn equal(_attribute: String, _left: String, _right: String) -> DefinitionResult<bool> {
        Err(no_such("equality"))
    }

    fn must_replace(_attribute: String, _prior: String, _desired: String) -> DefinitionResult<bool> {
        Err(no_such("replacement"))
    }

    fn must_replace_on_drift(_output: String, _recorded: String, _observed: String) -> DefinitionResult<bool> {
        Err(no_such("drift"))
    }

    fn stable_id(_recorded: RecordedState) -> DefinitionResult<String> {
        Err(no_such("id"))
    }
}

fn no_such(what: &str) -> DefinitionError {
    DefinitionError::Unsupported(format!("the sampler has no {what}"))
}

fn children(given: &Handle, block: &str) -> DefinitionResult<Vec<Child>> {
    given.children(block).map_err(|_| DefinitionError::Parameter)
}

fn label(child: &Child) -> String {
    child.label.clone().unwrap_or_default()
}

/// Reads an attribute and forgets what it is, and even whether it could be read.
fn throw_away(own: &Parameters) {
    drop(own.value("ignored"));
}

fn ensure(own: &Parameters) -> DefinitionResult<Ensure> {
    Ok(match own.string("ensure")?.as_deref() {
        Some("absent") => Ensure::Absent,
        _ => Ensure::Present,
    })
}

fn vhost(id: &ResourceId, place: usize, child: &Child, assets: &mut Vec<AssetRequest>) -> DefinitionResult<Vhost> {
    let part = Parameters::new(id, &child.given);
    Ok(Vhost {
        label: label(child),
        root: part.string("root")?,
        page: asset(&part, &format!("vhost[{place}]."), "page", assets)?,
        port: part.integer("port")?,
        peer: part.string("peer")?,
    })
}

/// Asks for the text of the attribute `name`, or for the file that `source` names; `within` leads to both.
fn asset(part: &Parameters, within: &str, name: &str, assets: &mut Vec<AssetRequest>) -> DefinitionResult<Option<Asset>> {
    let slot = format!("{within}{name}");
    let (source, attribute) = match (part.string("source")?, part.has(name)?) {
        (Some(_), true) => {
            return Err(Diagnostic::at(&slot, format!("`{name}` and `source` are two ways to say one thing")).into());
        }
        (Some(path), false) => (AssetSource::Local(path), format!("{within}source")),
        (None, true) => (AssetSource::Parameter(slot.clone()), slot.clone()),
        (None, false) => return Ok(None),
    };
    assets.push(AssetRequest { slot, source, checksum: None, checksum_error: None, attribute });
    Ok(Some(Asset::pending()))
}
