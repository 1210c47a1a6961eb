//! `mounts`: what is mounted on the running system, by mount point. Beneath another root there is none.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::machine;
use crate::node::Root;
use crate::text::escape_bytes;

/// The most that is read of the kernel's list, in bytes.
const MAX: u64 = 4 * 1024 * 1024;

pub(super) fn gather(root: &Root) -> Option<Json> {
    if !root.is_system() {
        return None;
    }
    let mounts = parse(&machine::read("/proc/self/mountinfo", MAX)?);
    let told = |(path, mount): (Vec<u8>, Mount)| {
        let size = mount.is_local().then(|| size(&path)).flatten();
        let Mount { kind, source, options } = mount;
        (escape_bytes(&path), json!({ "type": kind, "source": source, "options": options, "size_bytes": size }))
    };
    Some(mounts.into_iter().map(told).collect::<Map<_, _>>().into())
}

#[derive(Debug, PartialEq)]
struct Mount {
    kind: String,
    source: String,
    options: Vec<String>,
}

impl Mount {
    /// Whether asking it for its size cannot wait for another machine.
    fn is_local(&self) -> bool {
        self.source.starts_with("/dev/")
    }
}

/// The mounts that can be seen: of several on one another, the last.
fn parse(content: &str) -> BTreeMap<Vec<u8>, Mount> {
    content.lines().filter_map(mount).collect()
}

/// A line of proc_pid_mountinfo(5).
fn mount(line: &str) -> Option<(Vec<u8>, Mount)> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(4);
    let (path, options) = (before.next()?, before.next()?);
    let mut after = after.split(' ');
    let text = |field: &str| escape_bytes(&unescape(field));
    let (kind, source) = (text(after.next()?), text(after.next()?));
    let options = options.split(',').map(text).collect();
    Some((unescape(path), Mount { kind, source, options }))
}

/// A field without the octal escapes of spaces and the like.
fn unescape(field: &str) -> Vec<u8> {
    let mut rest = field.as_bytes();
    let mut out = Vec::with_capacity(rest.len());
    while let [first, after @ ..] = rest {
        match after.get(..3).filter(|_| *first == b'\\').and_then(octal) {
            Some(byte) => {
                out.push(byte);
                rest = &after[3..];
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

fn octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

fn size(path: &[u8]) -> Option<u64> {
    let told = rustix::fs::statvfs(path).ok()?;
    told.f_blocks.checked_mul(told.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_those_that_can_be_seen() {
        let content = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
                       23 22 0:5 / /mnt/a\\040b ro,nosuid - nfs server:/x rw\n\
                       24 22 0:6 / / rw - tmpfs tmpfs rw\n\
                       broken\n";
        let mounts = parse(content);
        assert_eq!(mounts.keys().map(|path| String::from_utf8_lossy(path)).collect::<Vec<_>>(), ["/", "/mnt/a b"]);
        assert_eq!(mounts[&b"/"[..]].kind, "tmpfs", "the last one hides the others");
        assert_eq!(mounts[&b"/mnt/a b"[..]].options, ["ro", "nosuid"]);
        assert!(!mounts[&b"/mnt/a b"[..]].is_local());
    }

    #[test]
    fn escapes_are_undone_and_nothing_else() {
        assert_eq!(unescape("a\\040b\\134"), b"a b\\");
        assert_eq!(unescape("\\04"), b"\\04");
        assert_eq!(unescape("\\xyz"), b"\\xyz");
    }

    #[test]
    fn the_running_system_has_its_root_mounted() {
        let root = Root::open(std::path::Path::new("/")).unwrap();
        assert!(gather(&root).unwrap()["/"]["type"].is_string());
    }
}
