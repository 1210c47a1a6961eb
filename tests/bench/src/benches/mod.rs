//! The benches. Each makes what it measures, and says what it is compared with.

mod declare;
mod files;
mod mixed;
mod packages;
mod services;

use crate::Failure;
use crate::output::Found;
use crate::setting::Setting;

/// How many resources the benches of files and of everything together have.
const RESOURCES: usize = 1_000;

/// What `systemctl show` is asked for of each unit: what a service's state is made of.
const SHOW: &[&str] =
    &["systemctl", "show", "--property", "Id,LoadState,ActiveState,SubState,Result,UnitFileState,NeedDaemonReload", "--"];

/// What dpkg is asked for of each package.
const QUERY: &[&str] = &["dpkg-query", "-W", "-f=${Package}\\t${Version}\\t${db:Status-Status}\\n"];

/// A bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bench {
    Files,
    Packages,
    Services,
    Mixed,
}

impl Bench {
    pub(crate) const ALL: [Bench; 4] = [Bench::Files, Bench::Packages, Bench::Services, Bench::Mixed];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Bench::Files => "files",
            Bench::Packages => "packages",
            Bench::Services => "services",
            Bench::Mixed => "mixed",
        }
    }

    /// What is measured, in a few words.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Bench::Files => "1,000 files: compiled, applied anew, planned and applied when converged",
            Bench::Packages => "200 packages that are installed: planned and applied",
            Bench::Services => "200 services that run: planned and applied",
            Bench::Mixed => "1,000 resources of all types that are as declared: planned and applied",
        }
    }

    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|bench| bench.name() == name)
    }

    /// Why it cannot be measured with this program, if it cannot.
    pub(crate) fn missing(self, setting: &Setting) -> Option<String> {
        let needed = match self {
            Bench::Files => "file",
            Bench::Packages => "package",
            Bench::Services => "service",
            // It has less of what is not there, and says so.
            Bench::Mixed => return None,
        };
        (!setting.has_type(needed)).then(|| format!("this program has no resource type `{needed}`"))
    }

    pub(crate) fn run(self, setting: &Setting) -> Result<Found, Failure> {
        match self {
            Bench::Files => files::run(setting),
            Bench::Packages => packages::run(setting),
            Bench::Services => services::run(setting),
            Bench::Mixed => mixed::run(setting),
        }
    }
}
