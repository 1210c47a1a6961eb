//! How much a resource may write to the log. Writing itself needs no right: it touches nothing.

/// The longest message in bytes, after escaping. The rest is cut, and the cut is noted.
pub const MAX_MESSAGE: usize = 4 * 1024;

/// All messages of an attempt in bytes. What comes after is dropped, and that is noted once.
pub const MAX_TOTAL: usize = 64 * 1024;
