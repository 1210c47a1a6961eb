//! The bundle as a file: the same bytes from anywhere, read by others' tools, and refused when a bit of it is another.

use std::path::Path;
use std::process::Command;

use super::node;

/// The example of the README, in a folder of a node.
fn example(node: &testkit::TestNode, folder: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples/motd");
    for name in ["site.hcl", "files/banner.txt"] {
        node.write(&format!("{folder}/{name}"), std::fs::read_to_string(from.join(name)).unwrap());
    }
}

#[test]
fn two_folders_give_equal_bytes_that_skopeo_reads() {
    let node = node();
    example(&node, "one");
    example(&node, "two/deeper");
    node.run(&["compile", "one/site.hcl", "-o", "one/a.wasm.tar"]).success();
    node.run(&["compile", "two/deeper/site.hcl", "-o", "b.wasm.tar"]).success();
    let bundle = std::fs::read(node.path("one/a.wasm.tar")).unwrap();
    assert_eq!(bundle, std::fs::read(node.path("b.wasm.tar")).unwrap());

    let archive = format!("oci-archive:{}", node.path("b.wasm.tar").display());
    let skopeo = Command::new("skopeo").args(["inspect", "--raw", &archive]).output();
    let skopeo = skopeo.expect("this test needs skopeo: apt-get install skopeo");
    assert!(skopeo.status.success(), "{}", String::from_utf8_lossy(&skopeo.stderr));
    let manifest: serde_json::Value = serde_json::from_slice(&skopeo.stdout).unwrap();
    assert_eq!(manifest["artifactType"], "application/vnd.runtime.bundle.v1");
    assert_eq!(manifest["config"]["mediaType"], "application/vnd.runtime.catalog.v1+json");
}

#[test]
fn a_flipped_bit_anywhere_is_refused_and_nothing_changes() {
    let node = node();
    example(&node, "site");
    node.write("root/srv/.keep", "");
    node.run(&["compile", "site/site.hcl", "-o", "a.wasm.tar"]).success();
    let bundle = std::fs::read(node.path("a.wasm.tar")).unwrap();
    // Places all over the file, and each kind of place at its ends; every bit of a small bundle is a unit test.
    let spread = (0..40).map(|n| n * (bundle.len() - 1) / 39);
    for (place, bit) in spread.chain([1, 100, 148, 156, 257, 511, 512]).zip((0..8).cycle()) {
        let mut flipped = bundle.clone();
        flipped[place] ^= 1 << bit;
        std::fs::write(node.path("flipped.wasm.tar"), flipped).unwrap();
        let output = node.run(&["apply", "flipped.wasm.tar"]);
        assert!(matches!(output.code, Some(65 | 4)), "byte {place}, bit {bit}: {output}");
        let left: Vec<_> = std::fs::read_dir(node.path("root/srv")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [".keep"], "byte {place}, bit {bit}");
    }
}
