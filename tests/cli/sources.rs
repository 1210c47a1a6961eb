//! Sources: what the options allow, and what is said where they do not.

use insta::assert_snapshot;
use runtime::model::digest::AssetDigest;
use testkit::TestNode;
use testkit::guests;
use testkit::https::{Proxy, Reply, Server};

use crate::node;

/// A server whose bodies are of this test alone, as the cache of compiled code, which tests share, also keeps what was fetched.
fn stage(path: &str) -> (TestNode, Server) {
    let node = node();
    let own = node.path("").display().to_string();
    let answer = move |path: &str| if path.ends_with("none") { Reply::status(404) } else { Reply::body(format!("{own}{path}")) };
    let server = Server::start(move |asked| answer(&asked.path));
    node.write("ca.pem", server.certificate());
    node.write("keeper.wasm", guests::KEEPER);
    name(&node, &server, path);
    (node, server)
}

/// Has the manifest name what the server has at `path`.
fn name(node: &TestNode, server: &Server, path: &str) {
    let sum = AssetDigest::of(format!("{}{path}", node.path("").display()).as_bytes());
    let address = server.address(path);
    let attributes = format!("  path           = \"/srv/it\"\n  first          = \"{address}\"\n  first_checksum = \"{sum}\"\n");
    node.write("site.hcl", format!("resource \"keeper\" \"it\" {{\n{attributes}}}\n"));
}

/// What the command says, with `PORT` in the place of the server's.
fn told(node: &TestNode, server: &Server, arguments: &[&str]) -> String {
    let all = [&["compile", "site.hcl", "-o", "b.wasm.tar", "--module", "keeper=keeper.wasm"], arguments].concat();
    node.run(&all).to_string().replace(&server.port().to_string(), "PORT")
}

#[test]
fn an_address_is_fetched_once_it_is_allowed_and_then_no_more() {
    let (node, server) = stage("/pub/a");
    assert_snapshot!(told(&node, &server, &[]), @r#"
    exit 65
    --- stderr
    error: `https://localhost:PORT/pub/a` cannot be fetched
     --> site.hcl:3:20
      |
    3 |   first          = "https://localhost:PORT/pub/a"
      |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ fetching from there is not allowed
      |
      = help: if it is to be trusted, pass `--allow-url https://localhost:PORT/pub/`
    "#);
    let allowed = ["--allow-url", &server.address("/pub/"), "--ca-file", "ca.pem"];
    assert_snapshot!(told(&node, &server, &allowed), @r"
    exit 0
    --- stdout
    sha256:[digest]
    --- stderr
    compiled `site` to `b.wasm.tar`: 1 resource, 1 asset, 1 module, [size]
    ");
    assert_snapshot!(told(&node, &server, &allowed), @r"
    exit 0
    --- stdout
    sha256:[digest]
    --- stderr
    compiled `site` to `b.wasm.tar`: 1 resource, 1 asset, 1 module, [size]
    ");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn what_a_server_refuses_is_told_at_its_place() {
    let (node, server) = stage("/pub/none");
    let allowed = ["--allow-url", &server.address("/"), "--ca-file", "ca.pem"];
    assert_snapshot!(told(&node, &server, &allowed), @r#"
    exit 65
    --- stderr
    error: `https://localhost:PORT/pub/none` cannot be fetched
     --> site.hcl:3:20
      |
    3 |   first          = "https://localhost:PORT/pub/none"
      |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the server answers with status 404
      |
    "#);
    assert_snapshot!(told(&node, &server, &allowed[..2]), @r#"
    exit 65
    --- stderr
    error: `https://localhost:PORT/pub/none` cannot be fetched
     --> site.hcl:3:20
      |
    3 |   first          = "https://localhost:PORT/pub/none"
      |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ there is no trusted connection to `localhost:PORT`: invalid peer certificate: UnknownIssuer
      |
      = help: certificates of your own are trusted with `--ca-file FILE`, or by SSL_CERT_FILE
    "#);
}

#[test]
fn ssl_cert_file_and_the_proxy_of_the_environment_are_honoured() {
    let (node, server) = stage("/pub/a");
    let proxy = Proxy::start(true);
    let compile = |no_proxy: &str, path: &str| {
        name(&node, &server, path);
        let mut command = node.command(&["compile", "site.hcl", "-o", "b.wasm.tar", "--module", "keeper=keeper.wasm"]);
        command.args(["--allow-url", &server.address("/")]);
        command.env("SSL_CERT_FILE", node.path("ca.pem")).env("HTTPS_PROXY", proxy.address()).env("no_proxy", no_proxy);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    compile("localhost", "/pub/a");
    assert_eq!(proxy.asked(), Vec::<String>::new());
    compile("", "/pub/b");
    assert_eq!(proxy.asked(), [format!("localhost:{}", server.port())]);
}

#[test]
fn options_that_make_no_sense() {
    let (node, server) = stage("/pub/a");
    assert_snapshot!(told(&node, &server, &["--allow-url", "http://example.org"]), @r"
    exit 64
    --- stderr
    error: invalid value 'http://example.org' for '--allow-url <PREFIX>': it begins with `http:` where only `https:` is fetched

    For more information, try '--help'.
    ");
    assert_snapshot!(told(&node, &server, &["--max-source-size", "5"]), @r"
    exit 64
    --- stderr
    error: invalid value '5' for '--max-source-size <SIZE>': write a whole number and `KiB`, `MiB` or `GiB`, as in `64MiB`

    For more information, try '--help'.
    ");
    assert_snapshot!(told(&node, &server, &["--source-timeout", "25h"]), @r"
    exit 64
    --- stderr
    error: invalid value '25h' for '--source-timeout <TIME>': write a whole number and `s`, `m` or `h`, up to `24h`

    For more information, try '--help'.
    ");
    assert_snapshot!(told(&node, &server, &["--allow-source", "nowhere"]), @r"
    exit 74
    --- stderr
    error: the allowed folder `$TEST/nowhere` cannot be opened
      caused by: No such file or directory (os error 2)
    ");
}
