//! Writing a bundle.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::model::digest::{AssetDigest, BundleDigest, CatalogDigest, ComponentDigest};

use super::archive::{BLOCK, BlobDigest, MemberName, header, padding};
use super::limits::{MAX_ASSET, MAX_ASSETS, MAX_BUNDLE, MAX_CATALOG, MAX_COMPONENT, MAX_COMPONENTS, MAX_SECRETS};
use super::oci::{self, LAYOUT, Manifest, Reference};
use super::read::COMPONENT_PREAMBLE;
use super::secrets::SecretLayer;

/// How much of an asset is in memory at a time.
const CHUNK: usize = 128 << 10;

/// An asset to put in a bundle.
#[derive(Debug, Clone)]
pub struct AssetSource {
    /// What its bytes must hash to.
    pub digest: AssetDigest,
    /// How many bytes there must be.
    pub size: u64,
    /// Where they come from.
    pub content: AssetContent,
}

/// Where an asset's bytes come from.
#[derive(Debug, Clone)]
pub enum AssetContent {
    /// These bytes.
    Bytes(Vec<u8>),
    /// A file, opened when the bundle is written.
    File(AssetFile),
}

/// A file of an asset.
#[derive(Clone)]
pub struct AssetFile {
    /// Its path, for messages.
    pub path: PathBuf,
    /// Opens it. The caller decides how it is found, so that it cannot lead elsewhere.
    pub open: Arc<dyn Fn() -> io::Result<Box<dyn Read + Send>> + Send + Sync>,
}

impl fmt::Debug for AssetFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.path, f)
    }
}

/// Why a bundle was not written. What was at the target before is there still.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The operating system refused.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried, as in "write".
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Larger than it may be.
    #[error("{what} has {size} bytes, more than the {cap} that it may have")]
    TooLarge {
        /// What.
        what: String,
        /// Its size in bytes.
        size: u64,
        /// What it may have.
        cap: u64,
    },
    /// More of one kind than a bundle may hold.
    #[error("{count} {kind} are more than the {cap} that a bundle may hold")]
    TooMany {
        /// `components` or `assets`.
        kind: &'static str,
        /// How many.
        count: usize,
        /// How many it may hold.
        cap: usize,
    },
    /// A component that is none, or has another digest.
    #[error("`{digest}` is not the digest of a WebAssembly component")]
    NotComponent {
        /// The digest that was given.
        digest: ComponentDigest,
    },
    /// An asset's bytes are not those that were hashed before.
    #[error("the asset `{digest}` changed while the bundle was made{}", from.as_deref().map(|path| format!(", in `{}`", path.display())).unwrap_or_default())]
    AssetChanged {
        /// The digest that it had.
        digest: AssetDigest,
        /// The file that it comes from, if it comes from one.
        from: Option<PathBuf>,
    },
}

impl WriteError {
    /// Whether the fault is the machine's, not the input's.
    pub fn is_io(&self) -> bool {
        matches!(self, Self::Io { .. })
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { path, source, .. } if source.kind() == io::ErrorKind::NotFound => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty())?;
                Some(format!("make the folder `{}` first", folder.display()))
            }
            _ => None,
        }
    }
}

/// Writes a bundle to `path`: beside it first, made durable, then renamed over whatever is there. The same input gives the same
/// bytes. `catalog` is canonical JSON, of [`super::catalog::encode`]. Assets are streamed. A bundle with secrets can be read by its owner
/// alone, from its first byte on. Gives the bundle's digest.
///
/// # Errors
/// See [`WriteError`]; the file at `path` is then as it was.
pub fn write(
    path: &Path,
    catalog: &[u8],
    components: &[(ComponentDigest, &[u8])],
    assets: &[AssetSource],
    secrets: Option<&SecretLayer>,
) -> Result<BundleDigest, WriteError> {
    let parts = Parts::new(catalog, components, assets, secrets)?;
    let failed = |action| move |source| WriteError::Io { action, path: path.to_owned(), source };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut staged = new_file(folder, secrets.is_some()).map_err(failed("create a file beside"))?;
    let mut output = BufWriter::with_capacity(CHUNK, staged.as_file_mut());
    parts.write_to(&mut Output { writer: &mut output, path })?;
    output.flush().map_err(failed("write"))?;
    drop(output);
    staged.as_file().sync_all().map_err(failed("write"))?;
    staged.persist(path).map_err(|error| failed("replace")(error.error))?;
    sync_folder(folder).map_err(failed("make durable"))?;
    Ok(parts.digest())
}

/// The digest and the size in bytes that the bundle would have. Nothing is written, and no asset is read.
///
/// # Errors
/// As [`write()`], but for what only reading and writing tell.
pub fn measure(
    catalog: &[u8],
    components: &[(ComponentDigest, &[u8])],
    assets: &[AssetSource],
    secrets: Option<&SecretLayer>,
) -> Result<(BundleDigest, u64), WriteError> {
    let parts = Parts::new(catalog, components, assets, secrets)?;
    Ok((parts.digest(), parts.size()))
}

/// A new file in `folder`: for its owner alone if it is `private`, else with the permissions that the process gives to any new file.
fn new_file(folder: &Path, private: bool) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".bundle-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(if private { 0o600 } else { 0o666 }));
    #[cfg(not(unix))]
    let _ = private;
    builder.tempfile_in(folder)
}

/// Makes a rename in `folder` durable, where the system has a way to.
#[expect(clippy::disallowed_methods, reason = "a folder is opened to make a rename in it durable")]
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Everything that goes in, checked, in the order in which it goes.
pub(super) struct Parts<'a> {
    blobs: BTreeMap<BlobDigest, Blob<'a>>,
    index: Vec<u8>,
    digest: BundleDigest,
}

enum Blob<'a> {
    Bytes(&'a [u8]),
    Manifest(Vec<u8>),
    Asset(&'a AssetSource),
}

/// Where a bundle is written to, and its name for messages.
pub(super) struct Output<'a> {
    pub(super) writer: &'a mut dyn Write,
    pub(super) path: &'a Path,
}

impl Output<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let failed = |source| WriteError::Io { action: "write", path: self.path.to_owned(), source };
        self.writer.write_all(bytes).map_err(failed)
    }

    fn member(&mut self, name: MemberName, bytes: &[u8]) -> Result<(), WriteError> {
        self.put(&header(name, bytes.len() as u64))?;
        self.put(bytes)?;
        self.pad(bytes.len() as u64)
    }

    fn pad(&mut self, size: u64) -> Result<(), WriteError> {
        self.put(&[0; BLOCK as usize][..padding(size) as usize])
    }
}

impl<'a> Parts<'a> {
    pub(super) fn new(
        catalog: &'a [u8],
        components: &[(ComponentDigest, &'a [u8])],
        assets: &'a [AssetSource],
        secrets: Option<&'a SecretLayer>,
    ) -> Result<Self, WriteError> {
        check_size("the catalog".to_owned(), catalog.len() as u64, MAX_CATALOG)?;
        let catalog_digest = CatalogDigest::of(catalog);
        let mut blobs = BTreeMap::from([(BlobDigest::from_bytes(*catalog_digest.bytes()), Blob::Bytes(catalog))]);
        let components = add_components(&mut blobs, components)?;
        let assets = add_assets(&mut blobs, assets)?;
        let catalog = Reference { digest: catalog_digest, size: catalog.len() as u64 };
        let secrets = secrets.map(|layer| add_secrets(&mut blobs, layer)).transpose()?;
        let manifest = oci::render_manifest(&Manifest { catalog, components, assets, secrets });
        let digest = BlobDigest::of(&manifest);
        let index = oci::render_index(Reference { digest, size: manifest.len() as u64 });
        blobs.insert(digest, Blob::Manifest(manifest));
        let parts = Self { blobs, index, digest: BundleDigest::from_bytes(*digest.bytes()) };
        check_size("the bundle".to_owned(), parts.size(), MAX_BUNDLE)?;
        Ok(parts)
    }

    /// The bundle's digest.
    pub(super) fn digest(&self) -> BundleDigest {
        self.digest
    }

    /// The size of the whole archive in bytes.
    fn size(&self) -> u64 {
        let member = |size: u64| BLOCK + size.next_multiple_of(BLOCK);
        let blobs: u64 = self.blobs.values().map(|blob| member(blob.size())).sum();
        blobs + member(self.index.len() as u64) + member(LAYOUT.len() as u64) + 2 * BLOCK
    }

    pub(super) fn write_to(&self, output: &mut Output<'_>) -> Result<(), WriteError> {
        for (digest, blob) in &self.blobs {
            let name = MemberName::Blob(*digest);
            match blob {
                Blob::Bytes(bytes) => output.member(name, bytes)?,
                Blob::Manifest(bytes) => output.member(name, bytes)?,
                Blob::Asset(asset) => write_asset(output, name, asset)?,
            }
        }
        output.member(MemberName::Index, &self.index)?;
        output.member(MemberName::Layout, LAYOUT)?;
        output.put(&[0; 2 * BLOCK as usize])
    }
}

impl Blob<'_> {
    fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Manifest(bytes) => bytes.len() as u64,
            Self::Asset(asset) => asset.size,
        }
    }
}

fn add_components<'a>(
    blobs: &mut BTreeMap<BlobDigest, Blob<'a>>,
    components: &[(ComponentDigest, &'a [u8])],
) -> Result<Vec<Reference<ComponentDigest>>, WriteError> {
    let mut references = BTreeMap::new();
    for (digest, bytes) in components {
        check_size(format!("the component `{digest}`"), bytes.len() as u64, MAX_COMPONENT)?;
        if !bytes.starts_with(COMPONENT_PREAMBLE) || ComponentDigest::of(bytes) != *digest {
            return Err(WriteError::NotComponent { digest: *digest });
        }
        references.insert(*digest, bytes.len() as u64);
        blobs.insert(BlobDigest::from_bytes(*digest.bytes()), Blob::Bytes(bytes));
    }
    check_count("components", references.len(), MAX_COMPONENTS)?;
    Ok(references.into_iter().map(|(digest, size)| Reference { digest, size }).collect())
}

fn add_assets<'a>(
    blobs: &mut BTreeMap<BlobDigest, Blob<'a>>,
    assets: &'a [AssetSource],
) -> Result<Vec<Reference<AssetDigest>>, WriteError> {
    let mut references = BTreeMap::new();
    for asset in assets {
        check_size(format!("the asset `{}`", asset.digest), asset.size, MAX_ASSET)?;
        // An asset may be there twice, or have the bytes of a component.
        let blob = blobs.entry(BlobDigest::from_bytes(*asset.digest.bytes())).or_insert(Blob::Asset(asset));
        if blob.size() != asset.size {
            return Err(WriteError::AssetChanged { digest: asset.digest, from: None });
        }
        references.insert(asset.digest, asset.size);
    }
    check_count("assets", references.len(), MAX_ASSETS)?;
    Ok(references.into_iter().map(|(digest, size)| Reference { digest, size }).collect())
}

fn add_secrets<'a>(
    blobs: &mut BTreeMap<BlobDigest, Blob<'a>>,
    layer: &'a SecretLayer,
) -> Result<Reference<BlobDigest>, WriteError> {
    let bytes = layer.bytes();
    check_size("the layer of secrets".to_owned(), bytes.len() as u64, MAX_SECRETS)?;
    let digest = BlobDigest::of(bytes);
    blobs.insert(digest, Blob::Bytes(bytes));
    Ok(Reference { digest, size: bytes.len() as u64 })
}

fn write_asset(output: &mut Output<'_>, name: MemberName, asset: &AssetSource) -> Result<(), WriteError> {
    output.put(&header(name, asset.size))?;
    match &asset.content {
        AssetContent::Bytes(bytes) => copy_asset(output, asset, bytes.as_slice(), None)?,
        AssetContent::File(file) => {
            let failed = |source| WriteError::Io { action: "open", path: file.path.clone(), source };
            copy_asset(output, asset, (file.open)().map_err(failed)?, Some(&file.path))?;
        }
    }
    output.pad(asset.size)
}

/// Copies exactly the bytes that the asset had when it was hashed.
fn copy_asset(
    output: &mut Output<'_>,
    asset: &AssetSource,
    mut content: impl Read,
    from: Option<&Path>,
) -> Result<(), WriteError> {
    let changed = || WriteError::AssetChanged { digest: asset.digest, from: from.map(Path::to_owned) };
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    let mut written = 0;
    loop {
        let count = match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => {
                let path = from.unwrap_or(output.path).to_owned();
                return Err(WriteError::Io { action: "read", path, source });
            }
        };
        written += count as u64;
        if written > asset.size {
            return Err(changed());
        }
        hasher.update(&buffer[..count]);
        output.put(&buffer[..count])?;
    }
    let same = written == asset.size && AssetDigest::from_bytes(hasher.finalize().into()) == asset.digest;
    if same { Ok(()) } else { Err(changed()) }
}

fn check_size(what: String, size: u64, cap: u64) -> Result<(), WriteError> {
    if size > cap { Err(WriteError::TooLarge { what, size, cap }) } else { Ok(()) }
}

fn check_count(kind: &'static str, count: usize, cap: usize) -> Result<(), WriteError> {
    if count > cap { Err(WriteError::TooMany { kind, count, cap }) } else { Ok(()) }
}
