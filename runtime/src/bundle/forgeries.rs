//! Tests: archives that are well formed, with content that is not.

use crate::model::digest::{CatalogDigest, ComponentDigest};

use super::archive::{self, BlobDigest, MemberName};
use super::attacks::attacked;
use super::error::{BundleError, DocumentError, ReferenceError};
use super::oci::{self, Manifest, Reference};
use super::samples::{Entry, assets, bundle, bundle_of, catalog_of, component, open, put_together, take_apart};
use super::{Bundle, catalog};

/// A blob's member.
fn blob(content: &[u8]) -> Entry {
    let name = MemberName::Blob(BlobDigest::of(content));
    let header = archive::header(name, content.len() as u64);
    Entry { header: tar::Header::from_byte_slice(&header).clone(), content: content.to_vec() }
}

fn sort(entries: &mut [Entry]) {
    entries.sort_by_key(Entry::name);
}

#[test]
fn a_blob_too_many_and_one_too_few_are_named() {
    let error = attacked(|entries| {
        entries.push(blob(b"extra"));
        sort(entries);
    });
    assert!(matches!(error, BundleError::Reference(ReferenceError::Extra { .. })), "{error:?}");
    for (index, _) in take_apart(&bundle(&[b"hello"])).iter().enumerate() {
        let error = attacked(|entries| drop(entries.remove(index)));
        let missing = matches!(error, BundleError::Reference(ReferenceError::Missing { .. }));
        let document = matches!(error, BundleError::Document { source: DocumentError::Missing, .. });
        assert!(missing || document, "{index}: {error:?}");
    }
}

#[test]
fn content_with_another_digest_is_named() {
    for index in 0..4 {
        let error = attacked(|entries| {
            let last = entries[index].content.last_mut().unwrap();
            *last ^= 1;
        });
        assert!(matches!(error, BundleError::Reference(ReferenceError::Digest { .. })), "{index}: {error:?}");
    }
}

/// An archive whose manifest is `manifest` and which holds `blobs`.
fn with_manifest(manifest: &[u8], blobs: &[&[u8]]) -> Vec<u8> {
    let named = Reference { digest: BlobDigest::of(manifest), size: manifest.len() as u64 };
    let document = |name, content: &[u8]| Entry {
        header: tar::Header::from_byte_slice(&archive::header(name, content.len() as u64)).clone(),
        content: content.to_vec(),
    };
    let mut entries: Vec<_> = blobs.iter().map(|content| blob(content)).collect();
    entries.push(blob(manifest));
    entries.push(document(MemberName::Index, &oci::render_index(named)));
    entries.push(document(MemberName::Layout, oci::LAYOUT));
    sort(&mut entries);
    put_together(&entries)
}

struct Sample {
    component: Vec<u8>,
    catalog: Vec<u8>,
    manifest: Manifest,
}

fn sample() -> Sample {
    let component = component(b"");
    let assets = assets(&[b"hello"]);
    let catalog = catalog::encode(&catalog_of(&component, &assets)).unwrap();
    let manifest = Manifest {
        catalog: Reference { digest: CatalogDigest::of(&catalog), size: catalog.len() as u64 },
        components: vec![Reference { digest: ComponentDigest::of(&component), size: 8 }],
        assets: vec![Reference { digest: assets[0].digest, size: 5 }],
        secrets: None,
    };
    Sample { component, catalog, manifest }
}

impl Sample {
    fn open(&self, manifest: &[u8]) -> Result<Bundle, BundleError> {
        open(&with_manifest(manifest, &[&self.component, &self.catalog, b"hello"]))
    }

    fn refused(&self, manifest: &str) -> DocumentError {
        match self.open(manifest.as_bytes()) {
            Err(BundleError::Document { document: "manifest", source }) => source,
            other => panic!("another answer: {other:?}"),
        }
    }
}

#[test]
fn a_reference_of_another_size_is_named() {
    let mut sample = sample();
    sample.open(&oci::render_manifest(&sample.manifest)).unwrap();
    sample.manifest.assets[0].size = 6;
    let error = sample.open(&oci::render_manifest(&sample.manifest)).unwrap_err();
    assert!(matches!(error, BundleError::Reference(ReferenceError::Size { wanted: 6, found: 5, .. })), "{error:?}");
}

#[test]
fn a_manifest_has_one_form() {
    let sample = sample();
    let good = String::from_utf8(oci::render_manifest(&sample.manifest)).unwrap();
    let spaced = good.replace(',', ", ");
    assert!(matches!(sample.refused(&spaced), DocumentError::NotCanonical { .. }));
    let annotated = good.replacen('{', r#"{"annotations":{},"#, 1);
    assert!(matches!(sample.refused(&annotated), DocumentError::Syntax { .. }));
    let other = good.replace("bundle.v1", "bundle.v2");
    assert!(matches!(sample.refused(&other), DocumentError::Field { field: "artifactType", .. }));
    let other = good.replace("asset.v1", "secret.v1\\u001b");
    let error = sample.refused(&other);
    assert!(matches!(error, DocumentError::Syntax { .. }));
    assert!(!error.to_string().contains('\u{1b}'), "{error}");
    let mut twice = sample.manifest.clone();
    twice.assets.push(twice.assets[0]);
    let twice = String::from_utf8(oci::render_manifest(&twice)).unwrap();
    assert_eq!(sample.refused(&twice), DocumentError::LayerOrder { position: 3 });
}

#[test]
fn an_index_has_one_descriptor_and_one_form() {
    let good = bundle(&[]);
    let replaced = |from: &str, to: &str| {
        let mut entries = take_apart(&good);
        let index = entries.iter().position(|entry| entry.name() == "index.json").unwrap();
        let text = String::from_utf8(entries[index].content.clone()).unwrap().replacen(from, to, 1);
        entries[index].content = text.into_bytes();
        let size = entries[index].content.len() as u64;
        entries[index] = entries[index].clone().with_header(|header| header.set_size(size));
        match open(&put_together(&entries)) {
            Err(BundleError::Document { document: "index.json", source }) => source,
            other => panic!("another answer: {other:?}"),
        }
    };
    assert!(matches!(replaced("}]", "},{}]"), DocumentError::Syntax { .. }));
    assert!(matches!(replaced("}]", r#","annotations":{}}]"#), DocumentError::Syntax { .. }));
    assert!(matches!(replaced(":2}", ":3}"), DocumentError::NotCanonical { .. }));
    assert!(matches!(replaced("manifest.v1", "manifest.v9"), DocumentError::Field { .. }));
}

#[test]
fn a_core_module_or_precompiled_code_is_no_component() {
    for content in [b"\0asm\x01\0\0\0".as_slice(), b"\x7fELF\x02\x01\x01\0", b"\0asm"] {
        let catalog = catalog::encode(&catalog_of(content, &[])).unwrap();
        let manifest = Manifest {
            catalog: Reference { digest: CatalogDigest::of(&catalog), size: catalog.len() as u64 },
            components: vec![Reference { digest: ComponentDigest::of(content), size: content.len() as u64 }],
            assets: Vec::new(),
            secrets: None,
        };
        let error = open(&with_manifest(&oci::render_manifest(&manifest), &[content, &catalog])).unwrap_err();
        assert!(matches!(error, BundleError::Reference(ReferenceError::NotComponent { .. })), "{error:?}");
    }
}

#[test]
fn a_catalog_and_a_manifest_that_disagree_are_named() {
    let (component, other) = (component(b""), component(b"other"));
    let named = assets(&[b"hello"]);
    let catalog = catalog::encode(&catalog_of(&component, &named)).unwrap();
    for (components, assets) in [
        (vec![component.as_slice()], vec![]),
        (vec![component.as_slice()], assets(&[b"hello", b"more"])),
        (vec![component.as_slice(), &other], named.clone()),
        (vec![], named.clone()),
    ] {
        let (bytes, _) = bundle_of(&catalog, &components, &assets).unwrap();
        let error = open(&bytes).unwrap_err();
        assert!(matches!(error, BundleError::Reference(ReferenceError::Disagree { .. })), "{error:?}");
    }
    let mut lying = catalog_of(&component, &named);
    lying.assets.get_mut(&named[0].digest).unwrap().size = 6;
    let (bytes, _) = bundle_of(&catalog::encode(&lying).unwrap(), &[&component], &named).unwrap();
    let error = open(&bytes).unwrap_err();
    assert!(matches!(error, BundleError::Reference(ReferenceError::Size { .. })), "{error:?}");
}

#[test]
fn a_layer_of_secrets_is_one_and_no_other_part() {
    let mut sample = sample();
    let layer = format!(r#"{{"salt":"{}","values":{{"file.motd/content":"Zq7#"}}}}"#, "07".repeat(32));
    let reference = |content: &str| Reference { digest: BlobDigest::of(content.as_bytes()), size: content.len() as u64 };
    sample.manifest.secrets = Some(reference(&layer));
    let blobs: [&[u8]; 4] = [&sample.component, &sample.catalog, b"hello", layer.as_bytes()];
    let refused = |manifest: &[u8], blobs: &[&[u8]]| open(&with_manifest(manifest, blobs)).unwrap_err();
    let error = refused(&oci::render_manifest(&sample.manifest), &blobs);
    assert!(matches!(&error, BundleError::Reference(ReferenceError::Secret { missing_in: "catalog", .. })), "{error:?}");
    assert!(!format!("{error:?}").contains("Zq7#"), "{error:?}");
    sample.manifest.secrets = Some(reference("hello"));
    let error = refused(&oci::render_manifest(&sample.manifest), &blobs[..3]);
    assert!(matches!(error, BundleError::Reference(ReferenceError::SecretsElsewhere { .. })), "{error:?}");
}
