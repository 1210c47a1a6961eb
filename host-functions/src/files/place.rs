//! From a call about a path to an open parent directory, with every check that needs the node.

use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, Stat, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use super::path::{NodePath, join};
use super::policy;
use crate::authorize::Rule;
use crate::call::HostCall;
use crate::context::HostContext;
use crate::error::CallError;
use crate::node::identity::{FolderIdentity, Identity};
use crate::node::protected::Touch;
use crate::node::registry::Holder;
use crate::node::resolve::{self, Target};
use crate::text::escape_bytes;

/// A parent directory, held open, and a name in it.
#[derive(Debug)]
pub(super) struct Place {
    /// Opened for its path only: nothing is read or changed through it but by name.
    pub parent: OwnedFd,
    /// The name in the parent; `.` for the root itself.
    pub name: Vec<u8>,
    /// The path as the guest gave it, escaped.
    pub shown: String,
}

/// Where a path leads.
#[derive(Debug)]
pub(super) enum Located {
    /// To a place that may be used.
    At(Place),
    /// Nowhere: its parent does not exist.
    Nowhere,
    /// Nowhere: this, on the way, is not a directory.
    Blocked(String),
}

impl Located {
    /// The place, for calls that need its parent to exist.
    pub(super) fn needed(self) -> Result<Place, CallError> {
        match self {
            Located::At(place) => Ok(place),
            Located::Nowhere => Err(CallError::NotFound),
            Located::Blocked(at) => Err(CallError::WrongKind(format!("`{at}` is not a directory"))),
        }
    }

    /// The place; none where nothing can be.
    pub(super) fn existing(self) -> Option<Place> {
        match self {
            Located::At(place) => Some(place),
            Located::Nowhere | Located::Blocked(_) => None,
        }
    }
}

impl Place {
    /// What is there now, without following a link.
    pub(super) fn stat(&self) -> Result<Option<Stat>, CallError> {
        self.stat_name(&self.name)
    }

    /// What is in the same directory under another name.
    pub(super) fn stat_name(&self, name: &[u8]) -> Result<Option<Stat>, CallError> {
        match rustix::fs::statat(&self.parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.failed("looking at", errno)),
        }
    }

    /// What is there now, held so that it stays that object, without opening it.
    pub(super) fn handle(&self) -> Result<Option<(OwnedFd, Stat)>, CallError> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = match rustix::fs::openat(&self.parent, &self.name, flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(self.failed("looking at", errno)),
        };
        let stat = rustix::fs::fstat(&handle).map_err(|errno| self.failed("looking at", errno))?;
        Ok(Some((handle, stat)))
    }

    /// Whether it is the root itself.
    pub(super) fn is_root(&self) -> bool {
        self.name == b"."
    }

    /// Fails where names can be made and not taken away again: what is staged there could not be put in place, and would stay.
    pub(super) fn refuse_append_only(&self) -> Result<(), CallError> {
        let statx = rustix::fs::statx(&self.parent, "", AtFlags::EMPTY_PATH, StatxFlags::empty());
        let statx = statx.map_err(|errno| self.failed("looking at the folder of", errno))?;
        if statx.stx_attributes.contains(StatxAttributes::APPEND) {
            let shown = &self.shown;
            return Err(CallError::PermissionDenied(format!(
                "the folder of `{shown}` is append-only, so nothing that is made in it could be put in place"
            )));
        }
        Ok(())
    }

    pub(super) fn failed(&self, doing: &str, errno: Errno) -> CallError {
        CallError::system(errno, &format!("{doing} `{}`", self.shown))
    }

    /// Makes changes of names in the directory durable.
    pub(super) fn sync_folder(&self) -> Result<(), CallError> {
        self.sync_through_folder(|folder| rustix::fs::fsync(folder))
    }

    /// Makes everything on the file system durable: for an object that cannot be opened, and so not be synced alone.
    pub(super) fn sync_file_system(&self) -> Result<(), CallError> {
        self.sync_through_folder(|folder| rustix::fs::syncfs(folder))
    }

    fn sync_through_folder(&self, sync: impl FnOnce(BorrowedFd<'_>) -> Result<(), Errno>) -> Result<(), CallError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let synced = match rustix::fs::openat(&self.parent, ".", flags, Mode::empty()) {
            Ok(folder) => sync(folder.as_fd()),
            // A directory that this user may write but not read.
            Err(Errno::ACCESS) => {
                rustix::fs::sync();
                Ok(())
            }
            Err(errno) => Err(errno),
        };
        match synced {
            // The file system has no such thing as syncing a directory.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(errno) => Err(self.failed("making durable the folder of", errno)),
        }
    }
}

impl HostContext {
    /// Finds the place of `path` for an allowed `call`, and allows the call there or fails.
    pub(super) fn locate(&mut self, call: &HostCall, path: &NodePath) -> Result<Located, CallError> {
        let node = self.node().clone();
        let Some((folder, name)) = path.split() else {
            let failed = |errno| CallError::system(errno, "looking at `/`");
            let parent = node.root().fd().try_clone_to_owned().map_err(|_| failed(Errno::MFILE))?;
            return self.judge(call, Place { parent, name: b".".to_vec(), shown: path.to_string() }, b"/".to_vec());
        };
        match resolve::open_directory(node.root(), folder)? {
            Target::Opened { fd, path: folder } => {
                let resolved = join(&folder, name);
                self.authorize_resolved(call, &resolved)?;
                let parent = self.confine(call, &resolved, &folder)?.unwrap_or(fd);
                self.judge(call, Place { parent, name: name.to_vec(), shown: path.to_string() }, resolved)
            }
            Target::Missing { path: folder } => {
                self.authorize_resolved(call, &join(&folder, name))?;
                Ok(Located::Nowhere)
            }
            Target::NotDirectory { at, path: folder } => {
                self.authorize_resolved(call, &join(&folder, name))?;
                Ok(Located::Blocked(escape_bytes(&at)))
            }
        }
    }

    /// For a module that is not built in: the folder opened again, in a way that cannot leave what it was granted.
    fn confine(&self, call: &HostCall, resolved: &[u8], folder: &[u8]) -> Result<Option<OwnedFd>, CallError> {
        let Some((access, _)) = call.path() else { return Ok(None) };
        let Some(within) = policy::confinement(&self.standing(), access, resolved) else { return Ok(None) };
        resolve::open_confined(self.node().root(), &within, folder).map(Some)
    }

    /// The checks that need the parent open: nothing protected, and nothing that another resource holds.
    fn judge(&mut self, call: &HostCall, place: Place, resolved: Vec<u8>) -> Result<Located, CallError> {
        let node = self.node().clone();
        let touch = if displaces(call) { Touch::Displace } else { Touch::InPlace };
        let object = place.stat()?.map(|stat| Identity::of(&stat));
        let protected = node.protected().find(place.parent.as_fd(), &resolved, object, touch);
        if let Some(what) = protected.map_err(|errno| place.failed("looking at the folders of", errno))? {
            return Err(self.deny(call, Rule::Protected { what }));
        }
        if call.changes() {
            let folder = FolderIdentity::of_fd(&place.parent).map_err(|errno| place.failed("looking at the folder of", errno))?;
            let declared = call.path().map(|(_, path)| path.as_bytes().to_vec()).unwrap_or_default();
            let holds = policy::holds(&self.standing(), &declared);
            let holder = Holder { resource: self.rights().resource.clone(), path: declared };
            if holds && let Err(first) = node.registry().hold(folder, &place.name, holder) {
                return Err(self.deny(call, Rule::Held { by: first.resource, path: escape_bytes(&first.path) }));
            }
            self.note_change();
        }
        Ok(Located::At(place))
    }

    /// Fails if an object that was opened is a protected one: it may have been put there after the checks of its place.
    pub(super) fn guard(&mut self, call: &HostCall, stat: &Stat) -> Result<(), CallError> {
        let touch = if displaces(call) { Touch::Displace } else { Touch::InPlace };
        match self.node().protected().find_object(Identity::of(stat), touch) {
            Some(what) => Err(self.deny(call, Rule::Protected { what })),
            None => Ok(()),
        }
    }
}

/// Whether the call puts something else, or nothing, in the place of what is there.
fn displaces(call: &HostCall) -> bool {
    matches!(
        call,
        HostCall::FilesObjectStage { .. }
            | HostCall::FilesStagedCommit { .. }
            | HostCall::FilesStagedCommitKeeping { .. }
            | HostCall::FilesObjectMakeSymlink { .. }
            | HostCall::FilesObjectRemove { .. }
    )
}
