//! An attempt on a scratch root, for unit tests. They run as root: owners, mounts and immutable files are what they are about.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use wasmtime::component::Resource;

use crate::assets::{AssetName, AssetSource};
use crate::bindings::runtime::host::files::{self, HostObject as _, HostStaged as _};
use crate::context::HostContext;
use crate::digest::Digest;
use crate::effects::{Effect, PATH};
use crate::error::CallError;
use crate::files::{Object, Staged};
use crate::gate::IntentGate;
use crate::grant::{Ask, Grant};
use crate::node::Node;
use crate::phase::Phase;
use crate::rights::{Module, Rights, Sensitivity};

pub(crate) const STAGING: &str = ".runtime-0123abcd";

/// A gate that a test opens and shuts.
#[derive(Default)]
pub(crate) struct TestGate(pub AtomicBool);

impl IntentGate for TestGate {
    fn is_open(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Assets in memory; a wrong digest can be put in on purpose. Every secret has the bytes of its slot in upper case.
#[derive(Default)]
pub(crate) struct TestAssets(pub BTreeMap<Digest, Vec<u8>>);

impl AssetSource for TestAssets {
    fn size(&self, digest: &Digest) -> Option<u64> {
        self.0.get(digest).map(|bytes| bytes.len() as u64)
    }

    fn open(&self, digest: &Digest) -> std::io::Result<Box<dyn Read + Send>> {
        let bytes = self.0.get(digest).cloned().ok_or(std::io::ErrorKind::NotFound)?;
        Ok(Box::new(std::io::Cursor::new(bytes)))
    }

    fn secret(&self, slot: &str) -> Option<zeroize::Zeroizing<Vec<u8>>> {
        Some(zeroize::Zeroizing::new(slot.to_uppercase().into_bytes()))
    }
}

pub(crate) fn digest_of(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

pub(crate) fn effect(key: &str, actions: &[&str]) -> Effect {
    let actions = actions.iter().map(|action| (*action).to_owned()).collect();
    Effect { domain: PATH.into(), key: key.into(), actions, qualifier: None }
}

/// Rights of a built-in module over everything.
pub(crate) fn all_rights(resource: &str) -> Rights {
    let ask = |action, scope| Ask::parse("files", action, scope).unwrap();
    let program = |action| Ask::parse("processes", action, "*").unwrap();
    let mut programs = effect("*", &["query", "run"]);
    programs.domain = "process".into();
    Rights {
        resource: resource.into(),
        module: Module { name: "file".into(), digest: format!("sha256:{}", "0".repeat(64)) },
        asks: vec![
            ask("read", "/**"),
            ask("write", "/**"),
            ask("read", "/"),
            ask("write", "/"),
            program("query"),
            program("run"),
            Ask::Accounts,
            Ask::Facts,
        ]
        .into_iter()
        .chain(package_asks())
        .collect::<Vec<_>>()
        .into(),
        grant: Arc::new(Grant::requested(true)),
        effects: vec![effect("/**", &["read", "write"]), effect("/", &["read", "write"]), programs, package_effect("demo")],
        assets: BTreeMap::new(),
        had_secrets: false,
        provider: None,
    }
}

/// Every right that can be asked for packages.
pub(crate) fn package_asks() -> impl Iterator<Item = Ask> {
    let packages = crate::objects::Interface::Packages;
    packages.verbs().iter().chain(packages.maintenance()).map(|verb| Ask::parse("packages", verb, "*").unwrap())
}

/// Everything may be done with this package.
pub(crate) fn package_effect(name: &str) -> Effect {
    let verbs = crate::objects::Interface::Packages.verbs();
    Effect { domain: "package".into(), ..effect(name, verbs) }
}

/// No rights at all.
pub(crate) fn no_rights() -> Rights {
    Rights { asks: vec![].into(), grant: Arc::new(Grant::none()), effects: vec![], ..all_rights("file.nobody") }
}

/// Rights of a stranger's module: everything asked for and declared, and granted what `grant` sets.
pub(crate) fn stranger(grant: impl FnOnce(&mut Grant)) -> Rights {
    let mut granted = Grant::none();
    grant(&mut granted);
    Rights { grant: Arc::new(granted), ..all_rights("stranger.x") }
}

/// An attempt in the apply phase, with an open intent, on a root that is removed at the end.
pub(crate) struct Attempt {
    pub context: HostContext,
    pub gate: Arc<TestGate>,
    pub folder: tempfile::TempDir,
}

impl Attempt {
    pub(crate) fn new() -> Self {
        Self::with(all_rights("file.test"))
    }

    pub(crate) fn with(rights: Rights) -> Self {
        Self::with_assets(rights, &[])
    }

    /// The assets are put into the rights too, as plain ones.
    pub(crate) fn with_assets(mut rights: Rights, assets: &[&[u8]]) -> Self {
        assert!(rustix::process::geteuid().is_root(), "these tests change owners and mount file systems: run them as root");
        let folder = tempfile::tempdir().unwrap();
        let assets: BTreeMap<_, _> = assets.iter().map(|bytes| (digest_of(bytes), bytes.to_vec())).collect();
        rights.assets.extend(assets.keys().map(|digest| (AssetName::Plain(*digest), Sensitivity::Plain)));
        let node = Arc::new(Node::open(folder.path(), &[]).unwrap());
        let gate = Arc::new(TestGate(AtomicBool::new(true)));
        let context = attempt_on(node, rights, Arc::new(TestAssets(assets)), gate.clone());
        Self { context, gate, folder }
    }

    /// The path on this machine of a path on the node.
    pub(crate) fn host(&self, path: &str) -> PathBuf {
        self.folder.path().join(path.trim_start_matches('/'))
    }

    pub(crate) fn write(&self, path: &str, content: &[u8]) {
        let path = self.host(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn open(&mut self, path: &str) -> Result<Handle, CallError> {
        self.context.open(path.into()).map(|object| Handle(object.rep()))
    }

    /// A handle that has observed its place.
    pub(crate) fn observed(&mut self, path: &str) -> Handle {
        let handle = self.open(path).unwrap();
        self.observe(handle).unwrap();
        handle
    }

    pub(crate) fn observe(&mut self, handle: Handle) -> Result<Option<files::Observation>, CallError> {
        self.context.observe(handle.borrow(), files::Detail::empty())
    }

    pub(crate) fn digest(&mut self, handle: Handle) -> Result<Option<files::Observation>, CallError> {
        self.context.observe(handle.borrow(), files::Detail::DIGEST)
    }

    pub(crate) fn stage(&mut self, handle: Handle, content: &[u8]) -> Result<StagedHandle, CallError> {
        self.stage_with(
            handle,
            files::Content::Inline(content.to_vec()),
            files::Attributes { owner: None, group: None, mode: None },
        )
    }

    pub(crate) fn stage_with(
        &mut self,
        handle: Handle,
        content: files::Content,
        attributes: files::Attributes,
    ) -> Result<StagedHandle, CallError> {
        self.context.stage(handle.borrow(), content, attributes).map(|staged| StagedHandle(staged.rep()))
    }

    pub(crate) fn commit(&mut self, staged: StagedHandle) -> Result<(), CallError> {
        self.context.commit(Resource::<Staged>::new_borrow(staged.0))
    }

    pub(crate) fn drop_staged(&mut self, staged: StagedHandle) {
        files::HostStaged::drop(&mut self.context, Resource::new_own(staged.0)).unwrap();
    }

    /// Observes, stages and commits.
    pub(crate) fn put(&mut self, path: &str, content: &[u8]) -> Result<(), CallError> {
        let handle = self.open(path)?;
        let put = self.put_at(handle, content);
        files::HostObject::drop(&mut self.context, Resource::new_own(handle.0)).unwrap();
        put
    }

    fn put_at(&mut self, handle: Handle, content: &[u8]) -> Result<(), CallError> {
        self.observe(handle)?;
        let staged = self.stage(handle, content)?;
        let committed = self.commit(staged);
        self.drop_staged(staged);
        committed
    }

    /// Names in a directory of the node, sorted.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(self.host(path))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// Puts a file at `path` on the node, through the host functions of `context`.
pub(crate) fn put_at(context: &mut HostContext, path: &str) -> Result<(), CallError> {
    let object = context.open(path.into())?.rep();
    context.observe(Resource::new_borrow(object), files::Detail::empty())?;
    let attributes = files::Attributes { owner: None, group: None, mode: None };
    let staged = context.stage(Resource::new_borrow(object), files::Content::Inline(b"x".to_vec()), attributes)?;
    context.commit(Resource::new_borrow(staged.rep()))
}

/// A handle on a place, as a guest would hold it.
#[derive(Clone, Copy)]
pub(crate) struct Handle(u32);

impl Handle {
    pub(crate) fn borrow(self) -> Resource<Object> {
        Resource::new_borrow(self.0)
    }
}

/// A handle on a staged file.
#[derive(Clone, Copy)]
pub(crate) struct StagedHandle(u32);

impl StagedHandle {
    pub(crate) fn borrow(self) -> Resource<Staged> {
        Resource::new_borrow(self.0)
    }
}

pub(crate) fn attempt_on(node: Arc<Node>, rights: Rights, assets: Arc<dyn AssetSource>, gate: Arc<TestGate>) -> HostContext {
    let mut context = HostContext::new(node, rights, assets, Instant::now() + Duration::from_secs(60));
    context.set_intent(gate, STAGING.parse().unwrap());
    context.set_phase(Phase::Apply);
    context
}

pub(crate) fn attributes(owner: Option<u32>, group: Option<u32>, mode: Option<u32>) -> files::Attributes {
    files::Attributes { owner, group, mode }
}

/// Runs a program that must succeed.
pub(crate) fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status().unwrap();
    assert!(status.success(), "{program} {arguments:?} failed: these tests need the rights of root on a real system");
}

/// A mount that ends with the test.
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// `mount ARGUMENTS PATH`.
    pub(crate) fn new(arguments: &[&str], path: &Path) -> Self {
        let path_text = path.to_str().unwrap();
        run("mount", &[arguments, &[path_text]].concat());
        Self(path.to_owned())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let path = self.0.to_str().unwrap();
        run("umount", &[path]);
    }
}

/// Asserts that a result is this error.
macro_rules! assert_error {
    ($result:expr, $pattern:pat) => {
        match $result {
            Err($pattern) => {}
            Err(other) => panic!("another error: {other:?}"),
            Ok(_) => panic!("it succeeded, and {} was expected", stringify!($pattern)),
        }
    };
}
pub(crate) use assert_error;
