//! Tells from wasmtime's error what ended a call.

use std::time::{Duration, Instant};

use wasmtime::Trap;

use super::error::Fault;
use crate::model::key::escape;

/// The longest text of a trap that is kept, in characters.
const MESSAGE_CHARS: usize = 300;

/// What ended a call that began at `started` and had `limit`; `exceeded` is what the store's limiter met.
pub(super) fn classify(error: &wasmtime::Error, exceeded: Option<Fault>, started: Instant, limit: Duration) -> Fault {
    if let Some(fault) = error.downcast_ref::<Fault>() {
        return fault.clone();
    }
    let trap = error.downcast_ref::<Trap>();
    if trap == Some(&Trap::Interrupt) || started.elapsed() >= limit && trap.is_none() {
        return Fault::Deadline { limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX) };
    }
    if trap == Some(&Trap::StackOverflow) {
        return Fault::Stack;
    }
    // A guest that was refused memory aborts with some trap of its own; the refusal is the cause.
    if let Some(fault) = exceeded {
        return fault;
    }
    let message = trap.map_or_else(|| format!("{:#}", error.root_cause()), ToString::to_string);
    Fault::Trap { message: escape(&message).chars().take(MESSAGE_CHARS).collect() }
}
