//! Calls about one path, over and over: somebody else may be swapping the folders on the way.

use std::collections::BTreeMap;

use runtime_sdk::bindings::runtime::host::processes::{Command, Text};
use runtime_sdk::files::{Attributes, Content, Detail, Object, Staged, discard_staged};
use runtime_sdk::{HostError, log};

use crate::acts::{WRITTEN, no_attributes};
use crate::desired::Desired;

type Call = fn(&str) -> Result<Option<Vec<u8>>, HostError>;

/// A call of each kind. What it gives is content that the guest was told.
const CALLS: [(&str, Call); 10] = [
    ("observe", |path| {
        let seen = Object::open(path.as_bytes())?.observe(Detail::DIGEST)?;
        Ok(seen.map(|seen| format!("{seen:?}").into_bytes()))
    }),
    ("read", |path| Object::open(path.as_bytes())?.read(0, 4_096).map(Some)),
    ("stage", |path| staged(path).map(|_| None)),
    ("validate", |path| staged(path)?.validate(&program(path)).map(|finished| Some(finished.stdout))),
    ("commit", |path| staged(path)?.commit().map(|()| None)),
    ("set-attributes", |path| observed(path)?.set_attributes(Attributes { mode: Some(0o666), ..no_attributes() }).map(|()| None)),
    ("make-directory", |path| observed(&format!("{path}.d"))?.make_directory(no_attributes()).map(|()| None)),
    ("make-symlink", |path| observed(&format!("{path}.l"))?.make_symlink(b"kept", no_attributes()).map(|()| None)),
    ("remove", |path| observed(path)?.remove(true).map(|()| None)),
    ("discard-staged", |path| discard_staged(path.as_bytes(), ".runtime-0123abcd").map(|_| None)),
];

/// Makes every call, as often as `note` says. Logs how each ended how often, and each content that is not what it writes itself.
pub fn storm(desired: &Desired) {
    let rounds: u32 = desired.note.as_deref().and_then(|note| note.parse().ok()).unwrap_or_default();
    let mut tally = BTreeMap::<(&str, &str), u32>::new();
    let mut told = BTreeMap::<Vec<u8>, u32>::new();
    for _ in 0..rounds {
        for (name, call) in CALLS {
            let answer = match call(&desired.path) {
                Ok(content) => {
                    if let Some(content) = content {
                        *told.entry(content).or_default() += 1;
                    }
                    "done"
                }
                Err(HostError::Denied(_)) => "denied",
                Err(HostError::UnsafePath(_)) => "unsafe",
                Err(_) => "refused",
            };
            *tally.entry((name, answer)).or_default() += 1;
        }
    }
    for ((name, answer), count) in tally {
        log::info(&format!("{name} {answer}: {count}"));
    }
    // What begins alike is logged once, so that everything else has room in the log.
    let mut kinds: Vec<String> =
        told.keys().map(|content| String::from_utf8_lossy(content).chars().take(200).collect()).collect();
    kinds.dedup_by(|left, right| left.chars().take(60).eq(right.chars().take(60)));
    for kind in kinds {
        log::info(&format!("told: {kind}"));
    }
}

fn observed(path: &str) -> Result<Object, HostError> {
    let object = Object::open(path.as_bytes())?;
    object.observe(Detail::empty())?;
    Ok(object)
}

fn staged(path: &str) -> Result<Staged, HostError> {
    observed(path)?.stage(&Content::Inline(WRITTEN.to_vec()), no_attributes())
}

fn program(path: &str) -> Command {
    Command {
        program: "/bin/cat".into(),
        arguments: vec![Text::Plain("{}".into())],
        environment: Vec::new(),
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
