//! Runs that are lost on the way: killed at each entry of the journal, killed at random moments, and stopped by a module that cannot
//! recover. What they leave is never half a file, and the next run goes on from it.

mod concurrent;
mod killed_at_events;
mod killed_at_random;
mod lost_run;
mod unrecoverable;
