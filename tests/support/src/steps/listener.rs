//! Hearing of calls that wait, and answering them.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::Duration;

use libc::{Ioctl, seccomp_data, seccomp_notif, seccomp_notif_resp};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// A call that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) id: u64,
    /// Whose call it is.
    pub(super) thread: u32,
    /// Which call.
    pub(super) number: i64,
    pub(super) arguments: [u64; 6],
}

/// What was heard.
pub(super) enum Next {
    Call(Call),
    Nothing,
    /// There is nobody left to hear of.
    Gone,
}

/// Hears of calls. When it is dropped, those that wait fail.
pub(super) struct Listener(OwnedFd);

impl Listener {
    pub(super) fn new(listener: OwnedFd) -> Self {
        Self(listener)
    }

    /// Waits for the next call.
    pub(super) fn next(&self, timeout: Duration) -> Next {
        let timeout = Timespec::try_from(timeout).expect("it is short");
        let mut listener = [PollFd::new(&self.0, PollFlags::IN)];
        let heard = poll(&mut listener, Some(&timeout)).unwrap_or(0);
        let heard = if heard == 0 { PollFlags::empty() } else { listener[0].revents() };
        if heard.contains(PollFlags::IN) {
            // Who asked may be dead already.
            return self.receive().map_or(Next::Nothing, Next::Call);
        }
        if heard.contains(PollFlags::HUP) { Next::Gone } else { Next::Nothing }
    }

    fn receive(&self) -> Option<Call> {
        let data = seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] };
        let mut heard = seccomp_notif { id: 0, pid: 0, flags: 0, data };
        self.ask(libc::SECCOMP_IOCTL_NOTIF_RECV, &mut heard).then(|| Call {
            id: heard.id,
            thread: heard.pid,
            number: heard.data.nr.into(),
            arguments: heard.data.args,
        })
    }

    /// Has it done.
    pub(super) fn go_on(&self, call: u64) {
        let flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).expect("it is one bit");
        self.answer(seccomp_notif_resp { id: call, val: 0, error: 0, flags });
    }

    /// Has it fail without being done.
    pub(super) fn fail(&self, call: u64, errno: Errno) {
        self.answer(seccomp_notif_resp { id: call, val: 0, error: -errno.raw_os_error(), flags: 0 });
    }

    fn answer(&self, mut answer: seccomp_notif_resp) {
        // It fails where who asked is dead, and needs no answer then.
        self.ask(libc::SECCOMP_IOCTL_NOTIF_SEND, &mut answer);
    }

    #[expect(unsafe_code, reason = "no crate at hand has these requests")]
    fn ask<T>(&self, request: Ioctl, value: &mut T) -> bool {
        // SAFETY: each of the two requests above comes with a value of the type that it is of.
        unsafe { libc::ioctl(self.0.as_raw_fd(), request, std::ptr::from_mut(value)) == 0 }
    }
}
