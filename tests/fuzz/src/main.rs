//! Fuzz targets for what takes text or bytes from strangers, and the loop that feeds them: `cargo xtask fuzz`.
//!
//! `fuzz run TARGET` is the watch: it starts `fuzz work TARGET`, which feeds one input after the other to the target in a process of its own and
//! notes each before it does. Whatever ends that process (a panic, an overflown stack, too much memory, too much time) is a finding, and the
//! noted input is what found it. The loop is guided by which code an input reaches, where `cargo xtask fuzz` has compiled for that; it knows nothing
//! of formats. What a target knows of its own is where its inputs start from and how they are best changed (`targets/`).
//! docs/decisions/0079-fuzzing.md says why it is built like this.
#![allow(
    clippy::disallowed_methods,
    reason = "a developer's tool: it reads the source tree, writes inputs and runs itself, never on a node"
)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

mod coverage;
mod memory;
mod mutate;
mod random;
mod seeds;
mod targets;
mod watch;
mod work;

use self::targets::Target;

#[global_allocator]
static ALLOCATOR: memory::Bounded = memory::Bounded;

const USAGE: &str = "\
Usage: fuzz list
       fuzz run TARGET --seconds N --seed N --folder DIR    (`cargo xtask fuzz` does this)
       fuzz replay TARGET FILE...";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["list"] => {
            targets::all().iter().for_each(|target| println!("{}", target.name));
            Ok(())
        }
        ["run", name, "--seconds", seconds, "--seed", seed, "--folder", folder] => {
            task(name, seconds, seed, folder).and_then(|task| watch::run(&task))
        }
        ["work", name, "--seconds", seconds, "--seed", seed, "--folder", folder] => {
            task(name, seconds, seed, folder).and_then(|task| work::run(&task))
        }
        ["replay", name, files @ ..] if !files.is_empty() => find(name).and_then(|target| work::replay(&target, files)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(64);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("fuzz: {why}");
            ExitCode::FAILURE
        }
    }
}

/// What to do.
struct Task {
    target: Target,
    /// For how long.
    time: Duration,
    /// What the random choices start from.
    seed: u64,
    /// Where notes and findings go.
    folder: PathBuf,
}

fn task(name: &str, seconds: &str, seed: &str, folder: &str) -> Result<Task, String> {
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no number"));
    Ok(Task { target: find(name)?, time: Duration::from_secs(number(seconds)?), seed: number(seed)?, folder: folder.into() })
}

fn find(name: &str) -> Result<Target, String> {
    let found = targets::all().into_iter().chain(targets::faulty::all()).find(|target| target.name == name);
    found.ok_or_else(|| {
        let known: Vec<&str> = targets::all().iter().map(|target| target.name).collect();
        format!("there is no target `{name}`: there are {}", known.join(", "))
    })
}
