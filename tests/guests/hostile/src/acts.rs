//! Acts that can be done in any function, whatever it is to answer.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use runtime_sdk::files::{self, Attributes, Content, Detail, Object};
use runtime_sdk::{HostError, log};
use runtime_sdk::{accounts, assets, facts};

use crate::behaviour::Act;
use crate::desired::Desired;
use crate::{asks, calls, storm, wasi};

/// What is written where a file is written.
pub const WRITTEN: &[u8] = b"written by the hostile guest\n";

/// A digest that no `validate` lists.
pub const FOREIGN_DIGEST: &str = "sha256:00000000000000000000000000000000000000000000000000000000000000ff";

/// Does `act` if it is one of those that leave the answer alone. What the host refuses is given back.
pub fn perform(act: Act, desired: &Desired) -> Result<(), HostError> {
    let (path, other) = (desired.path.as_bytes(), desired.other.as_bytes());
    match act {
        Act::Spin => spin(),
        Act::Dawdle => {
            dawdle();
            Ok(())
        }
        Act::Allocate => allocate(),
        Act::Trap => panic!("the hostile guest was told to trap"),
        Act::Recurse => {
            black_box(recurse(1));
            Ok(())
        }
        Act::ReadClock => {
            black_box(wasi::now());
            Ok(())
        }
        Act::ReadRandom => {
            black_box(wasi::random());
            Ok(())
        }
        Act::ReadEnvironment => {
            black_box(wasi::environment());
            Ok(())
        }
        Act::ReadFact => {
            black_box(facts::get("hostname"));
            Ok(())
        }
        Act::FindUser => accounts::find_user("root").map(drop),
        Act::Observe => observe(path).map(drop),
        Act::ObserveOther => observe(other).map(drop),
        Act::ReadOther => Object::open(other)?.read(0, 64).map(drop),
        Act::ReadAsset => assets::read(FOREIGN_DIGEST, 0, 64).map(drop),
        Act::ReadSecret => assets::read(desired.secret_name(), 0, 64).map(drop),
        Act::SizeSecret => assets::size(desired.secret_name()).map(drop),
        Act::ReadOwn => Object::open(path)?.read(0, 64).map(drop),
        Act::StageSecret => {
            let content = Content::Asset(desired.secret_name().to_owned());
            observe(path)?.stage(&content, no_attributes())?.commit()
        }
        Act::Write | Act::DenyChange => write(path),
        Act::WriteQuietly => {
            write_quietly(path);
            Ok(())
        }
        Act::WriteOther => write(other),
        Act::StageOnly => observe(path)?.stage(&content(), no_attributes()).map(std::mem::forget),
        Act::SetAttributes => observe(path)?.set_attributes(Attributes { mode: Some(0o666), ..no_attributes() }),
        Act::MakeDirectory => observe(path)?.make_directory(no_attributes()),
        Act::MakeSymlink => observe(path)?.make_symlink(other, no_attributes()),
        Act::Remove => observe(path)?.remove(true),
        Act::RemoveOther => observe(other)?.remove(true),
        Act::DiscardStaged => files::discard_staged(path, "chosen-by-the-guest").map(drop),
        Act::Call => {
            calls::try_all(desired.note.as_deref().unwrap_or_default(), desired);
            Ok(())
        }
        // Where a function is given a handle, that is asked before.
        Act::Ask => Err(HostError::Other(asks::ask(&desired.other, None))),
        Act::Storm => {
            storm::storm(desired);
            Ok(())
        }
        Act::LeakHandles => leak_handles(path),
        Act::ClosedHandle => closed_handle(path),
        Act::ForgedHandle => forged_handle(),
        Act::FloodLog => {
            flood_log();
            Ok(())
        }
        _ => Ok(()),
    }
}

/// As [`perform`], for functions that are given nothing of the declaration, and have no error to give back.
pub fn perform_unasked(act: Option<Act>) {
    let nothing = Desired { behaviour: None, note: None, path: "/nothing".into(), other: "/nothing".into(), secret: None };
    let answer = act.map(|act| perform(act, &nothing));
    assert!(!matches!(answer, Some(Err(_))), "the host has refused it");
}

pub fn no_attributes() -> Attributes {
    Attributes { owner: None, group: None, mode: None }
}

fn content() -> Content {
    Content::Inline(WRITTEN.to_vec())
}

/// A handle that has been observed through, as changes need.
fn observe(path: &[u8]) -> Result<Object, HostError> {
    let handle = Object::open(path)?;
    handle.observe(Detail::DIGEST)?;
    Ok(handle)
}

/// Writes a complete file, as a well-behaved module would.
pub fn write(path: &[u8]) -> Result<(), HostError> {
    observe(path)?.stage(&content(), no_attributes())?.commit()
}

/// Writes what it can, whatever the host says to each step.
fn write_quietly(path: &[u8]) {
    let Ok(handle) = Object::open(path) else { return };
    let _ = handle.observe(Detail::DIGEST);
    let _ = handle.stage(&content(), no_attributes()).and_then(|staged| staged.commit());
}

fn spin() -> ! {
    let mut count = 0_u64;
    loop {
        count = black_box(count.wrapping_add(1));
    }
}

fn dawdle() {
    let until = wasi::now() + 3_000_000_000;
    while wasi::now() < until {}
}

/// Touches each page, so that the memory is really used.
fn allocate() -> ! {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    loop {
        kept.push(vec![1; 1 << 20]);
        black_box(&kept);
    }
}

/// Never set, but the compiler cannot know.
static ENOUGH: AtomicBool = AtomicBool::new(false);

/// Keeps nothing in memory, so that it is the engine's stack that ends, and not the part of the memory that the compiler calls one.
#[inline(never)]
fn recurse(depth: u32) -> u32 {
    if ENOUGH.load(Ordering::Relaxed) { depth } else { recurse(depth.wrapping_add(1)).rotate_left(depth) }
}

fn leak_handles(path: &[u8]) -> Result<(), HostError> {
    loop {
        std::mem::forget(Object::open(path)?);
    }
}

#[expect(unsafe_code, reason = "a handle can only be used twice by going behind the bindings")]
fn closed_handle(path: &[u8]) -> Result<(), HostError> {
    let handle = Object::open(path)?;
    // SAFETY: none is claimed: the host must refuse the copy once the original is given back.
    let copy = unsafe { Object::from_handle(handle.handle()) };
    drop(handle);
    copy.observe(Detail::empty()).map(drop)
}

#[expect(unsafe_code, reason = "a handle can only be forged by going behind the bindings")]
fn forged_handle() -> Result<(), HostError> {
    // SAFETY: none is claimed: the host must refuse a number that it never gave out.
    let forged = unsafe { Object::from_handle(12_345) };
    forged.observe(Detail::empty()).map(drop)
}

fn flood_log() {
    let message = "\u{1b}[31mflood\u{1b}[0m\n".repeat(1_000);
    for _ in 0..1_000 {
        log::warning(&message);
    }
}
