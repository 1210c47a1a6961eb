//! What goes to the helper and what comes back, as data and as bytes.
//!
//! Both are a length, that many bytes of JSON, and then raw bytes whose lengths the JSON tells. Texts that may be sensitive are in the
//! raw part alone, and what holds it is wiped. Neither form leaves this machine or this version of the program.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// The most that an order or a report has, in bytes, each of its two parts.
const MAX_PART: u64 = 32 * 1024 * 1024;

/// Bytes that may be sensitive.
pub type Bytes = Zeroizing<Vec<u8>>;

/// A program to run, with all that it gets.
pub struct Order {
    /// Absolute path, in `root`.
    pub program: String,
    /// Without the program itself.
    pub arguments: Vec<Bytes>,
    /// All of its environment.
    pub environment: Vec<(String, Bytes)>,
    /// Absolute path of its working directory, in `root`.
    pub directory: String,
    /// The directory that is its `/`; none is the `/` of this process.
    pub root: Option<PathBuf>,
    /// Who it runs as; none is who this process runs as.
    pub identity: Option<Identity>,
    /// Permission bits that its new files do not get.
    pub umask: u32,
    /// What it reads.
    pub stdin: Bytes,
    /// How much of each of its streams is kept, in bytes.
    pub output_limit: u32,
    /// How long it may take.
    pub timeout: Duration,
    /// How it is held.
    pub manner: Manner,
    /// What becomes of processes that it leaves behind.
    pub leftovers: Leftovers,
    /// The directory of a control group for it alone.
    pub control_group: Option<PathBuf>,
}

/// Numeric ids that a program runs with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// User.
    pub user: u32,
    /// Group.
    pub group: u32,
    /// All supplementary groups.
    pub groups: Vec<u32>,
}

/// How a program is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Manner {
    /// It may change the node.
    Free,
    /// It can change nothing: see `confine`.
    Confined,
    /// As `Free`, but it gains no rights by running another program.
    NoNewRights,
}

/// What becomes of processes that outlive the program which started them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leftovers {
    /// They are ended soon after it.
    End,
    /// They live on, as the daemons that a package or an init script starts must. At the deadline they are ended all the same, if the program itself has
    /// not ended by then.
    Keep,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// By itself, with this code.
    Exited(u8),
    /// By this signal.
    Killed(u32),
    /// Its time was over, and it was ended with everything that it had started.
    TimedOut,
}

/// What became of a program.
pub struct Report {
    /// How it ended.
    pub ended: Ended,
    /// What it wrote, up to the limit.
    pub stdout: Bytes,
    /// What it wrote there, up to the limit.
    pub stderr: Bytes,
    /// Whether it wrote more than is kept.
    pub cut: bool,
    /// Whether it left processes behind, which were ended.
    pub left_processes: bool,
}

/// Why the helper could not do what was ordered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Failure {
    /// The program did not start.
    Start { doing: String, errno: i32 },
    /// It cannot be confined here.
    Confine { doing: String, why: String },
    /// Something of it still lives.
    Living { processes: usize },
    /// Anything else.
    Other { doing: String, why: String },
}

/// The step that is the program itself, as a failure of it names it.
pub(crate) fn starting(program: &str) -> String {
    format!("starting `{program}`")
}

impl Failure {
    /// That the program did not start, for this reason of the system.
    pub(super) fn start(doing: impl Into<String>, errno: impl Into<io::Error>) -> Self {
        Failure::Start { doing: doing.into(), errno: errno.into().raw_os_error().unwrap_or(0) }
    }

    /// That the program cannot be confined.
    pub(super) fn confine(doing: impl Into<String>, why: impl ToString) -> Self {
        Failure::Confine { doing: doing.into(), why: why.to_string() }
    }

    /// Anything else.
    pub(super) fn other(doing: impl Into<String>, why: impl ToString) -> Self {
        Failure::Other { doing: doing.into(), why: why.to_string() }
    }
}

#[derive(Serialize, Deserialize)]
struct OrderHead {
    program: String,
    arguments: Vec<usize>,
    environment: Vec<(String, usize)>,
    directory: String,
    root: Option<PathBuf>,
    identity: Option<Identity>,
    umask: u32,
    stdin: usize,
    output_limit: u32,
    timeout: Duration,
    manner: Manner,
    leftovers: Leftovers,
    control_group: Option<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct ReportHead {
    ended: Ended,
    stdout: usize,
    stderr: usize,
    cut: bool,
    left_processes: bool,
}

impl Order {
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let head = OrderHead {
            program: self.program.clone(),
            arguments: self.arguments.iter().map(|argument| argument.len()).collect(),
            environment: self.environment.iter().map(|(name, value)| (name.clone(), value.len())).collect(),
            directory: self.directory.clone(),
            root: self.root.clone(),
            identity: self.identity.clone(),
            umask: self.umask,
            stdin: self.stdin.len(),
            output_limit: self.output_limit,
            timeout: self.timeout,
            manner: self.manner,
            leftovers: self.leftovers,
            control_group: self.control_group.clone(),
        };
        write_head(to, &head)?;
        let values = self.environment.iter().map(|(_, value)| value);
        self.arguments.iter().chain(values).chain([&self.stdin]).try_for_each(|bytes| to.write_all(bytes))?;
        to.flush()
    }

    pub(super) fn read(from: &mut impl Read) -> io::Result<Self> {
        let head: OrderHead = read_head(from)?;
        let mut left = MAX_PART;
        let arguments = head.arguments.iter().map(|length| read_bytes(from, *length, &mut left)).collect::<io::Result<_>>()?;
        let pair = |(name, length): (String, usize)| Ok((name, read_bytes(from, length, &mut left)?));
        let environment = head.environment.into_iter().map(pair).collect::<io::Result<_>>()?;
        let stdin = read_bytes(from, head.stdin, &mut left)?;
        Ok(Self {
            program: head.program,
            arguments,
            environment,
            directory: head.directory,
            root: head.root,
            identity: head.identity,
            umask: head.umask,
            stdin,
            output_limit: head.output_limit,
            timeout: head.timeout,
            manner: head.manner,
            leftovers: head.leftovers,
            control_group: head.control_group,
        })
    }
}

/// Writes how an order went.
pub(super) fn write_report(to: &mut impl Write, report: &Result<Report, Failure>) -> io::Result<()> {
    let head = report.as_ref().map(|report| ReportHead {
        ended: report.ended,
        stdout: report.stdout.len(),
        stderr: report.stderr.len(),
        cut: report.cut,
        left_processes: report.left_processes,
    });
    write_head(to, &head)?;
    if let Ok(report) = report {
        to.write_all(&report.stdout)?;
        to.write_all(&report.stderr)?;
    }
    to.flush()
}

/// Reads how an order went.
pub(super) fn read_report(from: &mut impl Read) -> io::Result<Result<Report, Failure>> {
    let head: Result<ReportHead, Failure> = read_head(from)?;
    let head = match head {
        Ok(head) => head,
        Err(failure) => return Ok(Err(failure)),
    };
    let mut left = MAX_PART;
    let stdout = read_bytes(from, head.stdout, &mut left)?;
    let stderr = read_bytes(from, head.stderr, &mut left)?;
    let ReportHead { ended, cut, left_processes, .. } = head;
    Ok(Ok(Report { ended, stdout, stderr, cut, left_processes }))
}

fn write_head(to: &mut impl Write, head: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(head)?;
    to.write_all(&(text.len() as u64).to_le_bytes())?;
    to.write_all(&text)
}

fn read_head<T: for<'a> Deserialize<'a>>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let text = read_bytes(from, usize::try_from(length).unwrap_or(usize::MAX), &mut { MAX_PART })?;
    Ok(serde_json::from_slice(&text)?)
}

/// Reads `length` bytes, of which there may be as many as are `left`.
fn read_bytes(from: &mut impl Read, length: usize, left: &mut u64) -> io::Result<Bytes> {
    *left = left.checked_sub(length as u64).ok_or_else(|| io::Error::other("a part is too long"))?;
    let mut bytes = Zeroizing::new(vec![0; length]);
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> Order {
        Order {
            program: "/bin/x".into(),
            arguments: vec![Zeroizing::new(b"a\xff".to_vec()), Bytes::default()],
            environment: vec![("K".into(), Zeroizing::new(b"v".to_vec()))],
            directory: "/".into(),
            root: None,
            identity: Some(Identity { user: 1, group: 2, groups: vec![3] }),
            umask: 0o22,
            stdin: Zeroizing::new(b"in".to_vec()),
            output_limit: 9,
            timeout: Duration::from_millis(7),
            manner: Manner::Confined,
            leftovers: Leftovers::End,
            control_group: None,
        }
    }

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let mut bytes = Vec::new();
        order().write(&mut bytes).unwrap();
        let read = Order::read(&mut bytes.as_slice()).unwrap();
        assert_eq!((read.arguments, read.environment), (order().arguments, order().environment));
        assert_eq!((read.stdin.as_slice(), read.identity, read.timeout), (&b"in"[..], order().identity, order().timeout));
        bytes.pop();
        assert!(Order::read(&mut bytes.as_slice()).is_err(), "one byte is missing");
    }

    #[test]
    fn a_length_beyond_the_cap_is_refused_before_it_is_allocated() {
        let mut bytes = u64::MAX.to_le_bytes().to_vec();
        bytes.extend([0; 16]);
        assert_eq!(Order::read(&mut bytes.as_slice()).err().unwrap().to_string(), "a part is too long");
    }

    #[test]
    fn a_failure_comes_back_as_it_was() {
        let failure = Failure::start("starting `/x`", rustix::io::Errno::NOENT);
        let mut bytes = Vec::new();
        write_report(&mut bytes, &Err(failure.clone())).unwrap();
        assert_eq!(read_report(&mut bytes.as_slice()).unwrap().err(), Some(failure));
    }
}
