//! What is timed, and what goes before it: programs, and small loops that do natively what a run has to do at the least.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Failure;

/// Something to do. It crosses into machines as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Task {
    /// A program, once, which must end with this code.
    Run { command: Vec<String>, exits: i32 },
    /// A program once for each name, which is its last argument.
    RunEach { command: Vec<String>, names: Vec<String> },
    /// Each is looked at; what is a file is read and hashed (SHA-256).
    Read { paths: Vec<PathBuf> },
    /// Each file is read and hashed; all of them end in one file that is on disk.
    Pack { paths: Vec<PathBuf>, into: PathBuf },
    /// Each is written beside its place, put on disk, and renamed.
    Write { files: Vec<(PathBuf, String)> },
    /// The folder is there and empty.
    Empty { folder: PathBuf },
    /// One after the other.
    All(Vec<Task>),
}

impl Task {
    /// A program that must succeed.
    pub(crate) fn run<S: Into<String>>(command: impl IntoIterator<Item = S>) -> Self {
        Self::Run { command: command.into_iter().map(Into::into).collect(), exits: 0 }
    }

    /// A program with all of these names at once.
    pub(crate) fn run_once(command: &[&str], names: &[String]) -> Self {
        Self::run(command.iter().copied().map(str::to_owned).chain(names.iter().cloned()))
    }

    /// A program once for each of these names.
    pub(crate) fn run_each(command: &[&str], names: &[String]) -> Self {
        Self::RunEach { command: command.iter().copied().map(str::to_owned).collect(), names: names.to_vec() }
    }

    pub(crate) fn perform(&self) -> Result<(), Failure> {
        match self {
            Task::Run { command, exits } => run(command, None, *exits),
            Task::RunEach { command, names } => names.iter().try_for_each(|name| run(command, Some(name), 0)),
            Task::Read { paths } => paths.iter().try_for_each(|path| read(path).map(drop).map_err(of(path))),
            Task::Pack { paths, into } => pack(paths, into).map_err(of(into)),
            Task::Write { files } => files.iter().try_for_each(|(path, content)| write(path, content).map_err(of(path))),
            Task::Empty { folder } => empty(folder).map_err(of(folder)),
            Task::All(tasks) => tasks.iter().try_for_each(Task::perform),
        }
    }
}

fn of(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    move |error| format!("{}: {error}", path.display())
}

fn run(command: &[String], more: Option<&String>, exits: i32) -> Result<(), Failure> {
    let (program, arguments) = command.split_first().ok_or("a command without a program")?;
    let output = Command::new(program).args(arguments).args(more).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("`{program}` cannot be run: {error}"))?;
    if output.status.code() == Some(exits) {
        return Ok(());
    }
    let told = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let last: Vec<&str> = text.lines().rev().take(20).collect();
        last.into_iter().rev().collect::<Vec<_>>().join("\n")
    };
    let shown: Vec<&str> = command.iter().take(6).map(String::as_str).collect();
    let said = [told(&output.stdout), told(&output.stderr)].join("\n");
    Err(format!("`{}` ended with {}, not {exits}:\n{}", shown.join(" "), output.status, said.trim()))
}

/// What is in a file; nothing for what is none.
fn read(path: &Path) -> std::io::Result<(Vec<u8>, [u8; 32])> {
    let content = if fs::symlink_metadata(path)?.is_file() { fs::read(path)? } else { Vec::new() };
    let digest = Sha256::digest(&content);
    Ok((content, digest.into()))
}

fn pack(paths: &[PathBuf], into: &Path) -> std::io::Result<()> {
    let mut packed = Vec::new();
    for path in paths {
        let (content, digest) = read(path)?;
        packed.extend_from_slice(&digest);
        packed.extend_from_slice(&content);
    }
    put(into, &packed)
}

fn write(path: &Path, content: &str) -> std::io::Result<()> {
    put(path, content.as_bytes())
}

fn put(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let mut file = File::create(&name)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&name, path)
}

fn empty(folder: &Path) -> std::io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_made_read_and_packed() {
        let folder = std::env::temp_dir().join(format!("runtime-bench-{}", std::process::id()));
        Task::Empty { folder: folder.clone() }.perform().unwrap();
        let files = vec![(folder.join("a"), "one".to_owned()), (folder.join("b"), "two".to_owned())];
        let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
        let into = folder.join("packed");
        let all = Task::All(vec![
            Task::Write { files },
            Task::Read { paths: [paths.clone(), vec![folder.clone()]].concat() },
            Task::Pack { paths, into: into.clone() },
        ]);
        let all: Task = serde_json::from_str(&serde_json::to_string(&all).unwrap()).unwrap();
        all.perform().unwrap();
        assert_eq!(fs::read_to_string(folder.join("b")).unwrap(), "two");
        assert_eq!(fs::metadata(&into).unwrap().len(), 2 * (32 + 3));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 3, "nothing else stays");
        let missing = Task::Read { paths: vec![folder.join("c")] }.perform().unwrap_err();
        assert!(missing.contains("/c: "), "{missing}");
        Task::Empty { folder: folder.clone() }.perform().unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_program_must_end_as_it_is_said() {
        let code = |exits| Task::Run { command: ["sh", "-c", "echo told; exit 2"].map(str::to_owned).to_vec(), exits };
        assert_eq!(code(2).perform(), Ok(()));
        assert!(code(0).perform().unwrap_err().ends_with("not 0:\ntold"));
        let each = |names: &[&str]| {
            Task::run_each(&["test", "-n"], &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).perform()
        };
        assert_eq!(each(&["a", "b"]), Ok(()));
        assert!(each(&["a", ""]).is_err());
        assert!(Task::run(["no-such-program"]).perform().unwrap_err().contains("cannot be run"));
    }
}
