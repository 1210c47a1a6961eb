//! One field of a struct of attributes: what it is, and what is wrong with it.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{Field, GenericArgument, Ident, PathArguments, Type};

use crate::docs;
use crate::options::Options;

/// A field, with everything that its descriptor and its reader are made of.
pub struct Given<'a> {
    pub ident: &'a Ident,
    pub ty: &'a Type,
    pub name: String,
    pub doc: String,
    pub options: Options,
    pub kind: Kind<'a>,
}

/// What a field describes. The type is that of the value, or of one block.
pub enum Kind<'a> {
    Attribute(&'a Type, Taken),
    Ensure(&'a Type, Default),
    Block(&'a Type, Shape),
}

/// Whether an attribute must be given.
pub enum Taken {
    /// `T`.
    Required,
    /// `Option<T>`.
    Optional,
    /// `T` with this default.
    OrDefault(TokenStream),
}

/// Whether the vocabulary of `ensure` must have a default.
#[derive(Clone, Copy, PartialEq)]
pub enum Default {
    /// `E`.
    Some,
    /// `Option<E>`.
    None,
}

/// How often a block may be given.
#[derive(Clone, Copy, PartialEq)]
pub enum Shape {
    /// Once: `B`.
    Required,
    /// At most once: `Option<B>`.
    Optional,
    /// Any number of times, without labels: `Vec<B>`.
    Repeated,
    /// Any number of times, with labels: `BTreeMap<String, B>`.
    Labelled,
}

impl<'a> Given<'a> {
    /// What `field`, which has a name, describes.
    pub fn parse(field: &'a Field, ident: &'a Ident) -> syn::Result<Self> {
        let options = Options::parse(&field.attrs)?;
        for text in options.name.iter().chain(&options.aliases) {
            check_name(&text.value(), text)?;
        }
        let name = match &options.name {
            Some(name) => name.value(),
            None => ident.to_string().trim_start_matches("r#").to_owned(),
        };
        check_name(&name, ident)?;
        let doc = docs::required(&field.attrs, ident, &name)?;
        let kind = kind(&field.ty, &options, &name)?;
        let given = Self { ident, ty: &field.ty, name, doc, options, kind };
        given.check()?;
        Ok(given)
    }

    /// Whether it describes a child block.
    pub fn is_block(&self) -> bool {
        matches!(self.kind, Kind::Block(..))
    }

    fn check(&self) -> syn::Result<()> {
        if self.is_block() { self.check_block() } else { self.check_attribute() }
    }

    fn check_block(&self) -> syn::Result<()> {
        let Options { aliases, identity, exported, source, checksum_of, sensitive, nullable, .. } = &self.options;
        let spans = [*identity, *exported, *source, sensitive.map(|it| it.0), nullable.map(|it| it.0)];
        let texts = aliases.iter().chain(checksum_of).map(syn::LitStr::span);
        match spans.into_iter().flatten().chain(texts).next() {
            Some(span) => Err(self.wrong(
                span,
                "is a block, which takes only `block`, `name` and `required`: put the rest into its own attributes",
            )),
            None => Ok(()),
        }
    }

    fn check_attribute(&self) -> syn::Result<()> {
        let Options { identity, source, checksum_of, sensitive, nullable, required, .. } = &self.options;
        if let Some(span) = required {
            return Err(
                self.wrong(*span, "is required by its type already: leave `required` out, or write the type without `Option`")
            );
        }
        if let (Some((span, true)), Some(_)) = (sensitive, identity) {
            return Err(self.wrong(*span, "names the object, so it cannot be hidden: leave `identity` or `sensitive` out"));
        }
        if let (Some((span, true)), true) = (sensitive, source.is_some() || checksum_of.is_some()) {
            return Err(self.wrong(*span, "says where content comes from, so it cannot be hidden: leave `sensitive` out"));
        }
        match (&self.kind, nullable) {
            (Kind::Ensure(..), Some((span, _))) => {
                Err(self.wrong(*span, "takes null as its vocabulary says: write `#[ensure(nullable)]` above that enum"))
            }
            (Kind::Attribute(_, Taken::Required), Some((span, _))) => {
                Err(self.wrong(*span, "must be given, so null is never allowed: leave `nullable` out, or make it an `Option`"))
            }
            _ => Ok(()),
        }
    }

    /// An error at `span` that begins with the attribute's name.
    pub fn wrong(&self, span: Span, message: &str) -> syn::Error {
        syn::Error::new(span, format!("`{}` {message}", self.name))
    }
}

fn check_name(name: &str, place: &impl ToTokens) -> syn::Result<()> {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let is_name = name.len() <= 63 && name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(is_part);
    if !is_name {
        let message = format!("`{name}` is no attribute name: lower-case letters, digits and `_`, a letter first, at most 63");
        return Err(syn::Error::new_spanned(place, message));
    }
    if name == "meta" {
        return Err(syn::Error::new_spanned(place, "`meta` is the block that every resource has: choose another name"));
    }
    Ok(())
}

fn kind<'a>(ty: &'a Type, options: &Options, name: &str) -> syn::Result<Kind<'a>> {
    let at = |span, message: &str| Err(syn::Error::new(span, format!("`{name}` {message}")));
    let optional = only_argument(ty, "Option");
    match (options.block, options.ensure, &options.default) {
        (Some(span), Some(_), _) => at(span, "is a block and `ensure` at once: leave one of them out"),
        (Some(_), None, Some((span, _))) => at(*span, "is a block, and blocks have no default: leave `default` out"),
        (Some(_), None, None) => block(ty, options.required.is_some(), name),
        (None, Some(span), _) if name != "ensure" => at(span, "has the vocabulary of `ensure`, and so must have its name"),
        (None, Some(_), Some((span, _))) => {
            at(*span, "has the default of its vocabulary: write `#[ensure(default = …)]` above that enum")
        }
        (None, Some(_), None) => Ok(optional.map_or(Kind::Ensure(ty, Default::Some), |ty| Kind::Ensure(ty, Default::None))),
        (None, None, Some((span, _))) if optional.is_some() => {
            at(*span, "always has a value where there is a default: write its type without `Option`, or leave `default` out")
        }
        (None, None, Some((_, value))) => Ok(Kind::Attribute(ty, Taken::OrDefault(value.clone()))),
        (None, None, None) => {
            Ok(optional.map_or(Kind::Attribute(ty, Taken::Required), |ty| Kind::Attribute(ty, Taken::Optional)))
        }
    }
}

fn block<'a>(ty: &'a Type, required: bool, name: &str) -> syn::Result<Kind<'a>> {
    if let Some(inner) = only_argument(ty, "Option") {
        if required {
            let message = format!("`{name}` is required: write its type without `Option`");
            return Err(syn::Error::new_spanned(ty, message));
        }
        return Ok(Kind::Block(inner, Shape::Optional));
    }
    if let Some(inner) = only_argument(ty, "Vec") {
        return Ok(Kind::Block(inner, Shape::Repeated));
    }
    match arguments(ty, "BTreeMap").as_deref() {
        Some([_, inner]) => Ok(Kind::Block(inner, Shape::Labelled)),
        _ => Ok(Kind::Block(ty, Shape::Required)),
    }
}

/// `T` of a type `Wrapper<T>`.
fn only_argument<'a>(ty: &'a Type, wrapper: &str) -> Option<&'a Type> {
    match arguments(ty, wrapper)?.as_slice() {
        [inner] => Some(inner),
        _ => None,
    }
}

/// The arguments of a type whose last name is `wrapper`.
fn arguments<'a>(ty: &'a Type, wrapper: &str) -> Option<Vec<&'a Type>> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == wrapper)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    Some(types.collect())
}
