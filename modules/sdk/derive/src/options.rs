//! What `#[attribute(…)]` on a field says.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::meta::ParseNestedMeta;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{Attribute, LitBool, LitStr, Token};

/// All the words, for the message about one that is not known.
const WORDS: &str = "`alias`, `block`, `checksum_of`, `default`, `ensure`, `exported`, `identity`, `name`, `nullable`, `required`, \
                     `sensitive` and `source`";

/// The options of a field, each with its place.
#[derive(Default)]
pub struct Options {
    pub name: Option<LitStr>,
    pub aliases: Vec<LitStr>,
    pub identity: Option<Span>,
    pub exported: Option<Span>,
    pub source: Option<Span>,
    pub checksum_of: Option<LitStr>,
    pub default: Option<(Span, TokenStream)>,
    pub sensitive: Option<(Span, bool)>,
    pub nullable: Option<(Span, bool)>,
    pub required: Option<Span>,
    pub ensure: Option<Span>,
    pub block: Option<Span>,
}

impl Options {
    /// Reads every `#[attribute(…)]` among `attributes`.
    pub fn parse(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut options = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("attribute")) {
            attribute.parse_nested_meta(|meta| options.take(&meta))?;
        }
        Ok(options)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match word.as_str() {
            "name" => once(&mut self.name, meta, meta.value()?.parse()?),
            "alias" => {
                self.aliases.push(meta.value()?.parse()?);
                Ok(())
            }
            "identity" => once(&mut self.identity, meta, meta.path.span()),
            "exported" => once(&mut self.exported, meta, meta.path.span()),
            "source" => once(&mut self.source, meta, meta.path.span()),
            "required" => once(&mut self.required, meta, meta.path.span()),
            "ensure" => once(&mut self.ensure, meta, meta.path.span()),
            "block" => once(&mut self.block, meta, meta.path.span()),
            "checksum_of" => once(&mut self.checksum_of, meta, meta.value()?.parse()?),
            "default" => once(&mut self.default, meta, (meta.path.span(), expression(meta.value()?)?)),
            "sensitive" => once(&mut self.sensitive, meta, (meta.path.span(), yes_or_no(meta)?)),
            "nullable" => once(&mut self.nullable, meta, (meta.path.span(), yes_or_no(meta)?)),
            _ => Err(meta.error(format!("this is none of {WORDS}"))),
        }
    }
}

fn once<T>(place: &mut Option<T>, meta: &ParseNestedMeta<'_>, value: T) -> syn::Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(meta.error("this is said twice: keep one of them")),
    }
}

/// `word`, `word = true` or `word = false`.
fn yes_or_no(meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
    if meta.input.peek(Token![=]) { Ok(meta.value()?.parse::<LitBool>()?.value) } else { Ok(true) }
}

/// Everything up to the next comma: an expression, which rustc checks.
fn expression(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    if tokens.is_empty() { Err(input.error("the value is missing: `default = false`")) } else { Ok(tokens) }
}
