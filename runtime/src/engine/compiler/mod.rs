//! Where components become machine code.
//!
//! A component that is not built in is a stranger's, and there are components that the code generator works on for hours, or needs all memory for. So it
//! is compiled in a process of its own, which is this executable started again: with limits that the kernel holds it to, and to be ended at any moment.
//! What comes back is the work of this very program, and so may become machine code here. An executable that cannot be started again so, a program that
//! has this library, compiles in its own process.

mod apart;
mod limits;
mod role;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use wasmtime::Engine;
use wasmtime::component::Component;

use super::error::EngineError;
use crate::builtins;
use crate::model::digest::ComponentDigest;

pub use limits::CompileLimits;
pub use role::compiler;

/// Whether this executable can be started again as the compiler: its `main` has said so.
static CAN_BE_STARTED_AGAIN: AtomicBool = AtomicBool::new(false);

/// Where components that are not built in are compiled.
#[derive(Debug, Clone)]
pub struct Compiler {
    /// The executable that compiles them; none for this process itself.
    program: Option<PathBuf>,
    limits: CompileLimits,
}

impl Default for Compiler {
    /// This executable started again, if its `main` begins with [`compiler`]; else this process.
    fn default() -> Self {
        let program = CAN_BE_STARTED_AGAIN.load(Ordering::Relaxed).then(apart::this_program);
        Self { program, limits: CompileLimits::default() }
    }
}

impl Compiler {
    /// This version's executable at `program`, within limits. What it gives is trusted as if it were this process.
    pub fn apart(program: PathBuf, limits: CompileLimits) -> Self {
        Self { program: Some(program), limits }
    }

    /// Compiles a component.
    pub(super) fn compile(&self, engine: &Engine, digest: ComponentDigest, bytes: &[u8]) -> Result<Component, EngineError> {
        let invalid = |source| EngineError::Invalid { digest, source };
        match &self.program {
            Some(program) if builtins::with_digest(&digest).is_none() => {
                let code = apart::compile(program, self.limits, bytes).map_err(|failure| failure.of(digest))?;
                deserialize(engine, &code).map_err(invalid)
            }
            _ => Component::from_binary(engine, bytes).map_err(invalid),
        }
    }
}

#[expect(unsafe_code, reason = "bytes become machine code: they come over a pipe from a process of this very program")]
fn deserialize(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `code` was made by `Engine::precompile_component` of this program with the same configuration. It came through a pipe that only that
    // process could write, which ended well and said that this is all.
    unsafe { Component::deserialize(engine, code) }
}
