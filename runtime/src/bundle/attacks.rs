//! Tests: everything that is done to a bundle is found.

use proptest::prelude::*;

use crate::model::digest::{AssetDigest, ComponentDigest};

use super::archive::BLOCK;
use super::error::{ArchiveError, BundleError, ReferenceError};
use super::samples::{Entry, bundle, bundle_of, catalog_of, component, open, put_together, take_apart};
use super::{Bundle, catalog};

/// The sample, its members changed by `change`, opened.
pub(super) fn attacked(change: impl FnOnce(&mut Vec<Entry>)) -> BundleError {
    let mut entries = take_apart(&bundle(&[b"hello"]));
    change(&mut entries);
    open(&put_together(&entries)).expect_err("the attack must be found")
}

fn archive_error(error: BundleError) -> ArchiveError {
    match error {
        BundleError::Archive { source, .. } => source,
        other => panic!("another error: {other:?}"),
    }
}

#[test]
fn any_bit_of_a_small_bundle_flipped_is_an_error() {
    let good = bundle(&[b"hello"]);
    open(&good).unwrap();
    let mut bytes = good.clone();
    for at in 0..good.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            assert!(open(&bytes).is_err(), "bit {bit} of byte {at}");
            bytes[at] ^= 1 << bit;
        }
    }
    assert_eq!(bytes, good);
}

#[test]
fn any_shorter_file_is_an_error() {
    let good = bundle(&[b"hello"]);
    for length in 0..good.len() {
        assert!(open(&good[..length]).is_err(), "{length} bytes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bit_of_a_larger_bundle_flipped_is_an_error(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let (one, two) = (vec![7; 3000], vec![9; 1024]);
        let mut bytes = bundle(&[b"", b"x", &one, &two]);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(open(&bytes).is_err());
    }

    #[test]
    fn random_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..4096)) {
        prop_assert!(open(&bytes).is_err());
    }

    #[test]
    fn random_changes_are_an_error(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in any::<prop::sample::Index>(),
    ) {
        let good = bundle(&[b"hello"]);
        let mut bytes = good.clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        prop_assume!(bytes != good);
        prop_assert!(open(&bytes).is_err());
    }

    #[test]
    fn random_text_as_a_catalog_is_an_error(text in r#"[\[\]{}",:0-9a-z\\ ]{0,200}"#) {
        prop_assert!(catalog::parse(text.as_bytes()).is_err());
    }
}

#[test]
fn a_bundle_without_assets_and_one_without_anything_are_taken() {
    open(&bundle(&[])).unwrap();
    let mut empty = catalog_of(&component(b""), &[]);
    empty.resources.clear();
    empty.modules.clear();
    let (bytes, digest) = bundle_of(&catalog::encode(&empty).unwrap(), &[], &[]).unwrap();
    assert_eq!(open(&bytes).unwrap().digest(), digest);
}

#[test]
fn duplicates_and_disorder_are_named() {
    let error = attacked(|entries| entries.insert(1, entries[0].clone()));
    assert!(matches!(archive_error(error), ArchiveError::Duplicate { .. }));
    let error = attacked(|entries| entries.swap(0, 1));
    assert!(matches!(archive_error(error), ArchiveError::Unsorted { .. }));
    let error = attacked(|entries| entries.rotate_left(1));
    assert!(matches!(archive_error(error), ArchiveError::Unsorted { .. }));
}

#[test]
fn other_kinds_of_members_are_named() {
    type Expected = fn(&ArchiveError) -> bool;
    let kinds: [(u8, Expected); 9] = [
        (b'1', |error| matches!(error, ArchiveError::Link { .. })),
        (b'2', |error| matches!(error, ArchiveError::Link { .. })),
        (b'5', |error| matches!(error, ArchiveError::Directory { .. })),
        (b'x', |error| matches!(error, ArchiveError::Pax { .. })),
        (b'g', |error| matches!(error, ArchiveError::Pax { .. })),
        (b'L', |error| matches!(error, ArchiveError::GnuLongName { .. })),
        (b'K', |error| matches!(error, ArchiveError::GnuLongName { .. })),
        (b'3', |error| matches!(error, ArchiveError::Kind { code: b'3', .. })),
        (0, |error| matches!(error, ArchiveError::Header { .. })),
    ];
    for (code, expected) in kinds {
        let error = attacked(|entries| {
            entries[0] = entries[0].clone().with_header(|header| header.as_old_mut().linkflag = [code]);
        });
        let error = archive_error(error);
        assert!(expected(&error), "type {code}: {error:?}");
    }
}

#[test]
fn a_gnu_header_is_refused_also_with_a_good_name() {
    let error = attacked(|entries| {
        entries[0] = entries[0].clone().with_header(|header| header.as_mut_bytes()[257..265].copy_from_slice(b"ustar  \0"));
    });
    assert!(matches!(archive_error(error), ArchiveError::Header { .. }));
}

#[test]
fn names_outside_the_grammar_are_named() {
    let hex = AssetDigest::of(b"x").hex();
    let names = [
        "/index.json".to_owned(),
        "../index.json".to_owned(),
        "./index.json".to_owned(),
        String::new(),
        "blobs".to_owned(),
        "blobs/sha256/".to_owned(),
        format!("blobs/sha256/{}", hex.to_uppercase()),
        format!("blobs/sha256/../sha256/{hex}"),
        format!("blobs/sha512/{hex}"),
        format!("blobs/sha256/{hex}/"),
        "a\u{1b}[31m\u{202e}".to_owned(),
    ];
    for name in names {
        let error = archive_error(attacked(|entries| entries[0] = entries[0].clone().named(&name)));
        assert!(matches!(error, ArchiveError::Name { .. }), "{name:?}: {error:?}");
        let shown = error.to_string();
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown:?}");
    }
}

#[test]
fn header_fields_have_one_value() {
    let changes: [fn(&mut tar::Header); 9] = [
        |header| header.set_mode(0o755),
        |header| header.set_uid(1),
        |header| header.set_gid(1),
        |header| header.set_mtime(1),
        |header| header.as_old_mut().linkname[0] = b'x',
        |header| header.as_ustar_mut().unwrap().uname[0] = b'r',
        |header| header.as_ustar_mut().unwrap().prefix[0] = b'x',
        |header| header.as_old_mut().name[99] = b'x',
        |header| header.as_mut_bytes()[511] = 1,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let error = archive_error(attacked(|entries| entries[0] = entries[0].clone().with_header(change)));
        assert!(matches!(error, ArchiveError::Header { .. }), "change {number}: {error:?}");
    }
    let error = attacked(|entries| entries[0].header.as_old_mut().cksum = *b"000000\0 ");
    assert!(matches!(archive_error(error), ArchiveError::Header { .. }), "checksum");
}

#[test]
fn sizes_are_held_before_anything_is_read() {
    let sized = |size: u64| move |header: &mut tar::Header| header.set_size(size);
    let error = attacked(|entries| entries[0] = entries[0].clone().with_header(sized(1 << 30)));
    assert!(matches!(archive_error(error), ArchiveError::Truncated { .. }));
    let error = attacked(|entries| entries[0] = entries[0].clone().with_header(sized(u64::MAX)));
    assert!(matches!(archive_error(error), ArchiveError::TooLarge { size: u64::MAX, .. }));
    let error = attacked(|entries| {
        let index = entries.iter().position(|entry| entry.name() == "index.json").unwrap();
        entries[index] = entries[index].clone().with_header(sized(1 << 20));
    });
    assert!(matches!(archive_error(error), ArchiveError::TooLarge { .. }));
    let error = attacked(|entries| {
        entries[0] = entries[0].clone().with_header(|header| header.as_old_mut().size = *b"not a number");
    });
    assert!(matches!(archive_error(error), ArchiveError::Header { .. }));
}

#[test]
fn what_is_beyond_the_end_is_named() {
    let good = bundle(&[b"hello"]);
    for extra in [1, 511, 512, 10240] {
        let error = open(&[good.clone(), vec![0; extra]].concat()).unwrap_err();
        assert_eq!(archive_error(error), ArchiveError::Trailing { count: extra as u64 });
    }
    let error = open(&good[..good.len() - BLOCK as usize]).unwrap_err();
    assert!(matches!(archive_error(error), ArchiveError::Truncated { .. }));
}

#[test]
fn other_files_are_named() {
    let gzip = [b"\x1f\x8b\x08".as_slice(), &[0; 1000]].concat();
    let error = open(&gzip).unwrap_err();
    assert!(error.hint().unwrap().contains("gzip"));
    assert_eq!(archive_error(error), ArchiveError::Compressed { with: "gzip" });
    assert_eq!(archive_error(open(&[1; 1024]).unwrap_err()), ArchiveError::NotTar);
    let manifest = "resource \"file\" \"motd\" {\n\tpath = \"/etc/mötd\"\r\n}\n";
    for text in [manifest, &manifest.repeat(40), &"ö".repeat(511)] {
        let error = open(text.as_bytes()).unwrap_err();
        assert!(error.hint().unwrap().contains("runtime compile"), "{error:?}");
        assert_eq!(archive_error(error), ArchiveError::Text);
    }
    assert!(matches!(archive_error(open(b"").unwrap_err()), ArchiveError::Truncated { .. }));
    assert!(matches!(Bundle::open(std::env::temp_dir().as_path()), Err(BundleError::NotAFile)));
    assert!(Bundle::open(std::path::Path::new("/nonexistent/a.wasm.tar")).unwrap_err().is_io());
}

#[test]
fn a_file_that_changes_while_it_is_open_is_found_as_it_is_read() {
    use std::io::Read as _;
    use std::os::unix::fs::FileExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wasm.tar");
    let content = vec![7; 200_000];
    let bytes = bundle(&[&content]);
    std::fs::write(&path, &bytes).unwrap();
    let bundle = Bundle::open(&path).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    let at = |needle: &[u8]| bytes.windows(needle.len()).position(|window| window == needle).unwrap() as u64;

    file.write_all_at(b"x", at(&content) + 150_000).unwrap();
    let mut read = Vec::new();
    let error = bundle.asset_reader(AssetDigest::of(&content)).unwrap().read_to_end(&mut read).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    assert!(read.len() < content.len(), "the last bytes are not given");

    file.write_all_at(b"\x7fELF", at(b"\0asm\x0d")).unwrap();
    let digest = ComponentDigest::of(&component(b""));
    let error = bundle.component(digest).unwrap_err();
    assert!(matches!(error, BundleError::Reference(ReferenceError::Digest { .. })), "{error:?}");
}
