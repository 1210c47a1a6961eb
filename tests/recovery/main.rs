//! Runs that are lost on the way: killed at each entry of the journal, killed at random moments, and stopped by a module that cannot
//! recover. What they leave is never half a file, and the next run goes on from it.
#![allow(clippy::disallowed_methods, reason = "makes folders and processes of its own, and kills those")]

mod concurrent;
mod deadline;
mod every_act;
mod faults;
mod kept_versions;
mod killed_at_events;
mod killed_at_random;
mod killed_at_steps;
mod lost_refresh;
mod lost_run;
mod on_record;
mod providers;
mod soak;
mod unrecoverable;
mod waiting;
