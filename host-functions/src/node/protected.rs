//! Objects that no resource may read or change, whatever policy says: the host's own, and the kernel's file systems.
//!
//! Known by what they are, not only by name: a bind mount, a hard link or a symbolic link to one is as closed as the object itself.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::identity::Identity;
use super::resolve::PROC_MAGIC;
use super::root::Root;
use crate::files::path::is_beneath;
use crate::files::policy::NEVER;
use crate::text::escape_bytes;

/// File systems through which the kernel itself is read and driven, by magic number: procfs, sysfs, debugfs, tracefs, securityfs, the
/// two of control groups, bpf, efivarfs, selinuxfs, devpts.
const KERNEL_FILE_SYSTEMS: [u64; 11] = [
    PROC_MAGIC,
    0x6265_6572,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0x0027_e0eb,
    0x6367_7270,
    0xcafe_4a11,
    0xde5e_81e4,
    0xf97c_ff8c,
    0x1cd1,
];

/// The deepest folder that is looked at.
const MAX_DEPTH: usize = 4096;

/// The protected objects of a node.
#[derive(Debug)]
pub(crate) struct Protected {
    root: Identity,
    root_path: PathBuf,
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Each object, with its name for people.
    objects: HashMap<Identity, String>,
    /// The folders on the way to them, which may not be removed or replaced.
    ancestors: HashMap<Identity, String>,
    /// Paths on the node, for objects that do not exist yet.
    paths: Vec<Vec<u8>>,
}

/// What a call would do to an object, as far as protection goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    /// Reads it, or changes its attributes.
    InPlace,
    /// Puts something else in its place, or nothing.
    Displace,
}

impl Protected {
    pub(crate) fn new(root: &Root) -> Self {
        let inner = Inner { paths: NEVER.map(<[u8]>::to_vec).into(), ..Inner::default() };
        let protected = Self { root: root.identity(), root_path: root.path().to_owned(), inner: RwLock::new(inner) };
        let mut inner = protected.inner.write().unwrap_or_else(PoisonError::into_inner);
        for never in NEVER {
            // What does not exist, or is no directory, is protected by its path.
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
            if let Ok(fd) = rustix::fs::openat(root.fd(), &never[1..], flags, Mode::empty())
                && let Ok(identity) = Identity::of_fd(&fd)
            {
                inner.objects.insert(identity, escape_bytes(never));
            }
        }
        drop(inner);
        protected
    }

    /// Adds the object at `path`, a path of this process, and what it leads to if it is a symbolic link.
    #[expect(clippy::disallowed_methods, reason = "the host looks for its own objects, whose paths it was given")]
    pub(crate) fn add(&self, path: &Path) -> io::Result<()> {
        let absolute = std::path::absolute(path)?;
        let name = escape_bytes(absolute.as_os_str().as_bytes());
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        for follow in [OFlags::NOFOLLOW, OFlags::empty()] {
            match rustix::fs::open(&absolute, OFlags::PATH | OFlags::CLOEXEC | follow, Mode::empty()) {
                Ok(fd) => {
                    inner.objects.insert(Identity::of_fd(&fd)?, name.clone());
                }
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        let (existing, missing) = real_path(&absolute);
        for folder in existing.ancestors().skip(usize::from(missing.as_os_str().is_empty())) {
            if let Ok(fd) = rustix::fs::open(folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
                inner.ancestors.insert(Identity::of_fd(&fd)?, name.clone());
            }
        }
        let root = self.root_path.canonicalize()?;
        if let Ok(relative) = existing.join(missing).strip_prefix(root) {
            let mut on_node = b"/".to_vec();
            on_node.extend_from_slice(relative.as_os_str().as_bytes());
            inner.paths.push(on_node);
        }
        Ok(())
    }

    /// What protected thing a call about the object would touch, if any. `parent` is its folder, `path` its path without links,
    /// `object` what is there.
    pub(crate) fn find(
        &self,
        parent: BorrowedFd<'_>,
        path: &[u8],
        object: Option<Identity>,
        touch: Touch,
    ) -> Result<Option<String>, Errno> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = inner.paths.iter().find(|protected| *protected == path || is_beneath(path, protected)) {
            return Ok(Some(format!("`{}`", escape_bytes(found))));
        }
        if touch == Touch::Displace
            && let Some(found) = inner.paths.iter().find(|protected| is_beneath(protected, path))
        {
            return Ok(Some(format!("the folder that holds `{}`", escape_bytes(found))));
        }
        if let Some(object) = object
            && let Some(found) = inner.of_object(object, touch)
        {
            return Ok(Some(found));
        }
        if KERNEL_FILE_SYSTEMS.contains(&(rustix::fs::fstatfs(parent)?.f_type as u64)) {
            return Ok(Some("a file system of the kernel".to_owned()));
        }
        self.above(&inner, parent)
    }

    /// Whether `parent` or a folder above it, up to the root, is protected.
    fn above(&self, inner: &Inner, parent: BorrowedFd<'_>) -> Result<Option<String>, Errno> {
        let mut folder: Option<OwnedFd> = None;
        let mut identity = Identity::of_fd(parent)?;
        for _ in 0..MAX_DEPTH {
            if let Some(name) = inner.objects.get(&identity) {
                return Ok(Some(format!("`{name}`")));
            }
            if identity == self.root {
                return Ok(None);
            }
            let here = folder.as_ref().map_or(parent, AsFd::as_fd);
            let up = rustix::fs::openat(here, "..", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
            let above = Identity::of_fd(&up)?;
            if above == identity {
                return Ok(None);
            }
            identity = above;
            folder = Some(up);
        }
        Err(Errno::NAMETOOLONG)
    }

    /// What protected thing the object itself is, or holds if it would be displaced.
    pub(crate) fn find_object(&self, object: Identity, touch: Touch) -> Option<String> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).of_object(object, touch)
    }
}

impl Inner {
    fn of_object(&self, object: Identity, touch: Touch) -> Option<String> {
        let itself = self.objects.get(&object).map(|name| format!("`{name}`"));
        match touch {
            Touch::InPlace => itself,
            Touch::Displace => {
                itself.or_else(|| self.ancestors.get(&object).map(|name| format!("the folder that holds `{name}`")))
            }
        }
    }
}

/// The part of `path` that exists, without links, and the rest.
#[expect(clippy::disallowed_methods, reason = "the host looks for its own objects, whose paths it was given")]
fn real_path(path: &Path) -> (PathBuf, PathBuf) {
    let mut missing = Vec::<&OsStr>::new();
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            return (real, missing.iter().rev().collect());
        }
        missing.extend(ancestor.file_name());
    }
    (path.to_owned(), PathBuf::new())
}
