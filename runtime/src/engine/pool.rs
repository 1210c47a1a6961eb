//! Where instances live: slots that are made once and used again, since a run makes an instance for each call of a definition and
//! for each attempt, and to map and unmap their memories would cost more than what most of them do.
//!
//! A slot is put back to its first state before it is used again; wasmtime holds that. How much a guest may use is the matter of `limits`, not of
//! the slots.

use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

use super::limits::{INSTANCES, TABLE_ELEMENTS};

/// Definitions that can be under way at once: nested as deep as exports may chain, and some beside.
const DEFINITIONS: u32 = 80;

/// The most attempts at once for which there are slots; the command line takes no more.
const MAX_ATTEMPTS: u32 = 1_000;

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
    let attempts = u32::try_from(attempts).unwrap_or(u32::MAX).min(MAX_ATTEMPTS) * 2;
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
