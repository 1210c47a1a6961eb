//! The words of an enum's variants, and their serde implementations, which so cannot differ from them.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields, Ident, LitStr, Variant};

/// A variant and its word.
pub struct Word<'a> {
    pub variant: &'a Variant,
    pub text: String,
}

/// The variants of an enum.
pub fn variants<'a>(input: &'a DeriveInput, what: &str) -> syn::Result<Vec<&'a Variant>> {
    let Data::Enum(data) = &input.data else {
        return Err(syn::Error::new_spanned(&input.ident, format!("{what} are an enum: make `{}` one", input.ident)));
    };
    if !input.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(&input.generics, "an enum of attribute values has no parameters: leave them out"));
    }
    if data.variants.is_empty() {
        return Err(syn::Error::new_spanned(&input.ident, format!("`{}` has no variant: no value could be given", input.ident)));
    }
    Ok(data.variants.iter().collect())
}

/// The word of a variant without fields: `given`, else its name in snake case.
pub fn word<'a>(variant: &'a Variant, given: Option<LitStr>) -> syn::Result<Word<'a>> {
    if !matches!(variant.fields, Fields::Unit) {
        let message = format!("`{}` has fields, and a word has none: leave them out", variant.ident);
        return Err(syn::Error::new_spanned(variant, message));
    }
    let text = given.map_or_else(|| snake_case(&variant.ident), |text| text.value());
    Ok(Word { variant, text })
}

/// Refuses a text that means two variants.
pub fn check_unique<'a>(texts: impl Iterator<Item = (&'a str, &'a Variant)>) -> syn::Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    for (text, variant) in texts {
        if !seen.insert(text) {
            return Err(syn::Error::new_spanned(variant, format!("the word `{text}` stands twice: give one of them another")));
        }
    }
    Ok(())
}

/// `UdpLite` as `udp_lite`.
fn snake_case(ident: &Ident) -> String {
    let mut text = String::new();
    for letter in ident.to_string().trim_start_matches("r#").chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// `Serialize` and `Deserialize` by words. Of those read, only values of which the function `accepts` is true are taken.
pub fn serde(name: &Ident, words: &[&Word<'_>], accepts: &TokenStream) -> TokenStream {
    let variants = words.iter().map(|word| &word.variant.ident);
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let values = words.iter().map(|word| &word.variant.ident);
    let known = &texts;
    quote! {
        impl ::runtime_sdk::__serde::Serialize for #name {
            fn serialize<S: ::runtime_sdk::__serde::Serializer>(&self, serializer: S) -> ::core::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(match self { #(Self::#variants => #texts,)* })
            }
        }

        impl<'de> ::runtime_sdk::__serde::Deserialize<'de> for #name {
            fn deserialize<D: ::runtime_sdk::__serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {
                let word = <::std::string::String as ::runtime_sdk::__serde::Deserialize>::deserialize(deserializer)?;
                let value = match word.as_str() {
                    #(#known => ::core::option::Option::Some(Self::#values),)*
                    _ => ::core::option::Option::None,
                };
                let unknown = || <D::Error as ::runtime_sdk::__serde::de::Error>::custom("an unknown word");
                value.filter(#accepts).ok_or_else(unknown)
            }
        }
    }
}
