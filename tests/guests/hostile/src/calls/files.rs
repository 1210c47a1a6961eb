//! Calls of `files`.

use runtime_sdk::HostError;
use runtime_sdk::files::{Attributes, Content, Detail, Object, Staged, discard_staged};

use super::processes::command;
use super::with::With;
use super::{Answer, done, seen};
use crate::acts::{FOREIGN_DIGEST, WRITTEN};

/// A handle that no guest is ever given.
const FORGED: u32 = 12_345;

/// One byte more than content that crosses the boundary may have.
const TOO_MUCH_INLINE: usize = (1 << 20) + 1;

pub fn call(function: &str, with: &With<'_>) -> Option<Answer> {
    match function {
        "files#[static]object.open" => done(Object::open(&with.path())),
        "files#[method]object.destination" => seen(object(with).and_then(|object| object.destination())),
        "files#[method]object.observe" => seen(object(with).and_then(|object| object.observe(detail(with)))),
        "files#[method]object.read" => seen(object(with).and_then(|object| read(&object, with))),
        "files#[method]object.stage" => done(object(with).and_then(|object| object.stage(&content(with), attributes(with)))),
        "files#[method]object.set-attributes" => done(object(with).and_then(|object| object.set_attributes(attributes(with)))),
        "files#[method]object.make-directory" => done(object(with).and_then(|object| object.make_directory(attributes(with)))),
        "files#[method]object.make-symlink" => done(object(with).and_then(|object| {
            let target = with.bytes("target");
            object.make_symlink(&target, attributes(with))
        })),
        "files#[method]object.remove" => done(object(with).and_then(|object| object.remove(!with.is("not-recursive")))),
        "files#[method]staged.validate" => seen(staged(with).and_then(|staged| staged.validate(&command(with)))),
        "files#[method]staged.commit" => done(staged(with).and_then(|staged| {
            if with.is("twice") {
                staged.commit()?;
            }
            staged.commit()
        })),
        "files#[method]staged.commit-keeping" => done(staged(with).and_then(|staged| staged.commit_keeping())),
        "files#discard-staged" => {
            let name = if with.is("name") { "../../secret/kept" } else { ".runtime-0123abcd" };
            seen(discard_staged(&with.path(), name))
        }
        _ => None,
    }
}

/// A handle on a place, which was observed where it can be.
fn object(with: &With<'_>) -> Result<Object, HostError> {
    if with.is("forged") {
        return Ok(forged_object());
    }
    let path = if with.is("through-link") {
        format!("{}/way_out/kept", with.folder())
    } else if with.is("at-link") {
        format!("{}/link", with.folder())
    } else {
        with.desired.path.clone()
    };
    let object = Object::open(path.as_bytes())?;
    object.observe(Detail::empty())?;
    if with.is("closed") {
        return Ok(closed(object, Object::handle, forge_object));
    }
    Ok(object)
}

/// A file that is staged at the place.
fn staged(with: &With<'_>) -> Result<Staged, HostError> {
    if with.is("forged") {
        return Ok(forge_staged(FORGED));
    }
    let object = if with.is("closed") { Object::open(with.desired.path.as_bytes())? } else { object(with)? };
    object.observe(Detail::empty())?;
    let staged = object.stage(&Content::Inline(WRITTEN.to_vec()), Attributes { owner: None, group: None, mode: None })?;
    Ok(if with.is("closed") { closed(staged, Staged::handle, forge_staged) } else { staged })
}

/// A copy of a handle that was given back.
fn closed<T>(handle: T, number: fn(&T) -> u32, forge: fn(u32) -> T) -> T {
    let copy = forge(number(&handle));
    drop(handle);
    copy
}

fn forged_object() -> Object {
    forge_object(FORGED)
}

#[expect(unsafe_code, reason = "a handle can only be forged, or used twice, by going behind the bindings")]
fn forge_object(number: u32) -> Object {
    // SAFETY: none is claimed: the host must refuse what it did not give out.
    unsafe { Object::from_handle(number) }
}

#[expect(unsafe_code, reason = "a handle can only be forged, or used twice, by going behind the bindings")]
fn forge_staged(number: u32) -> Staged {
    // SAFETY: none is claimed: the host must refuse what it did not give out.
    unsafe { Staged::from_handle(number) }
}

fn detail(with: &With<'_>) -> Detail {
    if with.is("metadata") { Detail::empty() } else { Detail::DIGEST }
}

fn read(object: &Object, with: &With<'_>) -> Result<String, HostError> {
    let offset = if with.is("offset") { u64::MAX } else { 0 };
    let length = if with.is("length") { u32::MAX } else { 4_096 };
    object.read(offset, length).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Where the subject is spoilt it is the name of an asset.
fn content(with: &With<'_>) -> Content {
    if with.is("own") {
        return Content::Inline(WRITTEN.to_vec());
    }
    if with.is("inline") {
        return Content::Inline(vec![0; TOO_MUCH_INLINE]);
    }
    if with.is("huge-inline") {
        return Content::Inline(vec![0; 100 << 20]);
    }
    let name = with.text(FOREIGN_DIGEST);
    if with.is("asset") || name != FOREIGN_DIGEST { Content::Asset(name) } else { Content::Inline(WRITTEN.to_vec()) }
}

fn attributes(with: &With<'_>) -> Attributes {
    let owner = if with.is("owner") {
        Some(65_534)
    } else if with.is("no-owner") {
        Some(u32::MAX)
    } else {
        None
    };
    let mode = if with.is("mode") {
        Some(0o10_000)
    } else if with.is("set-id") {
        Some(0o4_755)
    } else {
        None
    };
    Attributes { owner, group: with.is("group").then_some(65_534), mode }
}
