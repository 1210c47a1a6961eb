//! The system calls that can change a file, and what each of them is about.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use libc::{c_int, c_long};

use super::listener::Call;

/// The most of a path, and of a write, that is read.
const MAX_BYTES: usize = 64 << 20;
const PAGE: u64 = 4096;

/// A call that changes something in a watched folder, or has it on disk. It waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// From 1, among the steps of one program.
    pub number: usize,
    /// What is done: `rename` whichever of its system calls it is.
    pub call: &'static str,
    /// What it is done to.
    pub path: PathBuf,
    /// The second path of a rename or a hard link.
    pub to: Option<PathBuf>,
    /// What it comes to, for those who follow it.
    pub change: Change,
}

/// What a step does to a file's name or bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A file is there, and empty if it was not or is to be.
    Open {
        /// Whether it is emptied.
        truncate: bool,
    },
    /// Bytes are written.
    Write {
        /// Where.
        offset: u64,
        /// Which.
        bytes: Vec<u8>,
    },
    /// It gets this length.
    Truncate(u64),
    /// What was done before is on disk.
    Sync,
    /// A name goes away.
    Remove,
    /// A name becomes another.
    Rename,
    /// Something else.
    Other,
}

/// Where a call has what it is about. Numbers are places of arguments.
#[derive(Clone, Copy)]
enum Form {
    Descriptor(usize),
    Path(usize),
    /// A folder's descriptor and a path.
    At(usize, usize),
    Paths(usize, usize),
    AtAndAt([usize; 4]),
}

/// How it changes something.
#[derive(Clone, Copy)]
enum Act {
    /// With flags there.
    Open(usize),
    /// With flags in a structure there.
    OpenHow(usize),
    /// Always.
    Create,
    /// At the file's own place: bytes and their count.
    Write(usize, usize),
    /// At a place.
    WriteAt(usize, usize, usize),
    Truncate(usize),
    Sync,
    Remove,
    Rename,
    Other,
}

type Known = (c_long, &'static str, Form, Act);

const DESCRIPTOR: Form = Form::Descriptor(0);
const AT: Form = Form::At(0, 1);
const AT_AND_AT: Form = Form::AtAndAt([0, 1, 2, 3]);

/// Newer than the list of some machines.
const FCHMODAT2: c_long = 452;

/// Calls that every machine has.
const KNOWN: &[Known] = &[
    (libc::SYS_openat, "open", AT, Act::Open(2)),
    (libc::SYS_openat2, "open", AT, Act::OpenHow(2)),
    (libc::SYS_write, "write", DESCRIPTOR, Act::Write(1, 2)),
    (libc::SYS_pwrite64, "write", DESCRIPTOR, Act::WriteAt(1, 2, 3)),
    (libc::SYS_writev, "write", DESCRIPTOR, Act::Other),
    (libc::SYS_pwritev, "write", DESCRIPTOR, Act::Other),
    (libc::SYS_pwritev2, "write", DESCRIPTOR, Act::Other),
    (libc::SYS_copy_file_range, "write", Form::Descriptor(2), Act::Other),
    (libc::SYS_sendfile, "write", DESCRIPTOR, Act::Other),
    (libc::SYS_splice, "write", Form::Descriptor(2), Act::Other),
    (libc::SYS_fallocate, "fallocate", DESCRIPTOR, Act::Other),
    (libc::SYS_ftruncate, "truncate", DESCRIPTOR, Act::Truncate(1)),
    (libc::SYS_truncate, "truncate", Form::Path(0), Act::Truncate(1)),
    (libc::SYS_fsync, "fsync", DESCRIPTOR, Act::Sync),
    (libc::SYS_fdatasync, "fsync", DESCRIPTOR, Act::Sync),
    (libc::SYS_syncfs, "syncfs", DESCRIPTOR, Act::Other),
    (libc::SYS_sync_file_range, "sync_file_range", DESCRIPTOR, Act::Other),
    (libc::SYS_renameat, "rename", AT_AND_AT, Act::Rename),
    (libc::SYS_renameat2, "rename", AT_AND_AT, Act::Rename),
    (libc::SYS_linkat, "link", AT_AND_AT, Act::Other),
    (libc::SYS_symlinkat, "symlink", Form::At(1, 2), Act::Other),
    (libc::SYS_mkdirat, "mkdir", AT, Act::Other),
    (libc::SYS_mknodat, "mknod", AT, Act::Other),
    (libc::SYS_unlinkat, "unlink", AT, Act::Remove),
    (libc::SYS_fchmod, "chmod", DESCRIPTOR, Act::Other),
    (libc::SYS_fchmodat, "chmod", AT, Act::Other),
    (FCHMODAT2, "chmod", AT, Act::Other),
    (libc::SYS_fchown, "chown", DESCRIPTOR, Act::Other),
    (libc::SYS_fchownat, "chown", AT, Act::Other),
    (libc::SYS_fsetxattr, "setxattr", DESCRIPTOR, Act::Other),
    (libc::SYS_setxattr, "setxattr", Form::Path(0), Act::Other),
    (libc::SYS_lsetxattr, "setxattr", Form::Path(0), Act::Other),
    (libc::SYS_fremovexattr, "removexattr", DESCRIPTOR, Act::Other),
    (libc::SYS_removexattr, "removexattr", Form::Path(0), Act::Other),
    (libc::SYS_lremovexattr, "removexattr", Form::Path(0), Act::Other),
    (libc::SYS_utimensat, "utimens", AT, Act::Other),
];

/// Calls that only older machines have: their kinds of path are relative to the working folder.
#[cfg(target_arch = "x86_64")]
const OLDER: &[Known] = &[
    (libc::SYS_open, "open", Form::Path(0), Act::Open(1)),
    (libc::SYS_creat, "open", Form::Path(0), Act::Create),
    (libc::SYS_rename, "rename", Form::Paths(0, 1), Act::Rename),
    (libc::SYS_link, "link", Form::Paths(0, 1), Act::Other),
    (libc::SYS_symlink, "symlink", Form::Path(1), Act::Other),
    (libc::SYS_mkdir, "mkdir", Form::Path(0), Act::Other),
    (libc::SYS_mknod, "mknod", Form::Path(0), Act::Other),
    (libc::SYS_unlink, "unlink", Form::Path(0), Act::Remove),
    (libc::SYS_rmdir, "unlink", Form::Path(0), Act::Remove),
    (libc::SYS_chmod, "chmod", Form::Path(0), Act::Other),
    (libc::SYS_chown, "chown", Form::Path(0), Act::Other),
    (libc::SYS_lchown, "chown", Form::Path(0), Act::Other),
    (libc::SYS_utimes, "utimens", Form::Path(0), Act::Other),
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[Known] = &[];

fn known() -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().chain(OLDER)
}

/// The numbers of all.
pub(super) fn numbers() -> Vec<c_long> {
    known().map(|(number, ..)| *number).collect()
}

impl Step {
    /// The step that a call is; none if it changes nothing in `folders`.
    pub(super) fn of(call: &Call, folders: &[PathBuf], number: usize) -> Option<Self> {
        let (_, name, form, act) = known().find(|(known, ..)| *known == call.number)?;
        let caller = Caller { call };
        let opens = match act {
            Act::Open(flags) => Some(call.arguments[*flags]),
            Act::OpenHow(how) => Some(u64::from_ne_bytes(caller.bytes(call.arguments[*how], 8)?.try_into().ok()?)),
            _ => None,
        };
        if opens.is_some_and(|flags| flags & u64::from((libc::O_CREAT | libc::O_TRUNC).cast_unsigned()) == 0) {
            return None;
        }
        let (path, to) = caller.paths(*form)?;
        if !folders.iter().any(|folder| path.starts_with(folder) || to.as_ref().is_some_and(|to| to.starts_with(folder))) {
            return None;
        }
        let change = caller.change(*act, opens)?;
        Some(Self { number, call: *name, path, to, change })
    }

    /// What it does, with paths as they are in `folder`.
    pub fn told(&self, folder: &Path) -> String {
        let show = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
        let to = self.to.as_deref().map_or_else(String::new, |to| format!(" -> {}", show(to)));
        format!("{} {}{to}", self.call, show(&self.path))
    }

    /// Whether it is about something in `folder`.
    pub fn is_in(&self, folder: &Path) -> bool {
        self.path.starts_with(folder) || self.to.as_ref().is_some_and(|to| to.starts_with(folder))
    }
}

/// The thread whose call waits, and which cannot change its mind meanwhile.
struct Caller<'c> {
    call: &'c Call,
}

impl Caller<'_> {
    fn paths(&self, form: Form) -> Option<(PathBuf, Option<PathBuf>)> {
        let own = libc::AT_FDCWD as u64;
        let argument = |index: usize| self.call.arguments[index];
        Some(match form {
            Form::Descriptor(index) => (self.descriptor(argument(index))?, None),
            Form::Path(index) => (self.path(own, argument(index))?, None),
            Form::At(folder, path) => (self.path(argument(folder), argument(path))?, None),
            Form::Paths(from, to) => (self.path(own, argument(from))?, Some(self.path(own, argument(to))?)),
            Form::AtAndAt([folder, from, other, to]) => {
                let from = self.path(argument(folder), argument(from))?;
                (from, Some(self.path(argument(other), argument(to))?))
            }
        })
    }

    fn process(&self, name: &str) -> PathBuf {
        Path::new("/proc").join(self.call.thread.to_string()).join(name)
    }

    /// What a descriptor is open on; what is removed has its last name.
    fn descriptor(&self, descriptor: u64) -> Option<PathBuf> {
        let open = std::fs::read_link(self.process(&format!("fd/{}", descriptor as c_int))).ok()?;
        let named = open.as_os_str().as_bytes();
        Some(PathBuf::from(OsStr::from_bytes(named.strip_suffix(b" (deleted)").unwrap_or(named))))
    }

    fn path(&self, folder: u64, address: u64) -> Option<PathBuf> {
        let path = if address == 0 { PathBuf::new() } else { self.text(address)? };
        if let Ok(own) = path.strip_prefix("/proc/self") {
            // The kernel's own link to something that is open.
            return std::fs::read_link(self.process("").join(own)).ok();
        }
        if path.is_absolute() {
            return Some(path);
        }
        let folder = match folder as c_int {
            libc::AT_FDCWD => std::fs::read_link(self.process("cwd")).ok()?,
            _ => self.descriptor(folder)?,
        };
        Some(if path.as_os_str().is_empty() { folder } else { folder.join(path) })
    }

    fn change(&self, act: Act, opens: Option<u64>) -> Option<Change> {
        let argument = |index: usize| self.call.arguments[index];
        Some(match act {
            Act::Open(_) | Act::OpenHow(_) => Change::Open { truncate: opens? & u64::from(libc::O_TRUNC.cast_unsigned()) != 0 },
            Act::Create => Change::Open { truncate: true },
            Act::Write(bytes, count) => {
                Change::Write { offset: self.position(argument(0))?, bytes: self.bytes(argument(bytes), argument(count))? }
            }
            Act::WriteAt(bytes, count, offset) => {
                Change::Write { offset: argument(offset), bytes: self.bytes(argument(bytes), argument(count))? }
            }
            Act::Truncate(length) => Change::Truncate(argument(length)),
            Act::Sync => Change::Sync,
            Act::Remove => Change::Remove,
            Act::Rename => Change::Rename,
            Act::Other => Change::Other,
        })
    }

    /// Where the next write of a descriptor goes.
    fn position(&self, descriptor: u64) -> Option<u64> {
        let told = std::fs::read_to_string(self.process(&format!("fdinfo/{}", descriptor as c_int))).ok()?;
        told.lines().find_map(|line| line.strip_prefix("pos:")?.trim().parse().ok())
    }

    fn bytes(&self, address: u64, count: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(count).ok().filter(|count| *count <= MAX_BYTES)?];
        File::open(self.process("mem")).and_then(|memory| memory.read_exact_at(&mut bytes, address)).ok()?;
        Some(bytes)
    }

    /// Text that ends with a NUL: no more is read than pages that it reaches into.
    fn text(&self, mut address: u64) -> Option<PathBuf> {
        let mut text = Vec::new();
        while text.len() < MAX_BYTES {
            let page = self.bytes(address, PAGE - address % PAGE)?;
            match page.iter().position(|byte| *byte == 0) {
                Some(end) => {
                    text.extend_from_slice(&page[..end]);
                    return Some(PathBuf::from(OsStr::from_bytes(&text)));
                }
                None => text.extend_from_slice(&page),
            }
            address += PAGE - address % PAGE;
        }
        None
    }
}
