//! A program that can look, and change nothing (I6).
//!
//! Several walls stand one behind the other, so that none must be perfect:
//!
//! - namespaces of its own for processes, mounts, network, IPC and host name: no process, socket or queue of the node is in reach;
//! - every mount read-only, without device files and set-user-ID programs; `/tmp` and `/var/tmp` its own, `/run` empty, `/dev` with three devices;
//! - no capability, and none to be had, whichever user it is;
//! - Landlock: no file is opened for writing outside its own folders, fifos and devices included;
//! - seccomp: no system call that makes sockets, traces, mounts, loads or changes modes, owners and extended attributes.
//!
//! Only mounts and namespaces need a recent kernel (5.12). Of Landlock any version is enough, because what later versions add is held
//! by another wall too. Reading is not limited here: what a program may read is what its user may read.

mod calls;
mod mounts;
mod rights;

pub(super) use mounts::enclose;
pub(super) use rights::{give_up_capabilities, restrict};
