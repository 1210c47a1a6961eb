//! A system that says no: full disks, immutable files, read-only mounts, files that others hold.

use rustix::fs::IFlags;

use crate::bindings::runtime::host::files::{HostObject as _, HostStaged as _};
use crate::error::CallError;
use crate::rights::Rights;
use crate::testing::{Attempt, Mount, all_rights, assert_error, attributes, effect};

/// A file or folder that has such a flag until this is dropped. The file system of the temporary folder must have them.
struct Flagged(std::fs::File, IFlags);

impl Flagged {
    fn new(attempt: &Attempt, path: &str, flags: IFlags) -> Self {
        let file = std::fs::File::open(attempt.host(path)).unwrap();
        let before = rustix::fs::ioctl_getflags(&file).unwrap();
        rustix::fs::ioctl_setflags(&file, before | flags).unwrap();
        Self(file, before)
    }
}

impl Drop for Flagged {
    fn drop(&mut self) {
        rustix::fs::ioctl_setflags(&self.0, self.1).unwrap();
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
fn an_immutable_or_append_only_file_stays_and_nothing_is_left_beside_it() {
    for flags in [IFlags::IMMUTABLE, IFlags::APPEND] {
        let mut attempt = Attempt::new();
        attempt.write("/f", b"old");
        let flagged = Flagged::new(&attempt, "/f", flags);
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
        drop(flagged);
        assert_eq!(attempt.names("/"), ["f"]);
        assert_eq!(std::fs::read(attempt.host("/f")).unwrap(), b"old");
    }
}

#[test]
fn in_an_immutable_or_append_only_folder_nothing_is_made_and_nothing_is_left() {
    for flags in [IFlags::IMMUTABLE, IFlags::APPEND] {
        let mut attempt = Attempt::new();
        attempt.write("/d/f", b"old");
        let flagged = Flagged::new(&attempt, "/d", flags);
        for path in ["/d/f", "/d/new"] {
            assert_error!(attempt.put(path, b"new"), CallError::PermissionDenied(_));
        }
        let handle = attempt.observed("/d/new");
        let none = attributes(None, None, None);
        assert_error!(attempt.context.make_directory(handle.borrow(), none), CallError::PermissionDenied(_));
        assert_error!(attempt.context.make_symlink(handle.borrow(), b"x".to_vec(), none), CallError::PermissionDenied(_));
        let handle = attempt.observed("/d/f");
        assert_error!(attempt.context.remove(handle.borrow(), false), CallError::PermissionDenied(_));
        drop(flagged);
        assert_eq!(attempt.names("/d"), ["f"]);
    }
}

#[test]
fn without_a_free_inode_nothing_is_made_and_what_is_kept_stays() {
    let names = ["/small/f.~0~", "/small/f.~1~"].map(|name| effect(name, &["write"]));
    let effects = [effect("/small/**", &["read", "write"])].into_iter().chain(names).collect();
    let mut attempt = Attempt::with(Rights { effects, ..all_rights("file.small") });
    std::fs::create_dir(attempt.host("/small")).unwrap();
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=1m,nr_inodes=3", "tmpfs"], &attempt.host("/small"));
    attempt.write("/small/f", b"old");
    let handle = attempt.observed("/small/f");
    let staged = attempt.stage(handle, b"new").unwrap();
    // The second name would be one too many here: this file system counts names.
    assert_error!(attempt.context.commit_keeping(staged.borrow()), CallError::NoSpace);
    attempt.drop_staged(staged);
    attempt.write("/small/g", b"");
    let handle = attempt.observed("/small/new");
    let none = attributes(None, None, None);
    assert_error!(attempt.stage(handle, b""), CallError::NoSpace);
    assert_error!(attempt.context.make_directory(handle.borrow(), none), CallError::NoSpace);
    assert_error!(attempt.context.make_symlink(handle.borrow(), b"x".to_vec(), none), CallError::NoSpace);
    assert_eq!(attempt.names("/small"), ["f", "g"]);
    assert_eq!(std::fs::read(attempt.host("/small/f")).unwrap(), b"old");
    drop(mount);
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
    let none = attributes(None, None, None);
    assert_error!(
        attempt.context.set_attributes(handle.borrow(), attributes(None, None, Some(0))),
        CallError::PermissionDenied(_)
    );
    assert_error!(attempt.context.make_symlink(handle.borrow(), b"x".to_vec(), none), CallError::PermissionDenied(_));
    let new = attempt.observed("/ro/new");
    assert_error!(attempt.context.make_directory(new.borrow(), none), CallError::PermissionDenied(_));
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
