//! Tests: what is written is read back, and an error leaves what was there.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::model::digest::{AssetDigest, BundleDigest, ComponentDigest};

use super::limits::{MAX_ASSET, MAX_COMPONENT};
use super::samples::{self, assets, bundle_of, component};
use super::{AssetContent, AssetFile, AssetSource, Bundle, WriteError, catalog, write};

fn write_sample(path: &Path, serial: u64, assets: &[AssetSource]) -> Result<BundleDigest, WriteError> {
    let component = component(b"x");
    let mut catalog = samples::catalog_of(&component, assets);
    catalog.serial = serial;
    write(path, &catalog::encode(&catalog).unwrap(), &[(ComponentDigest::of(&component), &component)], assets, None)
}

fn names(folder: &Path) -> Vec<String> {
    folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_same_input_gives_the_same_bytes_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let mut parts = assets(&[b"a", b"b", b""]);
    let digest = write_sample(&one, 1, &parts).unwrap();
    parts.reverse();
    parts.push(parts[0].clone());
    assert_eq!(write_sample(&two, 1, &parts).unwrap(), digest);
    assert_eq!(std::fs::read(one).unwrap(), std::fs::read(two).unwrap());
}

fn file(path: std::path::PathBuf) -> AssetFile {
    let open = path.clone();
    AssetFile { path, open: std::sync::Arc::new(move || Ok(Box::new(File::open(&open)?))) }
}

#[test]
fn what_was_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = (folder.path().join("asset"), folder.path().join("a.wasm.tar"));
    let content: Vec<u8> = (0..300_001_u32).map(|n| n as u8).collect();
    std::fs::write(&source, &content).unwrap();
    let asset =
        AssetSource { digest: AssetDigest::of(&content), size: content.len() as u64, content: AssetContent::File(file(source)) };
    let digest = write_sample(&path, 1, std::slice::from_ref(&asset)).unwrap();
    let bundle = Bundle::open(&path).unwrap();
    assert_eq!(bundle.digest(), digest);
    assert_eq!(bundle.catalog().unwrap().serial, 1);
    let component = component(b"x");
    assert_eq!(bundle.component(ComponentDigest::of(&component)).unwrap(), component);
    assert_eq!(bundle.asset_size(asset.digest).unwrap(), 300_001);
    let mut read = Vec::new();
    bundle.asset_reader(asset.digest).unwrap().read_to_end(&mut read).unwrap();
    assert_eq!(read, content);
    assert!(bundle.asset_reader(AssetDigest::of(b"other")).is_err());
    assert!(bundle.component(ComponentDigest::of(b"other")).is_err());
}

#[test]
fn an_error_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wasm.tar");
    write_sample(&path, 1, &[]).unwrap();
    let before = std::fs::read(&path).unwrap();
    for content in [b"longer".as_slice(), b"tall", b"sho"] {
        let mut wrong = assets(&[b"size"]);
        wrong[0].content = AssetContent::Bytes(content.to_vec());
        let error = write_sample(&path, 2, &wrong).unwrap_err();
        assert!(matches!(error, WriteError::AssetChanged { .. }), "{error}");
    }
    let mut missing = assets(&[b"size"]);
    missing[0].content = AssetContent::File(file(folder.path().join("missing")));
    assert!(write_sample(&path, 2, &missing).unwrap_err().is_io());
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(names(folder.path()), ["a.wasm.tar"]);
    write_sample(&path, 2, &[]).unwrap();
    assert_ne!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn an_asset_may_have_the_bytes_of_a_component() {
    let component = component(b"");
    let assets = assets(&[&component]);
    let catalog = catalog::encode(&samples::catalog_of(&component, &assets)).unwrap();
    let (bytes, _) = bundle_of(&catalog, &[&component], &assets).unwrap();
    let bundle = samples::open(&bytes).unwrap();
    assert_eq!(bundle.asset_size(assets[0].digest).unwrap(), 8);
    assert_eq!(bundle.components().count(), 1);
}

#[test]
fn what_no_reader_would_take_is_not_written() {
    let core_module = b"\0asm\x01\0\0\0";
    let error = bundle_of(b"{}", &[core_module], &[]).unwrap_err();
    assert!(matches!(error, WriteError::NotComponent { .. }), "{error}");
    let mut large = assets(&[b""]);
    large[0].size = MAX_ASSET + 1;
    assert!(matches!(bundle_of(b"{}", &[], &large).unwrap_err(), WriteError::TooLarge { .. }));
    let large = component(&vec![0; MAX_COMPONENT as usize - 7]);
    assert!(matches!(bundle_of(b"{}", &[&large], &[]).unwrap_err(), WriteError::TooLarge { .. }));
    assert!(bundle_of(b"{}", &[&large[..large.len() - 1]], &[]).is_ok());
}

#[cfg(unix)]
#[test]
fn the_file_has_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (path, plain) = (folder.path().join("a.wasm.tar"), folder.path().join("plain"));
    write_sample(&path, 1, &[]).unwrap();
    File::create(&plain).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
    assert_eq!(mode(&path), mode(&plain));
}

/// A bundle with one secret, as a file; and without the layer if `layer` says so.
fn with_secret(path: &Path, layer: bool) -> Result<BundleDigest, WriteError> {
    let component = component(b"x");
    let mut catalog = samples::catalog_of(&component, &[]);
    let slot: crate::model::ids::SecretSlot = "file.motd/content".parse().unwrap();
    let crate::model::catalog::State::Compiled { semantics, .. } = &mut catalog.resources[0].state else { panic!() };
    semantics.assets.push(crate::model::asset::AssetRef::Secret(slot.clone()));
    catalog.secrets.push(slot.clone());
    let values = crate::model::secret::Secrets::from([(slot, crate::model::secret::SecretValue::of(&"Zq7#value".into()))]);
    let layer = if layer { super::SecretLayer::new(&values, [7; super::SALT_BYTES]) } else { None };
    let components = [(ComponentDigest::of(&component), component.as_slice())];
    write(path, &catalog::encode(&catalog).unwrap(), &components, &[], layer.as_ref())
}

#[cfg(unix)]
#[test]
fn a_bundle_with_secrets_is_for_its_owner_alone_and_gives_them_back() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wasm.tar");
    std::fs::write(&path, "older").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let digest = with_secret(&path, true).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    let bundle = Bundle::open(&path).unwrap();
    assert_eq!(bundle.digest(), digest);
    let catalog = bundle.catalog().unwrap();
    assert_eq!(bundle.secrets()[&catalog.secrets[0]].json(), "Zq7#value");
    assert!(!String::from_utf8_lossy(&bundle.catalog_bytes().unwrap()).contains("Zq7#"));
    assert!(!format!("{bundle:?} {:?}", bundle.secrets()).contains("Zq7#"));
}

#[test]
fn a_layer_without_what_the_catalog_lists_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wasm.tar");
    with_secret(&path, false).unwrap();
    let error = Bundle::open(&path).unwrap().catalog().unwrap_err();
    let told = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(told, "the secret `file.motd/content` is in the catalog but not in the layer of secrets");
}
