//! Threads for calls of definitions, which nest: reading a parameter may call into another definition.
//!
//! What is asked of many resources is asked on as many threads as there are processors. Who asks gets the answers in the order of the questions,
//! whatever became ready first.

use std::thread;

/// Stack of a thread that makes definition calls: room for 64 nested calls with their guest stacks.
const LARGE_STACK_BYTES: usize = 256 << 20;

/// With fewer questions than this for each, another thread costs more than it saves.
const WORTH_A_THREAD: usize = 16;

/// Runs `work` on a thread whose stack holds nested definition calls, and waits for it.
///
/// # Panics
/// If `work` panics, or the thread cannot be made.
pub fn on_large_stack<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| ended(spawn(scope, work)))
}

/// Asks `ask` about each of `items`, on several such threads, until one fails. Gives all answers, in order.
///
/// # Errors
/// The failure of the first item in order that fails.
///
/// # Panics
/// As [`on_large_stack`].
pub fn of_each_on_large_stacks<T: Sync, R: Send, E: Send>(
    items: &[T],
    ask: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.min(items.len() / WORTH_A_THREAD).max(1);
    let share = items.len().div_ceil(threads).max(1);
    let ask = &ask;
    let answers: Vec<Result<Vec<R>, E>> = thread::scope(|scope| {
        let asked = items.chunks(share).map(|share| spawn(scope, move || share.iter().map(ask).collect()));
        let asked: Vec<_> = asked.collect();
        asked.into_iter().map(ended).collect()
    });
    let mut all = Vec::with_capacity(items.len());
    for share in answers {
        all.extend(share?);
    }
    Ok(all)
}

fn spawn<'scope, 'env, R: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, 'env>,
    work: impl FnOnce() -> R + Send + 'scope,
) -> thread::ScopedJoinHandle<'scope, R> {
    let builder = thread::Builder::new().name("definition".into()).stack_size(LARGE_STACK_BYTES);
    builder.spawn_scoped(scope, work).expect("a thread can be made")
}

fn ended<R>(thread: thread::ScopedJoinHandle<'_, R>) -> R {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_order_of_the_questions_and_the_first_failure_in_order_is_given() {
        let items: Vec<usize> = (0..1000).collect();
        let twice = of_each_on_large_stacks(&items, |item| Ok::<_, usize>(item * 2)).unwrap();
        assert_eq!(twice, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        let odd_from = |first: usize| of_each_on_large_stacks(&items, |item| if *item < first { Ok(()) } else { Err(*item) });
        assert_eq!(odd_from(3), Err(3));
        assert_eq!(odd_from(999), Err(999));
        assert_eq!(of_each_on_large_stacks(&[0_usize; 0], |_| Ok::<_, ()>(())), Ok(vec![]));
    }
}
