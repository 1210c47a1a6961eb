//! Bundles: opened, read whole, and their catalog held against what they hold.
//!
//! A bundle has one form: what is taken is written as it was.

mod repair;

use std::io::Read as _;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use runtime::bundle::{AssetContent, AssetSource, Bundle, SALT_BYTES, SecretLayer, write};
use runtime::model::digest::{AssetDigest, ComponentDigest};
use runtime::model::secret::{SecretValue, Secrets};
use serde_json::json;

use super::catalog::WORDS;
use super::{Target, plainly};
use crate::mutate::Mutator;

pub(super) fn target() -> Target {
    Target {
        name: "bundle",
        seeds: || vec![seed(false), seed(true)],
        words: WORDS,
        change,
        run,
        time: Duration::from_secs(10),
        memory: 64 << 20,
    }
}

/// Once in four the bytes as they are; else one of the parts, and everything made right again that names it.
fn change(mutator: &mut Mutator<'_>, input: &mut Vec<u8>) {
    if mutator.random.once_in(4) {
        plainly(mutator, input);
    } else {
        repair::change_part(mutator, input);
    }
}

fn run(input: &[u8]) {
    let Ok(bundle) = Bundle::from_bytes(input.to_vec()) else { return };
    let components: Vec<(ComponentDigest, Vec<u8>)> =
        bundle.components().map(|digest| (digest, bundle.component(digest).expect("what was hashed can be read"))).collect();
    let assets: Vec<AssetSource> = bundle.assets().map(|(digest, size)| asset(digest, size, &read(&bundle, digest))).collect();
    let _ = bundle.catalog();
    let components: Vec<(ComponentDigest, &[u8])> =
        components.iter().map(|(digest, bytes)| (*digest, bytes.as_slice())).collect();
    let layers: Vec<Option<SecretLayer>> = match bundle.secrets().is_empty() {
        true => vec![None],
        false => salts(input).map(|salt| SecretLayer::new(bundle.secrets(), salt)).collect(),
    };
    let catalog = bundle.catalog_bytes().expect("what was hashed can be read");
    let again = |layer: &Option<SecretLayer>| written(&catalog, &components, &assets, layer.as_ref());
    let is_same = |(digest, written): (String, Vec<u8>)| digest == bundle.digest().to_string() && written == input;
    assert!(layers.iter().map(again).any(is_same), "a bundle that is taken is written as it was, with its digest");
}

fn read(bundle: &Bundle, digest: AssetDigest) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut reader = bundle.asset_reader(digest).expect("an asset that is listed is there");
    reader.read_to_end(&mut bytes).expect("what was hashed can be read");
    bytes
}

/// What may be the salt of the layer for secrets, which nothing but the layer itself has: other parts can hold what looks like one.
fn salts(input: &[u8]) -> impl Iterator<Item = [u8; SALT_BYTES]> {
    const START: &[u8] = b"{\"salt\":\"";
    let places = input.windows(START.len()).enumerate().filter(|(_, window)| *window == START);
    places.filter_map(|(at, _)| {
        let mut salt = [0; SALT_BYTES];
        let at = at + START.len();
        hex::decode_to_slice(input.get(at..at + 2 * SALT_BYTES)?, &mut salt).ok()?;
        Some(salt)
    })
}

fn asset(digest: AssetDigest, size: u64, content: &[u8]) -> AssetSource {
    AssetSource { digest, size, content: AssetContent::Bytes(content.to_vec()) }
}

fn written(
    catalog: &[u8],
    components: &[(ComponentDigest, &[u8])],
    assets: &[AssetSource],
    secrets: Option<&SecretLayer>,
) -> (String, Vec<u8>) {
    let path = scratch().join("a.wasm.tar");
    let digest = write(&path, catalog, components, assets, secrets).expect("a bundle can be written");
    (digest.to_string(), std::fs::read(&path).expect("a bundle can be read"))
}

/// One folder for all inputs, in memory where there is one.
fn scratch() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        folder.expect("a folder can be made")
    });
    folder.path()
}

const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
const CONTENT: &[u8] = b"hello\n";

/// A bundle with one of everything.
fn seed(with_secrets: bool) -> Vec<u8> {
    let asset = asset(AssetDigest::of(CONTENT), CONTENT.len() as u64, CONTENT);
    let layer = SecretLayer::new(&secrets(with_secrets), [7; SALT_BYTES]);
    written(&catalog(with_secrets), &[(ComponentDigest::of(COMPONENT), COMPONENT)], &[asset], layer.as_ref()).1
}

fn secrets(with_secrets: bool) -> Secrets {
    let slot = "file.motd/content".parse().expect("a slot");
    if with_secrets { [(slot, SecretValue::of(&json!("hunter2")))].into() } else { Secrets::new() }
}

/// The catalog of that bundle.
pub(super) fn catalog(with_secrets: bool) -> Vec<u8> {
    let named = AssetDigest::of(CONTENT);
    let secrets = secrets(with_secrets);
    let assets = [named.to_string()].into_iter().chain(secrets.keys().map(|slot| format!("secret:{slot}")));
    let claim = json!({"domain": "path", "key": "/etc/motd", "qualifier": ""});
    let effect = json!({"actions": ["read", "write"], "domain": "path", "key": "/etc/motd", "qualifier": null});
    let semantics = json!({
        "accepts_refresh": false, "assets": assets.collect::<Vec<_>>(), "capabilities": ["files.read", "files.write"], "prerequisites": [],
        "sensitive": with_secrets, "timeout_ms": 60_000,
    });
    let resource = json!({
        "affected_paths": ["/etc/motd"], "claims": [claim], "control": null, "effects": [effect], "id": "file.motd",
        "source": {"column": 1, "file": "site.hcl", "line": 3},
        "state": {"compiled": {"desired": {"mode": 420, "path": "/etc/motd"}, "semantics": semantics}}, "timeout_ms": null,
    });
    let catalog = json!({
        "assets": {named.to_string(): {"size": CONTENT.len()}}, "audience": [], "catalog_version": 1, "edges": [], "language_version": 1,
        "modules": {"file": {"component": ComponentDigest::of(COMPONENT), "schema_version": 1}}, "node_secrets": [], "owner": "site",
        "resources": [resource], "secrets": secrets.keys().collect::<Vec<_>>(), "serial": 7, "target_facts": {},
    });
    serde_jcs::to_vec(&catalog).expect("a catalog is JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn what_inputs_start_from_are_bundles_with_catalogs() {
        for bytes in [seed(false), seed(true)] {
            Bundle::from_bytes(bytes).unwrap().catalog().unwrap();
        }
    }

    #[test]
    fn a_changed_part_with_its_digest_made_right_gets_past_the_digests() {
        let (seed, mut random) = (seed(true), Random::new(1));
        let (mut opened, mut refused) = (0, 0);
        for _ in 0..400 {
            let mut input = seed.clone();
            repair::change_part(&mut Mutator { random: &mut random, words: WORDS, other: &seed }, &mut input);
            match Bundle::from_bytes(input) {
                Ok(_) => opened += 1,
                Err(_) => refused += 1,
            }
        }
        assert!(opened > 40 && refused > 40, "{opened} opened, {refused} refused");
    }
}
