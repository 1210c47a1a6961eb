//! What a program that only looks must not get done. Each attempt prints `NAME done` or `NAME ERRNO`; none does harm if it succeeds on a test's own folder.

#![allow(unsafe_code, reason = "system calls by number")]

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::AsRawFd as _;

/// Tries everything. `folder` has a file `file`, a directory `empty`, a fifo `fifo` that somebody reads, and a socket `socket` that somebody listens on;
/// `device` is a device node outside of it.
pub fn all(folder: &str, device: &str) {
    let path = |name: &str| format!("{folder}/{name}");
    let file = path("file");
    tell("write", fs::write(&file, "changed"));
    tell("append", fs::OpenOptions::new().append(true).open(&file));
    tell("truncate", call(|| unsafe { libc::truncate(c(&file).as_ptr(), 0) }));
    tell("create", fs::write(path("new"), "new"));
    tell("make-directory", fs::create_dir(path("new-directory")));
    tell("remove", fs::remove_file(&file));
    tell("remove-directory", fs::remove_dir(path("empty")));
    tell("rename", fs::rename(&file, path("renamed")));
    tell("hard-link", fs::hard_link(&file, path("linked")));
    tell("symbolic-link", std::os::unix::fs::symlink(&file, path("symlinked")));
    tell("mode", call(|| unsafe { libc::chmod(c(&file).as_ptr(), 0o777) }));
    let read_only = fs::File::open(&file);
    if let Ok(opened) = &read_only {
        tell("mode-of-opened", call(|| unsafe { libc::fchmod(opened.as_raw_fd(), 0o777) }));
        tell("owner-of-opened", call(|| unsafe { libc::fchown(opened.as_raw_fd(), 1, 1) }));
        let name = c"user.test";
        tell("attribute", call(|| unsafe { libc::fsetxattr(opened.as_raw_fd(), name.as_ptr(), name.as_ptr().cast(), 1, 0) }));
        tell("times", call(|| unsafe { libc::futimens(opened.as_raw_fd(), std::ptr::null()) }));
    }
    tell("owner", call(|| unsafe { libc::chown(c(&file).as_ptr(), 1, 1) }));
    tell("make-device", call(|| unsafe { libc::mknod(c(&path("node")).as_ptr(), libc::S_IFCHR | 0o666, libc::makedev(1, 3)) }));
    tell("write-to-fifo", fs::OpenOptions::new().write(true).open(path("fifo")));
    tell("connect", std::os::unix::net::UnixStream::connect(path("socket")));
    tell("open-device", fs::OpenOptions::new().read(true).open(device));
    tell("internet-socket", std::net::TcpListener::bind("127.0.0.1:0"));
    tell("signal-parent", call(|| unsafe { libc::kill(1, libc::SIGKILL) }).and_then(|()| alive_after_signal()));
    tell("trace", call(|| unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) as libc::c_int }));
    let mount = || unsafe { libc::mount(c"none".as_ptr(), c"/tmp".as_ptr(), c"tmpfs".as_ptr(), 0, std::ptr::null()) };
    tell("mount", call(mount));
    let remount =
        || unsafe { libc::mount(c"none".as_ptr(), c"/".as_ptr(), std::ptr::null(), libc::MS_REMOUNT, std::ptr::null()) };
    tell("remount", call(remount));
    tell("unmount", call(|| unsafe { libc::umount2(c"/run".as_ptr(), libc::MNT_DETACH) }));
    tell("user-namespace", call(|| unsafe { libc::unshare(libc::CLONE_NEWUSER) }));
    tell("change-root", call(|| unsafe { libc::chroot(c"/tmp".as_ptr()) }));
    tell("host-name", call(|| unsafe { libc::sethostname(c"changed".as_ptr(), 7) }));
    tell("key", call(|| unsafe { libc::syscall(libc::SYS_keyctl, 0, -3, 0, 0, 0) as libc::c_int }));
    tell("bpf", call(|| unsafe { libc::syscall(libc::SYS_bpf, 0, 0, 0) as libc::c_int }));
    tell("io-uring", call(|| unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, 0) as libc::c_int }));
    tell("kernel-setting", fs::OpenOptions::new().write(true).open("/proc/sys/kernel/hostname"));
    tell("own-files", fs::write("/tmp/own", "own").and_then(|()| fs::read("/tmp/own")));
    tell("null-device", fs::write("/dev/null", "x"));
}

/// The first process of a namespace cannot be killed from inside: the signal is accepted and nothing happens.
fn alive_after_signal() -> io::Result<()> {
    std::thread::sleep(std::time::Duration::from_millis(20));
    Err(io::Error::from_raw_os_error(libc::EPERM))
}

fn c(text: &str) -> CString {
    CString::new(text).expect("a path without NUL")
}

fn call(call: impl FnOnce() -> libc::c_int) -> io::Result<()> {
    if call() == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn tell<T>(name: &str, result: io::Result<T>) {
    match result {
        Ok(_) => println!("{name} done"),
        Err(error) => println!("{name} {}", error.raw_os_error().unwrap_or(-1)),
    }
}
