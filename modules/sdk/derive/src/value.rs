//! `#[derive(AttributeType)]`: an enum of words, or an untagged union of other types.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, DeriveInput, Fields, LitStr, Type, Variant};

use crate::words::{self, Word};

/// The implementation for an enum.
pub fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let variants = words::variants(input, "values of an attribute")?;
    if is_untagged(&input.attrs)? { union(input, &variants) } else { one_of_words(input, &variants) }
}

fn is_untagged(attributes: &[Attribute]) -> syn::Result<bool> {
    let mut found = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("attribute")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("untagged") {
                return Err(meta.error("on an enum there is only `untagged`"));
            }
            found = true;
            Ok(())
        })?;
    }
    Ok(found)
}

fn given_word(variant: &Variant) -> syn::Result<Option<LitStr>> {
    let mut word = None;
    for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("attribute")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("word") {
                return Err(meta.error("on a variant there is only `word = \"…\"`"));
            }
            word = Some(meta.value()?.parse()?);
            Ok(())
        })?;
    }
    Ok(word)
}

fn one_of_words(input: &DeriveInput, variants: &[&Variant]) -> syn::Result<TokenStream> {
    let name = &input.ident;
    if let Some(variant) = variants.iter().find(|variant| !matches!(variant.fields, Fields::Unit)) {
        let message = format!(
            "`{}` has fields: for one of several types write `#[attribute(untagged)]` above the enum, for a word leave them out",
            variant.ident
        );
        return Err(syn::Error::new_spanned(variant, message));
    }
    let words =
        variants.iter().map(|variant| words::word(variant, given_word(variant)?)).collect::<syn::Result<Vec<Word<'_>>>>()?;
    words::check_unique(words.iter().map(|word| (word.text.as_str(), word.variant)))?;
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let values = words.iter().map(|word| &word.variant.ident);
    let serde = words::serde(name, &words.iter().collect::<Vec<_>>(), &quote!(|_| true));
    Ok(quote! {
        impl ::runtime_sdk::AttributeType for #name {
            fn attribute_type() -> ::runtime_sdk::Type {
                ::runtime_sdk::Type::words(&[#(#texts),*])
            }

            fn from_value(
                attribute: &str,
                value: ::runtime_sdk::Value,
            ) -> ::core::result::Result<Self, ::runtime_sdk::Diagnostic> {
                match value.as_str() {
                    #(::core::option::Option::Some(#texts) => ::core::result::Result::Ok(Self::#values),)*
                    _ => ::core::result::Result::Err(::runtime_sdk::attributes::refusal::<Self>(attribute, &value)),
                }
            }
        }

        #serde
    })
}

fn union(input: &DeriveInput, variants: &[&Variant]) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let types = variants.iter().map(|variant| inner(variant)).collect::<syn::Result<Vec<&Type>>>()?;
    let constructors = variants.iter().map(|variant| &variant.ident);
    Ok(quote! {
        impl ::runtime_sdk::AttributeType for #name {
            fn attribute_type() -> ::runtime_sdk::Type {
                ::runtime_sdk::Type::Union(::std::vec![#(<#types as ::runtime_sdk::AttributeType>::attribute_type()),*])
            }

            fn is_sensitive() -> bool {
                #(<#types as ::runtime_sdk::AttributeType>::is_sensitive())||*
            }

            fn from_value(
                attribute: &str,
                value: ::runtime_sdk::Value,
            ) -> ::core::result::Result<Self, ::runtime_sdk::Diagnostic> {
                #(
                    if let ::core::result::Result::Ok(inner) =
                        <#types as ::runtime_sdk::AttributeType>::from_value(attribute, ::core::clone::Clone::clone(&value))
                    {
                        return ::core::result::Result::Ok(Self::#constructors(inner));
                    }
                )*
                ::core::result::Result::Err(::runtime_sdk::attributes::refusal::<Self>(attribute, &value))
            }
        }
    })
}

fn inner(variant: &Variant) -> syn::Result<&Type> {
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Ok(&fields.unnamed[0].ty),
        _ => {
            let message = format!("in an untagged union each variant holds one type: `{}(String)`", variant.ident);
            Err(syn::Error::new_spanned(variant, message))
        }
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
        assert_eq!(refusal("struct A;"), "values of an attribute are an enum: make `A` one");
        assert_eq!(refusal("enum A {}"), "`A` has no variant: no value could be given");
        assert!(refusal("enum A { B(String) }").starts_with("`B` has fields: for one of several types write"));
        assert_eq!(
            refusal("#[attribute(untagged)] enum A { B(String), C }"),
            "in an untagged union each variant holds one type: `C(String)`"
        );
        assert_eq!(refusal("enum A { B, #[attribute(word = \"b\")] C }"), "the word `b` stands twice: give one of them another");
        assert_eq!(refusal("enum A { #[attribute(wrod = \"b\")] C }"), "on a variant there is only `word = \"…\"`");
        assert_eq!(refusal("#[attribute(tagged)] enum A { B }"), "on an enum there is only `untagged`");
    }
}
