//! Where a program runs: inside the node's root, and where everything is read-only if it only reads. Made before the fork, entered after it.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;

use rustix::io::Errno;
use rustix::process::Signal;

use super::{Mode, Order};
use crate::node::Root;
use crate::node::identity::Identity;

/// Where a program runs.
pub(super) struct Place {
    /// The root, by path: in an own mount namespace the descriptor would still be of the outer one.
    path: CString,
    identity: Identity,
    is_system: bool,
    mode: Mode,
    scratch: Vec<Scratch>,
}

impl Place {
    pub(super) fn of(root: &Root, order: &Order) -> std::io::Result<Self> {
        let path = CString::new(root.path().as_os_str().as_bytes())?;
        let scratch =
            order.scratch.iter().enumerate().map(|(number, folder)| Scratch::of(number, folder)).collect::<Result<_, _>>()?;
        Ok(Self { path, identity: root.identity(), is_system: root.is_system(), mode: order.mode, scratch })
    }

    /// Called between fork and exec: system calls alone.
    pub(super) fn enter(&self) -> Result<(), Errno> {
        // A manager that changes the node is let finish when the host is lost: ended in the middle it leaves more to mend.
        if self.mode == Mode::Read {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            read_only()?;
        }
        if !self.is_system || self.mode == Mode::Read {
            // "Not found" would be taken for a missing program.
            rustix::process::chdir(self.path.as_c_str()).map_err(|_| Errno::STALE)?;
            if Identity::of(&rustix::fs::stat(c".")?) != self.identity {
                return Err(Errno::STALE);
            }
        }
        if !self.is_system {
            rustix::process::chroot(c".")?;
        }
        if self.mode == Mode::Read {
            room();
            self.scratch.iter().try_for_each(Scratch::mount)?;
        }
        rustix::process::chdir(c"/")
    }
}

/// Makes everything read-only for this process, in a mount namespace of its own.
fn read_only() -> Result<(), Errno> {
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS).map_err(|errno| Errno::from_raw_os_error(errno as i32))?;
    let private = rustix::mount::MountPropagationFlags::PRIVATE | rustix::mount::MountPropagationFlags::REC;
    rustix::mount::mount_change(c"/", private)?;
    let attributes = libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
    #[allow(unsafe_code, reason = "no library here has the system call")]
    // SAFETY: the pointers are of a terminated text and of a structure that lives through the call, with its size.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            c"/".as_ptr(),
            libc::AT_RECURSIVE,
            std::ptr::from_ref(&attributes),
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)) }
}

/// Room for what programs must write somewhere; it is gone with the process. A folder that is not there needs none.
fn room() {
    for folder in [c"/tmp", c"/var/tmp", c"/var/log", c"/run/lock"] {
        let flags = rustix::mount::MountFlags::NOSUID | rustix::mount::MountFlags::NODEV;
        let _ = rustix::mount::mount(c"tmpfs", folder, c"tmpfs", flags, Some(c"size=1g,mode=1777"));
    }
}

/// A folder with a layer over it that is gone with the process.
struct Scratch {
    folder: CString,
    above: [CString; 3],
    options: CString,
}

impl Scratch {
    fn of(number: usize, folder: &str) -> std::io::Result<Self> {
        let (layer, upper, work) = (format!("/tmp/{number}"), format!("/tmp/{number}/upper"), format!("/tmp/{number}/work"));
        let options = format!("lowerdir={folder},upperdir={upper},workdir={work}");
        let above = [CString::new(layer)?, CString::new(upper)?, CString::new(work)?];
        Ok(Self { folder: CString::new(folder)?, above, options: CString::new(options)? })
    }

    /// Called between fork and exec: system calls alone. A folder that is not there needs no layer, and neither does a symbolic link: where it
    /// leads has its own.
    fn mount(&self) -> Result<(), Errno> {
        let stat = rustix::fs::statat(rustix::fs::CWD, &self.folder, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
        if !stat.is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory) {
            return Ok(());
        }
        for folder in &self.above {
            rustix::fs::mkdir(folder, rustix::fs::Mode::RWXU)?;
        }
        let flags = rustix::mount::MountFlags::NOSUID | rustix::mount::MountFlags::NODEV;
        rustix::mount::mount(c"overlay", &self.folder, c"overlay", flags, Some(self.options.as_c_str()))
    }
}
