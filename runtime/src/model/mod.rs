//! The nouns that the steps share.
//!
//! Data, with parsing and formatting of its own text forms; it does not read files, run guests or import a step.

/// Health checks.
pub mod health;

pub mod asset;
pub mod attribute_path;
pub mod canonical;
pub mod catalog;
pub mod description;
pub mod digest;
pub mod expression;
pub mod ids;
pub mod key;
pub mod kind;
pub mod managed;
pub mod provider;
pub mod report;
pub mod secret;
pub mod units;
