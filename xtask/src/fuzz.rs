//! Fuzzing: what takes text or bytes from strangers, fed with what no one would write.
//!
//! `tests/fuzz` is the loop and its targets. Here it is compiled so that it sees which code an input reaches, which stable rustc can do for
//! whichever crates it is asked: cargo has us stand between it and rustc for the crates of the workspace ([`stand_in`]), so that all other
//! dependencies are those that are there already. docs/decisions/0079-fuzzing.md says why.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::command::{built_folder, expect, output, run_with};
use crate::{Failure, setup};

/// Tells us that cargo runs us in the place of rustc.
const STANDS_IN: &str = "XTASK_STANDS_IN_FOR_RUSTC";

/// What is compiled with counters: what is fuzzed, and the loop.
const COUNTED: [&str; 3] = ["runtime", "host_functions", "fuzz"];

/// What has rustc put counters in.
const FLAGS: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=3",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    // Less for the compiler to do; a stack trace still has its lines.
    "-Clto=off",
    "-Cdebuginfo=line-tables-only",
];

/// Of these crates unoptimised code would try too few inputs. Overflow checks stay.
const OPTIMISED: [&str; 3] = ["runtime", "host-functions", "fuzz"];

/// How long a target is fed where nothing else is said.
const SECONDS: &str = "60";

/// Feeds the targets that `arguments` ask for.
pub(crate) fn run(arguments: &[&str]) -> Result<(), Failure> {
    let wanted = Wanted::of(arguments)?;
    setup::wasm()?;
    let program = build()?;
    if let Some(file) = wanted.replay {
        let target = wanted.target.ok_or_else(|| "`--replay FILE` needs a target".to_owned())?;
        return expect(&[program.as_str(), "replay", target, file], 0);
    }
    let listed = output(&[&program, "list"]).ok_or_else(|| format!("`{program} list` failed"))?;
    let targets: Vec<&str> = match wanted.target {
        Some(target) => vec![target],
        None => listed.lines().collect(),
    };
    let folder = folder()?;
    check_guided(&program, &folder)?;
    feed_all(&targets, |target| feed(&program, target, &wanted, &folder))
}

/// What the command line asks for.
struct Wanted<'a> {
    target: Option<&'a str>,
    seconds: &'a str,
    seed: String,
    replay: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn of(arguments: &[&'a str]) -> Result<Self, Failure> {
        let (target, mut rest) = match arguments {
            [target, rest @ ..] if !target.starts_with('-') => (Some(*target), rest),
            rest => (None, rest),
        };
        // Each time others: what a finding depends on is its input, which is kept.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let mut wanted = Self { target, seconds: SECONDS, seed: now.to_string(), replay: None };
        while let [option, value, more @ ..] = rest {
            let is_number = value.parse::<u64>().is_ok();
            match *option {
                "--seconds" if is_number => wanted.seconds = value,
                "--seed" if is_number => wanted.seed = (*value).to_owned(),
                "--replay" => wanted.replay = Some(value),
                _ => return Err(format!("`fuzz` does not take `{option} {value}`")),
            }
            rest = more;
        }
        if rest.is_empty() { Ok(wanted) } else { Err(format!("`fuzz` does not take `{}`", rest.join(" "))) }
    }
}

/// The program, with counters.
fn build() -> Result<String, Failure> {
    let ourselves = std::env::current_exe().map_err(|error| format!("our own program cannot be found: {error}"))?;
    let ourselves = ourselves.display().to_string();
    let optimised: Vec<String> = OPTIMISED.iter().map(|name| format!("profile.dev.package.{name}.opt-level=1")).collect();
    let mut command = vec!["cargo", "build", "--locked", "--package", "fuzz"];
    command.extend(optimised.iter().flat_map(|setting| ["--config", setting]));
    run_with(&command, &[("RUSTC_WORKSPACE_WRAPPER", &ourselves), (STANDS_IN, "1")])?;
    Ok(built_folder()?.join("fuzz").display().to_string())
}

/// Where inputs are noted and findings kept.
fn folder() -> Result<PathBuf, Failure> {
    Ok(built_folder()?.join("fuzz-findings"))
}

/// Feeds a target whose flaw only a loop with counters finds, so that a compiler that leaves them out cannot pass unseen.
fn check_guided(program: &str, folder: &Path) -> Result<(), Failure> {
    let folder = folder.display().to_string();
    let maze = [program, "run", "faulty-maze", "--seconds", "60", "--seed", "1", "--folder", &folder];
    let found = Command::new(program).args(&maze[1..]).output().map_err(|error| format!("`{program}` cannot be run: {error}"))?;
    let said = String::from_utf8_lossy(&found.stderr);
    if said.contains("the way out") {
        return Ok(());
    }
    Err(format!("the loop is not guided by what its inputs reach: `{}` found nothing\n{said}", maze.join(" ")))
}

fn feed(program: &str, target: &str, wanted: &Wanted<'_>, folder: &Path) -> Result<(), Failure> {
    let folder = folder.display().to_string();
    expect(&[program, "run", target, "--seconds", wanted.seconds, "--seed", &wanted.seed, "--folder", &folder], 0)
}

/// As many at a time as there are processors. Each has its turn, whatever the others find.
fn feed_all(targets: &[&str], feed: impl Fn(&str) -> Result<(), Failure> + Sync) -> Result<(), Failure> {
    let (waiting, failed) = (Mutex::new(targets.iter()), Mutex::new(Vec::new()));
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next().copied());
    let work = || {
        while let Some(target) = next() {
            if let (Err(_), Ok(mut failed)) = (feed(target), failed.lock()) {
                failed.push(target);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().map_err(|_| "a target could not be fed".to_owned())?;
    if failed.is_empty() { Ok(()) } else { Err(format!("found something in {}: see above", failed.join(", "))) }
}

/// Whether cargo runs us in the place of rustc: then we are it, with more arguments for the crates that are to have counters.
pub(crate) fn stand_in(arguments: &[&str]) -> Option<Result<(), Failure>> {
    std::env::var_os(STANDS_IN)?;
    let [rustc, arguments @ ..] = arguments else { return None };
    let mut command = Command::new(rustc);
    command.args(arguments);
    if is_counted(arguments) {
        command.args(FLAGS);
    }
    let status = command.status().map_err(|error| format!("`{rustc}` cannot be run: {error}"));
    Some(status.and_then(|status| if status.success() { Ok(()) } else { Err(format!("`{rustc}` failed")) }))
}

fn is_counted(arguments: &[&str]) -> bool {
    arguments.windows(2).any(|pair| pair[0] == "--crate-name" && COUNTED.contains(&pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_read_strictly() {
        let wanted = Wanted::of(&["policy", "--seconds", "5", "--seed", "9"]).unwrap();
        assert_eq!((wanted.target, wanted.seconds, wanted.seed.as_str()), (Some("policy"), "5", "9"));
        assert_eq!(Wanted::of(&[]).unwrap().seconds, SECONDS);
        for wrong in [&["--seconds"][..], &["--seconds", "x"], &["a", "b"], &["--minutes", "1"]] {
            assert!(Wanted::of(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn only_what_is_fuzzed_has_counters() {
        assert!(is_counted(&["--crate-name", "runtime", "--edition=2024"]));
        assert!(!is_counted(&["--crate-name", "build_script_build"]));
        assert!(!is_counted(&["-", "--crate-name", "___", "--print=file-names"]));
    }

    #[test]
    fn every_target_has_its_turn_and_each_that_fails_is_named() {
        let fed = Mutex::new(Vec::new());
        let result = feed_all(&["a", "b", "c", "d"], |target| {
            fed.lock().unwrap().push(target.to_owned());
            if target == "b" { Err("found".to_owned()) } else { Ok(()) }
        });
        assert_eq!(result, Err("found something in b: see above".to_owned()));
        let mut fed = fed.into_inner().unwrap();
        fed.sort();
        assert_eq!(fed, ["a", "b", "c", "d"]);
    }
}
