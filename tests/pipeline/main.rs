//! The whole pipeline in this process, on scratch nodes: what a manifest says is what the node becomes, and nothing else.
#![allow(clippy::disallowed_methods, reason = "makes and looks at folders of its own")]

mod blocks;
mod claims;
mod converge;
mod deferred;
mod drift;
mod inspection;
mod kept;
mod kinds;
mod links;
mod noop;
mod order;
mod outputs;
mod parents;
mod prerequisites;
mod provenance;
mod providers;
mod refresh;
mod sampler;
mod sources;
