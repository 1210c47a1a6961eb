//! The benches. Each makes what it measures, and says what it is compared with.

mod declare;
mod files;
mod mixed;
mod packages;
mod services;
mod start;

use crate::Failure;
use crate::output::Found;
use crate::setting::Setting;
use files::Declared;

/// How many resources the bench of everything together has.
const RESOURCES: usize = 1_000;

/// What `systemctl show` is asked for of each unit: what a service's state is made of.
const SHOW: &[&str] =
    &["systemctl", "show", "--property", "Id,LoadState,ActiveState,SubState,Result,UnitFileState,NeedDaemonReload", "--"];

/// What dpkg is asked for of each package.
const QUERY: &[&str] = &["dpkg-query", "-W", "-f=${Package}\\t${Version}\\t${db:Status-Status}\\n"];

/// A bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bench {
    Start,
    Files,
    Files10k,
    Files100k,
    Large,
    Packages,
    Services,
    Mixed,
}

impl Bench {
    pub(crate) const ALL: [Bench; 8] = [
        Bench::Start,
        Bench::Files,
        Bench::Files10k,
        Bench::Files100k,
        Bench::Large,
        Bench::Packages,
        Bench::Services,
        Bench::Mixed,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Bench::Start => "start",
            Bench::Files => "files",
            Bench::Files10k => "files-10k",
            Bench::Files100k => "files-100k",
            Bench::Large => "large",
            Bench::Packages => "packages",
            Bench::Services => "services",
            Bench::Mixed => "mixed",
        }
    }

    /// What is measured, in a few words.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Bench::Start => "what goes before any work: the version, and a plan of one file",
            Bench::Files => "1,000 files: compiled, applied anew, planned and applied when converged",
            Bench::Files10k => "the same with 10,000 files",
            Bench::Files100k => "the same with 100,000 files",
            Bench::Large => "the same with one file of 1 GiB",
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
            Bench::Start | Bench::Files | Bench::Files10k | Bench::Files100k | Bench::Large => "file",
            Bench::Packages => "package",
            Bench::Services => "service",
            // It has less of what is not there, and says so.
            Bench::Mixed => return None,
        };
        (!setting.has_type(needed)).then(|| format!("this program has no resource type `{needed}`"))
    }

    pub(crate) fn run(self, setting: &Setting) -> Result<Found, Failure> {
        match self {
            Bench::Start => start::run(setting),
            Bench::Files => files::run(self, Declared::Small(1_000), setting),
            Bench::Files10k => files::run(self, Declared::Small(10_000), setting),
            Bench::Files100k => files::run(self, Declared::Small(100_000), setting),
            Bench::Large => files::run(self, Declared::Large(1 << 30), setting),
            Bench::Packages => packages::run(setting),
            Bench::Services => services::run(setting),
            Bench::Mixed => mixed::run(setting),
        }
    }
}
