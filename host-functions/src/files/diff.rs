//! Differences of text for plans: what a file holds, and the asset that it will become.
//!
//! The host's own reading, for people. It goes through the same authorisation as a guest's reading in a check, so that a module cannot
//! have shown what it may not read; and what is sensitive is never shown.

use std::fmt;
use std::time::{Duration, Instant};

use similar::TextDiff as Difference;
use wasmtime::component::Resource;

use super::{MAX_READ, Object};
use crate::assets::AssetName;
use crate::bindings::runtime::host::assets;
use crate::bindings::runtime::host::files::{Detail as WitDetail, HostObject, Kind as WitKind};
use crate::context::HostContext;
use crate::error::CallError;
use crate::phase::Phase;
use crate::rights::Sensitivity;
use crate::text::needs_escape;

/// The largest side of a difference that is shown as text, in bytes.
pub const MAX_SIDE: u64 = MAX_READ as u64;

/// The longest difference that is shown, in bytes; the rest is cut, and the cut is noted.
pub const MAX_DIFF: usize = 64 * 1024;

/// Lines around each change.
const CONTEXT: usize = 3;

/// How long a difference may be looked for. After that it is still right, but not the shortest.
const PATIENCE: Duration = Duration::from_secs(2);

/// A change of content, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextDiff {
    /// A unified difference without file names, its control characters escaped.
    Unified(String),
    /// Why there is no difference to show, and what can be said instead: "binary, 10 → 20 bytes".
    Summary(String),
}

impl fmt::Display for TextDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (TextDiff::Unified(text) | TextDiff::Summary(text)) = self;
        f.write_str(text)
    }
}

/// What changing the file at `path` to `asset` changes.
///
/// # Errors
/// If the attempt may not read either, or reading failed. A difference is a help: its want is no reason to refuse a plan.
pub fn text_diff(context: &mut HostContext, path: &[u8], asset: &AssetName) -> Result<TextDiff, CallError> {
    let phase = context.phase();
    context.set_phase(Phase::Display);
    let difference = difference(context, path, asset);
    context.set_phase(phase);
    difference
}

fn difference(context: &mut HostContext, path: &[u8], asset: &AssetName) -> Result<TextDiff, CallError> {
    // What is there now may be sensitive too, not only what comes.
    if context.rights().conceals_content() || context.rights().assets.get(asset) == Some(&Sensitivity::Sensitive) {
        return Ok(TextDiff::Summary("sensitive, not shown".to_owned()));
    }
    let after_size = assets::Host::size(context, asset.to_string())?;
    let object = context.open(path.to_vec())?;
    let before = before(context, &object);
    context.table.delete(object)?;
    let (before_size, before) = match before? {
        Before::File(size, content) => (size, content),
        Before::Other(kind) => return Ok(TextDiff::Summary(format!("{kind} → file, {after_size} bytes"))),
    };
    let small = after_size <= MAX_SIDE;
    let after = small.then(|| assets::Host::read(context, asset.to_string(), 0, MAX_READ)).transpose()?;
    Ok(match (before.as_deref().and_then(as_text), after.as_deref().and_then(as_text)) {
        (Some(before), Some(after)) => TextDiff::Unified(unified(before, after, context.deadline())),
        _ => {
            let what = if before_size > MAX_SIDE || after_size > MAX_SIDE { "large" } else { "binary" };
            TextDiff::Summary(format!("{what}, {before_size} → {after_size} bytes"))
        }
    })
}

/// What is there now.
enum Before {
    /// A file, or nothing: its size, and its content if it is small enough.
    File(u64, Option<Vec<u8>>),
    Other(&'static str),
}

fn before(context: &mut HostContext, object: &Resource<Object>) -> Result<Before, CallError> {
    let handle = || Resource::new_borrow(object.rep());
    let Some(observation) = context.observe(handle(), WitDetail::empty())? else { return Ok(Before::File(0, Some(Vec::new()))) };
    match observation.kind {
        WitKind::File if observation.size > MAX_SIDE => Ok(Before::File(observation.size, None)),
        WitKind::File => {
            let content = HostObject::read(context, handle(), 0, MAX_READ)?;
            Ok(Before::File(content.len() as u64, Some(content)))
        }
        WitKind::Directory => Ok(Before::Other("directory")),
        WitKind::Symlink => Ok(Before::Other("symbolic link")),
        _ => Ok(Before::Other("special file")),
    }
}

/// Text that can be shown line by line.
fn as_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn unified(before: &str, after: &str, deadline: Instant) -> String {
    let until = deadline.min(Instant::now() + PATIENCE);
    let difference = Difference::configure().deadline(until).diff_lines(before, after);
    let text = difference.unified_diff().context_radius(CONTEXT).to_string();
    shown(&text)
}

/// The difference with what could mislead escaped, but for the ends of lines and tabs, and cut to [`MAX_DIFF`].
fn shown(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.split_inclusive('\n');
    for line in lines.by_ref() {
        let start = out.len();
        for c in line.chars() {
            match c {
                '\n' | '\t' => out.push(c),
                c if needs_escape(c) => out.extend(c.escape_unicode()),
                c => out.push(c),
            }
        }
        if out.len() > MAX_DIFF {
            out.truncate(start);
            out.push_str(&format!("… {} more lines\n", lines.count() + 1));
            break;
        }
    }
    out
}
