//! Where instances live: slots that are made once and used again, since a run makes an instance for each call of a definition and
//! for each attempt, and to map and unmap their memories would cost more than what most of them do.
//!
//! A slot is put back to its first state before it is used again; wasmtime holds that. How much a guest may use is the matter of `limits`, not of
//! the slots.

use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

use super::limits::{INSTANCES, TABLE_ELEMENTS};

/// Definitions that can be under way at once: nested as deep as exports may chain, and some beside.
const DEFINITIONS: u32 = 80;

/// The most attempts at once for which there are slots, and so the most that the command line lets a run have.
pub const MAX_ATTEMPTS: u16 = 256;

/// Memories, and tables, of one component. Toolchains make one of each, adapters of theirs one more.
const PER_COMPONENT: u32 = 4;

/// Bytes of a memory, and of a table, that are put back by hand where the system tells which pages were touched. The others it is asked to drop.
const KEEP_RESIDENT: usize = 256 << 10;

/// How a slot is put back to its first state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PutBack {
    /// Touched pages are written anew and stay (Linux 6.7).
    ByHand,
    /// The system drops its pages.
    BySystem,
}

/// Has `config` put instances into slots, as many as `attempts` at once take, each with one of its provider.
pub(super) fn apply(config: &mut Config, attempts: usize, put_back: PutBack) {
    let attempts = u32::try_from(attempts).unwrap_or(u32::MAX).min(u32::from(MAX_ATTEMPTS)) * 2;
    let components = DEFINITIONS + attempts;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(components)
        .total_core_instances(components * INSTANCES as u32)
        .max_core_instances_per_component(INSTANCES as u32)
        .max_memories_per_component(PER_COMPONENT)
        .max_tables_per_component(PER_COMPONENT)
        .max_tables_per_module(PER_COMPONENT)
        .max_memories_per_module(PER_COMPONENT)
        .total_memories(components * PER_COMPONENT)
        .total_tables(components * PER_COMPONENT)
        .table_elements(TABLE_ELEMENTS)
        .total_stacks(attempts + 2)
        .max_unused_warm_slots(8);
    if put_back == PutBack::ByHand {
        pool.pagemap_scan(Enabled::Yes).linear_memory_keep_resident(KEEP_RESIDENT).table_keep_resident(KEEP_RESIDENT);
    }
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
}

#[cfg(test)]
mod tests {
    use wasmtime::Store;
    use wasmtime::component::{Component, Linker};

    use super::*;
    use crate::engine::{Engine, EngineOptions};

    /// A component that has one instance with one memory, in bytes: `(core module (memory 1))` and `(core instance (instantiate 0))`.
    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0\x01\x0d\0asm\x01\0\0\0\x05\x03\x01\0\x01\x02\x04\x01\0\0\0";

    #[test]
    fn the_most_attempts_that_a_run_may_have_find_slots_with_all_that_may_be_nested_beside_them() {
        let engine = Engine::new(EngineOptions { attempts: usize::from(MAX_ATTEMPTS), ..EngineOptions::default() }).unwrap();
        assert!(engine.has_slots());
        let component = Component::new(&engine.wasmtime, COMPONENT).unwrap();
        let linker = Linker::new(&engine.wasmtime);
        let wanted = u64::from(DEFINITIONS) + 2 * u64::from(MAX_ATTEMPTS);
        let mut under_way = Vec::new();
        for number in 1..=wanted {
            let mut store = Store::new(&engine.wasmtime, ());
            store.set_epoch_deadline(1_000_000);
            linker.instantiate(&mut store, &component).unwrap_or_else(|error| panic!("instance {number}: {error:#}"));
            under_way.push(store);
        }
        let slots = engine.wasmtime.pooling_allocator_metrics().unwrap();
        assert_eq!((slots.component_instances(), slots.memories() as u64), (wanted, wanted));
    }
}
