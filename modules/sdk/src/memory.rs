//! The allocator of a component that is written with this crate.
//!
//! An instance lives for one call of a definition or one attempt, and most of them need some ten KiB. The standard allocator of this target asks
//! the host for more memory at its first allocation, which costs the host two changes of its page tables: more than the rest of a short call. So what
//! is allocated first comes from an arena that the component's memory has from the start. What is beyond is asked for, as ever.
//!
//! A component that brings an allocator of its own turns the feature `allocator` off.

use core::alloc::Layout;
use core::arch::wasm32::memory_grow;
use core::mem::MaybeUninit;

use talc::base::{CHUNK_UNIT, Talc, binning::Binning};
use talc::cell::TalcSyncCell;
use talc::source::Source;
use talc::wasm::WasmBinning;

const ARENA_BYTES: usize = 128 << 10;

const PAGE_BYTES: usize = 64 << 10;

static mut ARENA: [MaybeUninit<u8>; ARENA_BYTES] = [MaybeUninit::uninit(); ARENA_BYTES];

#[global_allocator]
static ALLOCATOR: TalcSyncCell<ArenaThenGrowth, WasmBinning> = TalcSyncCell::new_wasm(ArenaThenGrowth { arena_is_taken: false });

/// Where memory comes from: the arena once, then pages of the host.
#[derive(Debug)]
struct ArenaThenGrowth {
    arena_is_taken: bool,
}

#[expect(unsafe_code, reason = "an allocator hands out memory by address, and this trait is for those")]
// SAFETY: nothing here allocates or touches the allocator but through `talc`.
unsafe impl Source for ArenaThenGrowth {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        let wanted = layout.size().saturating_add(layout.align()).saturating_add(8 * CHUNK_UNIT);
        let (base, size) = if talc.source.arena_is_taken || wanted > ARENA_BYTES / 2 {
            let pages = wanted.div_ceil(PAGE_BYTES);
            match memory_grow::<0>(pages) {
                usize::MAX => return Err(()),
                before => ((before * PAGE_BYTES) as *mut u8, pages * PAGE_BYTES),
            }
        } else {
            talc.source.arena_is_taken = true;
            ((&raw mut ARENA).cast::<u8>(), ARENA_BYTES)
        };
        // SAFETY: the arena is named nowhere else and claimed once; pages that were just added belong to nobody.
        unsafe { talc.claim(base, size) }.map(drop).ok_or(())
    }
}
