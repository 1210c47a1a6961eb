//! The derive macros of `runtime-sdk`, which re-exports them beside the traits of the same names.
//!
//! A macro turns what an author wrote once (fields, types, doc comments) into descriptors and readers, so that the two cannot
//! differ. It makes calls of the SDK and no logic of its own. A mistake is told at the field or variant that has it, with what
//! to do; what cannot be seen from one type alone is left to `testing::check_description` and to the host.

mod docs;

mod ensure;

mod field;

mod given;

mod options;

mod value;

mod words;

use proc_macro::TokenStream;

/// Descriptors, readers and exports from a struct whose fields are attributes: see the trait of this name.
#[proc_macro_derive(Attributes, attributes(attribute))]
pub fn attributes(input: TokenStream) -> TokenStream {
    derive(input, given::expand)
}

/// A type of attribute values from an enum: see the trait of this name.
#[proc_macro_derive(AttributeType, attributes(attribute))]
pub fn attribute_type(input: TokenStream) -> TokenStream {
    derive(input, value::expand)
}

/// The vocabulary of `ensure` from an enum: see the trait of this name.
#[proc_macro_derive(Ensure, attributes(ensure))]
pub fn ensure(input: TokenStream) -> TokenStream {
    derive(input, ensure::expand)
}

fn derive(input: TokenStream, expand: fn(&syn::DeriveInput) -> syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    let expanded = syn::parse(input).and_then(|input| expand(&input));
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}
