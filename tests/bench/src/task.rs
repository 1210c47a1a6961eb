//! What is timed, and what goes before it: programs, and small loops that do natively what a run has to do at the least.

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Read as _, Write};
use std::iter::Sum;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use wait4::{ResUse, Wait4 as _};

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
    /// A file of this many zeros, on disk.
    Zeros { path: PathBuf, bytes: u64 },
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

    /// Does it, and tells what the programs of it used.
    pub(crate) fn perform(&self) -> Result<Used, Failure> {
        let done = |done: Result<(), Failure>| done.map(|()| Used::default());
        match self {
            Task::Run { command, exits } => run(command, None, *exits),
            Task::RunEach { command, names } => names.iter().map(|name| run(command, Some(name), 0)).sum(),
            Task::Read { paths } => done(paths.iter().try_for_each(|path| read(path).map_err(of(path)))),
            Task::Pack { paths, into } => done(pack(paths, into).map_err(of(into))),
            Task::Write { files } => done(files.iter().try_for_each(|(path, content)| write(path, content).map_err(of(path)))),
            Task::Zeros { path, bytes } => done(zeros(path, *bytes).map_err(of(path))),
            Task::Empty { folder } => done(empty(folder).map_err(of(folder))),
            Task::All(tasks) => tasks.iter().map(Task::perform).sum(),
        }
    }
}

/// What finished programs used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Used {
    /// Of all processors together.
    pub(crate) cpu: Duration,
    /// Of the one that had most at once.
    pub(crate) peak_kib: u64,
}

impl Sum for Used {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self { cpu: sum.cpu + one.cpu, peak_kib: sum.peak_kib.max(one.peak_kib) })
    }
}

fn of(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    move |error| format!("{}: {error}", path.display())
}

fn run(command: &[String], more: Option<&String>, exits: i32) -> Result<Used, Failure> {
    let (program, arguments) = command.split_first().ok_or("a command without a program")?;
    let (said, ended) = run_to_end(Command::new(program).args(arguments).args(more))
        .map_err(|error| format!("`{program}` cannot be run: {error}"))?;
    if ended.status.code() == Some(exits) {
        let used = ended.rusage;
        return Ok(Used { cpu: used.utime + used.stime, peak_kib: used.maxrss / 1024 });
    }
    let last: Vec<&str> = said.lines().rev().take(40).collect();
    let said = last.into_iter().rev().collect::<Vec<_>>().join("\n");
    let shown: Vec<&str> = command.iter().take(6).map(String::as_str).collect();
    Err(format!("`{}` ended with {}, not {exits}:\n{}", shown.join(" "), ended.status, said.trim()))
}

/// Runs a program, and gives what it said and what it used.
fn run_to_end(command: &mut Command) -> std::io::Result<(String, ResUse)> {
    let (mut reader, writer) = std::io::pipe()?;
    let program = command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // The ends that the command holds would keep the pipe open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut said = Vec::new();
    reader.read_to_end(&mut said)?;
    Ok((String::from_utf8_lossy(&said).into_owned(), program.wait4()?))
}

/// Looks at it; what is a file is read and hashed, in pieces.
fn read(path: &Path) -> std::io::Result<()> {
    if fs::symlink_metadata(path)?.is_file() {
        hash(path, &mut std::io::sink())?;
    }
    Ok(())
}

/// The digest of a file, which is written to `into` as it is read.
fn hash(path: &Path, into: &mut impl Write) -> std::io::Result<[u8; 32]> {
    let mut file = File::open(path)?;
    let (mut digest, mut piece) = (Sha256::new(), [0; 64 << 10]);
    loop {
        let count = file.read(&mut piece)?;
        if count == 0 {
            return Ok(digest.finalize().into());
        }
        digest.update(&piece[..count]);
        into.write_all(&piece[..count])?;
    }
}

fn pack(paths: &[PathBuf], into: &Path) -> std::io::Result<()> {
    put(into, |packed| {
        for path in paths {
            let digest = hash(path, packed)?;
            packed.write_all(&digest)?;
        }
        Ok(())
    })
}

fn zeros(path: &Path, bytes: u64) -> std::io::Result<()> {
    put(path, |file| std::io::copy(&mut std::io::repeat(0).take(bytes), file).map(drop))
}

fn write(path: &Path, content: &str) -> std::io::Result<()> {
    put(path, |file| file.write_all(content.as_bytes()))
}

/// Has a file written beside its place, puts it on disk, and renames it.
fn put(path: &Path, content: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let mut file = BufWriter::with_capacity(64 << 10, File::create(&name)?);
    content(&mut file)?;
    file.into_inner()?.sync_all()?;
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
            Task::Zeros { path: folder.join("zeros"), bytes: 100_000 },
        ]);
        let all: Task = serde_json::from_str(&serde_json::to_string(&all).unwrap()).unwrap();
        all.perform().unwrap();
        assert_eq!(fs::read_to_string(folder.join("b")).unwrap(), "two");
        assert_eq!(fs::metadata(&into).unwrap().len(), 2 * (32 + 3));
        assert_eq!(fs::metadata(folder.join("zeros")).unwrap().len(), 100_000);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 4, "nothing else stays");
        let missing = Task::Read { paths: vec![folder.join("c")] }.perform().unwrap_err();
        assert!(missing.contains("/c: "), "{missing}");
        Task::Empty { folder: folder.clone() }.perform().unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_program_must_end_as_it_is_said() {
        let code = |exits| Task::Run { command: ["sh", "-c", "echo told; exit 2"].map(str::to_owned).to_vec(), exits };
        assert!(code(2).perform().is_ok_and(|used| used.peak_kib > 100), "what a program used is known");
        assert!(code(0).perform().unwrap_err().ends_with("not 0:\ntold"));
        let each = |names: &[&str]| {
            Task::run_each(&["test", "-n"], &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).perform()
        };
        assert!(each(&["a", "b"]).is_ok());
        assert!(each(&["a", ""]).is_err());
        assert!(Task::run(["no-such-program"]).perform().unwrap_err().contains("cannot be run"));
    }
}
