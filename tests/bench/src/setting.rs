//! What the benches share: the program, the folder, and a machine that is made when the first of them needs it.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::arguments::Arguments;
use crate::site::Site;

pub(crate) struct Setting {
    pub(crate) runtime: PathBuf,
    pub(crate) scratch: PathBuf,
    pub(crate) rounds: usize,
    /// The names of the modules that the program has built in.
    modules: BTreeSet<String>,
    site: OnceCell<Site>,
}

impl Setting {
    pub(crate) fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let Arguments { runtime, scratch, rounds, .. } = arguments;
        let absolute = |path: &Path| std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()));
        let runtime = absolute(runtime)?;
        let modules = modules(&runtime)?;
        Ok(Self { modules, runtime, scratch: absolute(scratch)?, rounds: *rounds, site: OnceCell::new() })
    }

    /// Whether the program has a built-in resource type of this name.
    pub(crate) fn has_type(&self, name: &str) -> bool {
        self.modules.contains(name)
    }

    /// The machine, which is made now if it is not there.
    pub(crate) fn site(&self) -> Result<&Site, Failure> {
        if let Some(site) = self.site.get() {
            return Ok(site);
        }
        let site = Site::make(&self.runtime)?;
        Ok(self.site.get_or_init(|| site))
    }
}

/// The built-in modules of the program.
fn modules(runtime: &Path) -> Result<BTreeSet<String>, Failure> {
    let output = Command::new(runtime).args(["module", "list", "--json"]).output();
    let output = output.map_err(|error| format!("{} cannot be run: {error}", runtime.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let record: serde_json::Value = text
        .lines()
        .last()
        .and_then(|line| serde_json::from_str(line).ok())
        .ok_or("`runtime module list --json` gave no record")?;
    let listed = record["data"]["modules"].as_array().ok_or("`runtime module list --json` gave no modules")?;
    Ok(listed.iter().filter_map(|module| module["name"].as_str()).map(str::to_owned).collect())
}
