//! A system that says no: full disks, immutable files, read-only mounts, files that others hold.

use rustix::fs::IFlags;

use crate::bindings::runtime::host::files::HostObject as _;
use crate::error::CallError;
use crate::testing::{Attempt, Mount, assert_error, attributes};

/// A file that cannot be changed or removed until this is dropped.
struct Immutable(std::fs::File);

impl Immutable {
    fn new(attempt: &Attempt, path: &str) -> Self {
        let file = std::fs::File::open(attempt.host(path)).unwrap();
        rustix::fs::ioctl_setflags(&file, IFlags::IMMUTABLE).unwrap();
        Self(file)
    }
}

impl Drop for Immutable {
    fn drop(&mut self) {
        rustix::fs::ioctl_setflags(&self.0, IFlags::empty()).unwrap();
    }
}

#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    let mut attempt = Attempt::new();
    std::fs::create_dir(attempt.host("/small")).unwrap();
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=64k", "tmpfs"], &attempt.host("/small"));
    attempt.put("/small/f", b"old").unwrap();
    assert_error!(attempt.put("/small/f", &vec![b'x'; 200 << 10]), CallError::NoSpace);
    assert_eq!(attempt.names("/small"), ["f"]);
    assert_eq!(std::fs::read(attempt.host("/small/f")).unwrap(), b"old");
    attempt.put("/small/f", &vec![b'y'; 20 << 10]).unwrap();
    drop(mount);
}

#[test]
fn an_immutable_file_stays_and_nothing_is_left_beside_it() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"old");
    let immutable = Immutable::new(&attempt, "/f");
    assert_error!(attempt.put("/f", b"new"), CallError::PermissionDenied(_));
    let handle = attempt.observed("/f");
    assert_error!(attempt.context.remove(handle.borrow(), false), CallError::PermissionDenied(_));
    assert_error!(
        attempt.context.set_attributes(handle.borrow(), attributes(None, None, Some(0o600))),
        CallError::PermissionDenied(_)
    );
    assert_error!(
        attempt.context.make_symlink(handle.borrow(), b"/x".to_vec(), attributes(None, None, None)),
        CallError::PermissionDenied(_)
    );
    drop(immutable);
    assert_eq!(attempt.names("/"), ["f"]);
    assert_eq!(std::fs::read(attempt.host("/f")).unwrap(), b"old");
}

#[test]
fn a_read_only_mount_refuses_and_can_be_read() {
    let mut attempt = Attempt::new();
    attempt.write("/ro/f", b"old");
    let folder = attempt.host("/ro");
    let mount = Mount::new(&["--bind", folder.to_str().unwrap()], &folder);
    crate::testing::run("mount", &["-o", "remount,bind,ro", folder.to_str().unwrap()]);
    let handle = attempt.open("/ro/f").unwrap();
    assert_eq!(attempt.digest(handle).unwrap().unwrap().size, 3);
    assert_error!(attempt.stage(handle, b"new"), CallError::PermissionDenied(_));
    assert_error!(attempt.context.remove(handle.borrow(), false), CallError::PermissionDenied(_));
    drop(mount);
    assert_eq!(attempt.names("/ro"), ["f"]);
}

#[test]
fn a_file_that_is_a_mount_of_its_own_is_busy() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"old");
    attempt.write("/source", b"mounted");
    let source = attempt.host("/source");
    let mount = Mount::new(&["--bind", source.to_str().unwrap()], &attempt.host("/f"));
    assert_error!(attempt.put("/f", b"new"), CallError::Busy(_));
    drop(mount);
    assert_eq!(attempt.names("/"), ["f", "source"]);
    assert_eq!(std::fs::read(attempt.host("/f")).unwrap(), b"old");
}
