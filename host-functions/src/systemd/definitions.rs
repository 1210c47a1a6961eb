//! Files of units that systemd has not read, where it does not see that itself.
//!
//! systemd says of a unit whether its files have changed since it read them. But it looks for more files only in folders that it knew when it last
//! read everything: a first drop-in in a new folder goes unseen.

use std::path::Path;

use rustix::fs::{Dir, Mode, OFlags};

use super::unit::Unit;

/// Folders of units that people, packages and programs write to (systemd.unit(5)).
const FOLDERS: [&str; 4] = ["etc/systemd/system", "run/systemd/system", "usr/local/lib/systemd/system", "usr/lib/systemd/system"];

/// The most files of one folder that are looked at.
const MAX_FILES: usize = 1_024;

/// Whether there is a drop-in of the unit that it does not have. `base` is where the node's `/` is.
pub(super) fn has_unread_drop_in(base: &Path, unit: &Unit) -> bool {
    let names = unit.names.iter().flat_map(|name| [Some(name.clone()), template(name)]).flatten();
    let has_read = |file: &str| unit.drop_ins.iter().any(|path| path.rsplit('/').next() == Some(file));
    let folders = names.flat_map(|name| FOLDERS.map(|folder| base.join(folder).join(format!("{name}.d"))));
    folders.into_iter().any(|folder| drop_ins(&folder).iter().any(|file| !has_read(file)))
}

/// `getty@.service` of `getty@tty1.service`.
fn template(name: &str) -> Option<String> {
    let (stem, rest) = name.split_once('@')?;
    Some(format!("{stem}@{}", &rest[rest.rfind('.')?..]))
}

/// Names of the drop-ins in a folder: none of one that is not there. A link to `/dev/null` is one too: it takes away another of its name.
fn drop_ins(folder: &Path) -> Vec<String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::open(folder, flags, Mode::empty()) else { return Vec::new() };
    let Ok(entries) = Dir::read_from(&folder) else { return Vec::new() };
    let names = entries.take(MAX_FILES).flatten().filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    names.filter(|name| name.ends_with(".conf") && !name.starts_with('.')).collect()
}
