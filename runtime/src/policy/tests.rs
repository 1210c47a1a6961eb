//! Tests of what policies say and what is decided by them.

use std::collections::BTreeSet;
use std::time::Duration;

use host_functions::grant::{Access, Grant};
use host_functions::objects::{Domain, Interface};
use proptest::prelude::*;

use super::*;
use crate::model::key::Key;

const DIGEST: &str = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
const OTHER: &str = "sha256:486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7";

fn reserved() -> Vec<TypeName> {
    vec!["file".parse().unwrap()]
}

fn policy(text: &str) -> Policy {
    parse(text, &reserved()).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// The problems as a person sees them.
fn problems(text: &str) -> String {
    let line = |problem: Problem| {
        let hint = problem.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{problem}{hint}\n")
    };
    parse(text, &reserved()).expect_err("the policy is wrong").into_iter().map(line).collect()
}

fn want(access: Access, path: &str) -> Want {
    Want::Path { access, path: Key::from(path) }
}

fn decide(policy: &Policy, name: &str, digest: &str, builtin: Option<Builtin>, wants: &[Want]) -> Decision {
    let (name, wants) = (name.parse().unwrap(), wants.iter().cloned().collect());
    policy.decide(&ModuleIdentity { name: &name, digest: digest.parse().unwrap(), builtin, wants: &wants })
}

fn granted(decision: Decision) -> Grant {
    match decision {
        Decision::Granted { grant, .. } => *grant,
        Decision::Refused(refusal) => panic!("refused: {refusal}"),
    }
}

fn refused(decision: Decision) -> Refusal {
    match decision {
        Decision::Refused(refusal) => refusal,
        Decision::Granted { by, .. } => panic!("granted by {by}"),
    }
}

fn texts(patterns: &[PathPattern]) -> Vec<&str> {
    patterns.iter().map(PathPattern::as_str).collect()
}

const VHOST: &str = r#"
module "nginx_vhost" {
  digest = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
  files { read = ["/etc/nginx/**"] }
  files {
    write = ["/etc/nginx/sites-enabled/*"]
    chown = true
  }
  limits {
    memory   = "64MiB"
    deadline = "30s"
  }
}
"#;

#[test]
fn a_row_grants_what_it_says_and_no_more() {
    let wants = [want(Access::Read, "/etc/nginx/x"), want(Access::Write, "/etc/nginx/sites-enabled/a")];
    let grant = granted(decide(&policy(VHOST), "nginx_vhost", DIGEST, None, &wants));
    assert!(!grant.builtin);
    assert_eq!(texts(&grant.files.read), ["/etc/nginx/**"]);
    assert_eq!(texts(&grant.files.write), ["/etc/nginx/sites-enabled/*"]);
    assert_eq!((grant.files.setuid, grant.files.chown, grant.files.links), (false, true, false));
    assert_eq!((grant.limits.memory, grant.limits.deadline), (Some(64 << 20), Some(Duration::from_secs(30))));
}

#[test]
fn nothing_is_allowed_without_a_row_and_the_row_is_named() {
    let wants = [want(Access::Read, "/srv/a"), want(Access::Write, "/srv/a"), want(Access::Write, "/srv/b/**")];
    let refusal = refused(decide(&Policy::default(), "thing", DIGEST, None, &wants));
    insta::assert_snapshot!(refusal.reason, @"no policy row allows the module `thing` (sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824)");
    let row = refusal.row.unwrap();
    insta::assert_snapshot!(row, @r#"
    module "thing" {
      digest = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
      files {
        read  = ["/srv/a"]
        write = ["/srv/a", "/srv/b/**"]
      }
    }
    "#);
    granted(decide(&policy(&row), "thing", DIGEST, None, &wants));
}

#[test]
fn a_row_for_another_version_or_name_is_pointed_out() {
    let other_version = refused(decide(&policy(VHOST), "nginx_vhost", OTHER, None, &[]));
    assert!(other_version.reason.ends_with("; line 2 has a row for another version of it"), "{other_version}");
    let other_name = refused(decide(&policy(VHOST), "thing", DIGEST, None, &[]));
    assert!(other_name.reason.ends_with("; line 2 has a row for its digest under the name `nginx_vhost`"), "{other_name}");
}

#[test]
fn what_a_row_lacks_is_refused_with_a_row_to_add() {
    let wants = [want(Access::Write, "/etc/passwd"), want(Access::Write, "/etc/nginx/sites-enabled/a")];
    let refusal = refused(decide(&policy(VHOST), "nginx_vhost", DIGEST, None, &wants));
    insta::assert_snapshot!(refusal.reason, @"`nginx_vhost` declares to write `/etc/passwd`, which the policy does not grant it");
    let both = format!("{VHOST}{}\n", refusal.row.unwrap());
    let grant = granted(decide(&policy(&both), "nginx_vhost", DIGEST, None, &wants));
    assert_eq!(texts(&grant.files.write), ["/etc/nginx/sites-enabled/*", "/etc/passwd"]);
}

#[test]
fn a_built_in_gets_everything_unless_a_row_says_less() {
    let builtin = Some(Builtin::Same);
    let wants = [want(Access::Write, "/etc/shadow"), want(Access::Write, "/srv/**")];
    let grant = granted(decide(&Policy::default(), "file", DIGEST, builtin, &wants));
    assert_eq!(grant, Grant::requested(true));

    let limited =
        policy("module \"file\" {\n limits { deadline = \"1s\" }\n files {\n deny = [\"/root/**\"]\n setuid = false\n }\n}");
    let grant = granted(decide(&limited, "file", DIGEST, builtin, &wants));
    assert_eq!(grant.limits.deadline, Some(Duration::from_secs(1)));
    assert_eq!(texts(&grant.files.deny), ["/root/**"]);
    assert_eq!((grant.files.setuid, grant.files.chown, grant.files.links), (false, true, true));
    assert_eq!(grant.files.write, Grant::requested(true).files.write);

    let restricted = policy("module \"file\" {\n files { write = [\"/srv/**\"] }\n}");
    let grant = granted(decide(&restricted, "file", DIGEST, builtin, &wants[1..]));
    assert_eq!((texts(&grant.files.write), texts(&grant.files.read)), (vec!["/srv/**"], vec![]));
    assert_eq!((grant.builtin, grant.files.setuid, grant.files.chown, grant.files.links), (true, false, false, false));
    refused(decide(&restricted, "file", DIGEST, builtin, &wants));
}

#[test]
fn another_version_of_a_built_in_needs_its_digest_in_builtins() {
    let builtin = Some(Builtin::Other { ours: OTHER.parse().unwrap() });
    let own_row = policy(&format!("module \"file\" {{\n digest = \"{DIGEST}\"\n files {{ write = [\"/**\"] }}\n}}"));
    for policy in [&Policy::default(), &own_row] {
        let refusal = refused(decide(policy, "file", DIGEST, builtin, &[]));
        assert!(refusal.reason.contains(DIGEST) && refusal.reason.contains(OTHER), "{refusal}");
        let row = refusal.row.unwrap();
        assert_eq!(row, format!("builtins {{\n  digests = [\"{DIGEST}\"]\n}}"));
        let allowed = self::policy(&row);
        assert_eq!(granted(decide(&allowed, "file", DIGEST, builtin, &[])), Grant::requested(true));
    }
}

#[test]
fn deny_beats_allow() {
    let text = format!("{VHOST}deny {{\n files = [\"/etc/nginx/secret\"]\n modules = [\"exec\"]\n digests = [\"{OTHER}\"]\n}}");
    let policy = policy(&text);
    let grant = granted(decide(&policy, "nginx_vhost", DIGEST, None, &[want(Access::Read, "/etc/nginx/a")]));
    assert_eq!(texts(&grant.files.deny), ["/etc/nginx/secret"]);
    for path in ["/etc/nginx/secret", "/etc/nginx/**", "/etc/**"] {
        let refusal = refused(decide(&policy, "nginx_vhost", DIGEST, None, &[want(Access::Read, path)]));
        assert!(refusal.reason.ends_with("the policy denies `/etc/nginx/secret`"), "{refusal}");
        assert_eq!(refusal.row, None);
    }
    let builtin = Some(Builtin::Same);
    refused(decide(&policy, "file", DIGEST, builtin, &[want(Access::Write, "/etc/nginx/secret")]));
    let refusal = refused(decide(&policy, "exec", DIGEST, builtin, &[]));
    assert!(refusal.reason.ends_with("in line 16"), "{refusal}");
    refused(decide(&policy, "file", OTHER, builtin, &[]));
}

#[test]
fn kernel_folders_are_never_granted() {
    for path in ["/proc/1/mem", "/sys", "/dev/**"] {
        let refusal = refused(decide(&Policy::default(), "file", DIGEST, Some(Builtin::Same), &[want(Access::Read, path)]));
        assert!(refusal.reason.ends_with("which can never be granted"), "{refusal}");
        let refusal = refused(decide(&Policy::default(), "thing", DIGEST, None, &[want(Access::Read, path)]));
        assert!(refusal.reason.ends_with("which can never be granted"), "{refusal}");
        assert_eq!(refusal.row, None, "no row would help");
    }
    granted(decide(&Policy::default(), "file", DIGEST, Some(Builtin::Same), &[want(Access::Read, "/devices")]));
}

#[test]
fn rows_for_one_module_add_up_and_the_tightest_limit_holds() {
    let row = |inner: &str| format!("module \"thing\" {{\n digest = \"{DIGEST}\"\n {inner}\n}}\n");
    let rows = [
        row("limits { memory = \"64MiB\" }"),
        row("limits { memory = \"32MiB\" }"),
        row("files {\n links = true\n chown = true\n }"),
        row("files { links = false }"),
    ];
    let grant = granted(decide(&policy(&rows.concat()), "thing", DIGEST, None, &[]));
    assert_eq!(grant.limits.memory, Some(32 << 20));
    assert_eq!((grant.files.links, grant.files.chown), (false, true));
}

#[test]
fn lookups_are_granted_unless_a_row_says_nothing() {
    let row = |inner: &str| format!("module \"thing\" {{\n digest = \"{DIGEST}\"\n {inner}\n}}\n");
    let rights = |rows: &[String]| {
        let grant = granted(decide(&policy(&rows.concat()), "thing", DIGEST, None, &[]));
        (grant.accounts, grant.facts)
    };
    assert_eq!(rights(&[row("")]), (true, true));
    assert_eq!(rights(&[row("accounts { read = [\"*\"] }")]), (true, true));
    assert_eq!(rights(&[row("facts { read = [] }")]), (true, false));
    assert_eq!(rights(&[row("accounts { read = [] }"), row("accounts { read = [\"*\"] }")]), (false, true));
    assert!(problems(&row("facts { read = [\"os.id\"] }")).contains("for nothing"));
}

#[test]
fn unused_rows_are_listed_with_their_lines() {
    let text = format!("{VHOST}builtins {{\n  digests = [\n    \"{DIGEST}\",\n    \"{OTHER}\",\n  ]\n}}\n");
    let policy = policy(&text);
    let unused = |modules: &[(&str, &str)]| -> Vec<(usize, String)> {
        let modules: Vec<_> = modules.iter().map(|(name, digest)| (name.parse().unwrap(), digest.parse().unwrap())).collect();
        policy.unused(&modules).into_iter().map(|unused| (unused.line, unused.row)).collect()
    };
    assert_eq!(unused(&[("nginx_vhost", DIGEST), ("file", OTHER)]), []);
    let rows = unused(&[("nginx_vhost", OTHER)]);
    assert_eq!(rows, [(2, "module \"nginx_vhost\"".to_owned()), (16, format!("builtins: {DIGEST}"))]);
}

#[test]
fn everything_wrong_is_named_with_its_place() {
    insta::assert_snapshot!(problems(r#"
signer "ops" {}
module "thing" {
  digest    = "sha256:00"
  processes { run = [] }
}
module "other" {
  files { read = ["/etc/**", "etc"] }
}
module "file" {
  files "x" {
    execute = ["/usr/**"]
    write   = ["/proc/1/**", "/sys", "/ok", "/a/**b"]
    chown   = "yes"
  }
  network {}
  limits { memory = "64MB" }
  limits { memory = "1GiB" }
  limits { memory = "2GiB" }
  digests = []
}
module {}
module "Bad-Name" {}
builtins { digests = "x" }
deny { files = ["/${a}"] }
default = true
"#), @r#"
    2:1: `signer` is not supported by this version; to ignore it would not be safe (known here: `module`, `secret`, `provider`, `health`, `builtins`, `deny`)
    4:15: `sha256:00` is not a digest: it must be `sha256:` and 64 lower-case hex digits
    7:1: `other` is not built in, so its row must name a `digest` (`runtime module inspect FILE` prints the digest)
    8:30: a path pattern must start with `/`
    11:3: a `files` block has no name
    12:5: unknown attribute of `files` `execute` (known here: `read`, `write`, `deny`, `setuid`, `chown`, `links`)
    13:16: nothing in `/proc`, `/sys` and `/dev` can be granted
    13:30: nothing in `/proc`, `/sys` and `/dev` can be granted
    13:45: `**` in a path pattern must be a whole part, as in `/srv/**`
    14:15: `chown` must be true or false
    16:3: unknown interface `network` (known here: `files`, `packages`, `systemd`, `accounts`, `processes`, `facts`, `limits`)
    17:21: write a whole number and `KiB`, `MiB` or `GiB`, as in `64MiB`
    19:12: this limit is given twice
    20:3: unknown attribute of `module` `digests` (known here: `digest`)
    22:1: a `module` row has one name (write `module "NAME" { … }`)
    23:8: `Bad-Name` is not a valid resource type name: lower-case letters, digits and `_`, starting with a letter, at most 63 bytes
    24:22: `digests` must be a list of strings (write `["…"]`)
    25:17: a plain string is wanted here: a policy is not evaluated
    26:1: unknown row `default` (known here: `module`, `secret`, `provider`, `health`, `builtins`, `deny`)
    "#);
}

#[test]
fn objects_are_granted_by_name_and_verb() {
    let object = |domain, verb, name: &str| Want::Object { domain, verb, name: name.to_owned() };
    let wants = [
        object(Domain::Package, "install", "nginx"),
        object(Domain::Package, "read", "nginx"),
        object(Domain::Package, "remove", "nginx"),
        object(Domain::Process, "query", "/usr/sbin/nginx"),
        object(Domain::Unit, "restart", "nginx.service"),
        object(Domain::User, "create", "web"),
    ];
    let refusal = refused(decide(&Policy::default(), "thing", DIGEST, None, &wants));
    insta::assert_snapshot!(refusal.row.as_deref().unwrap(), @r#"
    module "thing" {
      digest = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
      packages {
        names = ["nginx"]
        verbs = ["install", "remove"]
      }
      systemd {
        units = ["nginx.service"]
        verbs = ["restart"]
      }
      accounts {
        users = ["web"]
        verbs = ["create"]
      }
      processes {
        query = [["/usr/sbin/nginx", "**"]]
      }
    }
    "#);
    let grant = granted(decide(&policy(&refusal.row.unwrap()), "thing", DIGEST, None, &wants));
    assert!(grant.objects.grants(Domain::Package, "remove", "nginx") && !grant.objects.grants(Domain::Package, "purge", "nginx"));
    assert!(
        !grant.objects.grants(Domain::Package, "install", "apache2")
            && !grant.objects.grants(Domain::Unit, "stop", "nginx.service")
    );
    assert!(grant.objects.grants_command("query", &[Some("/usr/sbin/nginx"), Some("-t")]));
    assert!(!grant.objects.grants_command("run", &[Some("/usr/sbin/nginx"), Some("-t")]));
    let denied = policy("deny {\n packages = [\"ng*\"]\n}");
    let refusal = refused(decide(&denied, "package", DIGEST, Some(Builtin::Same), &wants[..1]));
    assert_eq!(refusal.reason, "`package` declares to install the package `nginx`, and the policy denies `ng*`");
}

#[test]
fn of_an_interface_that_a_row_speaks_of_a_built_in_gets_just_that() {
    let builtin = Some(Builtin::Same);
    let limited = policy(concat!(
        "module \"file\" {\n systemd {\n  units = [\"web*.service\"]\n  verbs = [\"reload\", \"daemon-reload\"]\n }\n",
        " processes { run = [[\"/usr/sbin/nginx\", \"-t\"]] }\n accounts { read = [] }\n}\n"
    ));
    let grant = granted(decide(&Policy { modules: limited.modules, ..Policy::default() }, "file", DIGEST, builtin, &[]));
    let objects = &grant.objects;
    assert_eq!(objects.everything, [Interface::Packages, Interface::Accounts].into());
    assert!(objects.grants(Domain::Unit, "reload", "web1.service") && !objects.grants(Domain::Unit, "restart", "web1.service"));
    assert!(objects.grants_maintenance(Interface::Systemd, "daemon-reload"));
    assert!(objects.grants_maintenance(Interface::Packages, "refresh-index"), "packages are not spoken of");
    assert!(objects.grants_command("run", &[Some("/usr/sbin/nginx"), Some("-t")]));
    assert!(!objects.grants_command("run", &[Some("/usr/sbin/nginx"), Some("-t"), Some("-c")]));
    assert!(!grant.accounts, "`read` is for looking up");
}

#[test]
fn rows_about_objects_are_read_strictly() {
    insta::assert_snapshot!(problems(r#"module "file" {
  packages { names = ["a"] }
  packages {
    names = ["a"]
    verbs = ["instal", "read", "daemon-reload"]
  }
  systemd "x" { verbs = ["daemon-reload"] }
  systemd { units = "a" }
  accounts { people = ["a"] }
  processes { run = ["/bin/true"] }
  processes { run = [["true"], ["/bin/true", "**", "x"], []] }
  processes { unconfined_queries = "yes" }
}
deny { programs = [""] }
"#), @r#"
    2:3: `packages` needs both `names` and `verbs` (`verbs` says what may be done with what bears one of the names)
    3:3: `packages` needs both `names` and `verbs` (`verbs` says what may be done with what bears one of the names)
    5:14: unknown verb `instal` (known here: `install`, `upgrade`, `downgrade`, `remove`, `purge`, `hold`, `unhold`, `refresh-index`)
    5:24: `read` needs no row: what a module asks to read of these it may
    5:32: unknown verb `daemon-reload` (known here: `install`, `upgrade`, `downgrade`, `remove`, `purge`, `hold`, `unhold`, `refresh-index`)
    7:3: a `systemd` block has no name
    8:3: `systemd` needs both `units` and `verbs` (`verbs` says what may be done with what bears one of the names)
    8:21: `units` must be a list of strings (write `["…"]`)
    9:14: unknown attribute of `accounts` `people` (known here: `users`, `groups`, `verbs`, `read`)
    10:22: a command line is a list of strings (write `["/usr/sbin/nginx", "-t"]`)
    11:22: a pattern of arguments begins with the absolute path of a program, or with `*`
    11:32: `**` can only be the last element of a pattern of arguments
    11:58: a pattern of arguments begins with the absolute path of a program, or with `*`
    12:36: `unconfined_queries` must be true or false
    14:20: a pattern of names must not be empty
    "#);
}

#[test]
fn text_that_is_no_hcl_is_refused_with_its_place() {
    let unclosed = problems("\nmodule \"file\" {\n");
    assert!(unclosed.starts_with("2:") || unclosed.starts_with("3:"), "{unclosed}");
    assert!(problems("deny { files = [\"/a\"] files = [] }").starts_with("1:"));
    insta::assert_snapshot!(problems("deny {\n files = [\"/a\"]\n files = []\n}"), @"3:2: invalid attribute; expected unique attribute key; found redefined attribute");
    let escaped = problems("deny { files = [\"/a\u{1b}[31m\"] }");
    assert!(!escaped.contains('\u{1b}'), "{escaped:?}");
    problems(&format!("deny {{ files = {} }}", "[".repeat(100_000)));
}

#[test]
fn a_row_for_many_paths_lists_folders() {
    let name: TypeName = "thing".parse().unwrap();
    let many = |path: fn(usize) -> String| -> Vec<Want> { (0..40).map(|n| want(Access::Write, &path(n))).collect() };
    for (wants, expected) in [
        (many(|n| format!("/srv/one/{n}")), "[\"/srv/one/*\"]"),
        (many(|n| format!("/srv/many/{n}/file")), "[\"/srv/many/**\"]"),
        (many(|n| format!("/{n}/file")), "[\"/**\"]"),
    ] {
        let row = row_that_would_allow(&name, DIGEST.parse().unwrap(), &wants.iter().cloned().collect());
        assert!(row.contains(expected), "{row}");
        granted(decide(&policy(&row), "thing", DIGEST, None, &wants));
    }
}

proptest! {
    /// Whatever the paths are, the row can be read, and allows them.
    #[test]
    fn a_row_allows_what_it_is_for(
        paths in prop::collection::vec("(/[^/\\x00]{1,6}){1,4}(/\\*\\*)?", 0..24),
        bytes in prop::collection::vec("/[a-b]{1,3}", 0..2),
    ) {
        let plain = |path: &String| path.split('/').all(|part| part != "." && part != "..") && !path.starts_with("/dev/");
        let mut wants: BTreeSet<Want> = paths.iter().filter(|path| plain(path)).map(|path| want(Access::Write, path)).collect();
        wants.extend(bytes.iter().map(|path| Want::Path { access: Access::Read, path: Key([path.as_bytes(), b"/\xff"].concat()) }));
        let (name, digest) = ("thing".parse().unwrap(), DIGEST.parse().unwrap());
        let row = row_that_would_allow(&name, digest, &wants);
        let parsed = parse(&row, &reserved());
        prop_assert!(parsed.is_ok(), "{}\n{:?}", row, parsed);
        let decision = parsed.unwrap().decide(&ModuleIdentity { name: &name, digest, builtin: None, wants: &wants });
        let is_granted = matches!(decision, Decision::Granted { .. });
        prop_assert!(is_granted, "{}\n{:?}", row, decision);
    }

    #[test]
    fn any_text_is_a_policy_or_an_error(text in "[a-z{}\\[\\]\"=/*$ \n]{0,120}") {
        let _ = parse(&text, &reserved());
    }
}
