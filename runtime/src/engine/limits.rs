//! What one instance of a component may use.
//!
//! One budget over all memories and all tables of a store. In a definition, growth past it ends the call, because a
//! guest that could go on without the memory would give a result that depends on the limit.

use wasmtime::ResourceLimiter;

use super::error::Fault;

/// Table elements that one instance may have: function tables of modules have some thousands.
pub(super) const TABLE_ELEMENTS: usize = 100_000;

/// Core instances, memories and tables of one component: one that is composed of many still has far fewer.
pub(super) const INSTANCES: usize = 64;

/// Counts what a store uses and refuses what is beyond.
pub(super) struct Limiter {
    memory_limit: usize,
    memory: usize,
    table: usize,
    ends_call: bool,
    exceeded: Option<Fault>,
}

impl Limiter {
    /// For a definition: growth past `memory_limit` bytes ends the call.
    pub(super) fn strict(memory_limit: usize) -> Self {
        Self { memory_limit, memory: 0, table: 0, ends_call: true, exceeded: None }
    }

    /// For a lifecycle: growth past `memory_limit` bytes fails in the guest.
    pub(super) fn lenient(memory_limit: usize) -> Self {
        Self { ends_call: false, ..Self::strict(memory_limit) }
    }

    /// The limit that was met, if one was.
    pub(super) fn exceeded(&self) -> Option<&Fault> {
        self.exceeded.as_ref()
    }

    /// Bytes of all memories: what they have, and the most that they had, since none ever shrinks.
    pub(super) fn memory_used(&self) -> usize {
        self.memory
    }

    fn refuse(&mut self, fault: Fault) -> wasmtime::Result<bool> {
        self.exceeded = Some(fault.clone());
        if self.ends_call { Err(wasmtime::Error::new(fault)) } else { Ok(false) }
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.memory.saturating_add(desired.saturating_sub(current));
        if total > self.memory_limit {
            return self.refuse(Fault::Memory { limit: self.memory_limit });
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.table.saturating_add(desired.saturating_sub(current));
        if total > TABLE_ELEMENTS {
            return self.refuse(Fault::Table { limit: TABLE_ELEMENTS });
        }
        self.table = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        INSTANCES
    }

    fn tables(&self) -> usize {
        INSTANCES
    }

    fn memories(&self) -> usize {
        INSTANCES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_budget_over_all_memories() {
        let mut limiter = Limiter::lenient(100);
        assert!(limiter.memory_growing(0, 60, None).unwrap());
        assert!(!limiter.memory_growing(0, 60, None).unwrap(), "a second memory shares the budget");
        assert_eq!(limiter.exceeded(), Some(&Fault::Memory { limit: 100 }));
        assert_eq!(limiter.memory_used(), 60, "what was refused is not used");
        assert!(limiter.memory_growing(60, 100, None).unwrap());
        assert_eq!(limiter.memory_used(), 100);
    }

    #[test]
    fn a_definition_ends_at_its_limit() {
        let mut limiter = Limiter::strict(100);
        assert!(limiter.memory_growing(0, 101, None).is_err());
        assert!(limiter.table_growing(0, TABLE_ELEMENTS + 1, None).is_err());
    }
}
