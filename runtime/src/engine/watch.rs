//! Guest memories at their end, for a test that looks for what must not have been there.
//!
//! Only with a watch does the engine give guests memories of ours; every run is without one, and has wasmtime's own.

use std::cell::UnsafeCell;
use std::sync::{Arc, OnceLock};

use wasmtime::{Config, LinearMemory, MemoryCreator, MemoryType};

/// Told of each guest memory as it ends.
pub type MemoryWatch = Arc<dyn Fn(&[u8]) + Send + Sync>;

static WATCH: OnceLock<MemoryWatch> = OnceLock::new();

/// Has `watch` told of every guest memory of engines that are made from now on in this process: all that a guest was told and kept until
/// then. For tests. A second watch is not taken.
pub fn watch_memories(watch: MemoryWatch) {
    let _ = WATCH.set(watch);
}

/// Puts the watch into `config`, and says whether there is one.
pub(super) fn apply(config: &mut Config) -> bool {
    let Some(watch) = WATCH.get() else { return false };
    config.memory_reservation(0).memory_guard_size(0).memory_reservation_for_growth(0).memory_init_cow(false);
    config.with_host_memory(Arc::new(Creator(Arc::clone(watch))));
    true
}

struct Creator(MemoryWatch);

#[expect(unsafe_code, reason = "wasmtime takes memories of ours only by an unsafe trait")]
// SAFETY: each memory is a heap allocation of its own, of which nothing is read before wasmtime has dropped it.
unsafe impl MemoryCreator for Creator {
    fn new_memory(
        &self,
        _: MemoryType,
        minimum: usize,
        _: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        if guard != 0 || reserved.is_some_and(|reserved| reserved > minimum) {
            return Err("a watched memory has neither a reservation nor a guard".to_owned());
        }
        Ok(Box::new(Memory { bytes: zeros(minimum), watch: Arc::clone(&self.0) }))
    }
}

/// A guest memory. Its bytes are written behind a shared reference, through the pointer that wasmtime asks for.
struct Memory {
    bytes: Box<[UnsafeCell<u8>]>,
    watch: MemoryWatch,
}

fn zeros(size: usize) -> Box<[UnsafeCell<u8>]> {
    (0..size).map(|_| UnsafeCell::new(0)).collect()
}

impl Memory {
    fn copy(&mut self) -> Vec<u8> {
        self.bytes.iter_mut().map(|byte| *byte.get_mut()).collect()
    }
}

#[expect(unsafe_code, reason = "as above")]
// SAFETY: wasmtime alone uses the pointer, while it holds the memory; it moves only in `grow_to`, after which wasmtime asks again.
unsafe impl Send for Memory {}

#[expect(unsafe_code, reason = "as above")]
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

#[expect(unsafe_code, reason = "as above")]
// SAFETY: size, capacity and pointer are those of one live allocation.
unsafe impl LinearMemory for Memory {
    fn byte_size(&self) -> usize {
        self.bytes.len()
    }

    fn byte_capacity(&self) -> usize {
        self.bytes.len()
    }

    fn grow_to(&mut self, new_size: usize) -> wasmtime::Result<()> {
        let old = self.copy();
        let mut grown = zeros(new_size);
        grown.iter_mut().zip(old).for_each(|(byte, old)| *byte.get_mut() = old);
        self.bytes = grown;
        Ok(())
    }

    fn as_ptr(&self) -> *mut u8 {
        self.bytes.as_ptr().cast::<u8>().cast_mut()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let copy = self.copy();
        (self.watch)(&copy);
    }
}
