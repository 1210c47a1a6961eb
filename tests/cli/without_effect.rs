//! What could be written and would do nothing.

use testkit::TestNode;

use crate::node;

/// What compiling says of a manifest that it refuses.
fn refused(node: &TestNode, manifest: &str) -> String {
    node.write("site.hcl", manifest);
    node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]).exits_with(65).stderr.clone()
}

#[test]
fn an_attribute_that_would_have_no_effect_is_refused() {
    let node = node();
    let service =
        |more: &str| format!("resource \"service\" \"web\" {{\n  name = \"web\"\n{more}  on_refresh = \"reload\"\n}}\n");
    for given in ["", "  ensure = \"stopped\"\n", "  enabled = true\n"] {
        let text = refused(&node, &service(given));
        assert!(text.contains("`on_refresh` has no effect on a service that is not ensured `running`"), "{text}");
    }
    node.write("site.hcl", service("  ensure = \"running\"\n"));
    node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]).success();
    let once = "resource \"exec\" \"x\" {\n  command = [\"/bin/true\"]\n  always = true\n  try_sleep = 5\n}\n";
    let text = refused(&node, once);
    assert!(text.contains("`try_sleep` has no effect on a command that is tried once"), "{text}");
    let health = "  meta {\n    health {\n      command = [\"/bin/true\"]\n      sleep = \"5s\"\n    }\n  }\n";
    let text = refused(&node, &format!("resource \"file\" \"a\" {{\n  path = \"/etc/a\"\n  content = \"\"\n{health}}}\n"));
    assert!(text.contains("`sleep` has no effect on a check that is tried once"), "{text}");
}

#[test]
fn what_only_a_refresh_does_needs_something_that_refreshes_it() {
    let node = node();
    let reload =
        |meta: &str| format!("resource \"exec\" \"reload\" {{\n  command = [\"/bin/true\"]\n  refresh_only = true\n{meta}}}\n");
    let file = |meta: &str| format!("resource \"file\" \"a\" {{\n  path = \"/etc/a\"\n  content = \"a\"\n{meta}}}\n");
    for (own, other) in [("", ""), ("  meta {\n    require = [file.a]\n  }\n", "")] {
        let text = refused(&node, &(reload(own) + &file(other)));
        assert!(text.contains("`exec.reload` does something only when it is refreshed, and nothing refreshes it"), "{text}");
        assert!(text.contains("--> site.hcl:1:1") && text.contains("write `subscribe` in its `meta` block"), "{text}");
    }
    for (own, other) in [("  meta {\n    subscribe = [file.a]\n  }\n", ""), ("", "  meta {\n    notify = [exec.reload]\n  }\n")] {
        node.write("site.hcl", reload(own) + &file(other));
        node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]).success();
    }
}

#[test]
fn a_manifest_without_resources_is_taken_and_what_that_means_is_said() {
    let node = node();
    node.write("site.hcl", "manifest {\n  name = \"site\"\n}\n");
    for arguments in [&["validate", "site.hcl"][..], &["compile", "site.hcl", "-o", "site.wasm.tar"]] {
        let output = node.run(arguments).success();
        assert!(output.stderr.contains("it declares no resource: to apply it is to give up"), "{output}");
    }
}
