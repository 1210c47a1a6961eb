//! A scratch node on which the pipeline runs in this process, through [`runtime::run`].

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use runtime::cli::exit::Exit;
use runtime::model::digest::ComponentDigest;
use runtime::model::report::{Outcome, Report, ResourceReport, RunMode};
use runtime::run::{self, CompileRequest, CompileSummary, NodeRequest, Observer, RunError};
use runtime::store::StoreError;

use crate::{Ledger, Tree};

/// A folder with a node's root (`root`), its state (`state`), and the manifests (`site`).
#[derive(Debug)]
pub struct Scene {
    folder: Folder,
    /// Modules that are not built in, by resource type.
    modules: Vec<(String, PathBuf)>,
    policy: Option<String>,
}

#[derive(Debug)]
enum Folder {
    Own(tempfile::TempDir),
    Shared(PathBuf),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Self::Own(folder) => folder.path(),
            Self::Shared(path) => path,
        }
    }
}

const OS_RELEASE: &str = "ID=testos\nID_LIKE=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Test OS 12\"\n";

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}

impl Scene {
    /// A node that has accounts and facts of its own, and `/srv`.
    ///
    /// # Panics
    /// If there is no room for it.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("runtime-scene-").tempdir().expect("a temporary folder can be made");
        let scene = Self { folder: Folder::Own(folder), modules: Vec::new(), policy: None };
        for name in ["root/etc", "root/srv", "site", "scratch"] {
            fs::create_dir_all(scene.path(name)).expect("a folder can be made");
        }
        scene.write("root/etc/os-release", OS_RELEASE);
        scene.write("root/etc/hostname", "db1\n");
        scene.write("root/etc/passwd", "root:x:0:0::/root:/bin/sh\nweb:x:33:33::/srv:/bin/false\n");
        scene.write("root/etc/group", "root:x:0:\nweb:x:33:\n");
        scene
    }

    /// The scene that another process made at `folder`, and which stays when this value goes.
    pub fn shared(folder: &Path) -> Self {
        Self { folder: Folder::Shared(folder.to_owned()), modules: Vec::new(), policy: None }
    }

    /// Gives the component `bytes` for `--module NAME=…`.
    ///
    /// # Panics
    /// If it cannot be written.
    #[must_use]
    pub fn with_module(mut self, name: &str, bytes: &[u8]) -> Self {
        self.write(&format!("{name}.wasm"), bytes);
        self.modules.push((name.to_owned(), self.path(&format!("{name}.wasm"))));
        self
    }

    /// Lets the module that was given under `name` do on the node whatever it asks for.
    ///
    /// # Panics
    /// If no such module was given.
    #[must_use]
    pub fn allowing(mut self, name: &str) -> Self {
        let (_, path) = self.modules.iter().find(|(given, _)| given == name).expect("the module was given");
        let digest = ComponentDigest::of(&fs::read(path).expect("it was written there"));
        let files = "files {\n    read  = [\"/**\"]\n    write = [\"/**\"]\n  }";
        let row = format!("module \"{name}\" {{\n  digest = \"{digest}\"\n  {files}\n}}\n");
        self.set_policy(&format!("{}{row}", self.policy().unwrap_or_default()));
        self
    }

    /// Sets the policy of the node.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn set_policy(&mut self, text: &str) {
        self.write("policy.hcl", text);
        self.policy = Some(text.to_owned());
    }

    /// The policy of the node, if one is set.
    pub fn policy(&self) -> Option<&str> {
        self.policy.as_deref()
    }

    /// Does what a refusal of the bundle of `name` says: puts the row that it prints, as it is, into the policy.
    ///
    /// # Panics
    /// If the bundle is not refused, or the refusal has no row.
    #[track_caller]
    pub fn allow_as_told(&mut self, name: &str) {
        let error = self.try_noop(name).expect_err("without a row it is refused");
        assert_eq!(error_code(&error), 4, "{error}");
        let hint = error.hint().expect("a refusal says what would allow it");
        let (_, row) = hint.split_once('\n').expect("the row has lines of its own");
        self.set_policy(&format!("{}{row}\n", self.policy().unwrap_or_default()));
    }

    /// The scene's folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A path in the scene's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A path on the node.
    pub fn node(&self, path: &str) -> PathBuf {
        self.path("root").join(path.trim_start_matches('/'))
    }

    /// Writes a file of the scene.
    ///
    /// # Panics
    /// If it cannot be written.
    #[track_caller]
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap_or_else(|error| panic!("cannot write `{name}`: {error}"));
    }

    /// The text of a file on the node.
    ///
    /// # Panics
    /// If it cannot be read.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.node(path)).unwrap_or_else(|error| panic!("cannot read `{path}`: {error}"))
    }

    /// The node's tree with nothing left out.
    #[track_caller]
    pub fn exact(&self) -> Tree {
        Tree::exact(&self.path("root"))
    }

    /// What an apply decides of the node's tree.
    #[track_caller]
    pub fn state(&self) -> Tree {
        Tree::state(&self.path("root"))
    }

    /// What is on record.
    #[track_caller]
    pub fn ledger(&self) -> Ledger {
        Ledger::read(&self.path("state"))
    }

    /// Compiles `manifest` as `NAME.hcl` to `NAME.wasm.tar`.
    ///
    /// # Errors
    /// As [`run::compile`].
    pub fn try_compile(&self, name: &str, manifest: &str) -> Result<CompileSummary, RunError> {
        self.write(&format!("site/{name}.hcl"), manifest);
        run::compile(&self.compile_request(name))
    }

    /// Compiles `manifest`, which is good, and gives the bundle's path.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn compile(&self, name: &str, manifest: &str) -> PathBuf {
        if let Err(error) = self.try_compile(name, manifest) {
            panic!("{}", tell(&error));
        }
        self.bundle(name)
    }

    /// Where the bundle of a manifest is.
    pub fn bundle(&self, name: &str) -> PathBuf {
        self.path(&format!("{name}.wasm.tar"))
    }

    /// What compiling `NAME.hcl` asks for.
    pub fn compile_request(&self, name: &str) -> CompileRequest {
        CompileRequest {
            manifest: self.path(&format!("site/{name}.hcl")),
            output: self.bundle(name),
            variables: Vec::new(),
            variable_files: Vec::new(),
            target_facts: None,
            modules: self.modules.clone(),
            sources: runtime::acquire::Settings::default(),
            cache: Some(cache()),
            scratch: self.path("scratch"),
        }
    }

    /// What a run with the bundle of `name` asks for.
    pub fn request(&self, name: &str, mode: RunMode) -> NodeRequest {
        NodeRequest {
            bundle: Some(self.bundle(name)),
            root: self.path("root"),
            state_dir: self.path("state"),
            policy: self.policy.as_ref().map(|_| self.path("policy.hcl")),
            secrets_dir: self.path("secrets"),
            cache: Some(cache()),
            scratch: self.path("scratch"),
            program: None,
            mode,
            parallelism: 4,
            fail_fast: false,
            health_only: false,
        }
    }

    /// Applies the bundle of `name`.
    ///
    /// # Errors
    /// As [`run::apply`].
    pub fn try_apply(&self, name: &str) -> Result<Report, RunError> {
        apply(&self.request(name, RunMode::Apply), &Recorder::default())
    }

    /// Applies the bundle of `name`; there is a report.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn apply(&self, name: &str) -> Report {
        self.try_apply(name).unwrap_or_else(|error| panic!("{}", tell(&error)))
    }

    /// Plans with the bundle of `name`.
    ///
    /// # Errors
    /// As [`run::apply`].
    pub fn try_noop(&self, name: &str) -> Result<Report, RunError> {
        apply(&self.request(name, RunMode::Noop), &Recorder::default())
    }

    /// Plans with the bundle of `name`, and makes sure that nothing is changed anywhere by it.
    ///
    /// # Panics
    /// If there is no report, or root or state are not as they were.
    #[track_caller]
    pub fn noop(&self, name: &str) -> Report {
        let before = (self.exact(), Tree::exact(&self.path("state")), Tree::exact(&self.path("scratch")).paths().count());
        let report = self.try_noop(name).unwrap_or_else(|error| panic!("{}", tell(&error)));
        assert_eq!(self.exact(), before.0, "noop changes nothing on the node");
        assert_eq!(Tree::exact(&self.path("state")), before.1, "noop changes nothing in the state folder");
        assert_eq!(Tree::exact(&self.path("scratch")).paths().count(), before.2, "noop leaves nothing behind");
        report
    }
}

/// [`run::apply`], for a process in which other tests start programs.
///
/// Such a program has a copy of every lock that is held in this process, from the moment it is forked until it is executed. Who finds a
/// lock of this very process tries again.
///
/// # Errors
/// As [`run::apply`].
pub fn apply(request: &NodeRequest, observer: &dyn Observer) -> Result<Report, RunError> {
    for _ in 0..1_000 {
        match run::apply(request, observer) {
            Err(RunError::Store(StoreError::Locked { pid: Some(pid), .. })) if pid == std::process::id() => {
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other,
        }
    }
    run::apply(request, observer)
}

/// Compiled code is shared by all tests: it is named after what it was made of.
///
/// # Panics
/// Never: a process knows its own file.
pub fn cache() -> PathBuf {
    let executable = std::env::current_exe().expect("a test knows its own file");
    executable.parent().expect("a file has a folder").join("code-cache")
}

/// An error as the command line would tell it: with its causes, and what to do.
pub fn tell(error: &RunError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    match error.hint() {
        Some(hint) => format!("{text}\nhint: {hint}"),
        None => text,
    }
}

/// The exit code of a run that gave a report; `detailed` as on the command line.
pub fn exit_code(report: &Report, detailed: bool) -> u8 {
    Exit::of_report(report, detailed).code()
}

/// The exit code of a run that gave none.
pub fn error_code(error: &RunError) -> u8 {
    Exit::from(error.kind()).code()
}

/// One resource of a report.
///
/// # Panics
/// If it is not there.
#[track_caller]
pub fn of<'r>(report: &'r Report, id: &str) -> &'r ResourceReport {
    let found = report.resources.iter().find(|resource| resource.id.to_string() == id);
    found.unwrap_or_else(|| panic!("no `{id}` in {report:?}"))
}

/// How each resource ended, in catalog order, as `file.a changed`.
pub fn outcomes(report: &Report) -> Vec<String> {
    report.resources.iter().map(|resource| format!("{} {}", resource.id, resource.outcome.word())).collect()
}

/// Asserts that every resource ended in this way.
///
/// # Panics
/// If one did not; with its failure.
#[track_caller]
pub fn assert_all(report: &Report, outcome: Outcome) {
    for resource in &report.resources {
        assert_eq!(resource.outcome, outcome, "{resource:?}");
    }
}

/// Keeps the order in which resources ended.
#[derive(Debug, Default)]
pub struct Recorder {
    ended: Mutex<Vec<String>>,
}

impl Recorder {
    /// The resources that have ended, in that order.
    ///
    /// # Panics
    /// Never: nothing panics while it is held.
    pub fn ended(&self) -> Vec<String> {
        self.ended.lock().expect("nothing panics while it is held").clone()
    }
}

impl Observer for Recorder {
    fn begun(&self, _total: usize) {}

    fn resource(&self, report: &ResourceReport) {
        self.ended.lock().expect("nothing panics while it is held").push(report.id.to_string());
    }
}
