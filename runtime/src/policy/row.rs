//! The row that would allow a module, as text to put into a policy.

use std::collections::{BTreeMap, BTreeSet};

use host_functions::files::policy::PathPattern;
use host_functions::grant::Access;
use host_functions::objects::{ANY, Domain, is_read_only};

use super::decide::{Want, changing};
use crate::model::digest::ComponentDigest;
use crate::model::ids::TypeName;
use crate::model::key::needs_escape;

/// How many paths a row lists one by one; beyond, it lists the folders that they are in.
const MAX_PATHS: usize = 16;

/// The row that lets the component `digest` run as `name` and do `wants`, and little else: where paths are many, the folders that they
/// are in. Rows for one module add up, so it may stand beside those that are there.
pub fn row_that_would_allow(name: &TypeName, digest: ComponentDigest, wants: &BTreeSet<Want>) -> String {
    let list = |wanted: Access| {
        let paths = wants.iter().filter_map(|want| match want {
            Want::Path { access, path } if *access == wanted => Some(path.0.as_slice()),
            _ => None,
        });
        quoted_list(patterns(paths).iter().map(String::as_str))
    };
    let (read, write) = (list(Access::Read), list(Access::Write));
    let mut row = format!("module \"{name}\" {{\n  digest = \"{digest}\"\n");
    match (read.is_empty(), write.is_empty()) {
        (true, true) => {}
        (false, true) => row += &format!("  files {{ read = [{read}] }}\n"),
        (true, false) => row += &format!("  files {{ write = [{write}] }}\n"),
        (false, false) => row += &format!("  files {{\n    read  = [{read}]\n    write = [{write}]\n  }}\n"),
    }
    row + &objects(wants) + "}"
}

/// A block for each set of verbs that objects of one kind are wanted for, and one for programs.
fn objects(wants: &BTreeSet<Want>) -> String {
    let mut verbs: BTreeMap<(Domain, &str), BTreeSet<&str>> = BTreeMap::new();
    for want in wants {
        match want {
            Want::Object { domain, verb, name } if !is_read_only(verb) || *domain == Domain::Process => {
                verbs.entry((*domain, name)).or_default().insert(verb);
            }
            Want::Hold { domain, name } => verbs.entry((*domain, name)).or_default().extend(changing(*domain)),
            Want::Path { .. } | Want::Object { .. } => {}
        }
    }
    let mut names: BTreeMap<(Domain, BTreeSet<&str>), BTreeSet<&str>> = BTreeMap::new();
    for ((domain, name), verbs) in verbs {
        names.entry((domain, verbs)).or_default().insert(name);
    }
    names.into_iter().map(|((domain, verbs), names)| block(domain, &verbs, &names)).collect()
}

fn block(domain: Domain, verbs: &BTreeSet<&str>, names: &BTreeSet<&str>) -> String {
    let list = match domain {
        Domain::Process => return programs(verbs, names),
        Domain::Package => "names",
        Domain::Unit => "units",
        Domain::User => "users",
        Domain::Group => "groups",
    };
    let (names, verbs) = (quoted_list(names.iter().copied()), quoted_list(verbs.iter().copied()));
    format!("  {} {{\n    {list} = [{names}]\n    verbs = [{verbs}]\n  }}\n", domain.interface().word())
}

/// Programs, each with whatever arguments: which ones is not known before they are run.
fn programs(verbs: &BTreeSet<&str>, names: &BTreeSet<&str>) -> String {
    let command = |name: &&str| if *name == ANY { "[\"**\"]".to_owned() } else { format!("[{}, \"**\"]", quoted(name)) };
    let commands = names.iter().map(command).collect::<Vec<_>>().join(", ");
    let lines: String = verbs.iter().map(|verb| format!("    {verb} = [{commands}]\n")).collect();
    format!("  processes {{\n{lines}  }}\n")
}

fn quoted_list<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    texts.map(quoted).collect::<Vec<_>>().join(", ")
}

fn patterns<'w>(paths: impl Iterator<Item = &'w [u8]>) -> BTreeSet<String> {
    let paths: BTreeSet<String> = paths.map(pattern).collect();
    if paths.len() <= MAX_PATHS {
        return paths;
    }
    let folders: BTreeSet<String> = paths.iter().map(|path| in_folder(path)).collect();
    if folders.len() <= MAX_PATHS { folders } else { BTreeSet::from([common_tree(&folders)]) }
}

/// `path` as a pattern; all beneath the nearest parent that a pattern can name, where it cannot name the path itself.
pub(super) fn pattern(path: &[u8]) -> String {
    let plain = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).ok()?;
        PathPattern::parse(text).ok().map(|_| text.to_owned())
    };
    if let Some(text) = plain(path) {
        return text;
    }
    let mut parent = path;
    while let Some(slash) = parent.iter().rposition(|byte| *byte == b'/') {
        parent = &parent[..slash];
        if let Some(text) = plain(parent) {
            return format!("{text}/**");
        }
    }
    "/**".to_owned()
}

/// The pattern of all files in the folder of `path`; trees stay what they are.
fn in_folder(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((_, "**")) | None => path.to_owned(),
        Some((folder, _)) => format!("{folder}/*"),
    }
}

/// All beneath the deepest folder that every one of `patterns` is beneath.
fn common_tree(patterns: &BTreeSet<String>) -> String {
    let parts = |pattern: &String| pattern.split('/').map(str::to_owned).collect::<Vec<_>>();
    let common = patterns.iter().map(parts).reduce(|mut common, parts| {
        let same = common.iter().zip(&parts).take_while(|(left, right)| left == right).count();
        common.truncate(same);
        common
    });
    let plain: Vec<String> = common.unwrap_or_default().into_iter().take_while(|part| !part.contains('*')).collect();
    format!("{}/**", plain.join("/"))
}

/// `text` as a string of HCL.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if needs_escape(c) => quoted += &format!("\\u{:04x}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    // Doubled, these begin no template.
    quoted.replace("${", "$${").replace("%{", "%%{")
}
