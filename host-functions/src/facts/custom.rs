//! `custom.*`: facts of the node's owner, from JSON and YAML files and from programs in a folder of the node.
//!
//! `NAME.json`, `NAME.yaml` or `NAME.yml` is the fact `custom.NAME`, whatever value it holds; any other file is a program that prints one. Such facts
//! decide what is done to the node, so a file that somebody else could have written is refused, and so is one that is broken: to go on without a
//! fact would be to go on with another.

use std::io;
use std::time::Instant;

use rustix::fd::OwnedFd;
use rustix::fs::{Dir, FileType, Mode, OFlags};
use serde_json::{Map, Value as Json};

use super::MAX_FILE;
use super::program::{self, Unasked};
use crate::error::CallError;
use crate::node::Root;
use crate::node::resolve::{self, Target};
use crate::processes::native::{RunError, Runner};
use crate::text::{escape_bytes, needs_escape};

/// The folder, on the node.
pub const FOLDER: &str = "/etc/runtime/facts.d";

/// The most files.
const MAX_FILES: usize = 200;

/// The deepest that lists and maps may nest.
const MAX_DEPTH: usize = 32;

/// Integers beyond this do not survive being a JSON number everywhere.
const MAX_INTEGER: u64 = 1 << 53;

/// Why a custom fact is refused.
#[derive(Debug, thiserror::Error)]
pub enum CustomError {
    /// The folder cannot be read.
    #[error("the folder of custom facts, `{FOLDER}`, cannot be read")]
    Folder(#[source] CallError),
    /// A file cannot be read.
    #[error("the custom fact `{path}` cannot be read")]
    Read {
        /// On the node, escaped.
        path: String,
        /// Why.
        #[source]
        source: CallError,
    },
    /// A program cannot be run.
    #[error("the custom fact `{path}` is a program that cannot be run here as one that changes nothing")]
    Run {
        /// On the node, escaped.
        path: String,
        /// Why.
        #[source]
        source: RunError,
    },
    /// A file is not a fact.
    #[error("the custom fact `{path}` {what}")]
    Refused {
        /// On the node, escaped.
        path: String,
        /// Why, and what to do.
        what: String,
    },
}

/// The custom facts of the node by name. Programs are run one after the other.
pub(super) fn gather(root: &Root, runner: &Runner) -> Result<Map<String, Json>, CustomError> {
    let mut facts = Map::new();
    let until = Instant::now() + program::ALL_TIME;
    for name in names(root).map_err(CustomError::Folder)? {
        let path = format!("{FOLDER}/{}", escape_bytes(&name));
        let refused = |what: String| CustomError::Refused { path: path.clone(), what };
        let (fact, format) = fact_name(&name).map_err(refused)?;
        let file = open(root, &name).map_err(|error| error.at(&path))?;
        let content = match format {
            Format::Json | Format::Yaml => read(file).map_err(|error| error.at(&path))?,
            Format::Printed if file.mode.intersects(Mode::XUSR | Mode::XGRP | Mode::XOTH) => {
                program::ask(root, runner, &file.path, until).map_err(|error| error.at(&path))?
            }
            Format::Printed => {
                let what = "ends in neither `.json`, `.yaml` nor `.yml`, and cannot be executed: rename it, `chmod +x` it, or move it out of the folder";
                return Err(refused(what.to_owned()));
            }
        };
        let content = String::from_utf8(content).map_err(|_| refused("is not UTF-8".to_owned()))?;
        let value = parse(&content, format).map_err(refused)?;
        if facts.insert(fact.to_owned(), value).is_some() {
            return Err(refused(format!("is the second file for `custom.{fact}`: keep one of them")));
        }
    }
    Ok(facts)
}

/// How a fact is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Yaml,
    /// As JSON, by a program.
    Printed,
}

/// The names in the folder, sorted; none if there is no such folder. Hidden ones are those of editors.
fn names(root: &Root) -> Result<Vec<Vec<u8>>, CallError> {
    let doing = format!("reading `{FOLDER}`");
    let opened = match resolve::open(root, FOLDER.as_bytes(), OFlags::RDONLY | OFlags::DIRECTORY)? {
        Target::Opened { fd, .. } => fd,
        Target::Missing { .. } => return Ok(Vec::new()),
        Target::NotDirectory { .. } => return Err(CallError::WrongKind(format!("{doing}: it is not a folder"))),
    };
    let mut names = Vec::new();
    for entry in Dir::new(opened).map_err(|errno| CallError::system(errno, &doing))? {
        let entry = entry.map_err(|errno| CallError::system(errno, &doing))?;
        let name = entry.file_name().to_bytes();
        if name.starts_with(b".") {
            continue;
        }
        if names.len() == MAX_FILES {
            return Err(CallError::TooLarge(format!("{doing}: it has more than {MAX_FILES} files")));
        }
        names.push(name.to_vec());
    }
    names.sort_unstable();
    Ok(names)
}

/// The name of the fact in a file of this name.
fn fact_name(file: &[u8]) -> Result<(&str, Format), String> {
    let name = std::str::from_utf8(file).unwrap_or_default();
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let format = match ending {
        "json" => Format::Json,
        "yaml" | "yml" => Format::Yaml,
        _ => Format::Printed,
    };
    let begins = stem.starts_with(|first: char| first.is_ascii_lowercase());
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    match begins && stem.bytes().all(is_part) && stem.len() <= 63 && ending.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        true => Ok((stem, format)),
        false => Err("has a name that no fact can have: lower-case letters, digits and `_`, beginning with a letter".to_owned()),
    }
}

impl Unasked {
    fn at(self, path: &str) -> CustomError {
        let path = path.to_owned();
        match self {
            Unasked::Call(source) => CustomError::Read { path, source },
            Unasked::Run(source) => CustomError::Run { path, source },
            Unasked::Refused(what) => CustomError::Refused { path, what },
        }
    }
}

/// A file that only root, or whoever runs the program, can have written.
struct File {
    fd: OwnedFd,
    /// Without symbolic links.
    path: Vec<u8>,
    mode: Mode,
}

fn open(root: &Root, name: &[u8]) -> Result<File, Unasked> {
    let path = [FOLDER.as_bytes(), b"/", name].concat();
    let target = resolve::open(root, &path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY).map_err(Unasked::Call)?;
    let Target::Opened { fd, path } = target else { return Err(Unasked::Call(CallError::NotFound)) };
    let stat = rustix::fs::fstat(&fd).map_err(|errno| Unasked::Call(CallError::system(errno, "reading it")))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Unasked::Call(CallError::WrongKind("it is not a regular file".to_owned())));
    }
    let mode = Mode::from_raw_mode(stat.st_mode);
    if mode.intersects(Mode::WGRP | Mode::WOTH) || !resolve::is_trusted_owner(root, stat.st_uid) {
        return Err(Unasked::Refused("could have been written by others: give it to root, and `chmod go-w` it".to_owned()));
    }
    Ok(File { fd, path, mode })
}

fn read(file: File) -> Result<Vec<u8>, Unasked> {
    let mut content = Vec::new();
    let read = io::Read::read_to_end(&mut io::Read::take(std::fs::File::from(file.fd), MAX_FILE + 1), &mut content);
    read.map_err(|error| Unasked::Call(CallError::Other(format!("reading it: {}", error.kind()))))?;
    match content.len() as u64 > MAX_FILE {
        true => Err(Unasked::Refused(format!("has more than {MAX_FILE} bytes"))),
        false => Ok(content),
    }
}

/// The value of a text. Messages have the place and not the text.
fn parse(content: &str, format: Format) -> Result<Json, String> {
    let value = match format {
        Format::Json => serde_json::from_str(content)
            .map_err(|error| format!("is not JSON: see line {}, column {}", error.line(), error.column()))?,
        Format::Printed => serde_json::from_str(content)
            .map_err(|error| format!("prints what is not JSON: see line {}, column {}", error.line(), error.column()))?,
        Format::Yaml => serde_saphyr::from_str(content).map_err(|error| match error.location() {
            Some(place) => format!("is not YAML that can be a fact: see line {}, column {}", place.line(), place.column()),
            None => "is not YAML that can be a fact".to_owned(),
        })?,
    };
    check(&value, 0)?;
    Ok(value)
}

/// Refuses what no fact may hold.
fn check(value: &Json, depth: usize) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("nests lists and maps more than {MAX_DEPTH} deep"));
    }
    let plain = |text: &str| match text.contains(|c: char| needs_escape(c) && !matches!(c, '\n' | '\t' | '\r')) {
        true => Err("holds control characters, or others that cannot be seen".to_owned()),
        false => Ok(()),
    };
    match value {
        Json::Null | Json::Bool(_) => Ok(()),
        Json::Number(number) => match number.as_i64().map(i64::unsigned_abs).or(number.as_u64()) {
            Some(size) if size > MAX_INTEGER => Err("holds an integer beyond 2^53: write it as text".to_owned()),
            _ => Ok(()),
        },
        Json::String(text) => plain(text),
        Json::Array(items) => items.iter().try_for_each(|item| check(item, depth + 1)),
        Json::Object(members) => {
            members.iter().try_for_each(|(name, member)| plain(name).and_then(|()| check(member, depth + 1)))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, chown};

    use serde_json::json;

    use super::super::tests::root_with;
    use super::*;

    /// Of a root without programs, which `host-functions/tests/processes/facts.rs` has.
    fn gather(root: &Root) -> Result<Map<String, Json>, CustomError> {
        super::gather(root, &Runner::this_program())
    }

    fn refusal(name: &str, content: &str) -> String {
        let (_folder, root) = root_with(&[(&format!("etc/runtime/facts.d/{name}"), content)]);
        gather(&root).expect_err(name).to_string()
    }

    #[test]
    fn each_file_is_a_fact() {
        let (_folder, root) = root_with(&[
            ("etc/runtime/facts.d/rack.json", r#"{"row": 4, "name": "b"}"#),
            ("etc/runtime/facts.d/roles.yaml", "- web\n- db\n"),
            ("etc/runtime/facts.d/site.yml", "text: |\n  two\n  lines\n"),
            ("etc/runtime/facts.d/.roles.yaml.swp", "\0"),
        ]);
        let expected = json!({"rack": {"row": 4, "name": "b"}, "roles": ["web", "db"], "site": {"text": "two\nlines\n"}});
        assert_eq!(Json::from(gather(&root).unwrap()), expected);
        let (_folder, root) = root_with(&[]);
        assert!(gather(&root).unwrap().is_empty());
    }

    #[test]
    fn a_broken_file_is_named_with_the_place_and_not_quoted() {
        assert_eq!(
            refusal("a.json", "{\n  \"hunter2\": }"),
            "the custom fact `/etc/runtime/facts.d/a.json` is not JSON: see line 2, column 14"
        );
        let yaml = refusal("a.yaml", "a: [hunter2\nb: 1\n");
        assert!(yaml.starts_with("the custom fact `/etc/runtime/facts.d/a.yaml` is not YAML that can be a fact"), "{yaml}");
        assert!(!yaml.contains("hunter2"), "{yaml}");
        assert!(refusal("a.txt", "x").contains("ends in neither") && refusal("a", "x").contains("cannot be executed"));
        assert!(refusal("a.b.sh", "").contains("a name that no fact can have"));
        assert!(refusal("A.json", "1").contains("a name that no fact can have"));
        assert!(refusal("a.json", &format!("\"{}\"", "x".repeat(MAX_FILE as usize))).contains("more than 65536 bytes"));
        assert!(refusal("a.json", "9007199254740993").contains("beyond 2^53"));
        assert!(refusal("a.json", r#""\u001b[0m""#).contains("control characters"));
        assert!(refusal("a.json", &format!("{}{}", "[".repeat(40), "]".repeat(40))).contains("32 deep"));
    }

    #[test]
    fn yaml_that_grows_without_end_is_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let list = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb += &format!("a{level}: &a{level} [{list}]\n");
        }
        assert!(refusal("bomb.yaml", &bomb).contains("is not YAML that can be a fact"));
    }

    #[test]
    fn what_others_can_have_written_is_refused() {
        let (folder, root) = root_with(&[("etc/runtime/facts.d/a.json", "1")]);
        let path = folder.path().join("etc/runtime/facts.d/a.json");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o664)).unwrap();
        assert!(gather(&root).unwrap_err().to_string().contains("written by others"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        gather(&root).unwrap();
        chown(&path, Some(12345), None).unwrap();
        assert!(gather(&root).unwrap_err().to_string().contains("written by others"));
    }

    #[test]
    fn two_files_for_one_fact_are_refused() {
        let (_folder, root) = root_with(&[("etc/runtime/facts.d/a.json", "1"), ("etc/runtime/facts.d/a.yaml", "1")]);
        assert!(gather(&root).unwrap_err().to_string().contains("second file for `custom.a`"));
    }
}
