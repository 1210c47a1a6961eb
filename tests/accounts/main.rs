//! Users and groups, made, changed and removed by the real account tools in a root of their own.
#![allow(clippy::disallowed_methods, reason = "makes and looks at folders of its own, and runs account tools in them")]

mod alpine;
mod contradictions;
mod converge;
mod interrupted;
#[allow(dead_code, reason = "recovery's own tests use the rest of it")]
#[path = "../recovery/lost_run.rs"]
mod lost_run;
mod node;
mod rights;
