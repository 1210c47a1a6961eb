//! The program from outside: whatever it says or keeps in the course of a manifest with secrets.

use std::path::PathBuf;
use std::process::Output;

use testkit::TestNode;

use crate::needles::Needles;

/// A plain variable, one within a map, one that is joined with a fact, a secret of the node, a new value of the first, a wrong type.
const VALUES: [&str; 6] = ["Zq7#plain-9", "Kv3~nested-8", "Wj9^joined-7", "Hx5|of-the-node-6", "Bd8@renewed-5", "Ty2=wrong-4"];

const MANIFEST: &str = r#"
variable "plain" {
  type      = string
  sensitive = true
}

variable "nested" {
  type      = map(string)
  sensitive = true
}

variable "joined" {
  type      = string
  sensitive = true
}

resource "file" "plain" {
  path    = "/srv/plain"
  content = var.plain
}

resource "file" "nested" {
  path    = "/srv/nested"
  content = "user = ${var.nested.user}\n"
  mode    = "0640"
}

resource "file" "joined" {
  path    = "/srv/joined"
  content = "${facts.hostname} ${var.joined}\n"
}

resource "file" "node" {
  path    = "/srv/node"
  content = "token = ${secret("api_token")}\n"
}

resource "file" "chosen" {
  path    = "/srv/chosen"
  content = var.plain == "x" ? facts.hostname : "other"
}
"#;

const FILES: [&str; 5] = ["plain", "nested", "joined", "node", "chosen"];

/// A node, and a folder beside it with what an author and an owner keep for themselves.
struct Site {
    node: TestNode,
    kept: tempfile::TempDir,
    said: Vec<(String, Vec<u8>)>,
    needles: Needles,
}

impl Site {
    fn new() -> Self {
        let node = TestNode::new(env!("CARGO_BIN_EXE_runtime"));
        std::fs::create_dir(node.path("root/srv")).unwrap();
        node.write("site.hcl", MANIFEST);
        let kept = tempfile::tempdir().unwrap();
        let site = Self { node, kept, said: Vec::new(), needles: Needles::of(&VALUES) };
        std::fs::create_dir(site.kept("secrets")).unwrap();
        site.private("secrets", 0o700);
        std::fs::write(site.kept("secrets/api_token"), format!("{}\n", VALUES[3])).unwrap();
        site.private("secrets/api_token", 0o600);
        site.node.write("policy.hcl", "secret \"api_token\" {\n  owners  = [\"site\"]\n  modules = [\"file\"]\n}\n");
        site.vars(VALUES[0], &format!("{{\"user\": \"{}\"}}", VALUES[1]));
        site
    }

    fn kept(&self, name: &str) -> PathBuf {
        self.kept.path().join(name)
    }

    fn private(&self, name: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(self.kept(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn vars(&self, plain: &str, nested: &str) {
        let text = format!("{{\"plain\": \"{plain}\", \"nested\": {nested}, \"joined\": \"{}\"}}", VALUES[2]);
        std::fs::write(self.kept("vars.json"), text).unwrap();
    }

    /// Runs a command as it is, as talkative as it can be, and as records; gives the first.
    fn run(&mut self, arguments: &[&str]) -> Output {
        let mut first = None;
        for more in [&[][..], &["-vvv"], &["--json"], &["--json", "-vvv"]] {
            // What is asked for once must not change what the next finds.
            if first.is_some() && arguments[0] == "apply" && !arguments.contains(&"--noop") {
                break;
            }
            let output = self.once(arguments, more);
            first.get_or_insert(output);
        }
        first.unwrap()
    }

    fn once(&mut self, arguments: &[&str], more: &[&str]) -> Output {
        let mut command = self.node.command(arguments);
        command.args(more).env("RUST_LOG", "trace").env("RUST_BACKTRACE", "1");
        match arguments[0] {
            "compile" | "validate" => drop(command.arg("--var-file").arg(self.kept("vars.json"))),
            "plan" | "apply" => drop(command.arg("--policy").arg("policy.hcl").arg("--secrets-dir").arg(self.kept("secrets"))),
            "recover" => drop(command.arg("--policy").arg("policy.hcl")),
            _ => {}
        }
        let output = command.output().unwrap();
        let name = format!("{arguments:?} {more:?}");
        self.said.push((format!("stdout of {name}"), output.stdout.clone()));
        self.said.push((format!("stderr of {name}"), output.stderr.clone()));
        output
    }

    #[track_caller]
    fn expect(&mut self, code: i32, arguments: &[&str]) -> Output {
        let output = self.run(arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}{}", text(&output.stdout), text(&output.stderr));
        output
    }

    /// Applies, as talkative as it can be and as records.
    #[track_caller]
    fn apply(&mut self, code: i32) -> String {
        let output = self.once(&["apply", "site.wasm.tar"], &["--json", "-vvv"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    fn content(&self, name: &str) -> String {
        self.node.read(&format!("root/srv/{name}"))
    }

    /// Nothing that was said, and no file but those that are to have it.
    #[track_caller]
    fn assert_nothing_leaked(&self) {
        for (what, said) in &self.said {
            self.needles.assert_none_in(what, said);
        }
        let allowed: Vec<PathBuf> = FILES.iter().map(|name| self.node.path(&format!("root/srv/{name}"))).collect();
        self.needles.assert_none_beneath(&self.node.path("."), &allowed);
    }
}

#[test]
fn a_secret_is_in_the_layer_and_in_the_file_that_must_carry_it_and_nowhere_else() {
    let mut site = Site::new();
    site.expect(0, &["compile", "site.hcl", "-o", "site.wasm.tar"]);
    site.expect(0, &["validate", "site.hcl"]);
    let shown = String::from_utf8(site.expect(0, &["inspect", "site.wasm.tar"]).stdout).unwrap();
    assert!(shown.contains("file.joined/content#0") && shown.contains("api_token"), "{shown}");
    site.expect(0, &["plan", "site.wasm.tar"]);
    site.assert_nothing_leaked();
    site.apply(0);
    let expected = [VALUES[0].to_owned(), format!("user = {}\n", VALUES[1]), format!("db1 {}\n", VALUES[2])];
    assert_eq!([site.content("plain"), site.content("nested"), site.content("joined")], expected);
    assert_eq!(site.content("node"), format!("token = {}\n", VALUES[3]));
    site.assert_nothing_leaked();
    let again = site.apply(0);
    assert!(again.contains("\"unchanged\"") && !again.contains("\"changed\":1"), "{again}");
    site.expect(0, &["plan", "site.wasm.tar"]);
    site.expect(0, &["recover"]);
    site.assert_nothing_leaked();
}

#[test]
fn a_new_value_is_a_change_and_no_drift_and_another_hand_is_drift() {
    let mut site = Site::new();
    site.expect(0, &["compile", "site.hcl", "-o", "site.wasm.tar"]);
    site.apply(0);
    site.vars(VALUES[4], &format!("{{\"user\": \"{}\"}}", VALUES[1]));
    site.expect(0, &["compile", "site.hcl", "-o", "site.wasm.tar"]);
    let plan = String::from_utf8(site.once(&["plan", "site.wasm.tar"], &["--json"]).stdout).unwrap();
    assert!(plan.contains("\"drift\":false") && !plan.contains("\"drift\":true"), "{plan}");
    site.apply(0);
    assert_eq!(site.content("plain"), VALUES[4]);
    site.node.write("root/srv/plain", VALUES[0]);
    let plan = String::from_utf8(site.once(&["plan", "site.wasm.tar"], &["--json"]).stdout).unwrap();
    assert!(plan.contains("\"drift\":true"), "{plan}");
    assert!(plan.contains("hidden"), "what is there is not told: {plan}");
    site.apply(0);
    assert_eq!(site.content("plain"), VALUES[4]);
    site.assert_nothing_leaked();
}

#[test]
fn what_a_secret_is_replaced_by_does_not_show_it() {
    let mut site = Site::new();
    site.expect(0, &["compile", "site.hcl", "-o", "site.wasm.tar"]);
    site.apply(0);
    let plain = "resource \"file\" \"plain\" {\n  path    = \"/srv/plain\"\n  content = \"nothing to hide\\n\"\n}\n";
    site.node.write("site.hcl", plain);
    let output = site.node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]);
    output.success();
    site.expect(0, &["plan", "site.wasm.tar"]);
    site.apply(0);
    assert_eq!(site.content("plain"), "nothing to hide\n");
    site.assert_nothing_leaked();
}

#[test]
fn errors_do_not_quote_what_they_are_about() {
    let mut site = Site::new();
    site.vars(VALUES[0], &format!("\"{}\"", VALUES[5]));
    let error = String::from_utf8(site.expect(65, &["compile", "site.hcl", "-o", "site.wasm.tar"]).stderr).unwrap();
    assert!(error.contains("does not fit its type"), "{error}");
    site.vars(VALUES[0], &format!("{{\"user\": \"{}\"}}", VALUES[1]));
    for (attribute, message) in [
        ("mode = var.plain", "`mode` may not be sensitive"),
        ("owner = var.plain", "`owner` may not be sensitive"),
        ("force = var.plain", "`force` cannot be sensitive"),
        ("content = upper(var.nested)", "must be a string, not an object"),
        ("content = var.nested", "`content` must be string, not an object"),
        ("content = secret(var.plain)", "the name of a secret must be known"),
    ] {
        let resource = format!("resource \"file\" \"bad\" {{\n  path = \"/srv/bad\"\n  {attribute}\n}}\n");
        site.node.write("bad.hcl", format!("{MANIFEST}{resource}"));
        let error = String::from_utf8(site.expect(65, &["compile", "bad.hcl", "-o", "bad.wasm.tar"]).stderr).unwrap();
        assert!(error.contains(message), "{attribute}: {error}");
    }
    site.assert_nothing_leaked();
}

#[test]
fn what_is_written_into_a_manifest_or_a_file_of_variables_is_not_quoted_from_there() {
    let mut site = Site::new();
    let variable = format!("variable \"kept\" {{\n  type      = bool\n  default   = \"{}\"\n  sensitive = true\n}}\n", VALUES[5]);
    let written = format!("resource \"file\" \"a\" {{\n  path = \"/srv/a\"\n  mode = sensitive(\"{}\")\n}}\n", VALUES[0]);
    for manifest in [variable, written] {
        std::fs::write(site.kept("own.hcl"), manifest).unwrap();
        let own = site.kept("own.hcl").display().to_string();
        std::fs::write(site.kept("vars.json"), "{}").unwrap();
        site.expect(65, &["validate", &own]);
    }
    site.node.write("site.hcl", MANIFEST);
    std::fs::write(site.kept("more.hcl"), format!("nested = \"{}\"\n", VALUES[5])).unwrap();
    let more = site.kept("more.hcl").display().to_string();
    site.expect(65, &["validate", "site.hcl", "--var-file", &more]);
    site.assert_nothing_leaked();
}

#[test]
fn a_failing_apply_tells_nothing_and_recovers() {
    let mut site = Site::new();
    site.expect(0, &["compile", "site.hcl", "-o", "site.wasm.tar"]);
    // A directory where the file belongs, and a folder that takes no new file.
    std::fs::create_dir(site.node.path("root/srv/plain")).unwrap();
    let report = site.apply(1);
    assert!(report.contains("\"failed\""), "{report}");
    site.assert_nothing_leaked();
    std::fs::remove_dir(site.node.path("root/srv/plain")).unwrap();
    site.expect(0, &["recover", "site.wasm.tar"]);
    site.apply(0);
    site.assert_nothing_leaked();
}

#[test]
fn a_bundle_without_secrets_is_reproducible_and_one_with_them_has_the_same_catalog_each_time() {
    let mut site = Site::new();
    let catalog = |output: Output| {
        let text = String::from_utf8(output.stdout).unwrap();
        let record: serde_json::Value = text.lines().map(|line| serde_json::from_str(line).unwrap()).find(has_catalog).unwrap();
        find(&record, "catalog").unwrap().clone()
    };
    site.expect(0, &["compile", "site.hcl", "-o", "one.wasm.tar"]);
    site.expect(0, &["compile", "site.hcl", "-o", "two.wasm.tar"]);
    let catalogs = ["one.wasm.tar", "two.wasm.tar"].map(|name| catalog(site.once(&["inspect", name], &["--json"])));
    assert_eq!(catalogs[0], catalogs[1]);
    let bytes = |name: &str| std::fs::read(site.node.path(name)).unwrap();
    assert_ne!(
        bytes("one.wasm.tar"),
        bytes("two.wasm.tar"),
        "a digest that everybody knows must not tell whether a guess is right"
    );
}

fn has_catalog(record: &serde_json::Value) -> bool {
    find(record, "catalog").is_some()
}

fn find<'j>(json: &'j serde_json::Value, name: &str) -> Option<&'j serde_json::Value> {
    let members = json.as_object()?;
    members.get(name).or_else(|| members.values().find_map(|member| find(member, name)))
}
