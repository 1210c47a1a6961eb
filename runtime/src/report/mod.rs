//! What a run found and did, for people and for programs.
//!
//! Pure: a [`Report`](crate::model::report::Report) or a part of it in, text or JSON out. Nothing here prints, asks for a terminal or
//! looks at the node; the caller says with a [`View`] whether there is colour.
//!
//! Text that comes from a module, a manifest or the node was escaped where it entered. That is not trusted here: every such text
//! goes through [`line()`] or [`block()`] once more, which leave escaped text as it is.

pub use amounts::{duration, size};
pub use cause::{Cause, cause};
pub use json::{conclusion, resource_record};
pub use palette::Palette;
pub use safe::{block, line, shortened};
pub use text::{View, body, counts, render};
pub use values::value;

mod amounts;
mod cause;
mod json;
mod palette;
mod resource;
mod safe;
mod text;
mod values;

#[cfg(test)]
pub(crate) mod samples;
