//! Expressions of the manifest language as data: what is settled on the node travels in this form.

use serde::{Deserialize, Serialize};

/// An expression with the place it was written at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expression {}
