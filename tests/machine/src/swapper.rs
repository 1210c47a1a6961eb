//! A process that swaps folders for links over and over, beside whatever a test does to what lies beneath them.
//!
//! It is the test's own executable, started again for one test that does nothing but call [`swap_if_told`]. It dies with who started it.

use std::env;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags};

/// Tells the other process where to swap.
const FOLDER: &str = "RUNTIME_TEST_SWAPPED_FOLDER";

/// The other process, which ends with this.
#[derive(Debug)]
pub struct Swapper(Child);

impl Swapper {
    /// Begins to swap in `folder`: `a` with the link `swap`, and `a/deep` with the link `a/out`. `test` is the test that calls [`swap_if_told`].
    ///
    /// # Panics
    /// If the process cannot be started.
    pub fn start(folder: &Path, test: &str) -> Self {
        let mut command = Command::new(env::current_exe().expect("a test has an executable"));
        command.args(["--exact", test, "--nocapture"]).env(FOLDER, folder).stdout(Stdio::null());
        Self(command.spawn().expect("the test can be started again"))
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        let ended = self.0.try_wait().expect("the process is a child of this one");
        self.0.kill().expect("the process can be ended");
        self.0.wait().expect("the process is a child of this one");
        assert_eq!(ended, None, "it swapped to the end");
    }
}

/// Swaps until it is killed, where this is the other process; else does nothing, so that the test passes.
///
/// # Panics
/// If what is to be swapped is not there.
pub fn swap_if_told() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).expect("it can be told to die");
    let at = |name: &str| Path::new(&folder).join(name);
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let real = rustix::fs::open(at("a"), flags, Mode::empty()).expect("`a` is a folder");
    let swap_inner = || rustix::fs::renameat_with(&real, "deep", &real, "out", RenameFlags::EXCHANGE);
    swap_inner().expect("`a/deep` and `a/out` are there");
    loop {
        rustix::fs::renameat_with(CWD, at("a"), CWD, at("swap"), RenameFlags::EXCHANGE).expect("`a` and `swap` are there");
        // One of the two may be gone for a moment: who is granted them may remove them.
        let _ = swap_inner();
    }
}
