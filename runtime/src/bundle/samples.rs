//! Bundles for tests, good ones and parts to make bad ones of.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use tar::Header;

use crate::model::asset::AssetRef;
use crate::model::canonical::CanonicalJson;
use crate::model::catalog::{
    Asset, CATALOG_VERSION, Catalog, Claim, Effect, LANGUAGE_VERSION, Module, Resource, Semantics, Source, State,
};
use crate::model::digest::{AssetDigest, BundleDigest, ComponentDigest};

use super::archive::{BLOCK, padding, scan};
use super::catalog;
use super::error::BundleError;
use super::read::{Bundle, COMPONENT_PREAMBLE};
use super::write::{AssetContent, AssetSource, Output, Parts, WriteError};

/// Starts as a component does.
pub(super) fn component(rest: &[u8]) -> Vec<u8> {
    [COMPONENT_PREAMBLE, rest].concat()
}

/// `contents`, each as an asset.
pub(super) fn assets(contents: &[&[u8]]) -> Vec<AssetSource> {
    let asset = |content: &&[u8]| AssetSource {
        digest: AssetDigest::of(content),
        size: content.len() as u64,
        content: AssetContent::Bytes(content.to_vec()),
    };
    contents.iter().map(asset).collect()
}

/// A resource of type `file` at `/etc/NAME` that names `assets`.
pub(super) fn resource(name: &str, assets: &[AssetSource]) -> Resource {
    let path = format!("/etc/{name}");
    let claim = Claim { domain: "path".into(), key: path.as_str().into(), qualifier: String::new() };
    let actions = vec!["read".to_owned(), "write".to_owned()];
    let effect = Effect { domain: "path".into(), key: path.as_str().into(), actions, qualifier: None };
    let mut assets: Vec<_> = assets.iter().map(|asset| AssetRef::Plain(asset.digest)).collect();
    assets.sort();
    assets.dedup();
    let semantics = Semantics {
        capabilities: vec!["files.read".into(), "files.write".into()],
        assets,
        sensitive: false,
        accepts_refresh: false,
        timeout_ms: 60_000,
        prerequisites: Vec::new(),
    };
    Resource {
        id: format!("file.{name}").parse().unwrap(),
        source: Source { file: "site.hcl".into(), line: 3, column: 1 },
        claims: vec![claim],
        effects: vec![effect],
        affected_paths: vec![path.as_str().into()],
        timeout_ms: None,
        control: None,
        health: None,
        state: State::Compiled {
            desired: CanonicalJson::new(&json!({ "path": path, "mode": 420 })).expect("it is plain JSON"),
            semantics,
        },
        backends: None,
    }
}

/// A catalog with one resource, which names all `assets`.
pub(super) fn catalog_of(component: &[u8], assets: &[AssetSource]) -> Catalog {
    let module = Module { component: ComponentDigest::of(component), schema_version: 1 };
    Catalog {
        catalog_version: CATALOG_VERSION,
        language_version: LANGUAGE_VERSION,
        owner: "site".parse().unwrap(),
        serial: 7,
        audience: Vec::new(),
        target_facts: BTreeMap::new(),
        providers: BTreeMap::new(),
        modules: BTreeMap::from([("file".parse().unwrap(), module)]),
        assets: assets.iter().map(|asset| (asset.digest, Asset { size: asset.size })).collect(),
        secrets: Vec::new(),
        node_secrets: Vec::new(),
        resources: vec![resource("motd", assets)],
        edges: Vec::new(),
    }
}

/// The bytes of a bundle with these parts, and its digest.
pub(super) fn bundle_of(
    catalog: &[u8],
    components: &[&[u8]],
    assets: &[AssetSource],
) -> Result<(Vec<u8>, BundleDigest), WriteError> {
    let components: Vec<_> = components.iter().map(|bytes| (ComponentDigest::of(bytes), *bytes)).collect();
    let parts = Parts::new(catalog, &components, assets, None)?;
    let mut bytes = Vec::new();
    parts.write_to(&mut Output { writer: &mut bytes, path: Path::new("memory") })?;
    Ok((bytes, parts.digest()))
}

/// A valid bundle with one component and `contents` as assets.
pub(super) fn bundle(contents: &[&[u8]]) -> Vec<u8> {
    let (component, assets) = (component(b""), assets(contents));
    let catalog = catalog::encode(&catalog_of(&component, &assets)).unwrap();
    bundle_of(&catalog, &[&component], &assets).unwrap().0
}

/// Opens a bundle in memory, and its catalog.
pub(super) fn open(bytes: &[u8]) -> Result<Bundle, BundleError> {
    let bundle = Bundle::from_bytes(bytes.to_vec())?;
    bundle.catalog()?;
    Ok(bundle)
}

/// A member of an archive, taken apart.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) header: Header,
    pub(super) content: Vec<u8>,
}

impl Entry {
    /// Changes the header, and makes its checksum right again.
    pub(super) fn with_header(mut self, change: impl FnOnce(&mut Header)) -> Self {
        change(&mut self.header);
        self.header.set_cksum();
        self
    }

    /// Sets the name field to `name`.
    pub(super) fn named(self, name: &str) -> Self {
        self.with_header(|header| {
            let field = &mut header.as_old_mut().name;
            field.fill(0);
            field[..name.len()].copy_from_slice(name.as_bytes());
        })
    }

    pub(super) fn name(&self) -> String {
        String::from_utf8(self.header.path_bytes().into_owned()).unwrap()
    }
}

/// A bundle's members.
pub(super) fn take_apart(bytes: &[u8]) -> Vec<Entry> {
    let entry = |member: super::archive::Member| {
        let start = member.span.offset as usize;
        Entry {
            header: Header::from_byte_slice(&bytes[start - BLOCK as usize..start]).clone(),
            content: bytes[start..start + member.span.size as usize].to_vec(),
        }
    };
    scan(&bytes.to_vec()).unwrap().into_iter().map(entry).collect()
}

/// An archive of these members.
pub(super) fn put_together(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries {
        bytes.extend(entry.header.as_bytes());
        bytes.extend(&entry.content);
        bytes.resize(bytes.len() + padding(entry.content.len() as u64) as usize, 0);
    }
    bytes.resize(bytes.len() + 2 * BLOCK as usize, 0);
    bytes
}
