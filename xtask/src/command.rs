//! Running commands in the open.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Failure;

/// The folder of the workspace.
pub(crate) fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// The folder with what this cargo builds in the profile that it built us in.
pub(crate) fn built_folder() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe().map_err(|error| format!("our own program cannot be found: {error}"))?;
    program.parent().map(Path::to_owned).ok_or_else(|| "our own program has no folder".to_owned())
}

/// Prints a command, runs it in the workspace's folder and wants it to succeed.
pub(crate) fn run<S: AsRef<str>>(command: &[S]) -> Result<(), Failure> {
    expect(command, 0)
}

/// The same with variables of the environment.
pub(crate) fn run_with<S: AsRef<str>>(command: &[S], variables: &[(&str, &str)]) -> Result<(), Failure> {
    ended(command, variables, 0)
}

/// Prints a command, runs it in the workspace's folder and wants it to exit with `code`.
pub(crate) fn expect<S: AsRef<str>>(command: &[S], code: i32) -> Result<(), Failure> {
    ended(command, &[], code)
}

fn ended<S: AsRef<str>>(command: &[S], variables: &[(&str, &str)], code: i32) -> Result<(), Failure> {
    let set: String = variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
    let line = format!("{set}{}", shown(command));
    eprintln!("\n$ {line}");
    let status =
        prepared(command).envs(variables.iter().copied()).status().map_err(|error| format!("`{line}` cannot be run: {error}"))?;
    match status.code() {
        Some(found) if found == code => Ok(()),
        Some(found) => Err(format!("`{line}` exited {found}, not {code}")),
        None => Err(format!("`{line}` was ended ({status})")),
    }
}

/// What a command prints, without showing it; none if it cannot be run or fails.
pub(crate) fn output(command: &[&str]) -> Option<String> {
    let output = prepared(command).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Refuses unless we run as root, and says what needs it and how to type it.
pub(crate) fn require_root(what: &str, command: &str) -> Result<(), Failure> {
    if output(&["id", "-u"]).as_deref().map(str::trim) == Some("0") {
        return Ok(());
    }
    Err(format!("{what}: run them as root (`sudo -E env PATH=\"$PATH\" cargo xtask {command}`)"))
}

fn prepared<S: AsRef<str>>(command: &[S]) -> Command {
    let mut words = command.iter().map(AsRef::as_ref);
    let mut prepared = Command::new(words.next().unwrap_or_default());
    prepared.args(words).current_dir(workspace()).stdin(Stdio::null());
    // Cargo sets these for the packages that it runs; a cargo within must not take them for its own.
    for (name, _) in std::env::vars_os() {
        let of_package = name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"));
        if of_package {
            prepared.env_remove(name);
        }
    }
    prepared
}

/// A command as one would type it: words with blanks in quotes, paths beneath the workspace without it.
fn shown<S: AsRef<str>>(command: &[S]) -> String {
    let folder = format!("{}/", workspace().display());
    let quoted = |word: &str| {
        let word = word.replace(&folder, "");
        if word.contains([' ', '*']) { format!("'{word}'") } else { word }
    };
    command.iter().map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_exit_code_than_the_expected_is_a_failure() {
        assert_eq!(expect(&["sh", "-c", "exit 2"], 2), Ok(()));
        assert_eq!(expect(&["sh", "-c", "exit 2"], 0), Err("`sh -c 'exit 2'` exited 2, not 0".to_owned()));
        assert!(expect(&["sh", "-c", "kill -9 $$"], 0).is_err_and(|failure| failure.contains("was ended")));
        assert!(run(&["no-such-program"]).is_err_and(|failure| failure.contains("cannot be run")));
    }

    #[test]
    fn output_is_none_where_a_command_fails() {
        assert_eq!(output(&["sh", "-c", "echo yes"]).as_deref(), Some("yes\n"));
        assert_eq!(output(&["sh", "-c", "echo yes; exit 1"]), None);
    }
}
