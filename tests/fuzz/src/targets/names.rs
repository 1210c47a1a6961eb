//! Small texts from strangers: names, addresses, digests, patterns of paths, programs and objects.
//!
//! An input is a line to read, and a line to hold against what was read. What has a form of its own is written as it was read.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use host_functions::files::policy::PathPattern;
use host_functions::objects::{ArgumentsPattern, NamePattern};
use host_functions::systemd::UnitName;
use runtime::model::asset::AssetRef;
use runtime::model::attribute_path::AttributePath;
use runtime::model::digest::{AssetDigest, ComponentDigest};
use runtime::model::ids::{OwnerName, ProviderName, ResourceId, SecretName, SecretSlot, TypeName};
use runtime::model::key::{Key, escape};

use super::{Target, plainly};

const SEEDS: &[&str] = &[
    "/etc/**\n/etc/a/b",
    "/srv/*/x-*.conf\n/srv/a/x-1.conf",
    "/**\n/",
    "nginx*.service\nnginx@a.service",
    "/usr/bin/env ... *\n/usr/bin/env",
    "file.motd\n",
    "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\n",
    "rule[2].path\n",
    "file.a/content/0\n",
    "getty@tty1.service\n",
    "secret:file.a/content\n",
    "web-site_1\n",
];

const WORDS: &[&str] = &[
    "**", "*", "/", "//", "..", ".", "@", ".service", ".socket", "sha256:", "secret:", "[", "]", "\\x2d", "...", "\u{e9}", "\0",
    "-", "_", "a", "A", "0",
];

/// The longest path that Linux takes, with its NUL.
const MAX_PATH: usize = 4096;

pub(super) fn target() -> Target {
    Target {
        name: "names",
        seeds: || SEEDS.iter().map(|seed| seed.as_bytes().to_vec()).collect(),
        words: WORDS,
        change: plainly,
        run,
        time: Duration::from_secs(5),
        memory: 16 << 20,
    }
}

fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (text, subject) = text.split_once('\n').unwrap_or((&text, ""));
    same::<ResourceId>(text);
    same::<TypeName>(text);
    same::<OwnerName>(text);
    same::<ProviderName>(text);
    same::<SecretName>(text);
    same::<SecretSlot>(text);
    same::<AttributePath>(text);
    same::<AssetRef>(text);
    same::<AssetDigest>(text);
    same::<ComponentDigest>(text);
    if let Ok(unit) = UnitName::parse(text) {
        assert_eq!(unit.as_str(), text);
    }
    patterns(text, subject);
    let escaped = escape(text);
    assert!(!escaped.chars().any(char::is_control), "`{escaped}` has control characters");
    let _ = Key::from(text).to_string();
}

fn patterns(text: &str, subject: &str) {
    if let Ok(pattern) = PathPattern::parse(text) {
        assert_eq!(PathPattern::parse(pattern.as_str()).as_ref(), Ok(&pattern), "a pattern reads back as itself");
        of_paths(&pattern, subject);
    }
    if let Ok(pattern) = NamePattern::from_str(text) {
        assert_eq!(pattern.as_str(), text);
        let _ = pattern.matches(subject);
    }
    if let Ok(pattern) = ArgumentsPattern::parse(text.split(' ')) {
        assert_eq!(ArgumentsPattern::parse(pattern.texts()).as_ref(), Ok(&pattern), "a pattern reads back as itself");
        let arguments: Vec<Option<&str>> = subject.split(' ').map(Some).collect();
        let _ = pattern.matches(&arguments);
    }
}

/// What a pattern says of a path agrees with what else it says.
fn of_paths(pattern: &PathPattern, path: &str) {
    let is_normal = path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(|part| !matches!(part, "" | "." | "..")));
    if !is_normal || path.len() >= MAX_PATH {
        return;
    }
    let (matches, covers, touches) =
        (pattern.matches(path.as_bytes()), pattern.covers_beneath(path.as_bytes()), pattern.touches_beneath(path.as_bytes()));
    let beneath = format!("{path}/x");
    let has_beneath = pattern.matches(beneath.as_bytes());
    assert!(!covers || has_beneath, "it covers what is beneath `{path}`, and not `{beneath}`");
    assert!(!has_beneath || touches, "it has `{beneath}`, and touches nothing beneath `{path}`");
    assert!(!matches || path.as_bytes().starts_with(&pattern.literal_folder()), "it has `{path}`, which is not in its folder");
}

/// What is taken is written as it was.
fn same<T: FromStr + Display>(text: &str) {
    if let Ok(read) = text.parse::<T>() {
        assert_eq!(read.to_string(), text, "it is written as something else than it was");
    }
}
