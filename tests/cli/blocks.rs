//! Child blocks: what is told of those that are wrong, and how they are shown.

use insta::assert_snapshot;
use testkit::{TestNode, guests};

fn node() -> TestNode {
    let node = crate::node();
    node.write("sampler.wasm", guests::SAMPLER);
    node
}

const WRONG: &str = r#"
resource "sampler" "it" {
  path = "/srv/it"

  retry { wait = "1s" }
  retry { tries = 1 }
  rule "first" {
    action = "allow"
    actoin = "deny"
  }
  vhost {}
  vhost "www" {
    port  = 80
    ports = [80]
    part { x = 1 }
  }
  vhost "www" "api" {}
  vhost "www" {}
  vhots "x" {}
  limits { a = 1 }
  rule = [{ action = "allow" }]
  control { if = true }
}

resource "file" "plain" {
  path = "/srv/plain"
  part { x = 1 }
}
"#;

#[test]
fn everything_that_is_wrong_with_blocks_is_shown_at_its_place() {
    let node = node();
    node.write("site.hcl", WRONG);
    assert_snapshot!(node.run(&["validate", "site.hcl", "--module", "sampler=sampler.wasm"]), @"");
}

#[test]
fn inspect_shows_blocks_that_wait_for_the_node() {
    let node = node();
    let vhost = "vhost \"www\" {\n    page = facts.hostname\n    port = 80\n  }";
    node.write(
        "site.hcl",
        format!("resource \"sampler\" \"it\" {{\n  path = \"/srv/it\"\n  {vhost}\n  retry {{ tries = 1 }}\n}}\n"),
    );
    node.run(&["compile", "site.hcl", "-o", "site.wasm.tar", "--module", "sampler=sampler.wasm"]).success();
    assert_snapshot!(node.run(&["inspect", "site.wasm.tar"]), @"");
}

#[test]
fn inspect_a_module_with_blocks_outputs_and_checksums() {
    assert_snapshot!(node().run(&["module", "inspect", "sampler.wasm"]), @"");
}
