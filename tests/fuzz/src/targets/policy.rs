//! Policies.
//!
//! Whatever a policy says, what is never granted is not granted by it, and a row that a refusal prints can be read.

use std::collections::BTreeSet;
use std::time::Duration;

use host_functions::grant::Access;
use runtime::model::digest::ComponentDigest;
use runtime::model::ids::TypeName;
use runtime::model::key::Key;
use runtime::policy::{Builtin, Decision, ModuleIdentity, Policy, Want, parse};

use super::{Target, plainly};
use crate::seeds;

const WORDS: &[&str] = &[
    "module \"thing\" {\n",
    "digest = \"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\"\n",
    "files {\n",
    "read = [",
    "write = [",
    "deny = [",
    "\"/**\"",
    "\"/etc/*\"",
    "\"/proc/x\"",
    "setuid = true\n",
    "chown = true\n",
    "links = false\n",
    "packages {\n",
    "install = [",
    "systemd {\n",
    "units = [",
    "verbs = [\"reload\"]\n",
    "accounts {\n",
    "processes {\n",
    "run = [[",
    "query = [[",
    "\"...\"",
    "\"*\"",
    "facts {\n",
    "limits {\n",
    "memory = \"64MiB\"\n",
    "deadline = \"30s\"\n",
    "builtins {\n",
    "digests = [",
    "deny {\n",
    "modules = [",
    "secret \"a\" {\n",
    "owners = [",
    "provider \"package\" {\n",
    "use = \"apt\"\n",
    "forbid = [",
    "health {\n",
    "commands = [[",
    "signer \"a\" {\n",
    "}\n",
    "]",
    "\"",
    "\\",
    "${a}",
    "\u{1b}[31m",
];

pub(super) fn target() -> Target {
    Target {
        name: "policy",
        seeds: || seeds::blocks("docs"),
        words: WORDS,
        change: plainly,
        run,
        time: Duration::from_secs(10),
        memory: 64 << 20,
    }
}

fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let reserved: Vec<TypeName> = ["file", "service"].iter().filter_map(|name| name.parse().ok()).collect();
    let policy = match parse(text, &reserved) {
        Ok(policy) => policy,
        Err(problems) => {
            assert!(!problems.is_empty(), "a policy that is refused says why");
            problems.iter().for_each(|problem| assert!(!problem.to_string().contains('\u{1b}'), "text of the policy is escaped"));
            return;
        }
    };
    let digest: ComponentDigest =
        "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824".parse().expect("a digest");
    for (name, builtin) in [("thing", None), ("file", Some(Builtin::Same))] {
        let name: TypeName = name.parse().expect("a name");
        for (access, path) in
            [(Access::Write, "/etc/a"), (Access::Read, "/srv/**"), (Access::Write, "/proc/x"), (Access::Write, "/dev/**")]
        {
            decide(&policy, &reserved, &name, digest, builtin, access, path);
        }
        let _ = policy.unused(&[(name, digest)]);
    }
}

fn decide(
    policy: &Policy,
    reserved: &[TypeName],
    name: &TypeName,
    digest: ComponentDigest,
    builtin: Option<Builtin>,
    access: Access,
    path: &str,
) {
    let wants = BTreeSet::from([Want::Path { access, path: Key::from(path) }]);
    match policy.decide(&ModuleIdentity { name, digest, builtin, wants: &wants }) {
        Decision::Granted { .. } => {
            let never = path.starts_with("/proc") || path.starts_with("/dev");
            assert!(!never, "`{path}` was granted to `{name}`");
        }
        Decision::Refused(refusal) => {
            if let Some(row) = refusal.row {
                assert!(parse(&row, reserved).is_ok(), "a row that would allow it cannot be read:\n{row}");
            }
        }
    }
}
