//! From what was typed to what a run uses. The one place that reads the environment, the home folder and the terminal.
//!
//! [`Environment`] is read once; everything after is a function of it and of the arguments, so that the defaults are tested without
//! touching the process.
#![allow(clippy::disallowed_methods, reason = "the environment is read here, so that nothing else reads it")]

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};

use super::args::{Color, CompileArgs, Everywhere, InputOptions, NodeOptions, RunOptions, StateOptions};
use super::error::CliError;
use crate::model::report::RunMode;
use crate::report::line;
use crate::run::{CompileRequest, NodeRequest, StateRequest};

mod sources;

/// Where the policy of this machine is.
pub const POLICY_PATH: &str = "/etc/runtime/policy.hcl";

/// Where the secrets of this machine are.
pub const SECRETS_PATH: &str = "/etc/runtime/secrets";

/// How many resources are taken on at once without being asked: more than there are processors, since most of what changes a node waits for its disk.
const DEFAULT_PARALLELISM: usize = 16;

/// What the process was started with.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// Whether the effective user is root.
    pub is_root: bool,
    /// `$HOME`.
    pub home: Option<PathBuf>,
    /// `$XDG_STATE_HOME`.
    pub state_home: Option<PathBuf>,
    /// `$XDG_CACHE_HOME`.
    pub cache_home: Option<PathBuf>,
    /// `$RUNTIME_CACHE_DIR`, which holds over the other places for compiled code.
    pub cache_dir: Option<PathBuf>,
    /// The policy at [`POLICY_PATH`], if anything is there.
    pub policy: Option<PathBuf>,
    /// Whether a person watches stderr.
    pub stderr_is_terminal: bool,
    /// Whether `auto` means colour on stdout.
    pub stdout_colour: bool,
    /// Whether `auto` means colour on stderr.
    pub stderr_colour: bool,
    /// Where temporary files go.
    pub scratch: PathBuf,
    /// This program's own file.
    pub program: Option<PathBuf>,
    /// All variables, for tools that are started.
    pub variables: Vec<(OsString, OsString)>,
}

impl Environment {
    /// Reads it from the process.
    pub fn read() -> Self {
        // A relative path in these variables is to be ignored, as their specification says.
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Self {
            is_root: is_root(),
            home: folder("HOME"),
            state_home: folder("XDG_STATE_HOME"),
            cache_home: folder("XDG_CACHE_HOME"),
            cache_dir: folder("RUNTIME_CACHE_DIR"),
            policy: present(Path::new(POLICY_PATH)),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            stdout_colour: AutoStream::choice(&std::io::stdout()) != ColorChoice::Never,
            stderr_colour: AutoStream::choice(&std::io::stderr()) != ColorChoice::Never,
            scratch: std::env::temp_dir(),
            program: std::env::current_exe().ok(),
            variables: std::env::vars_os().collect(),
        }
    }

    fn state_dir(&self) -> Option<PathBuf> {
        if self.is_root {
            return Some(PathBuf::from("/var/lib/runtime"));
        }
        let base = self.state_home.clone().or_else(|| Some(self.home.as_ref()?.join(".local/state")));
        base.map(|base| base.join("runtime"))
    }

    fn cache(&self) -> Option<PathBuf> {
        if self.cache_dir.is_some() {
            return self.cache_dir.clone();
        }
        if self.is_root {
            return Some(PathBuf::from("/var/cache/runtime"));
        }
        let base = self.cache_home.clone().or_else(|| Some(self.home.as_ref()?.join(".cache")));
        base.map(|base| base.join("runtime"))
    }
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

/// `path` unless it is certain that nothing is there: a policy that cannot be read must not count as none.
fn present(path: &Path) -> Option<PathBuf> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        _ => Some(path.to_owned()),
    }
}

/// How this process speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Speech {
    /// Records on stdout instead of text.
    pub json: bool,
    /// Colour on stdout.
    pub stdout_colour: bool,
    /// Colour on stderr.
    pub stderr_colour: bool,
    /// A progress bar on stderr.
    pub progress: bool,
    /// 0 is silence, 1 what is done, 2 and more details.
    pub verbosity: u8,
}

impl Speech {
    /// What the options and the terminal give together.
    pub fn new(everywhere: &Everywhere, environment: &Environment) -> Self {
        let colour = |auto: bool| match everywhere.color {
            Color::Auto => auto,
            Color::Always => true,
            Color::Never => false,
        };
        Self {
            json: everywhere.json,
            stdout_colour: colour(environment.stdout_colour),
            stderr_colour: colour(environment.stderr_colour),
            progress: environment.stderr_is_terminal && everywhere.verbose == 0,
            verbosity: everywhere.verbose,
        }
    }
}

/// The request to compile `args.manifest`.
///
/// # Errors
/// If the current folder is gone, to which paths are relative.
pub fn compile_request(args: &CompileArgs, environment: &Environment) -> Result<CompileRequest, CliError> {
    keep_what_is_read(args)?;
    inputs_request(&args.manifest, &args.output, &args.inputs, environment)
}

/// Refuses an output that is one of the files that are read.
fn keep_what_is_read(args: &CompileArgs) -> Result<(), CliError> {
    let Ok(output) = args.output.canonicalize() else { return Ok(()) };
    let InputOptions { variable_files, target, modules, .. } = &args.inputs;
    let read = [&args.manifest].into_iter().chain(variable_files).chain(target).chain(modules.iter().map(|(_, path)| path));
    for path in read {
        if path.canonicalize().is_ok_and(|path| path == output) {
            let shown = line(&path.display().to_string());
            return Err(CliError::Usage {
                message: format!("the bundle would take the place of `{shown}`, which it is made from"),
                hint: "give another file with `--output`".into(),
            });
        }
    }
    Ok(())
}

/// The request to compile `manifest` without writing; the output is a name only.
///
/// # Errors
/// As [`compile_request`].
pub fn validate_request(manifest: &Path, inputs: &InputOptions, environment: &Environment) -> Result<CompileRequest, CliError> {
    inputs_request(manifest, &manifest.with_extension("wasm.tar"), inputs, environment)
}

fn inputs_request(
    manifest: &Path,
    output: &Path,
    inputs: &InputOptions,
    environment: &Environment,
) -> Result<CompileRequest, CliError> {
    Ok(CompileRequest {
        manifest: manifest.to_owned(),
        output: output.to_owned(),
        variables: inputs.variables.clone(),
        variable_files: inputs.variable_files.clone(),
        target_facts: inputs.target.clone(),
        modules: inputs.modules.clone(),
        sources: sources::settings(&inputs.sources, environment)?,
        cache: inputs.cache_dir.clone().or_else(|| environment.cache()),
        scratch: environment.scratch.clone(),
    })
}

/// Where compiled code is kept: `given`, else where this machine has it.
pub fn cache(given: Option<&Path>, environment: &Environment) -> Option<PathBuf> {
    given.map(Path::to_owned).or_else(|| environment.cache())
}

/// The request for a run with `bundle` on the node that `node` names. Only recovery can do without a bundle.
///
/// # Errors
/// If there is no place for the state.
pub fn node_request(
    bundle: Option<&Path>,
    node: &NodeOptions,
    mode: RunMode,
    run: Option<&RunOptions>,
    environment: &Environment,
) -> Result<NodeRequest, CliError> {
    let parallelism = run.and_then(|run| run.parallelism).map(usize::from);
    Ok(NodeRequest {
        bundle: bundle.map(Path::to_owned),
        root: root(node.state.root.as_deref()),
        state_dir: state_dir(&node.state, environment)?,
        // The policy is this machine's also for another root: what lies below a folder must not say what may be done to it.
        policy: node.policy.clone().or_else(|| environment.policy.clone()),
        secrets_dir: run.and_then(|run| run.secrets_dir.clone()).unwrap_or_else(|| PathBuf::from(SECRETS_PATH)),
        cache: node.cache_dir.clone().or_else(|| environment.cache()),
        scratch: environment.scratch.clone(),
        program: environment.program.clone(),
        mode,
        parallelism: parallelism.unwrap_or(DEFAULT_PARALLELISM),
        fail_fast: false,
        health_only: false,
    })
}

/// `path` from the root, for a tool that works in another folder.
///
/// # Errors
/// If the path is empty or the current folder is gone.
pub fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    std::path::absolute(path).map_err(|source| CliError::Read { path: path.to_owned(), source })
}

/// The folder that is the node's `/`.
pub fn root(given: Option<&Path>) -> PathBuf {
    given.unwrap_or(Path::new("/")).to_owned()
}

/// The request to look at what the node that `state` names has on record.
///
/// # Errors
/// As [`node_request`].
pub fn state_request(state: &StateOptions, environment: &Environment) -> Result<StateRequest, CliError> {
    Ok(StateRequest {
        root: root(state.root.as_deref()),
        state_dir: state_dir(state, environment)?,
        scratch: environment.scratch.clone(),
    })
}

fn state_dir(state: &StateOptions, environment: &Environment) -> Result<PathBuf, CliError> {
    let beneath_root = || state.root.as_ref().map(|root| root.join("var/lib/runtime"));
    let chosen = state.state_dir.clone().or_else(beneath_root).or_else(|| environment.state_dir());
    chosen.ok_or_else(|| CliError::Usage {
        message: "there is no place to keep the state: neither `XDG_STATE_HOME` nor `HOME` is an absolute path".to_owned(),
        hint: "pass `--state-dir`".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user() -> Environment {
        Environment { home: Some("/home/ann".into()), ..Environment::default() }
    }

    fn root_user() -> Environment {
        Environment { is_root: true, ..user() }
    }

    fn rooted(root: &str) -> NodeOptions {
        NodeOptions { state: StateOptions { root: Some(root.into()), state_dir: None }, ..NodeOptions::default() }
    }

    fn request(node: &NodeOptions, environment: &Environment) -> NodeRequest {
        node_request(Some(Path::new("b.wasm.tar")), node, RunMode::Noop, None, environment).unwrap()
    }

    fn state(node: &NodeOptions, environment: &Environment) -> String {
        request(node, environment).state_dir.display().to_string()
    }

    #[test]
    fn the_state_folder_by_the_first_that_is_given() {
        let none = NodeOptions::default();
        assert_eq!(state(&none, &root_user()), "/var/lib/runtime");
        assert_eq!(state(&none, &user()), "/home/ann/.local/state/runtime");
        let with_xdg = Environment { state_home: Some("/x".into()), ..user() };
        assert_eq!(state(&none, &with_xdg), "/x/runtime");
        let rooted = rooted("/mnt");
        assert_eq!(state(&rooted, &root_user()), "/mnt/var/lib/runtime");
        assert_eq!(state_request(&rooted.state, &user()).unwrap().state_dir, Path::new("/mnt/var/lib/runtime"));
        let given = NodeOptions { state: StateOptions { state_dir: Some("s".into()), ..rooted.state }, ..rooted };
        assert_eq!(state(&given, &root_user()), "s");
        let homeless = node_request(None, &none, RunMode::Noop, None, &Environment::default()).unwrap_err();
        assert_eq!(homeless.hint().as_deref(), Some("pass `--state-dir`"));
    }

    #[test]
    fn cache_and_policy_are_the_hosts_also_with_a_root() {
        let environment = Environment { policy: Some(POLICY_PATH.into()), ..root_user() };
        let request = request(&rooted("/mnt"), &environment);
        assert_eq!(request.cache.as_deref(), Some(Path::new("/var/cache/runtime")));
        assert_eq!(request.policy.as_deref(), Some(Path::new(POLICY_PATH)));
        assert_eq!(request.root, Path::new("/mnt"));
    }

    #[test]
    fn the_cache_by_the_first_that_is_given() {
        let rooted = rooted("/r");
        let cache = |node: &NodeOptions, environment: &Environment| request(node, environment).cache;
        assert_eq!(cache(&rooted, &user()).as_deref(), Some(Path::new("/home/ann/.cache/runtime")));
        assert_eq!(cache(&rooted, &Environment::default()), None);
        let named = Environment { cache_dir: Some("/c".into()), ..root_user() };
        assert_eq!(cache(&rooted, &named).as_deref(), Some(Path::new("/c")));
        let given = NodeOptions { cache_dir: Some("d".into()), ..rooted };
        assert_eq!(cache(&given, &named).as_deref(), Some(Path::new("d")));
    }

    #[test]
    fn parallelism_has_a_default_and_is_free_when_given() {
        assert_eq!(request(&NodeOptions::default(), &user()).parallelism, DEFAULT_PARALLELISM);
        let run = RunOptions { detailed_exitcode: false, parallelism: Some(200), secrets_dir: None };
        let wide = node_request(None, &NodeOptions::default(), RunMode::Apply, Some(&run), &user()).unwrap();
        assert_eq!(wide.parallelism, 200);
    }

    #[test]
    fn colour_follows_the_option_then_the_terminal() {
        let terminal = Environment { stdout_colour: true, stderr_is_terminal: true, ..user() };
        let speech = |color| Speech::new(&Everywhere { color, ..Everywhere::default() }, &terminal);
        assert!(speech(Color::Auto).stdout_colour && !speech(Color::Auto).stderr_colour);
        assert!(speech(Color::Always).stderr_colour);
        assert!(!speech(Color::Never).stdout_colour);
        assert!(speech(Color::Auto).progress);
    }

    #[test]
    fn a_dangling_policy_link_counts_as_present() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.hcl");
        assert_eq!(present(&path), None);
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        assert_eq!(present(&path), Some(path));
    }
}
