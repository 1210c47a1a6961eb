//! What the node is: facts, each at a dotted path.
//!
//! What needs no more than a file or two is gathered at once; everything else is a *group*, gathered when something first asks for it and then kept
//! for the run. Nothing is asked over the network. Facts that change by themselves (free memory, load, time) are none: what reads them would never
//! be converged.
//!
//! `docs/reference/facts.md` lists the facts. Beneath another root there are only those that its files tell, and those of the running
//! kernel and hardware.

mod cpu;
mod custom;
mod host;
mod init;
mod machine;
mod memory;
mod mounts;
mod name;
mod network;
mod os;
mod os_release;
mod package_managers;
pub(crate) mod policy;
mod program;
mod virtualization;

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value as Json, json};

use crate::error::CallError;
use crate::node::Root;
use crate::processes::native::Runner;
use crate::text::escape;

pub use custom::{CustomError, FOLDER as CUSTOM_FOLDER};

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
    /// A fact of the node's owner is not one.
    #[error(transparent)]
    Custom(#[from] CustomError),
}

/// A group of facts that is gathered when it is first asked for: its name, and how. None: the node has no such facts.
type Group = (&'static str, fn(&Root) -> Option<Json>);

/// The groups, in the order of their names.
const GROUPS: [Group; 8] = [
    ("cpu", cpu::gather),
    ("fqdn", name::fqdn),
    ("init", init::gather),
    ("memory", memory::gather),
    ("mounts", mounts::gather),
    ("network", network::gather),
    ("package_managers", package_managers::gather),
    ("virtualization", virtualization::gather),
];

/// The facts of one node, for one run.
#[derive(Debug)]
pub struct Facts {
    /// What was gathered at once.
    known: Map<String, Json>,
    /// The root and what was gathered of it; none where facts are given.
    groups: Option<(Arc<Root>, Kept)>,
}

/// What was gathered of each group, in their order.
type Kept = [OnceLock<Option<Json>>; GROUPS.len()];

impl Facts {
    /// The facts of the node with this root. Its owner's programs are run with `runner`.
    ///
    /// # Errors
    /// If a file that should tell one is there and cannot be read or run, or is not what it should be.
    pub fn of(root: &Arc<Root>, runner: &Runner) -> Result<Self, FactsError> {
        let kernel = rustix::system::uname();
        let mut known = Map::new();
        known.insert("kernel".into(), text(kernel.sysname().to_bytes()));
        known.insert("kernel_release".into(), text(kernel.release().to_bytes()));
        known.insert("architecture".into(), text(kernel.machine().to_bytes()));
        known.extend(name::hostname(root)?.map(|name| ("hostname".to_owned(), name)));
        known.insert("os".into(), os::gather(root)?);
        let custom = custom::gather(root, runner)?;
        if !custom.is_empty() {
            known.insert("custom".into(), custom.into());
        }
        Ok(Self { known, groups: Some((Arc::clone(root), Default::default())) })
    }

    /// Facts that are given; whatever is not an object has none.
    pub fn given(facts: Json) -> Self {
        let Json::Object(known) = facts else { return Self { known: Map::new(), groups: None } };
        Self { known, groups: None }
    }

    /// The fact at a path, if there is one. An empty path is all facts, and gathers them.
    pub fn get<S: AsRef<str>>(&self, path: impl IntoIterator<Item = S>) -> Option<Json> {
        let mut path = path.into_iter();
        let Some(first) = path.next() else { return Some(self.all()) };
        let found = self.group(first.as_ref())?;
        path.try_fold(found, |found, step| found.as_object()?.get(step.as_ref())).cloned()
    }

    /// All facts, as one JSON object.
    pub fn all(&self) -> Json {
        let mut all = self.known.clone();
        for (name, _) in GROUPS {
            all.extend(self.group(name).map(|group| (name.to_owned(), group.clone())));
        }
        all.into()
    }

    fn group(&self, name: &str) -> Option<&Json> {
        let lazy = || {
            let (root, kept) = self.groups.as_ref()?;
            let index = GROUPS.iter().position(|(group, _)| *group == name)?;
            kept[index].get_or_init(|| GROUPS[index].1(root)).as_ref()
        };
        self.known.get(name).or_else(lazy)
    }
}

fn read(root: &Root, path: &'static str) -> Result<Option<Vec<u8>>, FactsError> {
    root.read_file(path.as_bytes(), MAX_FILE).map_err(|source| FactsError::Read { path, source })
}

fn text(bytes: &[u8]) -> Json {
    json!(escape(&String::from_utf8_lossy(bytes)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A root with these files.
    pub(crate) fn root_with(files: &[(&str, &str)]) -> (tempfile::TempDir, Arc<Root>) {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let root = Arc::new(Root::open(folder.path()).unwrap());
        (folder, root)
    }

    #[test]
    fn a_group_is_gathered_when_it_is_asked_for_and_once() {
        let root = Arc::new(Root::open(std::path::Path::new("/")).unwrap());
        let facts = Facts::of(&root, &Runner::this_program()).unwrap();
        let kept = |facts: &Facts| facts.groups.as_ref().unwrap().1.iter().filter(|group| group.get().is_some()).count();
        assert!(facts.get(["os", "id"]).is_some());
        assert_eq!(kept(&facts), 0, "a plain plan pays for nothing else");
        assert!(facts.get(["cpu", "count"]).unwrap().as_u64().unwrap() >= 1);
        assert_eq!(kept(&facts), 1);
        let all = facts.all();
        assert_eq!(kept(&facts), GROUPS.len());
        assert_eq!(all["cpu"]["count"], facts.get(["cpu", "count"]).unwrap());
        assert_eq!(facts.get([""; 0]), Some(all));
        assert!(GROUPS.is_sorted_by_key(|(name, _)| *name));
    }

    #[test]
    fn paths_lead_into_objects_only() {
        let facts = Facts::given(json!({"os": {"id": "debian"}, "cpus": [1]}));
        assert_eq!(facts.get(["os", "id"]), Some(json!("debian")));
        for missing in [&["os", "name"][..], &["cpus", "0"], &["cpu"], &[""]] {
            assert_eq!(facts.get(missing), None, "{missing:?}");
        }
        assert_eq!(Facts::given(json!([1])).all(), json!({}));
    }

    #[test]
    fn beneath_another_root_there_are_no_facts_of_what_runs_here() {
        let (_folder, root) = root_with(&[("etc/os-release", "ID=x\n")]);
        let facts = Facts::of(&root, &Runner::this_program()).unwrap();
        for missing in ["mounts", "network", "virtualization", "hostname", "fqdn", "custom"] {
            assert_eq!(facts.get([missing]), None, "{missing}");
        }
        assert_eq!(facts.get(["kernel"]).unwrap(), "Linux");
        assert_eq!(facts.get(["package_managers"]).unwrap(), json!([]));
        assert_eq!(facts.get(["init", "system"]).unwrap(), Json::Null);
    }
}
