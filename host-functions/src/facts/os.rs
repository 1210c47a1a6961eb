//! `os.*`: `/etc/os-release`, else `/usr/lib/os-release`; the two are never merged.

use serde_json::{Map, Value as Json, json};

use super::{FactsError, os_release, read};
use crate::node::Root;
use crate::text::escape;

/// Fields that are facts as they are.
const FIELDS: [(&str, &str); 5] = [
    ("ID", "id"),
    ("VERSION_ID", "version_id"),
    ("VERSION_CODENAME", "codename"),
    ("PRETTY_NAME", "pretty_name"),
    ("VARIANT_ID", "variant_id"),
];

pub(super) fn gather(root: &Root) -> Result<Json, FactsError> {
    let content = match read(root, "/etc/os-release")? {
        Some(content) => Some(content),
        None => read(root, "/usr/lib/os-release")?,
    };
    let fields = os_release::parse(&String::from_utf8_lossy(&content.unwrap_or_default()));
    let mut os = Map::new();
    for (key, name) in FIELDS {
        os.extend(fields.get(key).filter(|value| !value.is_empty()).map(|value| (name.to_owned(), json!(escape(value)))));
    }
    // os-release(5) gives the default, and a node without the file is still some Linux.
    let id = fields.get("ID").map(String::as_str).filter(|id| !id.is_empty());
    os.entry("id").or_insert_with(|| json!("linux"));
    let like: Vec<&str> = fields.get("ID_LIKE").map(|like| like.split_whitespace().collect()).unwrap_or_default();
    os.insert("id_like".into(), json!(like.iter().map(|id| escape(id)).collect::<Vec<_>>()));
    os.extend(os_release::family(id, &like).map(|family| ("family".to_owned(), json!(escape(family)))));
    Ok(os.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::MAX_FILE;
    use super::super::tests::root_with;
    use super::*;

    #[test]
    fn the_file_in_etc_is_taken_whole_and_never_merged() {
        let (_folder, root) = root_with(&[
            ("etc/os-release", "ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\nVARIANT_ID=\n"),
            ("usr/lib/os-release", "ID=other\nVERSION_ID=9\nPRETTY_NAME=Other\n"),
        ]);
        let expected = json!({"id": "ubuntu", "id_like": ["debian"], "family": "debian", "codename": "noble"});
        assert_eq!(gather(&root).unwrap(), expected);
    }

    #[test]
    fn the_file_in_usr_is_taken_where_etc_has_none_or_links_to_it() {
        let (_folder, root) = root_with(&[("usr/lib/os-release", "ID=fedora\nVERSION_ID=42\n")]);
        assert_eq!(gather(&root).unwrap()["family"], "redhat");
        let (folder, root) = root_with(&[("usr/lib/os-release", "ID=alpine\n"), ("etc/x", "")]);
        symlink("../usr/lib/os-release", folder.path().join("etc/os-release")).unwrap();
        assert_eq!(gather(&root).unwrap()["id"], "alpine");
        let (_folder, root) = root_with(&[]);
        assert_eq!(gather(&root).unwrap(), json!({"id": "linux", "id_like": []}));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error() {
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
            let os = gather(&root).unwrap();
            let told =
                ["id", "id_like", "version_id", "family"].map(|key| (key.to_owned(), os.get(key).cloned().unwrap_or_default()));
            assert_eq!(Json::from(Map::from_iter(told)), expected[name], "{name}");
        }
    }
}
