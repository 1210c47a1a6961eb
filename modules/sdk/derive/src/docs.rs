//! Doc comments as the documents of descriptors.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The doc comment as one line of text; empty if there is none.
pub fn text(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(line);
    let words: Vec<String> = lines.flat_map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    words.join(" ")
}

/// The doc comment, which `what` must have.
pub fn required(attributes: &[Attribute], what: &impl quote::ToTokens, name: &str) -> syn::Result<String> {
    match text(attributes) {
        text if text.is_empty() => {
            let message =
                format!("`{name}` has no document: say in a comment `/// …` above it what it is, for those who write manifests");
            Err(syn::Error::new_spanned(what, message))
        }
        text => Ok(text),
    }
}

fn line(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
