//! A run in a process of its own that ends at an entry of the journal.

use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use runtime::journal::{self, Entry, Moment};
use runtime::model::report::RunMode;
use runtime::run;
use testkit::Scene;
use testkit::scene::Recorder;

const FOLDER: &str = "RUNTIME_TEST_LOST_FOLDER";
const BUNDLE: &str = "RUNTIME_TEST_LOST_BUNDLE";
const MOMENT: &str = "RUNTIME_TEST_LOST_MOMENT";
const HOLD: &str = "RUNTIME_TEST_LOST_HOLD";
const POLICY: &str = "RUNTIME_TEST_LOST_POLICY";

/// The test below, which is the run when it finds the variables above, and passes when it does not.
const CHILD: &str = "lost_run::the_run_that_is_lost";

/// Calls `act` with each moment of the journal, numbered from 1.
pub fn at_each_moment(act: impl Fn(usize, Moment, &Entry) + Send + Sync + 'static) -> journal::Observer {
    let count = AtomicUsize::new(0);
    Arc::new(move |moment, entry| act(count.fetch_add(1, Ordering::SeqCst) + 1, moment, entry))
}

#[test]
fn the_run_that_is_lost() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let text = |name: &str| std::env::var(name).expect("the folder comes with the rest");
    let (bundle, end_at, hold) = (text(BUNDLE), text(MOMENT).parse::<usize>().unwrap(), text(HOLD) == "yes");
    let mut scene = Scene::shared(Path::new(&folder));
    if let Ok(policy) = std::env::var(POLICY) {
        scene.set_policy(&policy);
    }
    let watch = at_each_moment(move |count, _, _| {
        if count != end_at {
            return;
        }
        if hold {
            std::io::stdout().write_all(b"\nholding\n").unwrap();
            std::io::stdout().flush().unwrap();
            let _ = std::io::stdin().read(&mut [0]).unwrap();
        } else {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        }
    });
    let mut request = scene.request(&bundle, RunMode::Apply);
    request.parallelism = 1;
    let _ = run::apply_watched(&request, &Recorder::default(), Some(watch)).unwrap();
}

fn command(scene: &Scene, bundle: &str, moment: usize, hold: bool) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", CHILD, "--nocapture"]).env(FOLDER, scene.folder()).env(BUNDLE, bundle);
    command.env(MOMENT, moment.to_string()).env(HOLD, if hold { "yes" } else { "no" });
    if let Some(policy) = scene.policy() {
        command.env(POLICY, policy);
    }
    command
}

/// Applies in another process, which kills itself at a moment of the journal.
///
/// # Panics
/// If it ends in another way.
#[track_caller]
pub fn killed_at(scene: &Scene, bundle: &str, moment: usize) {
    let output = command(scene, bundle, moment, false).output().unwrap();
    assert_eq!(output.status.signal(), Some(9), "it must die at moment {moment}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Applies in another process that stops, with the lock in its hand, at a moment of the journal, until its input is closed.
pub fn held_at(scene: &Scene, bundle: &str, moment: usize) -> Child {
    let mut child =
        command(scene, bundle, moment, true).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a test can be started");
    let (mut said, mut byte) = (Vec::new(), [0]);
    let output = child.stdout.as_mut().expect("it is a pipe");
    while !said.ends_with(b"\nholding\n") {
        assert_eq!(output.read(&mut byte).unwrap(), 1, "it ended before: {}", String::from_utf8_lossy(&said));
        said.push(byte[0]);
    }
    child
}
