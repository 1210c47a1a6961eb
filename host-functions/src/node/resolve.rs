//! From a path to an open file descriptor, beneath the root and through no symbolic link that somebody else could change.
//!
//! The descriptor that a caller gets is always from one `openat2` that follows no link at all (`RESOLVE_NO_SYMLINKS`). Where that
//! meets a link (`ELOOP`), the link is read and judged, its target is put in its place in the path, and the open is tried again. So a
//! link swapped in between can make a call fail but never lead it astray, and the path that was opened is known in full: the caller
//! holds it against policy before it touches anything.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::root::Root;
use crate::error::CallError;
use crate::files::path::{is_beneath, join, split};
use crate::text::escape_bytes;

/// The most symbolic links in one path, as in the kernel.
const MAX_LINKS: u32 = 40;

/// How often an open is tried again when the path changes under it.
const MAX_TRIES: u32 = 16;

/// The longest path that the links of a path may make it.
const MAX_EXPANDED: usize = 16 * 1024;

/// The magic number of procfs, whose links lead wherever the kernel likes.
pub(crate) const PROC_MAGIC: u64 = 0x9fa0;

const NO_LINKS: ResolveFlags = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);

/// What a path led to.
#[derive(Debug)]
pub(crate) enum Target {
    /// The object, and its path without symbolic links.
    Opened { fd: OwnedFd, path: Vec<u8> },
    /// It, or a folder on the way, does not exist; the path it would have, as far as that can be told.
    Missing { path: Vec<u8> },
    /// Something on the way, here, is not a directory.
    NotDirectory { at: Vec<u8>, path: Vec<u8> },
}

/// Opens the directory `path` for use as the place of further calls.
pub(crate) fn open_directory(root: &Root, path: &[u8]) -> Result<Target, CallError> {
    open(root, path, OFlags::PATH | OFlags::DIRECTORY)
}

/// Opens what is at `path`, absolute and normal, following trusted links, its last part included.
pub(crate) fn open(root: &Root, path: &[u8], flags: OFlags) -> Result<Target, CallError> {
    let doing = || format!("resolving `{}`", escape_bytes(path));
    let mut links = 0;
    let mut expanded = path.to_vec();
    for _ in 0..MAX_TRIES {
        match open_plain(root.fd(), &expanded, flags, ResolveFlags::IN_ROOT) {
            Ok(fd) => return Ok(Target::Opened { fd, path: expanded }),
            Err(Errno::NOENT) => return Ok(Target::Missing { path: expanded }),
            Err(Errno::LOOP | Errno::NOTDIR) => match Walk::new(root, path, &mut links).run()? {
                Walked::Path(path) => expanded = path,
                Walked::Missing(path) => return Ok(Target::Missing { path }),
                Walked::NotDirectory { at, path } => return Ok(Target::NotDirectory { at, path }),
            },
            Err(errno) => return Err(CallError::system(errno, &doing())),
        }
        // A path without links that still is not a directory.
        if flags.contains(OFlags::DIRECTORY) && is_not_directory(root, &expanded, flags) {
            return Ok(Target::NotDirectory { at: expanded.clone(), path: expanded });
        }
    }
    Err(CallError::Busy(format!("{}: it keeps changing", doing())))
}

/// Opens the directory `path`, which has no links, in two steps: `folder` beneath the root, and the rest beneath `folder`.
pub(crate) fn open_confined(root: &Root, folder: &[u8], path: &[u8]) -> Result<OwnedFd, CallError> {
    let doing = || format!("resolving `{}` beneath `{}`", escape_bytes(path), escape_bytes(folder));
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    let failed = |errno| match errno {
        Errno::LOOP | Errno::XDEV => CallError::Busy(format!("{}: it keeps changing", doing())),
        _ => CallError::system(errno, &doing()),
    };
    let outer = open_plain(root.fd(), folder, flags, ResolveFlags::IN_ROOT).map_err(failed)?;
    let rest = match path {
        _ if path == folder => b"/".to_vec(),
        _ if is_beneath(path, folder) => path[if folder == b"/" { 0 } else { folder.len() }..].to_vec(),
        _ => return Err(CallError::UnsafePath(format!("{}: it is not beneath", doing()))),
    };
    open_plain(outer.as_fd(), &rest, flags, ResolveFlags::BENEATH).map_err(failed)
}

fn is_not_directory(root: &Root, path: &[u8], flags: OFlags) -> bool {
    matches!(open_plain(root.fd(), path, flags, ResolveFlags::IN_ROOT), Err(Errno::NOTDIR))
}

/// One open without any symbolic link. `path` is absolute and taken to start at `folder`.
fn open_plain(folder: BorrowedFd<'_>, path: &[u8], flags: OFlags, within: ResolveFlags) -> Result<OwnedFd, Errno> {
    let relative = path.strip_prefix(b"/").unwrap_or(path);
    let relative = if relative.is_empty() { b"." } else { relative };
    let mut tries = 0;
    loop {
        match rustix::fs::openat2(folder, relative, flags | OFlags::CLOEXEC, Mode::empty(), within | NO_LINKS) {
            // The kernel could not tell whether a rename moved the path out of the root.
            Err(Errno::AGAIN | Errno::INTR) if tries < MAX_TRIES => tries += 1,
            result => return result,
        }
    }
}

/// What a walk along a path found.
enum Walked {
    /// The path without links.
    Path(Vec<u8>),
    /// Something on the way is missing; the path it would have.
    Missing(Vec<u8>),
    /// Something on the way is not a directory.
    NotDirectory { at: Vec<u8>, path: Vec<u8> },
}

/// A walk along a path, part by part, that finds out what the path is without its links. It opens nothing for the caller.
struct Walk<'r> {
    root: &'r Root,
    /// Where it is: a path without links, and open.
    at: Vec<u8>,
    /// The parts still to go, last first.
    rest: Vec<Vec<u8>>,
    /// Links taken so far over all walks of this path.
    links: &'r mut u32,
    declared: &'r [u8],
}

impl<'r> Walk<'r> {
    fn new(root: &'r Root, declared: &'r [u8], links: &'r mut u32) -> Self {
        let mut walk = Self { root, at: b"/".to_vec(), rest: Vec::new(), links, declared };
        walk.push(declared);
        walk
    }

    fn push(&mut self, path: &[u8]) {
        self.rest.extend(path.split(|byte| *byte == b'/').rev().filter(|part| !part.is_empty()).map(<[u8]>::to_vec));
    }

    fn run(mut self) -> Result<Walked, CallError> {
        let mut folder = self.open_here()?;
        while let Some(part) = self.rest.pop() {
            match part.as_slice() {
                b"." => {}
                b".." => {
                    self.at = split(&self.at).map_or_else(|| b"/".to_vec(), |(parent, _)| parent.to_vec());
                    folder = self.open_here()?;
                }
                name => match self.step(folder.as_fd(), name)? {
                    Step::Into(fd) => folder = fd,
                    Step::Jump => folder = self.open_here()?,
                    Step::End(walked) => return Ok(walked),
                },
            }
        }
        Ok(Walked::Path(self.at))
    }

    /// Goes to `name` in `folder`, which is where the walk is.
    fn step(&mut self, folder: BorrowedFd<'_>, name: &[u8]) -> Result<Step, CallError> {
        let next = join(&self.at, name);
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat2(folder, name, flags, Mode::empty(), ResolveFlags::BENEATH | NO_LINKS) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(Step::End(Walked::Missing(self.guess(next)))),
            Err(errno) => return Err(self.failed(errno)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(|errno| self.failed(errno))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => {
                self.judge(folder, fd.as_fd(), stat.st_uid, &next)?;
                let target = rustix::fs::readlinkat(&fd, "", Vec::new()).map_err(|errno| self.failed(errno))?;
                self.follow(target.as_bytes())?;
                Ok(Step::Jump)
            }
            FileType::Directory => {
                self.at = next;
                Ok(Step::Into(fd))
            }
            _ if self.rest.is_empty() => {
                self.at = next;
                Ok(Step::Into(fd))
            }
            _ => Ok(Step::End(Walked::NotDirectory { path: self.guess(next.clone()), at: next })),
        }
    }

    /// Whether the link at `next`, in `folder`, may be followed: nobody but root and this process's user could have put it there.
    fn judge(&self, folder: BorrowedFd<'_>, link: BorrowedFd<'_>, owner: u32, next: &[u8]) -> Result<(), CallError> {
        let refuse = |why: &str| {
            let text = format!("symbolic link `{}` on the way to `{}` {why}", escape_bytes(next), escape_bytes(self.declared));
            Err(CallError::UnsafePath(crate::text::cut(text, crate::error::MAX_ERROR_TEXT)))
        };
        let statfs = rustix::fs::fstatfs(link).map_err(|errno| self.failed(errno))?;
        if statfs.f_type as u64 == PROC_MAGIC {
            return refuse("is one of the kernel's own");
        }
        if !is_trusted_owner(self.root, owner) {
            return refuse("belongs to neither root nor this process's user");
        }
        let stat = rustix::fs::fstat(folder).map_err(|errno| self.failed(errno))?;
        if !is_trusted_folder(self.root, &stat) { refuse("is in a directory that others can write") } else { Ok(()) }
    }

    fn follow(&mut self, target: &[u8]) -> Result<(), CallError> {
        *self.links += 1;
        let length = target.len() + self.at.len() + self.rest.iter().map(|part| part.len() + 1).sum::<usize>();
        if *self.links > MAX_LINKS || length > MAX_EXPANDED {
            let declared = escape_bytes(self.declared);
            return Err(CallError::UnsafePath(format!("`{declared}` goes through more than {MAX_LINKS} symbolic links")));
        }
        if target.starts_with(b"/") {
            self.at = b"/".to_vec();
        }
        self.push(target);
        Ok(())
    }

    fn open_here(&self) -> Result<OwnedFd, CallError> {
        open_plain(self.root.fd(), &self.at, OFlags::PATH | OFlags::DIRECTORY, ResolveFlags::IN_ROOT).map_err(|errno| match errno
        {
            Errno::LOOP | Errno::NOTDIR | Errno::NOENT => {
                CallError::Busy(format!("resolving `{}`: it keeps changing", escape_bytes(self.declared)))
            }
            _ => self.failed(errno),
        })
    }

    /// The path beyond what exists.
    fn guess(&mut self, mut path: Vec<u8>) -> Vec<u8> {
        while let Some(part) = self.rest.pop() {
            match part.as_slice() {
                b"." => {}
                b".." => path = split(&path).map_or_else(|| b"/".to_vec(), |(parent, _)| parent.to_vec()),
                name => path = join(&path, name),
            }
        }
        path
    }

    fn failed(&self, errno: Errno) -> CallError {
        CallError::system(errno, &format!("resolving `{}`", escape_bytes(self.declared)))
    }
}

/// Where one step led.
enum Step {
    Into(OwnedFd),
    Jump,
    End(Walked),
}

/// Root, or the user of this process.
pub(crate) fn is_trusted_owner(root: &Root, owner: u32) -> bool {
    owner == 0 || owner == root.run_as().0
}

/// Whether nobody but root and this process's user can add, remove or rename in the folder. Access lists are covered: their mask
/// shows in the group's bits. A sticky bit does not help, since it still lets others add.
pub(crate) fn is_trusted_folder(root: &Root, stat: &rustix::fs::Stat) -> bool {
    is_trusted_owner(root, stat.st_uid) && stat.st_mode & 0o022 == 0
}
