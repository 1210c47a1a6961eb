//! `init.system`: what manages the services of the node, by what it leaves in the root while it runs. Null where none is known to run, as beneath
//! a root in which nothing runs.

use serde_json::{Value as Json, json};

use super::machine;
use crate::node::Root;
use crate::node::resolve::{self, Target};

/// What is there while a system runs as the init system of its root. The first is what sd_booted(3) looks for.
const TRACES: [(&str, &str); 4] = [
    ("/run/systemd/system", "systemd"),
    ("/run/openrc/softlevel", "openrc"),
    ("/run/s6/services", "s6"),
    ("/run/runit/stopit", "runit"),
];

/// Names of the first process that say which system it is; others are those of containers and of programs that are their own.
const PROCESSES: [(&str, &str); 5] =
    [("runit", "runit"), ("dinit", "dinit"), ("s6-svscan", "s6"), ("shepherd", "shepherd"), ("upstart", "upstart")];

pub(super) fn gather(root: &Root) -> Option<Json> {
    Some(json!({ "system": system(root) }))
}

/// The init system that runs in the root.
fn system(root: &Root) -> Option<&'static str> {
    let traced = TRACES.iter().find(|(path, _)| exists(root, path)).map(|(_, system)| *system);
    traced.or_else(|| {
        let first = root.is_system().then(|| machine::read("/proc/1/comm", 64)).flatten()?;
        PROCESSES.iter().find(|(name, _)| *name == first.trim()).map(|(_, system)| *system)
    })
}

/// Whether something is at `path` beneath the root. What cannot be looked at is taken for absent: a fact is not worth a failure.
pub(super) fn exists(root: &Root, path: &str) -> bool {
    matches!(resolve::open(root, path.as_bytes(), rustix::fs::OFlags::PATH), Ok(Target::Opened { .. }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::root_with;
    use super::*;

    #[test]
    fn an_init_system_is_known_by_its_traces() {
        for (file, expected) in
            [("run/systemd/system/x", Some("systemd")), ("run/openrc/softlevel", Some("openrc")), ("run/x", None)]
        {
            let (_folder, root) = root_with(&[(file, "")]);
            assert_eq!(system(&root), expected, "{file}");
        }
    }
}
