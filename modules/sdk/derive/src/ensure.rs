//! `#[derive(Ensure)]`: the vocabulary of `ensure` from an enum, its words from the variants and their meanings from doc comments.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Ident, LitStr, Variant};

use crate::docs;
use crate::words::{self, Word};

/// The implementation for an enum.
pub fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let options = Options::parse(input)?;
    let entries =
        words::variants(input, "the values of `ensure`")?.into_iter().map(Entry::parse).collect::<syn::Result<Vec<_>>>()?;
    let aliases: Vec<(String, &Entry<'_>)> =
        entries.iter().flat_map(|entry| entry.aliases.iter().map(move |alias| (alias.value(), entry))).collect();
    let texts = entries.iter().map(|entry| (entry.word.text.as_str(), entry.word.variant));
    words::check_unique(texts.chain(aliases.iter().map(|(alias, entry)| (alias.as_str(), entry.word.variant))))?;

    let default = match &options.default {
        None => quote!(::core::option::Option::None),
        Some(default) if entries.iter().any(|entry| entry.word.variant.ident == *default) => {
            quote!(::core::option::Option::Some(Self::#default))
        }
        Some(default) => {
            return Err(syn::Error::new_spanned(default, format!("`{default}` is no variant of `{name}`: name one of them")));
        }
    };
    let nullable = options.nullable;
    let (words, meanings): (Vec<&str>, Vec<&str>) =
        entries.iter().map(|entry| (entry.word.text.as_str(), entry.meaning.as_str())).unzip();
    let values = entries.iter().map(|entry| &entry.word.variant.ident);
    let alias_words = aliases.iter().map(|(alias, _)| alias);
    let alias_values = aliases.iter().map(|(_, entry)| &entry.word.variant.ident);
    let normalize = options.normalize.as_ref().map(|function| {
        quote! {
            fn normalize(self) -> Self {
                #function(self)
            }
        }
    });
    let accepts = quote!(|value| ::runtime_sdk::Ensure::is_canonical(*value));
    let serde = words::serde(name, &entries.iter().map(|entry| &entry.word).collect::<Vec<_>>(), &accepts);
    Ok(quote! {
        impl ::runtime_sdk::Ensure for #name {
            const VOCABULARY: ::runtime_sdk::Vocabulary<Self> = ::runtime_sdk::Vocabulary {
                words: &[#((Self::#values, #words, #meanings)),*],
                aliases: &[#((#alias_words, Self::#alias_values)),*],
                default: #default,
                nullable: #nullable,
            };

            #normalize
        }

        #serde
    })
}

/// What `#[ensure(…)]` on the enum says.
#[derive(Default)]
struct Options {
    default: Option<Ident>,
    nullable: bool,
    normalize: Option<syn::Path>,
}

impl Options {
    fn parse(input: &DeriveInput) -> syn::Result<Self> {
        let mut options = Self::default();
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("ensure")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("default") {
                    options.default = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("nullable") {
                    options.nullable = true;
                } else if meta.path.is_ident("normalize") {
                    options.normalize = Some(meta.value()?.parse()?);
                } else {
                    return Err(meta.error("this is none of `default = Variant`, `nullable` and `normalize = function`"));
                }
                Ok(())
            })?;
        }
        Ok(options)
    }
}

struct Entry<'a> {
    word: Word<'a>,
    aliases: Vec<LitStr>,
    meaning: String,
}

impl<'a> Entry<'a> {
    fn parse(variant: &'a Variant) -> syn::Result<Self> {
        let mut given = None;
        let mut aliases = Vec::new();
        for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("ensure")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("word") {
                    given = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("alias") {
                    aliases.push(meta.value()?.parse()?);
                } else {
                    return Err(meta.error("this is none of `word = \"…\"` and `alias = \"…\"`"));
                }
                Ok(())
            })?;
        }
        let word = words::word(variant, given)?;
        let meaning = docs::required(&variant.attrs, variant, &variant.ident.to_string())?;
        Ok(Self { word, aliases, meaning })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        expand(&syn::parse_str(text).unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_say_what_to_do() {
        assert!(refusal("enum E { On }").starts_with("`On` has no document: say in a comment `/// …` above it"));
        assert_eq!(
            refusal("#[ensure(default = Off)] enum E { #[doc = \"x\"] On }"),
            "`Off` is no variant of `E`: name one of them"
        );
        assert_eq!(
            refusal("enum E { #[doc = \"x\"] #[ensure(alias = \"off\")] On, #[doc = \"x\"] Off }"),
            "the word `off` stands twice: give one of them another"
        );
        assert_eq!(refusal("enum E { #[doc = \"x\"] On(u8) }"), "`On` has fields, and a word has none: leave them out");
    }
}
