//! Reads a manifest: its blocks, first the names that they declare, then what they say.

use std::collections::BTreeMap;
use std::sync::Arc;

use hcl_edit::Span;
use hcl_edit::structure::{Attribute, Block, Structure};

use super::blocks::{Allowed, Reader};
use super::{Declaration, Manifest, Type, Variable};
use crate::language::diagnostic::{Diagnostic, Diagnostics};
use crate::language::names::{Names, RESERVED};
use crate::language::source::{Source, Sources};
use crate::language::{Lowering, parse};
use crate::model::expression::Expression;
use crate::model::ids::{NameError, OwnerName, ResourceId, ResourceName, TypeName};

const TOP: Allowed =
    Allowed { block: "a manifest", attributes: &[], blocks: &["manifest", "variable", "locals", "resource"], later: &["output"] };

const MANIFEST: Allowed =
    Allowed { block: "a `manifest` block", attributes: &["name", "serial", "audience"], blocks: &[], later: &[] };

const VARIABLE: Allowed = Allowed {
    block: "a `variable` block",
    attributes: &["type", "default", "sensitive", "description"],
    blocks: &[],
    later: &["validation", "nullable"],
};

/// The blocks of a manifest by kind.
#[derive(Default)]
struct Blocks<'b> {
    manifest: Option<&'b Block>,
    variables: BTreeMap<String, &'b Block>,
    locals: BTreeMap<String, &'b Attribute>,
    resources: Vec<(ResourceId, &'b Block)>,
}

/// Reads a manifest's text. `file` is its name for messages, and its stem the manifest's name unless a `manifest` block gives one.
///
/// What is wrong with it and can be told without evaluating is in [`Manifest::errors`]: the rest can still be looked at.
///
/// # Errors
/// With a syntax error, after which there is nothing to look at.
pub fn read(file: &str, text: String) -> Result<Manifest, Diagnostics> {
    let source = Arc::new(Source::new(file, text));
    let mut sources = Sources::default();
    sources.add(source.clone());
    let body = match parse::body(&source) {
        Ok(body) => body,
        Err(error) => return Err(Diagnostics { list: vec![*error], sources }),
    };
    let mut reader = Reader { source: &source, errors: Vec::new() };
    let mut blocks = Blocks::default();
    let mut names = Names::default();
    for structure in body.iter() {
        reader.sort(structure, &mut blocks, &mut names);
    }
    let mut manifest = reader.manifest(file, &blocks, names, sources);
    manifest.errors = reader.errors;
    Ok(manifest)
}

impl Reader<'_> {
    /// Puts a block with its kind, and notes the names that it declares.
    fn sort<'b>(&mut self, structure: &'b Structure, blocks: &mut Blocks<'b>, names: &mut Names) {
        match structure {
            Structure::Attribute(attribute) => {
                let place = self.place(attribute.key.span());
                self.unknown(&place, attribute.key.as_str(), "attribute", TOP.attributes, &TOP);
            }
            Structure::Block(block) => match block.ident.as_str() {
                "manifest" => match blocks.manifest.replace(block) {
                    None => {
                        self.labels::<0>(block);
                    }
                    Some(first) => self.twice(block, first, "a second `manifest` block"),
                },
                "variable" => self.sort_variable(block, blocks, names),
                "locals" => self.sort_locals(block, blocks, names),
                "resource" => self.sort_resource(block, blocks, names),
                name => {
                    let place = self.header(block);
                    self.unknown(&place, name, "block", TOP.blocks, &TOP);
                }
            },
        }
    }

    fn twice(&mut self, second: &Block, first: &Block, summary: &str) {
        let (second, first) = (self.header(second), self.header(first));
        self.errors.push(Diagnostic::error(&second, summary).related(&first, "the first one"));
    }

    fn sort_variable<'b>(&mut self, block: &'b Block, blocks: &mut Blocks<'b>, names: &mut Names) {
        let Some([label]) = self.labels::<1>(block) else { return };
        let name = label.as_str();
        if !is_identifier(name) {
            let place = self.place(label.span());
            let error = self.error(&place, format!("`{name}` cannot be the name of a variable"));
            error.hint = Some("names are letters, digits, `_` and `-`, and start with a letter or `_`".to_owned());
            return;
        }
        names.variables.insert(name.to_owned());
        if let Some(first) = blocks.variables.insert(name.to_owned(), block) {
            self.twice(block, first, &format!("the variable `{name}` is declared twice"));
        }
    }

    fn sort_locals<'b>(&mut self, block: &'b Block, blocks: &mut Blocks<'b>, names: &mut Names) {
        self.labels::<0>(block);
        for structure in block.body.iter() {
            match structure {
                Structure::Attribute(attribute) => {
                    let name = attribute.key.as_str();
                    names.locals.insert(name.to_owned());
                    if let Some(first) = blocks.locals.insert(name.to_owned(), attribute) {
                        let (second, first) = (self.place(attribute.key.span()), self.place(first.key.span()));
                        let error = Diagnostic::error(&second, format!("the local `{name}` is defined twice"));
                        self.errors.push(error.related(&first, "the first one"));
                    }
                }
                Structure::Block(inner) => {
                    let place = self.header(inner);
                    let name = inner.ident.as_str();
                    let error = self.error(&place, format!("unknown block `{name}` in a `locals` block"));
                    error.hint = Some(format!("a local that is an object is written `{name} = {{ … }}`"));
                }
            }
        }
    }

    fn sort_resource<'b>(&mut self, block: &'b Block, blocks: &mut Blocks<'b>, names: &mut Names) {
        let Some([type_label, name_label]) = self.labels::<2>(block) else { return };
        let (type_place, name_place) = (self.place(type_label.span()), self.place(name_label.span()));
        let type_name: Result<TypeName, _> = type_label.as_str().parse();
        let name: Result<ResourceName, _> = name_label.as_str().parse();
        if RESERVED.contains(&type_label.as_str()) {
            self.error(&type_place, format!("`{}` cannot be a resource type: the word is reserved", type_label.as_str()));
            names.refused.insert((type_label.as_str().to_owned(), name_label.as_str().to_owned()));
            return;
        }
        if let Err(error) = &type_name {
            self.error(&type_place, error.to_string());
        }
        if let Err(error) = &name {
            self.error(&name_place, error.to_string());
        }
        let (Ok(type_name), Ok(name)) = (type_name, name) else {
            names.refused.insert((type_label.as_str().to_owned(), name_label.as_str().to_owned()));
            return;
        };
        let id = ResourceId { type_name, name };
        let of_type = names.resources.entry(id.type_name.to_string()).or_default();
        if of_type.insert(id.name.to_string()) {
            blocks.resources.push((id, block));
        } else if let Some((_, first)) = blocks.resources.iter().find(|(earlier, _)| *earlier == id) {
            self.twice(block, first, &format!("the resource `{id}` is declared twice"));
        }
    }

    /// Everything, once all names are known.
    fn manifest(&mut self, file: &str, blocks: &Blocks<'_>, names: Names, sources: Sources) -> Manifest {
        let (name, serial, audience) = self.header_block(file, blocks.manifest);
        let mut variables = BTreeMap::new();
        for (name, block) in &blocks.variables {
            variables.insert(name.clone(), self.variable(block));
        }
        let mut locals = BTreeMap::new();
        for (name, attribute) in &blocks.locals {
            locals.insert(name.clone(), self.local(attribute, &names));
        }
        let resources: Vec<Declaration> =
            blocks.resources.iter().map(|(id, block)| self.resource(block, id.clone(), &names)).collect();
        let places = resources.iter().enumerate().map(|(place, declaration)| (declaration.id.clone(), place)).collect();
        Manifest { errors: Vec::new(), name, serial, audience, variables, locals, resources, places, sources, names }
    }

    fn header_block(&mut self, file: &str, block: Option<&Block>) -> (OwnerName, u64, Vec<String>) {
        let found = block.map(|block| self.content(&block.body, &MANIFEST)).unwrap_or_default();
        let serial = self.constant_as(&found, "serial", "a whole number from 0 to 2^53", serde_json::Value::as_u64);
        let audience = self.constant_as(&found, "audience", "a list of strings", |json| {
            json.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        });
        let name = match (self.text(&found, "name"), found.attributes.contains_key("name")) {
            (Some((text, place)), _) => text.parse().map_err(|error: NameError| (error, place)),
            // What stands there was refused already.
            (None, true) => return (stand_in(), 0, Vec::new()),
            (None, false) => stem(file).parse().map_err(|error| (error, self.source.place(0..0))),
        };
        let name = match name {
            Ok(name) => name,
            Err((error, place)) => {
                let message = self.error(&place, error.to_string());
                message.hint = Some("name the manifest: `manifest { name = \"site\" }`".to_owned());
                stand_in()
            }
        };
        (name, serial.map_or(0, |(serial, _)| serial), audience.map(|(audience, _)| audience).unwrap_or_default())
    }

    fn variable(&mut self, block: &Block) -> Variable {
        let place = self.header(block);
        let errors_before = self.errors.len();
        let found = self.content(&block.body, &VARIABLE);
        let type_ = found.attributes.get("type").map_or(Ok(Type::Any), |type_| Type::parse(self.source, &type_.value));
        let type_ = type_.unwrap_or_else(|error| {
            self.errors.push(*error);
            Type::Any
        });
        let default = found.attributes.get("default").and_then(|attribute| self.constant(attribute));
        if let Some((default, place)) = &default
            && !default.is_null()
            && let Err(error) = type_.check(default)
        {
            let message = self.error(place, format!("the default does not fit the type `{type_}`"));
            message.label = error.to_string();
        }
        let sensitive = self.constant_as(&found, "sensitive", "`true` or `false`", serde_json::Value::as_bool);
        if sensitive.as_ref().is_some_and(|(sensitive, _)| *sensitive) {
            let span = found.attributes.get("default").and_then(|attribute| attribute.value.span());
            span.into_iter().for_each(|span| self.source.hide(span));
        }
        let description = self.text(&found, "description");
        Variable {
            type_,
            default: default.map(|(default, _)| default),
            sensitive: sensitive.is_some_and(|(sensitive, _)| sensitive),
            description: description.map(|(description, _)| description),
            place,
            is_hole: self.errors.len() > errors_before,
        }
    }

    fn local(&mut self, attribute: &Attribute, names: &Names) -> Expression {
        let mut lowering = Lowering::new(self.source, names);
        let lowered = lowering.root(&attribute.value);
        self.errors.extend(lowering.into_errors());
        lowered
    }
}

/// A name in place of one that is no name, which has been told.
fn stand_in() -> OwnerName {
    "nameless".parse().expect("it holds letters only")
}

fn is_identifier(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

/// `sites/web.hcl` is `web`.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}
