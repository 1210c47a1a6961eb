//! The namespaces and mounts of a confined program.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use nix::sched::CloneFlags;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_change, move_mount, open_tree,
    unmount,
};

use super::super::order::Failure;

/// The devices that it has.
const DEVICES: [&str; 3] = ["null", "zero", "urandom"];

/// Folders that are its own and that it may write.
pub(super) const SCRATCH: [&str; 2] = ["/tmp", "/var/tmp"];

/// How much it may write there, in bytes.
const SCRATCH_SIZE: &CStr = c"size=64m,mode=1777";

/// Moves this process, the first of a process namespace, into a read-only copy of the node's mounts.
pub(in super::super) fn enclose(root: Option<&Path>) -> Result<(), Failure> {
    let apart = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWIPC | CloneFlags::CLONE_NEWUTS;
    nix::sched::unshare(apart).map_err(|errno| Failure::confine("making namespaces", errno))?;
    // Nothing that is mounted here is seen outside, and nothing that is mounted outside later is seen here.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|errno| Failure::confine("keeping mounts apart", errno))?;
    let devices = DEVICES.map(|name| (name, copy(&format!("/dev/{name}"), OpenTreeFlags::empty())));
    let tree = copy_read_only(root.unwrap_or(Path::new("/")))?;
    enter(&tree)?;
    furnish(devices).map_err(|(doing, errno)| Failure::confine(doing, errno))
}

fn copy(path: &str, more: OpenTreeFlags) -> Result<OwnedFd, Errno> {
    open_tree(CWD, path, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | more)
}

fn copy_read_only(root: &Path) -> Result<OwnedFd, Failure> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(CWD, root, flags).map_err(|errno| Failure::confine("copying the node's mounts", errno))?;
    set_read_only(&tree).map_err(|errno| Failure::confine("making every mount read-only", errno))?;
    Ok(tree)
}

/// Makes every mount of a detached tree read-only, without devices and without set-user-ID programs.
#[allow(unsafe_code, reason = "no crate at hand has `mount_setattr`")]
fn set_read_only(tree: &OwnedFd) -> Result<(), Errno> {
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    // SAFETY: the path is an empty C string, and the size is that of the structure.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)) }
}

/// Makes the copy the root of this process, and lets go of the old one.
fn enter(tree: &OwnedFd) -> Result<(), Failure> {
    let failed = |errno| Failure::confine("entering the copy of the node's mounts", errno);
    // Any folder that surely exists serves to hang the copy up; it is hidden in this namespace only.
    let place = "/proc";
    move_mount(tree, "", CWD, place, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).map_err(failed)?;
    rustix::process::chdir(place).map_err(failed)?;
    rustix::process::pivot_root(".", ".").map_err(failed)?;
    // The old root lies on the new one now.
    unmount(".", UnmountFlags::DETACH).map_err(failed)?;
    rustix::process::chdir("/").map_err(failed)
}

/// What a program needs and the copy must not show.
fn furnish(devices: [(&str, Result<OwnedFd, Errno>); 3]) -> Result<(), (&'static str, Errno)> {
    for path in SCRATCH {
        cover(path, MountFlags::empty(), SCRATCH_SIZE).map_err(|errno| ("making a folder for its own files", errno))?;
    }
    cover("/run", MountFlags::RDONLY, c"size=0,mode=755").map_err(|errno| ("emptying `/run`", errno))?;
    furnish_devices(devices).map_err(|errno| ("making its devices", errno))?;
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    match mount("proc", "/proc", "proc", flags, None::<&CStr>) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(("showing its own processes in `/proc`", errno)),
    }
}

/// Mounts an empty file system on `path`; nothing to do if that is not there.
fn cover(path: &str, more: MountFlags, options: &CStr) -> Result<bool, Errno> {
    match mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV | more, Some(options)) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
        Err(errno) => Err(errno),
    }
}

fn furnish_devices(devices: [(&str, Result<OwnedFd, Errno>); 3]) -> Result<(), Errno> {
    if !cover("/dev", MountFlags::NOEXEC, c"size=64k,mode=755")? {
        return Ok(());
    }
    for (name, device) in devices {
        let place = format!("/dev/{name}");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        drop(File::from(rustix::fs::open(place.as_str(), flags, Mode::from_raw_mode(0o666))?));
        move_mount(device?, "", CWD, place.as_str(), MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    }
    let links = [("/proc/self/fd", "/dev/fd"), ("fd/0", "/dev/stdin"), ("fd/1", "/dev/stdout"), ("fd/2", "/dev/stderr")];
    links.iter().try_for_each(|(target, place)| rustix::fs::symlink(*target, *place))?;
    rustix::mount::mount_remount("/dev", MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, c"")
}
