//! `resource` blocks.

use std::collections::BTreeMap;

use hcl_edit::Span;
use hcl_edit::expr::{Expression as Hcl, TraversalOperator};
use hcl_edit::structure::{Attribute as HclAttribute, Block, BlockLabel, Structure};

use super::blocks::{Allowed, Found, Reader};
use super::{Attribute, ChildBlock, Declaration, Gate, Meta};
use crate::language::Lowering;
use crate::language::diagnostic::Diagnostic;
use crate::language::names::Names;
use crate::model::catalog::MAX_TIMEOUT_MS;
use crate::model::description::{LABEL_RULE, is_label};
use crate::model::expression::{Expression, Place};
use crate::model::ids::{ProviderName, ResourceId};
use crate::model::units;

const META: Allowed = Allowed {
    block: "a `meta` block",
    attributes: &["require", "before", "subscribe", "notify", "timeout", "provider"],
    blocks: &["control", "health"],
    later: &[],
};

const CONTROL: Allowed = Allowed { block: "a `control` block", attributes: &["if", "unless"], blocks: &[], later: &[] };

impl Reader<'_> {
    /// A resource block whose header was found good.
    pub(super) fn resource(&mut self, block: &Block, id: ResourceId, names: &Names) -> Declaration {
        let place = self.header(block);
        let type_place = self.place(block.labels.first().and_then(Span::span));
        let mut attributes = BTreeMap::new();
        let mut blocks = Vec::new();
        let mut meta: Option<&Block> = None;
        for structure in block.body.iter() {
            match structure {
                Structure::Attribute(attribute) => {
                    attributes.insert(attribute.key.as_str().to_owned(), self.attribute(attribute, &id, names));
                }
                Structure::Block(inner) if inner.ident.as_str() == "meta" => match meta.replace(inner) {
                    None => {
                        self.labels::<0>(inner);
                    }
                    Some(first) => {
                        let (second, first) = (self.header(inner), self.header(first));
                        let error = Diagnostic::error(&second, format!("a second `meta` block in `{id}`"));
                        self.errors.push(error.related(&first, "the first one"));
                    }
                },
                Structure::Block(inner) => blocks.push(self.child_block(inner, &id, names)),
            }
        }
        let meta = meta.map(|meta| self.meta(meta, &id, names)).unwrap_or_default();
        Declaration { id, place, type_place, attributes, blocks, meta }
    }

    /// A block of the resource type's. Which there are is for its module to say.
    fn child_block(&mut self, block: &Block, id: &ResourceId, names: &Names) -> ChildBlock {
        let name = block.ident.as_str();
        let mut attributes = BTreeMap::new();
        for structure in block.body.iter() {
            match structure {
                Structure::Attribute(attribute) => {
                    attributes.insert(attribute.key.as_str().to_owned(), self.attribute(attribute, id, names));
                }
                Structure::Block(inner) => self.nested_block(inner, name),
            }
        }
        let labels = block.labels.iter().map(|label| self.label(label)).collect();
        ChildBlock { name: name.to_owned(), labels, place: self.header(block), attributes }
    }

    fn label(&mut self, label: &BlockLabel) -> (String, Place) {
        let place = self.place(label.span());
        if !is_label(label.as_str()) {
            self.error(&place, "this cannot be the label of a block").hint = Some(LABEL_RULE.to_owned());
        }
        (label.as_str().to_owned(), place)
    }

    fn nested_block(&mut self, block: &Block, outer: &str) {
        let place = self.header(block);
        let name = block.ident.as_str();
        let error = self.error(&place, format!("a block within the block `{outer}`"));
        error.label = "blocks of a resource hold attributes only".to_owned();
        error.hint = Some(match name {
            "meta" => "`meta { … }` belongs into the resource itself".to_owned(),
            _ => format!("an attribute that is an object is written `{name} = {{ … }}`"),
        });
    }

    /// The value of an attribute of the resource type's.
    fn attribute(&mut self, attribute: &HclAttribute, id: &ResourceId, names: &Names) -> Attribute {
        let mut lowering = Lowering::new(self.source, names);
        lowering.within(Some(id.clone()));
        let value = lowering.attribute(&attribute.value);
        self.errors.extend(lowering.into_errors());
        Attribute { name_place: self.place(attribute.key.span()), value }
    }

    fn expression(&mut self, expression: &Hcl, id: &ResourceId, names: &Names) -> Expression {
        let mut lowering = Lowering::new(self.source, names);
        lowering.within(Some(id.clone()));
        let lowered = lowering.root(expression);
        self.errors.extend(lowering.into_errors());
        lowered
    }

    fn meta(&mut self, block: &Block, id: &ResourceId, names: &Names) -> Meta {
        let found = self.content(&block.body, &META);
        Meta {
            require: self.addresses(&found, "require", id, names),
            before: self.addresses(&found, "before", id, names),
            subscribe: self.addresses(&found, "subscribe", id, names),
            notify: self.addresses(&found, "notify", id, names),
            timeout_ms: self.timeout(&found),
            control: found.blocks.get("control").map(|control| self.control(control, id, names)),
            provider: self.provider(&found),
            health: found.blocks.get("health").and_then(|health| self.health(health)),
        }
    }

    fn control(&mut self, block: &Block, id: &ResourceId, names: &Names) -> Gate {
        let found = self.content(&block.body, &CONTROL);
        if found.attributes.is_empty() {
            let place = self.header(block);
            self.error(&place, "a `control` block without `if` or `unless`");
        }
        let mut condition = |name| found.attributes.get(name).map(|attribute| self.expression(&attribute.value, id, names));
        Gate { if_: condition("if"), unless: condition("unless") }
    }

    fn provider(&mut self, found: &Found<'_>) -> Option<(ProviderName, Place)> {
        let (text, place) = self.text(found, "provider")?;
        match text.parse() {
            Ok(name) => Some((name, place)),
            Err(error) => {
                self.error(&place, error.to_string());
                None
            }
        }
    }

    fn timeout(&mut self, found: &Found<'_>) -> Option<u64> {
        let (text, place) = self.text(found, "timeout")?;
        let parsed = units::milliseconds(&text).filter(|ms| (1..=MAX_TIMEOUT_MS).contains(ms));
        if parsed.is_none() {
            let error = self.error(&place, "`timeout` must be a duration from 1 ms to 24 h");
            error.hint = Some("write a whole number and a unit, `ms`, `s`, `m` or `h`: `\"90s\"`".to_owned());
        }
        parsed
    }

    /// A list of addresses, or one.
    fn addresses(&mut self, found: &Found<'_>, name: &str, id: &ResourceId, names: &Names) -> Vec<(ResourceId, Place)> {
        let Some(attribute) = found.attributes.get(name) else { return Vec::new() };
        let items: Vec<&Hcl> = match &attribute.value {
            Hcl::Array(items) => items.iter().collect(),
            single => vec![single],
        };
        let mut addresses: Vec<(ResourceId, Place)> = Vec::new();
        for item in items {
            let Some((address, place)) = self.address(item, attribute, names) else { continue };
            if address == *id {
                self.error(&place, format!("`{id}` names itself in `{name}`"));
            } else if let Some((_, first)) = addresses.iter().find(|(earlier, _)| *earlier == address) {
                let error = Diagnostic::error(&place, format!("`{address}` stands twice in `{name}`"));
                self.errors.push(error.related(first, "the first one"));
            } else {
                addresses.push((address, place));
            }
        }
        addresses
    }

    fn address(&mut self, expression: &Hcl, attribute: &HclAttribute, names: &Names) -> Option<(ResourceId, Place)> {
        let place = self.place(expression.span());
        if names.is_refused(expression) {
            return None;
        }
        let Some(address) = parse_address(expression) else {
            let name = attribute.key.as_str();
            let error = self.error(&place, format!("`{name}` lists addresses of resources"));
            error.label = "not an address".to_owned();
            error.hint = Some(format!("write `{name} = [TYPE.NAME]`, without quotes"));
            return None;
        };
        if !names.has_resource(&address) {
            self.errors.push(names.unknown_resource(&place, &address));
            return None;
        }
        Some((address, place))
    }
}

/// `TYPE.NAME` or `TYPE["NAME"]`.
fn parse_address(expression: &Hcl) -> Option<ResourceId> {
    let Hcl::Traversal(traversal) = expression else { return None };
    let Hcl::Variable(type_name) = &traversal.expr else { return None };
    let [step] = traversal.operators.as_slice() else { return None };
    let name = match step.value() {
        TraversalOperator::GetAttr(name) => name.as_str(),
        TraversalOperator::Index(Hcl::String(name)) => name.as_str(),
        _ => return None,
    };
    Some(ResourceId { type_name: type_name.as_str().parse().ok()?, name: name.parse().ok()? })
}
