//! A run in a machine, by this test program itself, that is killed at an entry of the journal.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use runtime::journal::{Entry, Moment, Observer};
use runtime::model::report::RunMode;
use runtime::run::{self, NodeRequest};
use testkit::machine::Machine;
use testkit::scene::Recorder;

const MOMENT: &str = "RUNTIME_TEST_LOST_MOMENT";

/// The test below, which is the run when it finds the variable above, and passes when it does not.
const CHILD: &str = "lost::the_run_that_is_lost";

/// Begins the line of each moment that a whole run tells.
const TOLD: &str = "moment: ";

/// Where the bundle is.
pub const BUNDLE: &str = "/root/site/site.wasm.tar";

fn request() -> NodeRequest {
    NodeRequest {
        bundle: Some(BUNDLE.into()),
        root: "/".into(),
        state_dir: "/var/lib/runtime".into(),
        policy: None,
        secrets_dir: "/etc/runtime/secrets".into(),
        cache: Some("/var/cache/runtime".into()),
        scratch: "/tmp".into(),
        program: None,
        mode: RunMode::Apply,
        // So that the moments come in one order.
        parallelism: 1,
        fail_fast: false,
        health_only: false,
    }
}

#[test]
fn the_run_that_is_lost() {
    let Ok(moment) = std::env::var(MOMENT) else { return };
    let end_at: usize = moment.parse().unwrap();
    let count = AtomicUsize::new(0);
    let watch: Observer = Arc::new(move |moment: Moment, entry: &Entry| {
        let when = if moment == Moment::BeforeDurable { "before" } else { "after" };
        let resource = entry.resource.as_ref().map_or(String::new(), |id| format!(" {id}"));
        println!("{TOLD}{when} {}{resource}", entry.event.as_str());
        if count.fetch_add(1, Ordering::SeqCst) + 1 == end_at {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        }
    });
    let _ = run::apply_watched(&request(), &Recorder::default(), Some(watch)).unwrap();
}

/// This program, to be put into a machine.
pub fn program() -> PathBuf {
    std::env::current_exe().expect("this program has a file")
}

/// Applies the bundle in a machine that has [`program`]; the run kills itself at a moment, from 1, or comes to its end for 0. The moments that
/// it came to.
///
/// # Panics
/// If it ends in another way.
#[track_caller]
pub fn apply_until(machine: &Machine, moment: usize) -> Vec<String> {
    let program = program();
    let name = program.file_name().expect("it has a name").to_str().expect("cargo names it");
    let variable = format!("{MOMENT}={moment}");
    let ended = machine.run(&["env", &variable, name, "--exact", CHILD, "--nocapture"]);
    let expected = if moment == 0 { Some(0) } else { None };
    assert_eq!(ended.code, expected, "a run that is to die at moment {moment}: {ended}");
    ended.stdout.lines().filter_map(|line| line.strip_prefix(TOLD)).map(str::to_owned).collect()
}
