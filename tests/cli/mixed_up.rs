//! Files that are taken for each other: an output for an input, a manifest for a bundle.

use insta::assert_snapshot;

use crate::node;

const SITE: &str = "resource \"file\" \"motd\" {\n  path    = \"/etc/motd\"\n  content = \"hello\\n\"\n}\n";

#[test]
fn a_bundle_takes_the_place_of_nothing_that_it_is_made_from() {
    let node = node();
    node.write("site.hcl", SITE);
    node.write("team.json", "{\"team\": \"storage\"}");
    std::os::unix::fs::symlink("site.hcl", node.path("link.hcl")).unwrap();
    for output in ["site.hcl", "./site.hcl", "link.hcl", "team.json"] {
        let refused = node.run(&["compile", "site.hcl", "--var-file", "team.json", "-o", output]);
        assert!(refused.to_string().starts_with("exit 64"), "{refused}");
        assert!(refused.to_string().contains("which it is made from"), "{refused}");
    }
    assert_eq!(std::fs::read_to_string(node.path("site.hcl")).unwrap(), SITE);
    assert_eq!(std::fs::read_to_string(node.path("team.json")).unwrap(), "{\"team\": \"storage\"}");
}

#[test]
fn a_bundle_takes_the_place_of_no_file_that_the_manifest_reads() {
    let node = node();
    std::fs::create_dir(node.path("files")).unwrap();
    for name in ["files/whole", "files/text", "files/template"] {
        node.write(name, "kept\n");
    }
    std::os::unix::fs::symlink("files/whole", node.path("link")).unwrap();
    node.write(
        "site.hcl",
        "resource \"file\" \"a\" {\n  path = \"/etc/a\"\n  source = \"files/whole\"\n}\n\
         resource \"file\" \"b\" {\n  path = \"/etc/b\"\n  content = \"${file(\"files/text\")}${templatefile(\"files/template\", {})}\"\n}\n",
    );
    for output in ["files/whole", "link", "./files/text", "files/template"] {
        let refused = node.run(&["compile", "site.hcl", "-o", output]).exits_with(64);
        assert!(
            refused.stderr.contains("the bundle would take the place of") && refused.stderr.contains("--output"),
            "{refused}"
        );
        assert_eq!(std::fs::read_to_string(node.path(output)).unwrap(), "kept\n");
    }
    node.run(&["compile", "site.hcl", "-o", "files/site.wasm.tar"]).success();
}

#[test]
fn an_output_in_a_folder_that_is_not_there_says_which() {
    let node = node();
    node.write("site.hcl", SITE);
    let refused = node.run(&["compile", "site.hcl", "-o", "out/site.wasm.tar"]).exits_with(74);
    assert!(refused.stderr.contains("hint: make the folder `out` first"), "{refused}");
}

#[test]
fn a_manifest_and_a_bundle_are_told_apart() {
    let node = node();
    node.write("site.hcl", SITE);
    node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]).success();
    for command in ["inspect", "plan", "apply"] {
        let refused = node.run(&[command, "site.hcl"]).exits_with(65);
        assert!(refused.stderr.contains("this is text, and no tar archive"), "{refused}");
        assert!(refused.stderr.contains("`runtime compile MANIFEST -o BUNDLE` makes a bundle of it"), "{refused}");
        assert!(!refused.stderr.contains("damaged"), "{refused}");
    }
    let refused = node.run(&["compile", "site.wasm.tar", "-o", "again.wasm.tar"]).exits_with(65);
    assert_snapshot!(refused, @r#"
    exit 65
    --- stderr
    error: `site.wasm.tar` is a bundle, and text is wanted here
    hint: `runtime inspect` shows a bundle, `plan` and `apply` take one; `compile` makes one of a manifest
    "#);
}
