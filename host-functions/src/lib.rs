//! What a component may do to the node: the only code that changes it.
//!
//! Every host function builds a [`call::HostCall`] and passes it to the one `authorize` before it does anything.

pub mod grant;

pub mod files;
