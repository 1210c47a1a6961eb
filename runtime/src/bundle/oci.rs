//! The OCI documents of a bundle: `oci-layout`, `index.json` and the manifest.
//!
//! Each has one form for each content: a parsed document is rendered again and must give the same bytes. The types are our
//! own, and hold just the fields that a bundle has, so that no other field can pass unseen (docs/decisions/0007-own-oci-documents.md).

use serde::{Deserialize, Serialize};

use crate::model::digest::{AssetDigest, CatalogDigest, ComponentDigest, Digest};

use super::archive::BlobDigest;
use super::error::{DocumentError, shown};
use super::limits::{MAX_ASSETS, MAX_COMPONENTS};

/// The whole of `oci-layout`.
pub(super) const LAYOUT: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;

/// What the manifest is an artifact of.
pub const ARTIFACT_TYPE: &str = "application/vnd.runtime.bundle.v1";

/// The media type of the catalog.
pub const CATALOG_TYPE: &str = "application/vnd.runtime.catalog.v1+json";

/// The media type of the layer for secrets.
pub const SECRETS_TYPE: &str = "application/vnd.runtime.secrets.v1+json";

const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
const SCHEMA_VERSION: u32 = 2;

/// A blob that a document refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reference<D> {
    /// Its digest.
    pub(super) digest: D,
    /// Its size in bytes.
    pub(super) size: u64,
}

/// What a manifest says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The config blob.
    pub(super) catalog: Reference<CatalogDigest>,
    /// Ascending by digest.
    pub(super) components: Vec<Reference<ComponentDigest>>,
    /// Ascending by digest.
    pub(super) assets: Vec<Reference<AssetDigest>>,
    /// The layer for secrets, if there is one.
    pub(super) secrets: Option<Reference<BlobDigest>>,
}

/// The media types that a layer may have, in the order of layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum LayerType {
    #[serde(rename = "application/wasm")]
    Component,
    #[serde(rename = "application/vnd.runtime.asset.v1")]
    Asset,
    #[serde(rename = "application/vnd.runtime.secrets.v1+json")]
    Secrets,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct IndexDocument {
    schema_version: u32,
    media_type: String,
    manifests: [ManifestDescriptor; 1],
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ManifestDescriptor {
    media_type: String,
    artifact_type: String,
    digest: BlobDigest,
    size: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ManifestDocument {
    schema_version: u32,
    media_type: String,
    artifact_type: String,
    config: ConfigDescriptor,
    layers: Vec<LayerDescriptor>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ConfigDescriptor {
    media_type: String,
    digest: CatalogDigest,
    size: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LayerDescriptor {
    media_type: LayerType,
    digest: BlobDigest,
    size: u64,
}

/// `index.json` for a manifest.
pub(super) fn render_index(manifest: Reference<BlobDigest>) -> Vec<u8> {
    canonical(&IndexDocument {
        schema_version: SCHEMA_VERSION,
        media_type: INDEX_TYPE.to_owned(),
        manifests: [ManifestDescriptor {
            media_type: MANIFEST_TYPE.to_owned(),
            artifact_type: ARTIFACT_TYPE.to_owned(),
            digest: manifest.digest,
            size: manifest.size,
        }],
    })
}

/// The manifest that `index.json` names.
pub(super) fn parse_index(bytes: &[u8]) -> Result<Reference<BlobDigest>, DocumentError> {
    let document: IndexDocument = parse(bytes)?;
    let [manifest] = document.manifests;
    let reference = Reference { digest: manifest.digest, size: manifest.size };
    check_field("artifactType", &manifest.artifact_type, ARTIFACT_TYPE)?;
    check_field("mediaType", &manifest.media_type, MANIFEST_TYPE)?;
    check_same(bytes, &render_index(reference))?;
    Ok(reference)
}

/// The manifest's bytes.
pub(super) fn render_manifest(manifest: &Manifest) -> Vec<u8> {
    let components = manifest.components.iter().map(|part| layer(LayerType::Component, part));
    let assets = manifest.assets.iter().map(|part| layer(LayerType::Asset, part));
    let secrets = manifest.secrets.iter().map(|part| layer(LayerType::Secrets, part));
    canonical(&ManifestDocument {
        schema_version: SCHEMA_VERSION,
        media_type: MANIFEST_TYPE.to_owned(),
        artifact_type: ARTIFACT_TYPE.to_owned(),
        config: ConfigDescriptor {
            media_type: CATALOG_TYPE.to_owned(),
            digest: manifest.catalog.digest,
            size: manifest.catalog.size,
        },
        layers: components.chain(assets).chain(secrets).collect(),
    })
}

/// What the manifest's bytes say.
pub(super) fn parse_manifest(bytes: &[u8]) -> Result<Manifest, DocumentError> {
    let document: ManifestDocument = parse(bytes)?;
    check_field("artifactType", &document.artifact_type, ARTIFACT_TYPE)?;
    check_field("config.mediaType", &document.config.media_type, CATALOG_TYPE)?;
    check_layers(&document.layers)?;
    let manifest = Manifest {
        catalog: Reference { digest: document.config.digest, size: document.config.size },
        components: parts(&document.layers, LayerType::Component),
        assets: parts(&document.layers, LayerType::Asset),
        secrets: parts(&document.layers, LayerType::Secrets).first().copied(),
    };
    let secret_layers = document.layers.iter().filter(|layer| layer.media_type == LayerType::Secrets).count();
    check_count("layers of secrets", secret_layers, 1)?;
    check_count("components", manifest.components.len(), MAX_COMPONENTS)?;
    check_count("assets", manifest.assets.len(), MAX_ASSETS)?;
    check_same(bytes, &render_manifest(&manifest))?;
    Ok(manifest)
}

fn layer<K>(media_type: LayerType, part: &Reference<Digest<K>>) -> LayerDescriptor {
    LayerDescriptor { media_type, digest: BlobDigest::from_bytes(*part.digest.bytes()), size: part.size }
}

fn parts<K>(layers: &[LayerDescriptor], kind: LayerType) -> Vec<Reference<Digest<K>>> {
    let of_kind = layers.iter().filter(|layer| layer.media_type == kind);
    of_kind.map(|layer| Reference { digest: Digest::from_bytes(*layer.digest.bytes()), size: layer.size }).collect()
}

fn check_layers(layers: &[LayerDescriptor]) -> Result<(), DocumentError> {
    let place = |layer: &LayerDescriptor| (layer.media_type, layer.digest);
    match layers.windows(2).position(|pair| place(&pair[0]) >= place(&pair[1])) {
        Some(position) => Err(DocumentError::LayerOrder { position: position + 2 }),
        None => Ok(()),
    }
}

fn check_count(kind: &'static str, count: usize, cap: usize) -> Result<(), DocumentError> {
    if count > cap { Err(DocumentError::TooMany { kind, count, cap }) } else { Ok(()) }
}

fn check_field(field: &'static str, found: &str, wanted: &'static str) -> Result<(), DocumentError> {
    if found == wanted { Ok(()) } else { Err(DocumentError::Field { field, wanted }) }
}

/// That the two are the same bytes.
pub(super) fn check_same(found: &[u8], wanted: &[u8]) -> Result<(), DocumentError> {
    match first_difference(found, wanted) {
        Some(offset) => Err(DocumentError::NotCanonical { offset }),
        None => Ok(()),
    }
}

/// Where the two differ first; the end of the shorter counts as a difference.
pub(super) fn first_difference(left: &[u8], right: &[u8]) -> Option<usize> {
    let common = left.iter().zip(right).position(|(a, b)| a != b);
    common.or_else(|| (left.len() != right.len()).then(|| left.len().min(right.len())))
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, DocumentError> {
    serde_json::from_slice(bytes).map_err(|error| DocumentError::Syntax { reason: shown(error.to_string().as_bytes()) })
}

/// Canonical JSON of a document. These hold text, digests and small numbers: nothing that could fail to serialise.
fn canonical(document: &impl Serialize) -> Vec<u8> {
    serde_jcs::to_vec(document).expect("an OCI document is always JSON")
}
