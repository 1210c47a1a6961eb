//! Bundles as somebody else could make them: whole, every digest right, and another catalog in them.

use std::io::Read as _;
use std::path::Path;

use runtime::bundle::{self, AssetContent, AssetSource, Bundle};
use serde_json::Value as Json;

/// Writes the bundle at `from` again to `to`, with its catalog changed. The catalog is not checked: that is for whoever reads the bundle.
///
/// # Panics
/// If the one cannot be read or the other not written, or if `change` changes nothing.
#[track_caller]
pub fn tamper(from: &Path, to: &Path, change: impl FnOnce(&mut Json)) {
    let bundle = Bundle::open(from).unwrap_or_else(|error| panic!("{error:?}"));
    let before: Json =
        serde_json::from_slice(&bundle.catalog_bytes().expect("the bundle can be read")).expect("a catalog is JSON");
    let mut catalog = before.clone();
    change(&mut catalog);
    assert_ne!(before, catalog, "the change must change something");
    let components: Vec<_> = bundle.components().collect();
    let components: Vec<_> =
        components.into_iter().map(|digest| (digest, bundle.component(digest).expect("it is in the bundle"))).collect();
    let components: Vec<_> = components.iter().map(|(digest, bytes)| (*digest, bytes.as_slice())).collect();
    let asset = |(digest, size)| {
        let mut bytes = Vec::new();
        let mut reader = bundle.asset_reader(digest).expect("it is in the bundle");
        reader.read_to_end(&mut bytes).expect("an asset can be read");
        AssetSource { digest, size, content: AssetContent::Bytes(bytes) }
    };
    let assets: Vec<AssetSource> = bundle.assets().map(asset).collect();
    // Keys are sorted and plain, so this is the canonical form.
    let text = serde_json::to_vec(&catalog).expect("it is JSON");
    bundle::write(to, &text, &components, &assets, None).unwrap_or_else(|error| panic!("{error:?}"));
}
