//! For the tests of `processes`: the helper, a host, and a program that tries what it must not.
//!
//! `process-helper host TIMEOUT_MS PROGRAM ARGUMENT…` runs a program as `run` does and waits. `process-helper attack FOLDER DEVICE` tries to
//! change things and says of each attempt whether it was let. The host uses this same file as its helper.

#![allow(clippy::disallowed_methods, reason = "this program is for doing what others may not")]

mod attack;

use std::process::ExitCode;
use std::time::Duration;

use host_functions::processes::native::{Leftovers, Manner, Order, Runner, helper};
use zeroize::Zeroizing;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(code) = helper(&arguments) {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["host", timeout, program, rest @ ..] => host(timeout, program, rest),
        ["attack", folder, device] => attack::all(folder, device),
        _ => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

fn host(timeout: &str, program: &str, arguments: &[&str]) {
    let order = Order {
        program: program.to_owned(),
        arguments: arguments.iter().map(|argument| Zeroizing::new(argument.as_bytes().to_vec())).collect(),
        environment: vec![("PATH".to_owned(), Zeroizing::new(b"/usr/sbin:/usr/bin:/sbin:/bin".to_vec()))],
        directory: "/".to_owned(),
        root: None,
        identity: None,
        umask: 0o022,
        stdin: Zeroizing::default(),
        output_limit: 1024,
        timeout: Duration::from_millis(timeout.parse().expect("milliseconds")),
        manner: Manner::Free,
        leftovers: Leftovers::End,
        control_group: None,
    };
    drop(Runner::this_program().run(&order));
}
