//! `/etc/passwd` and `/etc/group` beneath a root.

use super::Kind;
use crate::error::CallError;
use crate::node::Root;

/// The largest account file that is read, in bytes.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The id of the first account called `name`; none if there is none, or no such file.
pub(super) fn find(root: &Root, kind: Kind, name: &str) -> Result<Option<u32>, CallError> {
    let path: &[u8] = match kind {
        Kind::User => b"/etc/passwd",
        Kind::Group => b"/etc/group",
    };
    let content = root.read_file(path, MAX_FILE)?.unwrap_or_default();
    Ok(content.split(|byte| *byte == b'\n').find_map(|line| id_in(line, name.as_bytes())))
}

/// The id in `NAME:PASSWORD:ID:…`, if the line is about `name` and is well formed.
fn id_in(line: &[u8], name: &[u8]) -> Option<u32> {
    let mut fields = line.split(|byte| *byte == b':');
    let (found, _password, id) = (fields.next()?, fields.next()?, fields.next()?);
    if found != name {
        return None;
    }
    std::str::from_utf8(id).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_beneath_a_root_are_those_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        assert_eq!(find(&root, Kind::User, "alice").unwrap(), None, "no file, no accounts");
        std::fs::create_dir(folder.path().join("etc")).unwrap();
        let passwd =
            "root:x:0:0::/root:/bin/sh\n#alice:x:1:1::/:\nalice:x:1000:1000::/home/alice:/bin/sh\nbroken:x\nodd:x:-1:0::/:\n";
        std::fs::write(folder.path().join("etc/passwd"), passwd).unwrap();
        std::fs::write(folder.path().join("etc/group"), "wheel:x:10:alice\n1000:x:7:\n").unwrap();
        assert_eq!(find(&root, Kind::User, "alice").unwrap(), Some(1000));
        assert_eq!(find(&root, Kind::User, "broken").unwrap(), None);
        assert_eq!(find(&root, Kind::User, "odd").unwrap(), None);
        assert_eq!(find(&root, Kind::Group, "wheel").unwrap(), Some(10));
        assert_eq!(find(&root, Kind::Group, "1000").unwrap(), Some(7), "all digits is looked up as a name");
        assert_eq!(find(&root, Kind::Group, "alice").unwrap(), None);
    }
}
