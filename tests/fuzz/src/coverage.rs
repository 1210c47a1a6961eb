//! Which code an input reaches: counters that the compiler puts in, one an edge of the control flow.
//!
//! `cargo xtask fuzz` compiles this crate and what it tests with LLVM's pass `sancov-module`, which stable rustc takes. Code that it instruments calls
//! [`__sanitizer_cov_8bit_counters_init`] before `main`. Compiled plainly, there are no counters, and nothing calls it.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

static START: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Called by every instrumented object file with where the counters of the whole program lie.
#[expect(unsafe_code, reason = "instrumented code calls it by this name")]
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_8bit_counters_init(start: *mut u8, end: *mut u8) {
    START.store(start, Ordering::Relaxed);
    LENGTH.store((end as usize).saturating_sub(start as usize), Ordering::Relaxed);
}

/// How many counters are looked at together.
const CHUNK: usize = 64;

/// What has been reached so far.
pub(crate) struct Coverage {
    /// For each edge the classes of how often it was taken by one input, a bit each.
    seen: Vec<u8>,
    /// How many edges were reached at all.
    pub(crate) reached: usize,
}

impl Coverage {
    /// Nothing is reached yet.
    pub(crate) fn new() -> Self {
        Self { seen: vec![0; edges()], reached: 0 }
    }

    /// Sets the counters back, so that what was counted between two inputs (the changes, this loop itself) is not taken for the work of one.
    pub(crate) fn begin() {
        counters().fill(0);
    }

    /// Takes the counters of the input that was just tried. Whether it reached something new.
    pub(crate) fn take(&mut self) -> bool {
        let mut is_new = false;
        for (chunk, seen) in counters().chunks(CHUNK).zip(self.seen.chunks_mut(CHUNK)) {
            // Nearly all of them: compared as a whole, since a step for each would cost more than most inputs.
            if *chunk != [0; CHUNK][..chunk.len()] {
                for (count, seen) in chunk.iter().zip(seen) {
                    let class = class(*count);
                    if class & !*seen != 0 {
                        self.reached += usize::from(*seen == 0);
                        *seen |= class;
                        is_new = true;
                    }
                }
            }
        }
        is_new
    }
}

/// How many edges have a counter.
pub(crate) fn edges() -> usize {
    LENGTH.load(Ordering::Relaxed)
}

/// Never, once, twice, thrice, a few, some, many: a loop that runs once more is rarely news.
fn class(count: u8) -> u8 {
    match count {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 4,
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        128..=255 => 128,
    }
}

#[expect(unsafe_code, reason = "the counters are the compiler's")]
fn counters<'a>() -> &'a mut [u8] {
    if edges() == 0 {
        return &mut [];
    }
    // SAFETY: these are the bounds of a section of this program that holds nothing but counters, and it is there as long as the program runs. Code on
    // other threads (the clock of the watch) may count meanwhile; a count more or less is nothing.
    unsafe { std::slice::from_raw_parts_mut(START.load(Ordering::Relaxed), edges()) }
}
