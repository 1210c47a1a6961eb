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
    assert_snapshot!(node.run(&["validate", "site.hcl", "--module", "sampler=sampler.wasm"]), @r#"
    exit 65
    --- stderr
    error: the block `retry` needs the attribute `tries`
     --> site.hcl:5:3
      |
    5 |   retry { wait = "1s" }
      |   ^^^^^ it is not given
      |
      = help: How often

    error: a second block `retry` in `sampler.it`
     --> site.hcl:6:3
      |
    6 |   retry { tries = 1 }
      |   ^^^^^
      |
     --> site.hcl:5:3
      |
    5 |   retry { wait = "1s" }
      |   ----- the first one
      |

    error: a block `rule` takes no label
     --> site.hcl:7:8
      |
    7 |   rule "first" {
      |        ^^^^^^^
      |
      = help: write `rule { … }`

    error: the block `rule` has no attribute `actoin`
     --> site.hcl:9:5
      |
    9 |     actoin = "deny"
      |     ^^^^^^
      |
      = help: did you mean `action`?

    error: a block `vhost` needs a label
      --> site.hcl:11:3
       |
    11 |   vhost {}
       |   ^^^^^ it has none
       |
       = help: write `vhost "LABEL" { … }`

    error: the block `vhost` has no attribute `ports`
      --> site.hcl:14:5
       |
    14 |     ports = [80]
       |     ^^^^^
       |
       = help: did you mean `port`?

    error: a block within the block `vhost`
      --> site.hcl:15:5
       |
    15 |     part { x = 1 }
       |     ^^^^ blocks of a resource hold attributes only
       |
       = help: an attribute that is an object is written `part = { … }`

    error: a second block `vhost` with the same label in `sampler.it`
      --> site.hcl:17:3
       |
    17 |   vhost "www" "api" {}
       |   ^^^^^^^^^^^^^^^^^
       |
      --> site.hcl:12:3
       |
    12 |   vhost "www" {
       |   ----------- the first one
       |

    error: a block `vhost` takes one label
      --> site.hcl:17:15
       |
    17 |   vhost "www" "api" {}
       |               ^^^^^ one too many
       |
       = help: write `vhost "LABEL" { … }`

    error: a second block `vhost` with the same label in `sampler.it`
      --> site.hcl:18:3
       |
    18 |   vhost "www" {}
       |   ^^^^^^^^^^^
       |
      --> site.hcl:12:3
       |
    12 |   vhost "www" {
       |   ----------- the first one
       |

    error: the resource type `sampler` has no block `vhots`
      --> site.hcl:19:3
       |
    19 |   vhots "x" {}
       |   ^^^^^^^^^
       |
       = help: did you mean `vhost`?

    error: the resource type `sampler` has no block `limits`
      --> site.hcl:20:3
       |
    20 |   limits { a = 1 }
       |   ^^^^^^
       |
       = help: `limits` is an attribute: write `limits = { … }`

    error: the resource type `sampler` has no attribute `rule`
      --> site.hcl:21:3
       |
    21 |   rule = [{ action = "allow" }]
       |   ^^^^
       |
       = help: `rule` is a block: write `rule { … }`

    error: the resource type `sampler` has no block `control`
      --> site.hcl:22:3
       |
    22 |   control { if = true }
       |   ^^^^^^^
       |
       = help: it belongs into `meta { … }`

    error: the resource type `file` has no block `part`
      --> site.hcl:27:3
       |
    27 |   part { x = 1 }
       |   ^^^^
       |
       = help: an attribute that is an object is written `part = { … }`
    "#);
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
    assert_snapshot!(node.run(&["inspect", "site.wasm.tar"]), @r#"
    exit 0
    --- stdout
    bundle  sha256:[digest]
    owner   site
    serial  0
    for     any node
    assets  0 assets, [size]

    modules
      sampler  sha256:[digest]  schema 1

    resources, in order
      sampler.it  site.hcl:1:1
        deferred  settled on the node from path, vhost "www" page, vhost "www" port, retry tries
        claims    path /srv/it
        claims    sampler/host www
        may       read, write path /srv/it
    "#);
}

#[test]
fn inspect_a_module_with_blocks_outputs_and_checksums() {
    assert_snapshot!(node().run(&["module", "inspect", "sampler.wasm"]), @r#"
    exit 0
    --- stdout
    type     sampler
    summary  Has one of everything.
    schema   1
    digest   sha256:[digest]

    attributes
      path      string                          required, identity, exported, also file
          The path of the file.
      ensure    "present" | "absent" | "there"  nullable, exported, default "present", also state
          Whether the files are there.
      content   string                          nullable, exported
          The text of the file.
      source    string                          source, nullable
          A file that has the text.
      checksum  string                          nullable, checksum of source
          The digest that the source must have.
      level     "low" | "high"                  nullable, exported, default "low"
          A word.
      port      integer or string               nullable
          A number or a name.
      options   list of string                  nullable
          Words.
      limits    map of integer                  nullable, default {}
          Numbers.
      extra     any
          Anything; null is a value.
      peer      resource                        nullable
          A resource.
      peers     list of resource                nullable
          Resources.
      token     string                          nullable, sensitive
          A secret.
      ignored   any                             nullable
          Read, and thrown away.

    ensure
      present  default, also there  The files are there.
      absent                        They are not.

    block retry { … }  at most once
      How often to try.
        tries  integer  required
            How often.
        wait   string   nullable, also pause
            How long between two.

    block rule { … }  any number of times
      What is allowed, in order.
        action  "allow" | "deny"  required
            What to do.
        match   any               nullable
            With what.

    block vhost "LABEL" { … }  any number of times
      A host by name.
        root    string    identity, nullable
            Where its page is written.
        page    string    nullable
            The text of the page.
        source  string    source, nullable
            A file that has the text.
        port    integer   nullable
            Its port.
        peer    resource  nullable
            A resource.

    outputs, known once it has been applied
      size  integer
          The size of the file at the path in bytes.

    rights that it asks for
      files.read   /srv/**  to compare its files
      files.write  /srv/**  to write its files

    policy row that grants them
      module "sampler" {
        digest = "sha256:[digest]"
        files { read = ["/srv/**"] }
        files { write = ["/srv/**"] }
      }
    "#);
}
