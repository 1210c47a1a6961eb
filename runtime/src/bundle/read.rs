//! Opening a bundle, and reading its parts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::model::catalog::Catalog;
use crate::model::digest::{AssetDigest, BundleDigest, CatalogDigest, ComponentDigest, Digest};
use crate::model::ids::SecretSlot;
use crate::model::secret::Secrets;

use super::archive::{BlobDigest, Member, MemberName, Span, read_at, scan};
use super::catalog;
use super::error::{BundleError, DocumentError, ReferenceError};
use super::limits::{MAX_BUNDLE, MAX_CATALOG, MAX_COMPONENT, MAX_MANIFEST, MAX_SECRETS};
use super::oci::{self, LAYOUT, Manifest, Reference};
use super::secrets;
use super::source::{FileSource, ReadAt};

/// What every WebAssembly component starts with: the magic number, version 13, layer 1.
pub(super) const COMPONENT_PREAMBLE: &[u8; 8] = b"\0asm\x0d\0\x01\0";

/// How much of an asset is in memory at a time.
const CHUNK: usize = 128 << 10;

/// An open bundle, of which structure and every digest have been found right. Cheap to clone.
///
/// Nothing else is known of it: whether its catalog means anything ([`Bundle::catalog`]), who made it and what it may do is for
/// others to find out. The file may change while it is open, so every part is hashed again when it is read.
#[derive(Clone)]
pub struct Bundle {
    inner: Arc<Inner>,
}

struct Inner {
    source: Box<dyn ReadAt>,
    digest: BundleDigest,
    catalog_digest: CatalogDigest,
    catalog: Span,
    components: BTreeMap<ComponentDigest, Span>,
    assets: BTreeMap<AssetDigest, Span>,
    secrets: Secrets,
}

impl Bundle {
    /// Opens the bundle at `path`, once, and checks it from the first to the last byte: structure, then digests. Reads the whole
    /// file, of which it holds one part at a time in memory, and none but the secrets afterwards.
    ///
    /// # Errors
    /// [`BundleError::Io`] if the file cannot be read; any other if it is not a bundle.
    pub fn open(path: &Path) -> Result<Self, BundleError> {
        Self::from_source(Box::new(FileSource::open(path)?))
    }

    /// The bundle that `bytes` are, checked as [`Bundle::open`] does.
    ///
    /// # Errors
    /// If they are not a bundle.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, BundleError> {
        Self::from_source(Box::new(bytes))
    }

    fn from_source(source: Box<dyn ReadAt>) -> Result<Self, BundleError> {
        if source.len() > MAX_BUNDLE {
            return Err(BundleError::TooLarge { size: source.len(), cap: MAX_BUNDLE });
        }
        let members = scan(&*source)?;
        let (digest, manifest) = read_documents(&*source, &members)?;
        let blobs = Blobs::new(&members, digest, &manifest)?;
        let catalog = blobs.catalog;
        read_blob(&*source, "catalog", manifest.catalog.digest, catalog)?;
        for (digest, span) in &blobs.components {
            read_component(&*source, *digest, *span)?;
        }
        for (digest, span) in &blobs.assets {
            hash_asset(&*source, *digest, *span)?;
        }
        let secrets = match (manifest.secrets, blobs.secrets) {
            (Some(named), Some(span)) => read_secrets(&*source, named.digest, span)?,
            _ => Secrets::new(),
        };
        let Blobs { components, assets, .. } = blobs;
        let catalog_digest = manifest.catalog.digest;
        Ok(Self { inner: Arc::new(Inner { source, digest, catalog_digest, catalog, components, assets, secrets }) })
    }

    /// The digest of the OCI manifest, which names everything else.
    pub fn digest(&self) -> BundleDigest {
        self.inner.digest
    }

    /// The digest of the catalog.
    pub fn catalog_digest(&self) -> CatalogDigest {
        self.inner.catalog_digest
    }

    /// The catalog's bytes, hashed as they are read now. They have not been parsed.
    ///
    /// # Errors
    /// If they cannot be read, or the file has changed since it was opened.
    pub fn catalog_bytes(&self) -> Result<Vec<u8>, BundleError> {
        read_blob(&*self.inner.source, "catalog", self.inner.catalog_digest, self.inner.catalog)
    }

    /// The catalog, checked by itself and against the components and assets that the bundle holds.
    ///
    /// # Errors
    /// [`BundleError::Catalog`] if it breaks the format, [`BundleError::Reference`] if it and the manifest name different things; others as
    /// [`Bundle::catalog_bytes`].
    pub fn catalog(&self) -> Result<Catalog, BundleError> {
        let catalog = catalog::parse(&self.catalog_bytes()?).map_err(BundleError::Catalog)?;
        self.check_catalog(&catalog).map_err(BundleError::Reference)?;
        Ok(catalog)
    }

    /// The digests of all components, ascending.
    pub fn components(&self) -> impl Iterator<Item = ComponentDigest> {
        self.inner.components.keys().copied()
    }

    /// The digests and sizes of all assets, ascending by digest.
    pub fn assets(&self) -> impl Iterator<Item = (AssetDigest, u64)> {
        self.inner.assets.iter().map(|(digest, span)| (*digest, span.size))
    }

    /// The values of its layer for secrets, by slot.
    pub fn secrets(&self) -> &Secrets {
        &self.inner.secrets
    }

    /// A component's bytes, hashed as they are read now.
    ///
    /// # Errors
    /// If there is no such component, it cannot be read, or the file has changed since it was opened.
    pub fn component(&self, digest: ComponentDigest) -> Result<Vec<u8>, BundleError> {
        let span = self.inner.components.get(&digest).ok_or(BundleError::NoSuchComponent(digest))?;
        read_component(&*self.inner.source, digest, *span)
    }

    /// An asset's size in bytes.
    ///
    /// # Errors
    /// If there is no such asset.
    pub fn asset_size(&self, digest: AssetDigest) -> Result<u64, BundleError> {
        self.span(digest).map(|span| span.size)
    }

    /// A reader of an asset's bytes, which hashes them as they are read. The read that would complete the asset fails with
    /// [`io::ErrorKind::InvalidData`] if the file has changed since it was opened: use nothing of it then.
    ///
    /// # Errors
    /// If there is no such asset.
    pub fn asset_reader(&self, digest: AssetDigest) -> Result<AssetReader, BundleError> {
        let span = self.span(digest)?;
        Ok(AssetReader { bundle: self.clone(), digest, offset: span.offset, left: span.size, hasher: Sha256::new() })
    }

    fn span(&self, digest: AssetDigest) -> Result<Span, BundleError> {
        self.inner.assets.get(&digest).copied().ok_or(BundleError::NoSuchAsset(digest))
    }

    fn check_catalog(&self, catalog: &Catalog) -> Result<(), ReferenceError> {
        let named = catalog.components().into_iter().map(|(_, module)| (module.component, ())).collect();
        let held = self.inner.components.keys().map(|digest| (*digest, ())).collect();
        check_agree("component", &named, &held)?;
        self.check_secrets(catalog)?;
        let named = catalog.assets.iter().map(|(digest, asset)| (*digest, asset.size)).collect();
        let held: BTreeMap<_, _> = self.assets().collect();
        check_agree("asset", &named, &held)?;
        for (digest, wanted) in named {
            let found = held[&digest];
            if found != wanted {
                return Err(ReferenceError::Size { kind: "asset", digest: digest.to_string(), wanted, found });
            }
        }
        Ok(())
    }
}

impl Bundle {
    /// The layer has just the slots that the catalog lists.
    fn check_secrets(&self, catalog: &Catalog) -> Result<(), ReferenceError> {
        let listed: BTreeSet<&SecretSlot> = catalog.secrets.iter().collect();
        let held: BTreeSet<&SecretSlot> = self.inner.secrets.keys().collect();
        if let Some(slot) = listed.difference(&held).next() {
            return Err(ReferenceError::Secret { slot: slot.to_string(), found_in: "catalog", missing_in: "layer of secrets" });
        }
        if let Some(slot) = held.difference(&listed).next() {
            return Err(ReferenceError::Secret { slot: slot.to_string(), found_in: "layer of secrets", missing_in: "catalog" });
        }
        Ok(())
    }
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bundle({})", self.inner.digest)
    }
}

/// Reads an asset of a bundle; see [`Bundle::asset_reader`].
pub struct AssetReader {
    bundle: Bundle,
    digest: AssetDigest,
    offset: u64,
    left: u64,
    hasher: Sha256,
}

impl io::Read for AssetReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if count == 0 {
            return Ok(0);
        }
        let part = &mut buffer[..count];
        self.bundle.inner.source.read_exact_at(part, self.offset)?;
        self.hasher.update(&*part);
        let left = self.left - count as u64;
        if left == 0 && AssetDigest::from_bytes(self.hasher.clone().finalize().into()) != self.digest {
            part.fill(0);
            let message = format!("the asset `{}` has changed since the bundle was opened", self.digest);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.offset += count as u64;
        self.left = left;
        Ok(count)
    }
}

/// Reads `oci-layout`, `index.json` and the manifest that it names.
fn read_documents(source: &dyn ReadAt, members: &[Member]) -> Result<(BundleDigest, Manifest), BundleError> {
    let layout = read_document(source, members, MemberName::Layout)?;
    oci::check_same(&layout, LAYOUT).map_err(|source| BundleError::Document { document: "oci-layout", source })?;
    let index = read_document(source, members, MemberName::Index)?;
    let named = oci::parse_index(&index).map_err(|source| BundleError::Document { document: "index.json", source })?;
    let bytes = read_manifest(source, members, named)?;
    let manifest = oci::parse_manifest(&bytes).map_err(|source| BundleError::Document { document: "manifest", source })?;
    Ok((BundleDigest::from_bytes(*named.digest.bytes()), manifest))
}

/// A document's bytes. Its size was capped when the archive was scanned.
fn read_document(source: &dyn ReadAt, members: &[Member], name: MemberName) -> Result<Vec<u8>, BundleError> {
    let document = if name == MemberName::Layout { "oci-layout" } else { "index.json" };
    let Ok(at) = members.binary_search_by_key(&name, |member| member.name) else {
        return Err(BundleError::Document { document, source: DocumentError::Missing });
    };
    read_span(source, members[at].span)
}

fn read_manifest(source: &dyn ReadAt, members: &[Member], named: Reference<BlobDigest>) -> Result<Vec<u8>, BundleError> {
    let span = find_blob(members, "manifest", named.digest, named.size)?;
    if span.size > MAX_MANIFEST {
        let source = DocumentError::TooLarge { size: span.size, cap: MAX_MANIFEST };
        return Err(BundleError::Document { document: "manifest", source });
    }
    read_blob(source, "manifest", named.digest, span)
}

/// The blobs of a bundle, each found, of the size that its reference gives, and within its cap.
struct Blobs {
    catalog: Span,
    components: BTreeMap<ComponentDigest, Span>,
    assets: BTreeMap<AssetDigest, Span>,
    secrets: Option<Span>,
}

impl Blobs {
    fn new(members: &[Member], digest: BundleDigest, manifest: &Manifest) -> Result<Self, BundleError> {
        let catalog = &manifest.catalog;
        let blobs = Self {
            catalog: find_blob(members, "catalog", catalog.digest, catalog.size)?,
            components: find_blobs(members, "component", &manifest.components)?,
            assets: find_blobs(members, "asset", &manifest.assets)?,
            secrets: manifest.secrets.map(|part| find_blob(members, "layer of secrets", part.digest, part.size)).transpose()?,
        };
        if let Some(part) = &manifest.secrets {
            check_cap("layer of secrets", part.digest, part.size, MAX_SECRETS)?;
            blobs.check_apart(part.digest)?;
        }
        check_cap("catalog", catalog.digest, catalog.size, MAX_CATALOG)?;
        for part in &manifest.components {
            check_cap("component", part.digest, part.size, MAX_COMPONENT)?;
        }
        blobs.check_all_referenced(members, digest, manifest)?;
        Ok(blobs)
    }

    /// The layer of secrets is no other part too: a module could read it as that.
    fn check_apart(&self, secrets: BlobDigest) -> Result<(), BundleError> {
        let bytes = *secrets.bytes();
        if self.components.contains_key(&Digest::from_bytes(bytes)) || self.assets.contains_key(&Digest::from_bytes(bytes)) {
            return Err(BundleError::Reference(ReferenceError::SecretsElsewhere { digest: secrets.to_string() }));
        }
        Ok(())
    }

    fn check_all_referenced(&self, members: &[Member], digest: BundleDigest, manifest: &Manifest) -> Result<(), BundleError> {
        for member in members {
            let MemberName::Blob(blob) = member.name else { continue };
            let bytes = *blob.bytes();
            let known = *digest.bytes() == bytes
                || *manifest.catalog.digest.bytes() == bytes
                || manifest.secrets.is_some_and(|part| *part.digest.bytes() == bytes)
                || self.components.contains_key(&Digest::from_bytes(bytes))
                || self.assets.contains_key(&Digest::from_bytes(bytes));
            if !known {
                return Err(BundleError::Reference(ReferenceError::Extra { digest: blob.to_string() }));
            }
        }
        Ok(())
    }
}

fn find_blobs<K>(
    members: &[Member],
    kind: &'static str,
    parts: &[Reference<Digest<K>>],
) -> Result<BTreeMap<Digest<K>, Span>, BundleError> {
    parts.iter().map(|part| Ok((part.digest, find_blob(members, kind, part.digest, part.size)?))).collect()
}

fn find_blob<K>(members: &[Member], kind: &'static str, digest: Digest<K>, wanted: u64) -> Result<Span, BundleError> {
    let name = MemberName::Blob(Digest::from_bytes(*digest.bytes()));
    let Ok(at) = members.binary_search_by_key(&name, |member| member.name) else {
        return Err(BundleError::Reference(ReferenceError::Missing { kind, digest: digest.to_string() }));
    };
    let span = members[at].span;
    if span.size != wanted {
        let error = ReferenceError::Size { kind, digest: digest.to_string(), wanted, found: span.size };
        return Err(BundleError::Reference(error));
    }
    Ok(span)
}

fn check_cap<K>(kind: &'static str, digest: Digest<K>, size: u64, cap: u64) -> Result<(), BundleError> {
    if size > cap {
        let error = ReferenceError::TooLarge { kind, digest: digest.to_string(), size, cap };
        return Err(BundleError::Reference(error));
    }
    Ok(())
}

fn check_agree<K, V>(
    kind: &'static str,
    catalog: &BTreeMap<Digest<K>, V>,
    manifest: &BTreeMap<Digest<K>, V>,
) -> Result<(), ReferenceError> {
    let disagree = |digest: &Digest<K>, found_in, missing_in| {
        Err(ReferenceError::Disagree { kind, digest: digest.to_string(), found_in, missing_in })
    };
    if let Some(digest) = catalog.keys().find(|digest| !manifest.contains_key(digest)) {
        return disagree(digest, "catalog", "manifest");
    }
    if let Some(digest) = manifest.keys().find(|digest| !catalog.contains_key(digest)) {
        return disagree(digest, "manifest", "catalog");
    }
    Ok(())
}

/// All bytes of a span, which lies within the file and whose size has been capped.
fn read_span(source: &dyn ReadAt, span: Span) -> Result<Vec<u8>, BundleError> {
    let too_large = |error| BundleError::Io { action: "hold a part of the bundle", source: io::Error::other(error) };
    let mut bytes = vec![0; usize::try_from(span.size).map_err(too_large)?];
    read_at(source, &mut bytes, span.offset)?;
    Ok(bytes)
}

fn read_blob<K>(source: &dyn ReadAt, kind: &'static str, digest: Digest<K>, span: Span) -> Result<Vec<u8>, BundleError> {
    let bytes = read_span(source, span)?;
    if Digest::of(&bytes) != digest {
        return Err(BundleError::Reference(ReferenceError::Digest { kind, digest: digest.to_string() }));
    }
    Ok(bytes)
}

fn read_component(source: &dyn ReadAt, digest: ComponentDigest, span: Span) -> Result<Vec<u8>, BundleError> {
    let bytes = read_blob(source, "component", digest, span)?;
    if !bytes.starts_with(COMPONENT_PREAMBLE) {
        return Err(BundleError::Reference(ReferenceError::NotComponent { digest: digest.to_string() }));
    }
    Ok(bytes)
}

fn read_secrets(source: &dyn ReadAt, digest: BlobDigest, span: Span) -> Result<Secrets, BundleError> {
    let bytes = Zeroizing::new(read_blob(source, "layer of secrets", digest, span)?);
    secrets::parse(&bytes).map_err(|source| BundleError::Document { document: "layer of secrets", source })
}

fn hash_asset(source: &dyn ReadAt, digest: AssetDigest, span: Span) -> Result<(), BundleError> {
    let mut hasher = Sha256::new();
    let chunk = |left: u64| usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
    let mut buffer = vec![0; chunk(span.size)];
    let (mut offset, mut left) = (span.offset, span.size);
    while left > 0 {
        let count = chunk(left);
        read_at(source, &mut buffer[..count], offset)?;
        hasher.update(&buffer[..count]);
        offset += count as u64;
        left -= count as u64;
    }
    if AssetDigest::from_bytes(hasher.finalize().into()) != digest {
        return Err(BundleError::Reference(ReferenceError::Digest { kind: "asset", digest: digest.to_string() }));
    }
    Ok(())
}
