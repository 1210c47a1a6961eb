//! Programs on the running system: what they get, that they end, and what a confined one cannot do. They run as root.

#![allow(clippy::disallowed_methods, reason = "tests make the files and processes that they are about")]

mod confine;
mod end;
mod facts;
mod given;
mod host;
mod support;
