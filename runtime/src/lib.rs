//! Manages a machine by declared state, with resource types that are sandboxed WebAssembly components.
//!
//! Steps come first, in the order in which a run takes them; only [`run`] and [`cli`] know that order. Tools that steps call
//! follow.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests make their own files and processes"))]

// The nouns that steps share: data only.
pub mod model;

// Step: what a person writes.
pub mod manifest;

// Step: a manifest through the modules' definitions into a catalog.
pub mod compile;

// Step: one file that holds a catalog, its components and its assets.
pub mod bundle;

// Step: takes a bundle in, and trusts nothing that it has not recomputed.
pub mod receipt;

// Step: what each resource will be held to on this node.
pub mod plan;

// Step: every resource at its turn.
pub mod apply;

// Step: a report for people and as records.
pub mod report;

// The pipeline, one call a step.
pub mod run;

// The command line.
pub mod cli;

// Tool: expressions.
pub mod language;

// Tool: runs components within their limits; the one place, beside host-functions, that knows wasmtime.
pub mod engine;

// Tool: orders that modules derive from a whole catalog, the same on the controller and on a node.
pub mod relations;

// Tool: which provider serves a resource on a node, from data alone.
pub mod providers;

// Tool: the node owner's rules, which modules may run and what they may do.
pub mod policy;

// Tool: secrets that the node's owner keeps.
pub mod secrets;

// Tool: intents on disk before a change, settlements after it.
pub mod journal;

// Tool: what the node remembers between runs; the one place that opens the database.
pub mod store;

// Tool: bytes that a manifest names, from allowed folders and addresses; on the controller only.
pub mod acquire;

// Tool: holds any component against the contract.
pub mod conformance;

// Tool: what descriptors give to readers and to other programs.
pub mod descriptors;

// Tool: what tests of a manifest expect, held against what it compiles to.
pub mod expectations;

// The components that the program was built with.
pub mod builtins;
