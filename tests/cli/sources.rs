//! Sources: what the options allow, and what is said where they do not.

use insta::assert_snapshot;
use testkit::TestNode;
use testkit::guests;
use testkit::https::{Proxy, Reply, Server};

use crate::node;

const SUM: &str = "sha256:87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7";

/// A manifest that names `a\n` at an address of the server; `PORT` in what commands say is the server's.
fn stage(path: &str) -> (TestNode, Server) {
    let node = node();
    let server = Server::start(|asked| if asked.path.ends_with("/a") { Reply::body("a\n") } else { Reply::status(404) });
    node.write("ca.pem", server.certificate());
    node.write("keeper.wasm", guests::KEEPER);
    let address = server.address(path);
    let manifest = format!(
        "resource \"keeper\" \"it\" {{\n  path           = \"/srv/it\"\n  first          = \"{address}\"\n  first_checksum = \"{SUM}\"\n}}\n"
    );
    node.write("site.hcl", manifest);
    (node, server)
}

fn told(node: &TestNode, server: &Server, arguments: &[&str]) -> String {
    let all = [&["compile", "site.hcl", "-o", "b.wasm.tar", "--module", "keeper=keeper.wasm", "--cache-dir", "cache"], arguments]
        .concat();
    node.run(&all).to_string().replace(&server.port().to_string(), "PORT")
}

#[test]
fn an_address_is_fetched_once_it_is_allowed_and_then_no_more() {
    let (node, server) = stage("/pub/a");
    assert_snapshot!(told(&node, &server, &[]), @"");
    let allowed = ["--allow-url", &server.address("/pub/"), "--ca-file", "ca.pem"];
    assert_snapshot!(told(&node, &server, &allowed), @"");
    assert_snapshot!(told(&node, &server, &allowed), @"");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn what_a_server_refuses_is_told_at_its_place() {
    let (node, server) = stage("/pub/none");
    let allowed = ["--allow-url", &server.address("/"), "--ca-file", "ca.pem"];
    assert_snapshot!(told(&node, &server, &allowed), @"");
    assert_snapshot!(told(&node, &server, &allowed[..2]), @"");
}

#[test]
fn ssl_cert_file_and_the_proxy_of_the_environment_are_honoured() {
    let (node, server) = stage("/pub/a");
    let proxy = Proxy::start(true);
    let compile = |no_proxy: &str, cache: &str| {
        let mut command = node.command(&["compile", "site.hcl", "-o", "b.wasm.tar", "--module", "keeper=keeper.wasm"]);
        command.args(["--allow-url", &server.address("/"), "--cache-dir", cache]);
        command.env("SSL_CERT_FILE", node.path("ca.pem")).env("HTTPS_PROXY", proxy.address()).env("no_proxy", no_proxy);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    compile("localhost", "one");
    assert_eq!(proxy.asked(), Vec::<String>::new());
    compile("", "two");
    assert_eq!(proxy.asked(), [format!("localhost:{}", server.port())]);
}

#[test]
fn options_that_make_no_sense() {
    let (node, server) = stage("/pub/a");
    assert_snapshot!(told(&node, &server, &["--allow-url", "http://example.org"]), @"");
    assert_snapshot!(told(&node, &server, &["--max-source-size", "5"]), @"");
    assert_snapshot!(told(&node, &server, &["--source-timeout", "25h"]), @"");
    assert_snapshot!(told(&node, &server, &["--allow-source", "nowhere"]), @"");
}
