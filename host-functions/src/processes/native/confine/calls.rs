//! System calls that a confined program cannot make.
//!
//! What is not listed is allowed: a list of what every program of every distribution needs cannot be kept. The list is one wall of several.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    apply_filter, sock_filter,
};

use super::super::order::Failure;

/// Calls that do not exist in every architecture's table of the crate `libc` have their number here; it is the same everywhere.
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_SETATTR: c_long = 469;

/// Denied with "operation not permitted".
const DENIED: &[c_long] = &[
    // Reaching others.
    libc::SYS_socket,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_perf_event_open,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Leaving.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_lookup_dcookie,
    libc::SYS_fanotify_init,
    // Changing what is there. Modes, owners and attributes are no matter of Landlock.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
    libc::SYS_mknodat,
    // The system as a whole.
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_settimeofday,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_syslog,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_vhangup,
];

/// The same, which only this architecture has.
#[cfg(target_arch = "x86_64")]
const DENIED_HERE: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_mknod,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_kexec_file_load,
];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: &[c_long] = &[];

/// Namespaces that `clone` could make.
const NEW_NAMESPACES: libc::c_int = libc::CLONE_NEWNS
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// Denies this process, and all that it becomes or starts, those calls.
pub(super) fn restrict() -> Result<(), Failure> {
    let failed = |error: &dyn std::error::Error| Failure::confine("limiting system calls by seccomp", error);
    let denied = filter(rules(), libc::EPERM).map_err(|error| failed(&error))?;
    // Its flags lie in memory, where no filter can see them; told that it does not exist, programs use `clone`.
    let absent = BTreeMap::from([(libc::SYS_clone3, vec![])]);
    let absent = filter(absent, libc::ENOSYS).map_err(|error| failed(&error))?;
    [absent, denied].iter().try_for_each(|program| apply_filter(program)).map_err(|error| failed(&error))
}

fn rules() -> BTreeMap<c_long, Vec<SeccompRule>> {
    let mut rules: BTreeMap<_, _> = DENIED.iter().chain(DENIED_HERE).map(|call| (*call, vec![])).collect();
    let bits: Vec<u64> = (0..32).map(|bit| 1 << bit).filter(|bit| NEW_NAMESPACES as u64 & bit != 0).collect();
    let namespaces = bits.into_iter().filter_map(|bit| {
        let set = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bit), bit).ok()?;
        SeccompRule::new(vec![set]).ok()
    });
    rules.insert(libc::SYS_clone, namespaces.collect());
    rules
}

fn filter(rules: BTreeMap<c_long, Vec<SeccompRule>>, errno: libc::c_int) -> Result<BpfProgram, seccompiler::BackendError> {
    let here = TargetArch::try_from(std::env::consts::ARCH)?;
    let action = SeccompAction::Errno(errno.unsigned_abs());
    let program: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, action, here)?.try_into()?;
    Ok(if here == TargetArch::x86_64 { without_second_numbering(program) } else { program })
}

/// On x86-64 the kernel may know each call by a second number (x32), which no rule above names: those are denied all.
fn without_second_numbering(program: BpfProgram) -> BpfProgram {
    const LOAD_NUMBER: sock_filter = sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };
    const SKIP_IF_BELOW: sock_filter = sock_filter { code: 0x35, jt: 0, jf: 1, k: 0x4000_0000 };
    let deny = sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | libc::EPERM.unsigned_abs() };
    [LOAD_NUMBER, SKIP_IF_BELOW, deny].into_iter().chain(program).collect()
}
