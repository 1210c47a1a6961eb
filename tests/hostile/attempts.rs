//! One attempt of the hostile guest, held by the engine alone: any function of its lifecycle, in its phase, with the rights that a test chooses.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use host_functions::effects::Effect;
use host_functions::files::policy::PathPattern;
use host_functions::gate::IntentGate;
use host_functions::grant::{Ask, Grant};
use host_functions::objects::{Domain, Interface};
use host_functions::processes::native::Runner;
use host_functions::rights::{Module as ModuleName, Rights};
use host_functions::{HostContext, Node};
use runtime::engine::{
    Attempt, AttemptError, AttemptLimits, Engine, EngineOptions, Interrupted, Module, OperationReason, Reason,
};
use runtime::model::canonical::CanonicalJson;
use serde_json::{Value as Json, json};
use testkit::{Tree, guests};

/// The longest that an attempt may take: tests are about what ends before.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Room for the guest to make what no host takes.
const MEMORY_BYTES: usize = 384 << 20;

/// What it must never tell or change.
pub const CANARY: &str = "canary: nobody may see this";

const STAGING: &str = ".runtime-0123abcd";

/// The engine of these tests; a definition has a second.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let cache = Some(testkit::scene::cache());
        Engine::new(EngineOptions { cache, definition_deadline: Duration::from_secs(1), ..EngineOptions::default() }).unwrap()
    })
}

/// The hostile guest, compiled once.
pub fn hostile() -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| engine().load(guests::HOSTILE).unwrap())
}

/// What policy grants, and what the effects name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granted {
    /// Effects name everything there is, and policy grants `/srv/x/**`.
    Folder,
    /// Policy grants everything, and effects name `/srv/x/**` and one object of each domain.
    All,
}

/// An intent that is on disk: nothing here is refused for want of one.
struct Open;

impl IntentGate for Open {
    fn is_open(&self) -> bool {
        true
    }
}

/// A node with a folder that the guest may use, and a secret beside it.
pub struct Bench {
    folder: tempfile::TempDir,
    node: Arc<Node>,
}

/// What an attempt told, and how it ended.
pub struct Ran {
    /// The log of the guest, oldest first.
    pub log: Vec<String>,
    /// What it answered, as `Debug` has it, or why it gave no answer.
    pub ended: Result<String, String>,
}

impl Bench {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("runtime-bench-").tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["etc", "srv/x/0", "srv/secret"] {
            std::fs::create_dir_all(at(path)).unwrap();
        }
        for (path, text) in [
            ("etc/os-release", "ID=testos\n"),
            ("etc/passwd", "root:x:0:0::/root:/bin/sh\nweb:x:33:33::/srv:/bin/false\n"),
            ("etc/group", "root:x:0:\nweb:x:33:\n"),
            ("etc/shadow", "root:!:1::::::\nweb:!:1::::::\n"),
            ("srv/secret/kept", CANARY),
        ] {
            std::fs::write(at(path), text).unwrap();
        }
        std::os::unix::fs::symlink("/srv/secret", at("srv/x/0/way_out")).unwrap();
        std::os::unix::fs::symlink("/srv/secret/kept", at("srv/x/0/link")).unwrap();
        let runner = Runner::with_helper(env!("CARGO_BIN_EXE_runtime").into());
        let node = Arc::new(Node::open_with(folder.path(), &[], runner).unwrap());
        Self { folder, node }
    }

    /// Everything that is not in the folder that the guest may use, to its times.
    pub fn outside(&self) -> [Tree; 2] {
        ["etc", "srv/secret"].map(|path| Tree::exact(&self.path(path)))
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The host's side of an attempt.
    pub fn host(&self, granted: Granted, deadline: Duration) -> HostContext {
        let assets = Arc::new(host_functions::assets::NoAssets);
        let mut host = HostContext::new(self.node.clone(), rights(granted), assets, Instant::now() + deadline);
        host.set_intent(Arc::new(Open), STAGING.parse().unwrap());
        host
    }

    /// Calls the function `place` of the guest with a behaviour there and a note.
    pub fn run(&self, place: &str, act: &str, note: &str, granted: Granted, deadline: Duration) -> Ran {
        self.run_desired(place, &desired(&format!("{act}@{place}"), note), granted, deadline)
    }

    /// Calls the function `place` of the guest with a desired state.
    pub fn run_desired(&self, place: &str, desired: &Json, granted: Granted, deadline: Duration) -> Ran {
        let host = self.host(granted, deadline);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(attempt(hostile(), host, place, desired, deadline))
    }

    /// As [`run`](Self::run), of another module, to which nothing is said.
    pub fn run_module(&self, module: &Module, place: &str, deadline: Duration) -> Ran {
        let host = self.host(Granted::Folder, deadline);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(attempt(module, host, place, &Json::Null, deadline))
    }
}

/// What a call that answers or fails has told, with its causes.
pub fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    text
}

/// A desired state of the guest.
pub fn desired(behaviour: &str, note: &str) -> Json {
    desired_with(behaviour, "/srv/secret/kept", note)
}

/// The same, with another `other`.
pub fn desired_with(behaviour: &str, other: &str, note: &str) -> Json {
    json!({"behaviour": behaviour, "note": note, "other": other, "path": "/srv/x/0/it"})
}

async fn attempt(module: &Module, host: HostContext, place: &str, desired: &Json, deadline: Duration) -> Ran {
    let limits = AttemptLimits { memory_bytes: MEMORY_BYTES, deadline };
    let mut attempt = match Attempt::start(module, host, limits).await {
        Ok(attempt) => attempt,
        Err(error) => return Ran { log: Vec::new(), ended: Err(error.to_string()) },
    };
    let answer = call(&mut attempt, place, desired).await;
    let log = attempt.host().take_log();
    Ran { log, ended: answer.map_err(|error| error.to_string()) }
}

/// Calls the function, after those that must be called before it.
async fn call(attempt: &mut Attempt, place: &str, desired: &Json) -> Result<String, AttemptError> {
    let desired = &CanonicalJson::new(desired).unwrap();
    let reason = &Reason { staging_name: Some(STAGING.into()), ..Reason::default() };
    match place {
        "capabilities" => shown(attempt.capabilities().await),
        "inspect-safety" => shown(attempt.inspect_safety(desired, reason).await),
        "composition-conflicts" => {
            let group = [("hostile.it".parse().unwrap(), desired.clone())];
            let limit = attempt.remaining();
            shown(attempt.composition_conflicts(&group, limit, reason).await)
        }
        "check" => shown(attempt.check(desired, reason).await),
        "apply" => {
            attempt.check(desired, reason).await?;
            shown(attempt.apply(reason).await)
        }
        "verify" => {
            attempt.check(desired, reason).await?;
            attempt.apply(reason).await?;
            shown(attempt.verify(reason).await)
        }
        "perform" => shown(attempt.perform("hostile.tidy", desired, reason).await),
        "refresh" => shown(attempt.refresh(desired, reason).await),
        "recover" => {
            let operation = Interrupted { staging_name: STAGING.into(), reason: OperationReason::Converge };
            shown(attempt.recover(desired, &operation, reason).await)
        }
        other => panic!("no function `{other}`"),
    }
}

fn shown<T: std::fmt::Debug>(answer: Result<T, AttemptError>) -> Result<String, AttemptError> {
    answer.map(|answer| format!("{answer:?}"))
}

fn rights(granted: Granted) -> Rights {
    let pattern = || vec![PathPattern::parse("/srv/x/**").unwrap()];
    let mut grant = if granted == Granted::All { Grant::requested(true) } else { Grant::none() };
    if granted == Granted::Folder {
        (grant.files.read, grant.files.write) = (pattern(), pattern());
    }
    let paths = if granted == Granted::All { "/srv/x/**" } else { "/**" };
    Rights {
        resource: "hostile.it".into(),
        module: ModuleName { name: "hostile".into(), digest: hostile().digest().to_string() },
        asks: asks().into(),
        grant: Arc::new(grant),
        effects: effects(paths),
        assets: std::collections::BTreeMap::new(),
        had_secrets: false,
        provider: None,
    }
}

/// Every right that can be asked for.
fn asks() -> Vec<Ask> {
    let of_objects = Interface::ALL.iter().flat_map(|interface| {
        let verbs = interface.verbs().iter().chain(interface.maintenance());
        verbs.map(|verb| Ask::parse(interface.word(), verb, "*").unwrap())
    });
    let others = [("files", "read", "/**"), ("files", "write", "/**"), ("facts", "read", "*")];
    of_objects.chain(others.map(|(interface, action, scope)| Ask::parse(interface, action, scope).unwrap())).collect()
}

/// Effects on paths, and on one object of each domain with every verb.
fn effects(paths: &str) -> Vec<Effect> {
    let effect = |domain: &str, key: &str, verbs: &[&str]| Effect {
        domain: domain.into(),
        key: key.into(),
        actions: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        qualifier: None,
    };
    let named = |domain: Domain| match domain {
        Domain::Package => "demo",
        Domain::Unit => "demo.service",
        Domain::User | Domain::Group => "web",
        Domain::Process => "*",
    };
    let objects = Domain::ALL.map(|domain| effect(domain.word(), named(domain), domain.verbs()));
    objects.into_iter().chain([effect("path", paths, &["read", "write"])]).collect()
}
