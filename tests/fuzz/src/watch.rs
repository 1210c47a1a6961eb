//! The watch: runs the loop in a process of its own, and keeps the input that ended it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use crate::Task;
use crate::work::note_in;

/// For how long smaller inputs are tried in place of a finding, at most.
const SMALLER: Duration = Duration::from_secs(20);

/// Runs the loop until time is up or something is found.
pub(crate) fn run(task: &Task) -> Result<(), String> {
    let seconds = task.time.as_secs().to_string();
    let (seed, folder) = (task.seed.to_string(), task.folder.display().to_string());
    std::fs::create_dir_all(&task.folder).map_err(|error| format!("`{folder}` cannot be made: {error}"))?;
    let note = note_in(&task.folder, &task.target);
    let status = ourselves(&["work", task.target.name, "--seconds", &seconds, "--seed", &seed, "--folder", &folder], false)?;
    let input = std::fs::read(&note).unwrap_or_default();
    let _ = std::fs::remove_file(&note);
    if status.success() {
        return Ok(());
    }
    if status.code().is_some() {
        return Err(format!("`{}` could not go on: see above", task.target.name));
    }
    let kept = keep(task, &input)?;
    let smaller = Smaller { task, scratch: note }.of(input);
    std::fs::write(&kept, smaller).map_err(|error| format!("`{}` cannot be written: {error}", kept.display()))?;
    Err(found(task, &kept))
}

/// What to do with a finding.
fn found(task: &Task, file: &Path) -> String {
    let (name, file) = (task.target.name, file.display());
    format!(
        "`{name}` was ended by the input in {file} (seed {})\n  to see it again: cargo xtask fuzz {name} --replay {file}\n  to keep it as a test: \
         mkdir -p tests/fuzz/cases/{name} && cp {file} tests/fuzz/cases/{name}/WHAT_IT_IS",
        task.seed
    )
}

fn keep(task: &Task, input: &[u8]) -> Result<PathBuf, String> {
    let digest = hex::encode(&Sha256::digest(input)[..6]);
    let path = task.folder.join(format!("{}-{digest}", task.target.name));
    std::fs::write(&path, input).map_err(|error| format!("`{}` cannot be written: {error}", path.display()))?;
    Ok(path)
}

/// Makes a finding smaller: leaves parts out as long as it stays one.
struct Smaller<'t> {
    task: &'t Task,
    scratch: PathBuf,
}

impl Smaller<'_> {
    fn of(&self, mut input: Vec<u8>) -> Vec<u8> {
        let (mut part, until) = (input.len().div_ceil(2), Instant::now() + SMALLER.min(self.task.time));
        while part > 0 {
            let mut at = 0;
            while at < input.len() && Instant::now() < until {
                let end = (at + part).min(input.len());
                let without = [&input[..at], &input[end..]].concat();
                if self.ends_it(&without) {
                    input = without;
                } else {
                    at = end;
                }
            }
            part /= 2;
        }
        let _ = std::fs::remove_file(&self.scratch);
        input
    }

    fn ends_it(&self, input: &[u8]) -> bool {
        let scratch = self.scratch.display().to_string();
        let written = std::fs::write(&self.scratch, input);
        written.is_ok()
            && ourselves(&["replay", self.task.target.name, &scratch], true).is_ok_and(|status| status.code().is_none())
    }
}

/// How this program ends with other arguments; `quiet` leaves out what it says.
fn ourselves(arguments: &[&str], quiet: bool) -> Result<ExitStatus, String> {
    let program = std::env::current_exe().map_err(|error| format!("our own program cannot be found: {error}"))?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    if quiet {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    command.status().map_err(|error| format!("our own program cannot be run: {error}"))
}
