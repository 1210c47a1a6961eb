//! An allocator with a bound: an input that makes the program take more memory than its target allows is a finding.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static BOUND: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Allows `bytes` more than are in use now. Whatever asks for more than that gets nothing, and the process aborts.
pub(crate) fn allow(bytes: usize) {
    BOUND.store(LIVE.load(Ordering::Relaxed).saturating_add(bytes), Ordering::Relaxed);
}

/// The system's allocator, counted.
pub(crate) struct Bounded;

#[expect(unsafe_code, reason = "an allocator is unsafe to write")]
// SAFETY: all is the system's; a null pointer is what an allocator without memory gives.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        if live > BOUND.load(Ordering::Relaxed) {
            LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
            // Telling of it takes memory again.
            BOUND.store(usize::MAX, Ordering::Relaxed);
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the rules of this function, which are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
