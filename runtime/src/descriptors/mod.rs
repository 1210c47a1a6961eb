//! Tool: what the descriptors of a resource type give to others than the compiler: a JSON Schema for programs, a page for readers.
//!
//! Pure. Deliberately not here: what `module inspect` shows, which is about one component and its rights, and belongs to the command line.

mod page;
mod schema;

pub use page::{page, provider_page};
pub use schema::{options_schema, schema};
