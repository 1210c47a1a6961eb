//! Every step by which a program changes files, seen from outside: counted, and answered with a kill, an error or a delay.
//!
//! A filter of system calls (seccomp with user notification) is put on the thread that starts the program, which inherits it with all of its own
//! threads and programs. Each call that can change a file then waits until the test has decided about it. Nothing is built into the program for
//! that, and nobody names its steps, so none can be forgotten. What it deliberately does not do: see how a call ended, and stop what is written to
//! mapped memory.

mod calls;
mod disk;
mod filter;
mod listener;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

pub use calls::{Change, Step};
pub use disk::Disk;
pub use rustix::io::Errno;

use listener::{Listener, Next};

/// How long nothing may happen before it is asked whether the program is still there.
const LOOK: Duration = Duration::from_millis(100);

/// What becomes of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is done.
    Go,
    /// It is not done, and fails so.
    Fail(Errno),
    /// It is not done, and the program is killed. What others do that it started fails from then on.
    Kill,
    /// It is done after a while. What comes meanwhile is decided meanwhile.
    Hold(Duration),
}

/// What a program did that was watched.
#[derive(Debug)]
pub struct Watched {
    /// What it gave.
    pub output: Output,
    /// Its steps, as they came.
    pub steps: Vec<Step>,
}

/// Runs `command` to its end, without input. `decide` is asked about every step in `folders` before it is done, one at a time.
///
/// # Panics
/// If system calls cannot be watched, which takes root, or the program cannot be started.
#[track_caller]
pub fn watch(command: &mut Command, folders: &[PathBuf], decide: impl FnMut(&Step) -> Verdict) -> Watched {
    let (listeners, listener) = channel();
    let (pids, pid) = channel();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    std::thread::scope(|scope| {
        let program = scope.spawn(move || {
            let watched =
                filter::install(&calls::numbers()).expect("system calls can be watched: by root, on Linux 5.9 or later");
            listeners.send(watched).expect("it is waited for");
            let child = command.spawn().expect("the program can be started");
            pids.send(child.id()).expect("it is waited for");
            child.wait_with_output().expect("its output can be read")
        });
        // Where the thread has come to grief there is no listener, and joining it tells.
        let mut watch = Watch { pid, decide, steps: Vec::new(), held: Vec::new(), killed: false };
        if let Ok(watched) = listener.recv() {
            watch.go(&Listener::new(watched), folders, || program.is_finished());
        }
        let output = program.join().unwrap_or_else(|grief| std::panic::resume_unwind(grief));
        Watched { output, steps: watch.steps }
    })
}

struct Watch<D> {
    pid: Receiver<u32>,
    decide: D,
    steps: Vec<Step>,
    /// Calls that are held, and until when.
    held: Vec<(Instant, u64)>,
    killed: bool,
}

impl<D: FnMut(&Step) -> Verdict> Watch<D> {
    fn go(&mut self, listener: &Listener, folders: &[PathBuf], is_over: impl Fn() -> bool) {
        loop {
            match listener.next(self.until_the_next_is_due(listener)) {
                Next::Gone => return,
                Next::Nothing if is_over() => return,
                Next::Nothing => {}
                // Whoever asks now is dead as well, or another program, which does nothing more.
                Next::Call(call) if self.killed => listener.fail(call.id, Errno::IO),
                Next::Call(call) => match Step::of(&call, folders, self.steps.len() + 1) {
                    None => listener.go_on(call.id),
                    Some(step) => self.decide(listener, call.id, step),
                },
            }
        }
    }

    fn decide(&mut self, listener: &Listener, call: u64, step: Step) {
        match (self.decide)(&step) {
            Verdict::Go => listener.go_on(call),
            Verdict::Fail(errno) => listener.fail(call, errno),
            Verdict::Hold(time) => self.held.push((Instant::now() + time, call)),
            Verdict::Kill => {
                self.kill();
                listener.fail(call, Errno::IO);
            }
        }
        self.steps.push(step);
    }

    fn kill(&mut self) {
        let pid = self.pid.recv().expect("the program was started");
        let pid = Pid::from_raw(pid.cast_signed()).expect("a process has a number");
        rustix::process::kill_process(pid, Signal::KILL).expect("the program is there: one of its calls waits");
        self.killed = true;
    }

    /// Lets go on what was held long enough, and says when to look again.
    fn until_the_next_is_due(&mut self, listener: &Listener) -> Duration {
        let now = Instant::now();
        self.held.retain(|(due, call)| {
            if *due <= now {
                listener.go_on(*call);
            }
            *due > now
        });
        self.held.iter().map(|(due, _)| *due - now).min().unwrap_or(LOOK).min(LOOK)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::path::Path;

    use super::*;

    fn shell(folder: &Path, script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-ec", script]).current_dir(folder);
        command
    }

    fn scratch() -> (tempfile::TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        (folder, vec![real])
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn each_change_of_a_file_is_a_step_and_nothing_else_is() {
        let (folder, folders) = scratch();
        let script =
            "echo one > a; cat a > /dev/null; ls > /dev/null; mv a b; ln -s x l; mkdir d; chmod 700 d; rmdir d; sync b; rm b l";
        let watched = watch(&mut shell(folder.path(), script), &folders, |_| Verdict::Go);
        assert!(watched.output.status.success(), "{watched:?}");
        let told: Vec<String> = watched.steps.iter().map(|step| step.told(&folders[0])).collect();
        let expected = [
            "open a",
            "write a",
            "rename a -> b",
            "symlink l",
            "mkdir d",
            "chmod d",
            "unlink d",
            "fsync b",
            "unlink b",
            "unlink l",
        ];
        assert_eq!(told, expected);
        let written = watched.steps.iter().find(|step| step.call == "write").unwrap();
        assert_eq!(written.change, Change::Write { offset: 0, bytes: b"one\n".to_vec() });
    }

    #[test]
    fn what_is_killed_at_a_step_has_done_those_before_it_and_not_this_one() {
        let script = "mkdir a; mkdir b; mkdir c";
        for last in 1..=3 {
            let (folder, folders) = scratch();
            let kill = |step: &Step| if step.number == last { Verdict::Kill } else { Verdict::Go };
            let watched = watch(&mut shell(folder.path(), script), &folders, kill);
            assert_eq!(names(folder.path()), ["a", "b", "c"][..last - 1], "{watched:?}");
            assert_eq!(watched.steps.len(), last);
        }
        let (folder, folders) = scratch();
        // The shell's own step, so that it is the shell that dies.
        let watched = watch(&mut shell(folder.path(), ": > a"), &folders, |_| Verdict::Kill);
        assert_eq!(watched.output.status.signal(), Some(9));
    }

    #[test]
    fn a_step_can_be_made_to_fail() {
        let (folder, folders) = scratch();
        let fail = |step: &Step| if step.call == "mkdir" { Verdict::Fail(Errno::NOSPC) } else { Verdict::Go };
        let watched = watch(&mut shell(folder.path(), "mkdir a || : > b"), &folders, fail);
        assert!(String::from_utf8_lossy(&watched.output.stderr).contains("No space left on device"), "{watched:?}");
        assert_eq!(names(folder.path()), ["b"]);
    }

    #[test]
    fn others_are_decided_while_one_is_held() {
        let (folder, folders) = scratch();
        let since = Instant::now();
        let hold = |step: &Step| match step.path.ends_with("slow") {
            true => Verdict::Hold(Duration::from_millis(200)),
            false => Verdict::Go,
        };
        let watched = watch(&mut shell(folder.path(), "mkdir slow & sleep 0.05; mkdir quick; wait"), &folders, hold);
        assert!(watched.output.status.success() && since.elapsed() >= Duration::from_millis(200));
        assert_eq!(names(folder.path()), ["quick", "slow"]);
    }
}
