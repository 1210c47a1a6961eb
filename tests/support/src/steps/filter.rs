//! The filter: which system calls ask before they are done.

use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

use libc::{c_long, sock_filter};

/// Loads the number of the call.
const LOAD_NUMBER: sock_filter = statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0);

const fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Has the calls of these numbers ask, of this thread and of whatever it starts from now on. Gives what hears of them.
#[expect(unsafe_code, reason = "no crate at hand has filters that ask")]
pub(super) fn install(numbers: &[c_long]) -> io::Result<OwnedFd> {
    let program = program(numbers);
    let length = program.len().try_into().map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the filter and its length are those of a vector that lives until the kernel has copied it.
    let listener = unsafe {
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        libc::syscall(libc::SYS_seccomp, c_long::from(libc::SECCOMP_SET_MODE_FILTER), flags, &raw const program)
    };
    match RawFd::try_from(listener) {
        // SAFETY: the kernel has just made it, for us alone.
        Ok(listener) if listener >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(listener) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Compares with each number in turn: one that is found jumps over the rest, to the end.
fn program(numbers: &[c_long]) -> Vec<sock_filter> {
    let compare = |(index, number): (usize, &c_long)| {
        let to_the_end = u8::try_from(numbers.len() - index).expect("there are fewer than 256 of them");
        let code = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        let number = u32::try_from(*number).expect("numbers of calls are small");
        sock_filter { jt: to_the_end, ..statement(code, number) }
    };
    let end = [
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_USER_NOTIF),
    ];
    [LOAD_NUMBER].into_iter().chain(numbers.iter().enumerate().map(compare)).chain(end).collect()
}
