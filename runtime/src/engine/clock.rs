//! Deadlines: an epoch that ticks while the engine lives, and the callback that holds a store to an absolute instant.

use std::time::{Duration, Instant};

use wasmtime::{EngineWeak, Store, UpdateDeadline};

/// How often running guests look at the clock.
const TICK: Duration = Duration::from_millis(10);

/// Starts the thread that ticks for `engine`; it ends when the engine is gone.
pub(super) fn start_ticking(engine: EngineWeak) -> std::io::Result<()> {
    let tick = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(TICK);
        }
    };
    std::thread::Builder::new().name("epoch".into()).stack_size(64 << 10).spawn(tick).map(drop)
}

/// Ends guest code in `store` at the first tick after `deadline`. The instant decides, not a count of ticks, which may be late on
/// a busy machine.
pub(super) fn hold_to<T: 'static>(store: &mut Store<T>, deadline: Instant) {
    store.epoch_deadline_callback(move |_| {
        Ok(if Instant::now() >= deadline { UpdateDeadline::Interrupt } else { UpdateDeadline::Continue(1) })
    });
    store.set_epoch_deadline(1);
}
