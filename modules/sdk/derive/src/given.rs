//! `#[derive(Attributes)]`: descriptors, a reader for each field, and exports.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{Data, DeriveInput, Fields};

use crate::field::{Default, Given, Kind, Shape, Taken};

/// The implementation for a struct.
pub fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let fields = fields(input)?;
    check(&fields)?;
    let name = &input.ident;
    let visibility = &input.vis;
    let attributes = fields.iter().filter_map(descriptor);
    let blocks = fields.iter().filter_map(block);
    let readers = fields.iter().map(|field| reader(field, visibility));
    let exports = fields.iter().filter(|field| field.options.exported.is_some()).map(export);
    let idents: Vec<_> = fields.iter().map(|field| field.ident).collect();
    let whole = fields.iter().map(whole);
    let ensure = fields.iter().find_map(vocabulary);
    Ok(quote! {
        impl #name {
            #(#readers)*
        }

        impl ::runtime_sdk::Attributes for #name {
            fn attributes() -> ::std::vec::Vec<::runtime_sdk::Attribute> {
                ::std::vec![#(#attributes),*]
            }

            fn blocks() -> ::std::vec::Vec<::runtime_sdk::Block> {
                ::std::vec![#(#blocks),*]
            }

            #ensure

            fn read(given: &::runtime_sdk::Parameters<'_>) -> ::runtime_sdk::DefinitionResult<Self> {
                ::core::result::Result::Ok(Self { #(#idents: #whole),* })
            }

            fn export(
                attribute: &str,
                given: &::runtime_sdk::Parameters<'_>,
            ) -> ::runtime_sdk::DefinitionResult<::runtime_sdk::Value> {
                match attribute {
                    #(#exports)*
                    _ => ::core::result::Result::Err(::runtime_sdk::attributes::not_exported(attribute)),
                }
            }
        }

        // The struct is a description: nobody need make one or look at its fields.
        const _: fn(&#name) = |given| {
            let #name { #(#idents: _),* } = given;
            #(let _ = &given.#idents;)*
        };
    })
}

fn fields(input: &DeriveInput) -> syn::Result<Vec<Given<'_>>> {
    let named = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Some(fields),
            _ => None,
        },
        _ => None,
    };
    let Some(named) = named else {
        let message = format!("attributes have names: make `{}` a struct with named fields", input.ident);
        return Err(syn::Error::new_spanned(&input.ident, message));
    };
    if !input.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(&input.generics, "a struct of attributes has no parameters: leave them out"));
    }
    let fields = named.named.iter().filter_map(|field| field.ident.as_ref().map(|ident| Given::parse(field, ident)));
    collect(fields)
}

/// All values, or all errors in one.
fn collect<T>(results: impl Iterator<Item = syn::Result<T>>) -> syn::Result<Vec<T>> {
    let mut values = Vec::new();
    let mut errors: Option<syn::Error> = None;
    for result in results {
        match (result, &mut errors) {
            (Ok(value), _) => values.push(value),
            (Err(error), Some(errors)) => errors.combine(error),
            (Err(error), None) => errors = Some(error),
        }
    }
    errors.map_or(Ok(values), Err)
}

/// What is seen only with all fields: names that clash, and checksums of nothing.
fn check(fields: &[Given<'_>]) -> syn::Result<()> {
    let mut seen = BTreeSet::new();
    for field in fields {
        let aliases = field.options.aliases.iter().map(syn::LitStr::value);
        for name in aliases.chain([field.name.clone()]) {
            if !seen.insert(name.clone()) {
                let message = format!("the name `{name}` stands twice: attributes, their aliases and blocks share one namespace");
                return Err(syn::Error::new_spanned(field.ident, message));
            }
        }
        if let Some(of) = &field.options.checksum_of
            && !fields.iter().any(|other| other.name == of.value() && other.options.source.is_some())
        {
            let message = format!(
                "`{}` is the checksum of `{}`, which is no source here: write `#[attribute(source)]` on that field",
                field.name,
                of.value()
            );
            return Err(syn::Error::new_spanned(of, message));
        }
    }
    Ok(())
}

/// The descriptor of an attribute; none of a block.
fn descriptor(field: &Given<'_>) -> Option<TokenStream> {
    let (name, doc, options) = (&field.name, &field.doc, &field.options);
    let start = match &field.kind {
        Kind::Block(..) => return None,
        Kind::Ensure(ty, _) => quote!(::runtime_sdk::Attribute::ensure::<#ty>()),
        Kind::Attribute(ty, taken) => {
            let start = if options.sensitive.is_none_or(|(_, hides)| hides) {
                quote!(::runtime_sdk::Attribute::of::<#ty>(#name))
            } else {
                quote!(::runtime_sdk::Attribute::new(#name, <#ty as ::runtime_sdk::AttributeType>::attribute_type()))
            };
            let nullable = options.nullable.is_none_or(|(_, nullable)| nullable).then(|| quote!(.nullable()));
            match taken {
                Taken::Required => quote!(#start.required()),
                Taken::Optional => quote!(#start #nullable),
                Taken::OrDefault(value) => quote!(#start #nullable .default_value(#value)),
            }
        }
    };
    let aliases = options.aliases.iter().map(|alias| quote!(.alias(#alias)));
    let sensitive = options.sensitive.filter(|(_, hides)| *hides).map(|_| quote!(.sensitive()));
    let identity = options.identity.map(|_| quote!(.identity()));
    let exported = options.exported.map(|_| quote!(.exported()));
    let source = options.source.map(|_| quote!(.source()));
    let checksum_of = options.checksum_of.as_ref().map(|of| quote!(.checksum_of(#of)));
    Some(quote!(#start #(#aliases)* #sensitive #identity #exported #source #checksum_of .doc(#doc)))
}

/// The descriptor of a block; none of an attribute.
fn block(field: &Given<'_>) -> Option<TokenStream> {
    let Kind::Block(ty, shape) = &field.kind else { return None };
    let (name, doc) = (&field.name, &field.doc);
    let constructor = match shape {
        Shape::Required | Shape::Optional => quote!(single),
        Shape::Repeated => quote!(repeated),
        Shape::Labelled => quote!(labelled),
    };
    let required = (*shape == Shape::Required || field.options.required.is_some()).then(|| quote!(.required()));
    Some(quote! {
        ::runtime_sdk::Block::#constructor(#name)
            #required
            .attributes(<#ty as ::runtime_sdk::Attributes>::attributes())
            .doc(#doc)
    })
}

/// The function that gives the vocabulary, where the field is `ensure`.
fn vocabulary(field: &Given<'_>) -> Option<TokenStream> {
    let Kind::Ensure(ty, _) = &field.kind else { return None };
    Some(quote! {
        fn ensure_vocabulary() -> ::core::option::Option<::runtime_sdk::EnsureVocabulary> {
            ::core::option::Option::Some(<#ty as ::runtime_sdk::Ensure>::vocabulary())
        }
    })
}

/// The function of a field that reads it.
fn reader(field: &Given<'_>, visibility: &syn::Visibility) -> TokenStream {
    let (ident, name, ty) = (field.ident, &field.name, field.ty);
    let doc = format!("Reads `{name}`, and nothing else. {}", field.doc);
    let child = quote!(::runtime_sdk::Child<'given>);
    let ty = ty.to_token_stream();
    let (result, body) = match &field.kind {
        Kind::Attribute(_, Taken::Required) => (ty, quote!(::runtime_sdk::attributes::required(given, #name))),
        Kind::Attribute(_, Taken::Optional) => (ty, quote!(::runtime_sdk::attributes::optional(given, #name))),
        Kind::Attribute(_, Taken::OrDefault(value)) => {
            (ty, quote!(::runtime_sdk::attributes::or_default(given, #name, || #value)))
        }
        Kind::Ensure(words, Default::Some) => {
            let message = "`ensure` needs a default in its vocabulary, or the type `Option`";
            let check = quote!(const { assert!(<#words as ::runtime_sdk::Ensure>::VOCABULARY.default.is_some(), #message) };);
            (ty, quote!(#check <#words as ::runtime_sdk::Ensure>::required(given)))
        }
        Kind::Ensure(words, Default::None) => (ty, quote!(<#words as ::runtime_sdk::Ensure>::resolve(given))),
        Kind::Block(_, Shape::Required) => (child, quote!(given.required_child(#name))),
        Kind::Block(_, Shape::Optional) => (quote!(::core::option::Option<#child>), quote!(given.child(#name))),
        Kind::Block(_, Shape::Repeated | Shape::Labelled) => (quote!(::std::vec::Vec<#child>), quote!(given.children(#name))),
    };
    quote! {
        #[doc = #doc]
        #[allow(dead_code, reason = "a definition need not read every attribute by itself")]
        #visibility fn #ident<'given>(
            given: &::runtime_sdk::Parameters<'given>,
        ) -> ::runtime_sdk::DefinitionResult<#result> {
            #body
        }
    }
}

/// The field's value when everything is read at once.
fn whole(field: &Given<'_>) -> TokenStream {
    let ident = field.ident;
    match &field.kind {
        Kind::Block(ty, Shape::Required) => quote!(Self::#ident(given)?.read::<#ty>()?),
        Kind::Block(ty, Shape::Optional) => {
            quote!(Self::#ident(given)?.map(|child| child.read::<#ty>()).transpose()?)
        }
        Kind::Block(ty, Shape::Repeated) => quote! {
            Self::#ident(given)?.iter().map(|child| child.read::<#ty>()).collect::<::runtime_sdk::DefinitionResult<_>>()?
        },
        Kind::Block(ty, Shape::Labelled) => quote! {
            Self::#ident(given)?
                .iter()
                .map(|child| ::core::result::Result::Ok((child.required_label()?.to_owned(), child.read::<#ty>()?)))
                .collect::<::runtime_sdk::DefinitionResult<_>>()?
        },
        _ => quote!(Self::#ident(given)?),
    }
}

fn export(field: &Given<'_>) -> TokenStream {
    let (ident, name) = (field.ident, &field.name);
    match &field.kind {
        Kind::Ensure(ty, _) => quote!(#name => <#ty as ::runtime_sdk::Ensure>::export(given),),
        _ => quote!(#name => ::runtime_sdk::attributes::exported(&Self::#ident(given)?),),
    }
}

#[cfg(test)]
mod tests;
