//! What the node is, gathered once a run as one JSON object.
//!
//! | name | value |
//! |---|---|
//! | `os.id`, `os.version_id`, `os.pretty_name` | from os-release, as written there; absent if it does not say |
//! | `os.id_like` | list of strings from os-release, empty if it does not say |
//! | `os.family` | `debian`, `redhat`, `suse` and the like: the first of `os.id` and `os.id_like` that heads a family, else the last of `os.id_like`, else `os.id` |
//! | `kernel` | name of the running kernel: `Linux` |
//! | `kernel_release` | its release |
//! | `architecture` | as the kernel names it: `x86_64` |
//! | `hostname` | of the running system; beneath another root, that of its `/etc/hostname`, if it has one |

mod host;
mod os_release;
pub(crate) mod policy;

use serde_json::{Map, Value as Json, json};

use crate::error::CallError;
use crate::node::Root;
use crate::text::escape;

/// The largest fact file that is read, in bytes.
const MAX_FILE: u64 = 64 * 1024;

/// Why facts could not be gathered.
#[derive(Debug, thiserror::Error)]
pub enum FactsError {
    /// A file that is there could not be read.
    #[error("`{path}` beneath the root cannot be read")]
    Read {
        /// On the node.
        path: &'static str,
        /// Why.
        #[source]
        source: CallError,
    },
}

/// Reads the facts of the node with this root.
///
/// # Errors
/// If a file that should tell one is there and cannot be read.
pub fn gather(root: &Root) -> Result<Json, FactsError> {
    let kernel = rustix::system::uname();
    let mut facts = Map::new();
    facts.insert("kernel".into(), text(kernel.sysname().to_bytes()));
    facts.insert("kernel_release".into(), text(kernel.release().to_bytes()));
    facts.insert("architecture".into(), text(kernel.machine().to_bytes()));
    let hostname = if root.is_system() { Some(text(kernel.nodename().to_bytes())) } else { hostname_file(root)? };
    facts.extend(hostname.map(|name| ("hostname".to_owned(), name)));
    facts.insert("os".into(), os(root)?);
    Ok(facts.into())
}

/// `/etc/os-release`, else `/usr/lib/os-release`; the two are never merged.
fn os(root: &Root) -> Result<Json, FactsError> {
    let content = match read(root, "/etc/os-release")? {
        Some(content) => Some(content),
        None => read(root, "/usr/lib/os-release")?,
    };
    let fields = os_release::parse(&String::from_utf8_lossy(&content.unwrap_or_default()));
    let mut os = Map::new();
    for (key, name) in [("ID", "id"), ("VERSION_ID", "version_id"), ("PRETTY_NAME", "pretty_name")] {
        os.extend(fields.get(key).map(|value| (name.to_owned(), json!(escape(value)))));
    }
    // os-release(5) gives the default, and a node without the file is still some Linux.
    let id = fields.get("ID").map(String::as_str);
    os.entry("id").or_insert_with(|| json!("linux"));
    let like: Vec<&str> = fields.get("ID_LIKE").map(|like| like.split_whitespace().collect()).unwrap_or_default();
    os.insert("id_like".into(), json!(like.iter().map(|id| escape(id)).collect::<Vec<_>>()));
    os.extend(os_release::family(id, &like).map(|family| ("family".to_owned(), json!(escape(family)))));
    Ok(os.into())
}

fn hostname_file(root: &Root) -> Result<Option<Json>, FactsError> {
    let content = read(root, "/etc/hostname")?.unwrap_or_default();
    let content = String::from_utf8_lossy(&content);
    let name = content.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(name.map(|name| text(name.as_bytes())))
}

fn read(root: &Root, path: &'static str) -> Result<Option<Vec<u8>>, FactsError> {
    root.read_file(path.as_bytes(), MAX_FILE).map_err(|source| FactsError::Read { path, source })
}

fn text(bytes: &[u8]) -> Json {
    json!(escape(&String::from_utf8_lossy(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn root_with(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let root = Root::open(folder.path()).unwrap();
        (folder, root)
    }

    #[test]
    fn the_file_in_etc_is_taken_whole_and_never_merged() {
        let (_folder, root) = root_with(&[
            ("etc/os-release", "ID=ubuntu\nID_LIKE=debian\n"),
            ("usr/lib/os-release", "ID=other\nVERSION_ID=9\nPRETTY_NAME=Other\n"),
            ("etc/hostname", "# name\nweb1\n"),
        ]);
        let facts = gather(&root).unwrap();
        assert_eq!(facts["os"], json!({"id": "ubuntu", "id_like": ["debian"], "family": "debian"}));
        assert_eq!(facts["hostname"], "web1");
        assert_eq!(facts["kernel"], "Linux");
    }

    #[test]
    fn the_file_in_usr_is_taken_where_etc_has_none_or_links_to_it() {
        let (_folder, root) = root_with(&[("usr/lib/os-release", "ID=fedora\nVERSION_ID=42\n")]);
        assert_eq!(gather(&root).unwrap()["os"]["family"], "redhat");
        assert_eq!(gather(&root).unwrap().get("hostname"), None);
        let (folder, root) = root_with(&[("usr/lib/os-release", "ID=alpine\n"), ("etc/x", "")]);
        symlink("../usr/lib/os-release", folder.path().join("etc/os-release")).unwrap();
        assert_eq!(gather(&root).unwrap()["os"]["id"], "alpine");
        let (_folder, root) = root_with(&[]);
        assert_eq!(gather(&root).unwrap()["os"], json!({"id": "linux", "id_like": []}));
    }

    #[test]
    fn a_fact_file_that_cannot_be_read_is_an_error() {
        let (folder, root) = root_with(&[("etc/os-release/x", "")]);
        assert!(matches!(gather(&root), Err(FactsError::Read { path: "/etc/os-release", .. })));
        std::fs::remove_dir_all(folder.path().join("etc/os-release")).unwrap();
        std::fs::write(folder.path().join("etc/os-release"), vec![b'#'; MAX_FILE as usize + 1]).unwrap();
        assert!(matches!(gather(&root), Err(FactsError::Read { .. })), "too large");
    }
    /// Every file of `tests/support/os-release`, against its `expected.json`.
    #[test]
    fn real_systems_are_told_apart() {
        let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/support/os-release"));
        let expected: Map<String, Json> =
            serde_json::from_str(&std::fs::read_to_string(folder.join("expected.json")).unwrap()).unwrap();
        let names: std::collections::BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.ends_with(".md") && !name.ends_with(".json"))
            .collect();
        assert!(names.iter().eq(expected.keys()), "each file is expected and each expected is a file");
        for name in &names {
            let (_folder, root) = root_with(&[("etc/os-release", &std::fs::read_to_string(folder.join(name)).unwrap())]);
            let os = gather(&root).unwrap()["os"].take();
            let told = json!({"id": os["id"], "id_like": os["id_like"], "version_id": os["version_id"], "family": os["family"]});
            assert_eq!(told, expected[name], "{name}");
        }
    }
}
