//! Every call about a path, a hundred thousand times together, while another process swaps folders for links to where the module may not be.
//!
//! The module is granted `/m/x/**` and nothing else. Beneath it `a`, and `a/deep`, change places with links that lead to `/m/secret`, where the same
//! names stand. Whatever a call answers: nothing of the secret is told, and it is afterwards what it was, to its times.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Uid};
use test_machine::swapper::{Swapper, swap_if_told};
use wasmtime::component::Resource;

use crate::bindings::runtime::host::accounts::{Host as _, NewUser};
use crate::bindings::runtime::host::files::{self, Host as _, HostObject as _, HostStaged as _};
use crate::bindings::runtime::host::processes::{self, Host as _};
use crate::call::HostCall;
use crate::error::CallError;
use crate::files::policy::PathPattern;
use crate::phase::Phase;
use crate::testing::{Attempt, Mount, STAGING, attributes, digest_of, stranger};

/// Tries for each owner of the links: together 10⁵.
const TRIES: u64 = 50_000;

/// How long they may take. On a machine that is too busy for them the test fails, for it has not shown what it says.
const PATIENCE: Duration = Duration::from_secs(300);

const CANARY: &[u8] = b"canary: nobody may see this";

/// The test below, which is the process that swaps.
const CHILD: &str = "files::tests::storm::the_process_that_swaps";

#[test]
fn the_process_that_swaps() {
    swap_if_told();
}

type Call = fn(&mut Attempt, &str) -> Result<(), CallError>;

/// A call for each function of the WIT that is about a path.
const CALLS: [(&str, Call); 16] = [
    ("files#[static]object.open", |attempt, path| with_object(attempt, path, |_, _| Ok(()))),
    ("files#[method]object.destination", |attempt, path| {
        with_object(attempt, path, |attempt, object| {
            let leads_to = attempt.context.destination(object)?;
            assert!(!leads_to.starts_with(b"/m/secret"), "{path}: it was told where the secret is");
            Ok(())
        })
    }),
    ("files#[method]object.observe", |attempt, path| with_object(attempt, path, observe)),
    ("files#[method]object.read", |attempt, path| with_object(attempt, path, read)),
    ("files#[method]object.stage", |attempt, path| with_staged(attempt, path, |_, _| Ok(()))),
    ("files#[method]object.set-attributes", |attempt, path| {
        with_object(attempt, path, |attempt, object| attempt.context.set_attributes(object, attributes(None, None, Some(0o666))))
    }),
    ("files#[method]object.make-directory", |attempt, path| {
        with_object(attempt, &format!("{path}.d"), |attempt, object| {
            attempt.context.make_directory(object, attributes(None, None, None))
        })
    }),
    ("files#[method]object.make-symlink", |attempt, path| {
        with_object(attempt, &format!("{path}.l"), |attempt, object| {
            attempt.context.make_symlink(object, b"kept".to_vec(), attributes(None, None, None))
        })
    }),
    ("files#[method]object.remove", |attempt, path| {
        with_object(attempt, path, |attempt, object| attempt.context.remove(object, true))
    }),
    ("files#[method]staged.validate", |attempt, path| {
        with_staged(attempt, path, |attempt, staged| attempt.context.validate(staged, program(path)).map(drop))
    }),
    ("files#[method]staged.commit", |attempt, path| with_staged(attempt, path, |attempt, staged| attempt.context.commit(staged))),
    ("files#[method]staged.commit-keeping", |attempt, path| {
        with_staged(attempt, path, |attempt, staged| attempt.context.commit_keeping(staged))
    }),
    ("files#discard-staged", |attempt, path| {
        attempt.context.set_phase(Phase::Recover);
        let discarded = attempt.context.discard_staged(path.into(), STAGING.into());
        attempt.context.set_phase(Phase::Apply);
        discarded.map(drop)
    }),
    ("processes#query", |attempt, path| attempt.context.query(program(path)).map(drop)),
    ("processes#run", |attempt, path| attempt.context.run(program(path)).map(drop)),
    ("accounts#create-user", |attempt, path| attempt.context.create_user("web".into(), user_at_home(path))),
];

/// Where the calls are made: what is there in both, what is there in neither, and beneath either link.
const PATHS: [&str; 5] = ["/m/x/a/kept", "/m/x/a/deep/kept", "/m/x/a/deep", "/m/x/a/new", "/m/x/a/deep/new"];

fn with_object(
    attempt: &mut Attempt,
    path: &str,
    act: impl FnOnce(&mut Attempt, Resource<crate::files::Object>) -> Result<(), CallError>,
) -> Result<(), CallError> {
    let object = attempt.open(path)?;
    let seen = attempt.context.observe(object.borrow(), files::Detail::empty());
    let answer = seen.and_then(|seen| {
        assert_not_secret(path, seen.as_ref());
        act(attempt, object.borrow())
    });
    let number = object.borrow().rep();
    files::HostObject::drop(&mut attempt.context, Resource::new_own(number)).unwrap();
    answer
}

fn with_staged(
    attempt: &mut Attempt,
    path: &str,
    act: impl FnOnce(&mut Attempt, Resource<crate::files::Staged>) -> Result<(), CallError>,
) -> Result<(), CallError> {
    with_object(attempt, path, |attempt, object| {
        let content = files::Content::Inline(b"ours".to_vec());
        let staged = attempt.context.stage(object, content, attributes(None, None, None))?.rep();
        let answer = act(attempt, Resource::new_borrow(staged));
        files::HostStaged::drop(&mut attempt.context, Resource::new_own(staged)).unwrap();
        answer
    })
}

fn observe(attempt: &mut Attempt, object: Resource<crate::files::Object>) -> Result<(), CallError> {
    let seen = attempt.context.observe(object, files::Detail::DIGEST)?;
    assert_not_secret("a digest", seen.as_ref());
    let digest = seen.and_then(|seen| seen.digest);
    assert_ne!(digest, Some(digest_of(CANARY).to_string()), "the digest of the secret was told");
    Ok(())
}

fn read(attempt: &mut Attempt, object: Resource<crate::files::Object>) -> Result<(), CallError> {
    let bytes = attempt.context.read(object, 0, 4_096)?;
    assert!(!bytes.starts_with(b"canary"), "the secret was read");
    Ok(())
}

fn assert_not_secret(path: &str, seen: Option<&files::Observation>) {
    assert!(seen.is_none_or(|seen| seen.owner != SECRET_OWNER), "{path}: the secret was observed: {seen:?}");
}

fn program(path: &str) -> processes::Command {
    processes::Command {
        program: path.into(),
        arguments: vec![processes::Text::Plain("{}".into())],
        environment: vec![],
        directory: Some(path.into()),
        user: None,
        group: None,
        umask: None,
        stdin: None,
        output_limit: 4_096,
        timeout_ms: None,
        withhold: false,
    }
}

fn user_at_home(path: &str) -> NewUser {
    NewUser {
        id: None,
        system: false,
        group: None,
        groups: vec![],
        comment: None,
        home: Some(path.into()),
        make_home: true,
        shell: None,
        expires: None,
        password: None,
        locked: false,
    }
}

/// Whom everything secret belongs to, and nothing else.
const SECRET_OWNER: u32 = 4_242;

/// Everything beneath a folder, to its content and the times at which it was changed.
fn exact(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut paths = vec![folder.to_owned()];
    while let Some(path) = paths.pop() {
        let meta = std::fs::symlink_metadata(&path).unwrap();
        let content = if meta.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        let changed = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
        let identity = (meta.ino(), meta.mode(), meta.uid(), meta.gid(), meta.nlink(), meta.size());
        found.insert(path.clone(), format!("{identity:?} {changed:?} {}", content.escape_ascii()));
        if meta.is_dir() {
            paths.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

/// The folder that is swapped, held open, so that it can be set up again wherever it stands; and whom its links belong to.
struct Real(OwnedFd, u32);

impl Real {
    /// Puts back what the module has removed or replaced.
    fn restore(&self) {
        let kind = |name: &str| match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(FileType::from_raw_mode(stat.st_mode)),
            Err(_) => None,
        };
        if kind("kept") != Some(FileType::RegularFile) {
            let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW;
            let file = rustix::fs::openat(&self.0, "kept", flags, Mode::from_raw_mode(0o644)).unwrap();
            rustix::io::write(file, b"theirs").unwrap();
        }
        // A file that took the place of the link goes again; it may be under the other name by now.
        for name in ["deep", "out"].into_iter().filter(|name| kind(name) == Some(FileType::RegularFile)) {
            let _ = rustix::fs::unlinkat(&self.0, name, AtFlags::empty());
        }
        // Where one of the two is gone nobody swaps them.
        match (kind("deep"), kind("out")) {
            (None, Some(FileType::Symlink)) => rustix::fs::mkdirat(&self.0, "deep", Mode::from_raw_mode(0o755)).unwrap(),
            (None, _) => link(&self.0, "deep", "/m/secret/deep", self.1),
            _ => {}
        }
    }
}

/// Makes a symbolic link that belongs to `owner`.
fn link(folder: &OwnedFd, name: &str, target: &str, owner: u32) {
    rustix::fs::symlinkat(target, folder, name).unwrap();
    let ids = (Uid::from_raw(owner), Gid::from_raw(owner));
    rustix::fs::chownat(folder, name, Some(ids.0), Some(ids.1), AtFlags::SYMLINK_NOFOLLOW).unwrap();
}

fn is_of_the_race(error: &CallError) -> bool {
    use CallError as E;
    matches!(
        error,
        E::Denied(_)
            | E::NotFound
            | E::AlreadyExists
            | E::WrongKind(_)
            | E::NotEmpty
            | E::UnsafePath(_)
            | E::Changed(_)
            | E::Busy(_)
    )
}

/// Makes the calls, while folders are swapped for links that belong to `owner`.
fn storm(owner: u32) {
    let mut attempt = Attempt::with(stranger(|grant| {
        grant.files.read = vec![PathPattern::parse("/m/x/**").unwrap()];
        grant.files.write = grant.files.read.clone();
    }));
    std::fs::create_dir(attempt.host("/m")).unwrap();
    let _mount = Mount::new(&["-t", "tmpfs", "-o", "size=16m,mode=755", "tmpfs"], &attempt.host("/m"));
    for name in ["x/a/deep", "secret/deep"] {
        std::fs::create_dir_all(attempt.host(&format!("/m/{name}"))).unwrap();
    }
    for name in ["/m/secret/kept", "/m/secret/deep/kept"] {
        attempt.write(name, CANARY);
    }
    for name in ["/m/secret", "/m/secret/deep", "/m/secret/kept", "/m/secret/deep/kept"] {
        std::os::unix::fs::chown(attempt.host(name), Some(SECRET_OWNER), None).unwrap();
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let open = |path: &str| rustix::fs::open(attempt.host(path), flags, Mode::empty()).unwrap();
    let real = Real(open("/m/x/a"), owner);
    link(&open("/m/x"), "swap", "/m/secret", owner);
    link(&real.0, "out", "/m/secret/deep", owner);
    real.restore();
    let outside = ["/m/secret", "/outside"];
    attempt.write("/outside/kept", CANARY);
    let before = outside.map(|path| exact(&attempt.host(path)));

    let swapper = Swapper::start(&attempt.host("/m/x"), CHILD);
    attempt.context.set_deadline(Instant::now() + PATIENCE);
    let mut tally = BTreeMap::<(&str, &str), u64>::new();
    for turn in 0..TRIES {
        let (function, call) = CALLS[usize::try_from(turn).unwrap() % CALLS.len()];
        let path = PATHS[usize::try_from(turn).unwrap() / CALLS.len() % PATHS.len()];
        let answer = match call(&mut attempt, path) {
            Ok(()) => "done",
            Err(CallError::Denied(_)) => "denied",
            Err(CallError::UnsafePath(_)) => "unsafe",
            Err(error) if is_of_the_race(&error) => "refused",
            Err(other) => panic!("{function} on {path}: {other:?}"),
        };
        *tally.entry((function, answer)).or_default() += 1;
        real.restore();
    }
    drop(swapper);

    assert_eq!(outside.map(|path| exact(&attempt.host(path))), before, "something outside of the grant has changed: {tally:?}");
    assert_eq!(attempt.names("/m"), ["secret", "x"]);
    assert_eq!(attempt.names("/"), ["m", "outside"]);
    let count = |function: &str, answer: &str| tally.get(&(function, answer)).copied().unwrap_or_default();
    // What may be done is done and is refused; what may not, never. Opening looks at nothing, so it has nothing to refuse.
    for (function, _) in CALLS {
        // No program is granted, and no effect names where a file that is replaced would be kept.
        let is_never_done = ["files#[method]staged.validate", "files#[method]staged.commit-keeping"].contains(&function);
        let may_be_done = function.starts_with("files#") && !is_never_done;
        assert_eq!(count(function, "done") > 0, may_be_done, "{function}: {tally:?}");
    }
    let is_refused = if owner == 0 { "denied" } else { "unsafe" };
    for (function, _) in CALLS.iter().filter(|(function, _)| function.starts_with("files#[method]")) {
        assert!(count(function, is_refused) > 0, "the race did not happen for {function}: {tally:?}");
    }
    assert_eq!(tally.values().sum::<u64>(), TRIES);
}

#[test]
fn links_of_root_swapped_for_folders_lead_nobody_out_of_its_grant() {
    storm(0);
}

#[test]
fn links_of_others_swapped_for_folders_lead_nobody_out_of_its_grant() {
    storm(1_000);
}

#[test]
fn every_function_about_a_path_is_in_the_storm() {
    let tried: BTreeSet<&str> = CALLS.iter().map(|(function, _)| *function).collect();
    let beyond_files = ["processes#query", "processes#run", "accounts#create-user"];
    let about_paths: BTreeSet<&str> =
        HostCall::WIT_NAMES.into_iter().filter(|name| name.starts_with("files#") || beyond_files.contains(name)).collect();
    assert_eq!(tried, about_paths);
}
