//! Descriptors of child blocks: `Block::labelled("vhost").required().attributes(Vhost::attributes()).doc("…")`.

use crate::Attribute;
use crate::bindings::exports::runtime::module::definition as wit;

pub use crate::bindings::exports::runtime::module::definition::BlockKind;

/// A child block of a resource type.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a block counts once it is in the list that `blocks` returns"]
pub struct Block {
    name: String,
    kind: BlockKind,
    required: bool,
    attributes: Vec<Attribute>,
    doc: String,
}

impl Block {
    /// At most once, without a label.
    pub fn single(name: &str) -> Self {
        Self::new(name, BlockKind::Single)
    }

    /// Any number of times, without labels.
    pub fn repeated(name: &str) -> Self {
        Self::new(name, BlockKind::Repeated)
    }

    /// Any number of times, each with a label of its own.
    pub fn labelled(name: &str) -> Self {
        Self::new(name, BlockKind::Labelled)
    }

    fn new(name: &str, kind: BlockKind) -> Self {
        Self { name: name.into(), kind, required: false, attributes: Vec::new(), doc: String::new() }
    }

    /// At least one must be given.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Adds an attribute, which may not be exported.
    pub fn attribute(mut self, attribute: Attribute) -> Self {
        self.attributes.push(attribute);
        self
    }

    /// Adds attributes, none of which may be exported.
    pub fn attributes(mut self, attributes: impl IntoIterator<Item = Attribute>) -> Self {
        self.attributes.extend(attributes);
        self
    }

    /// One or more sentences in plain text.
    pub fn doc(mut self, doc: &str) -> Self {
        self.doc = doc.into();
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How often it may occur, and whether it has a label.
    pub fn kind(&self) -> BlockKind {
        self.kind
    }

    /// Whether at least one must be given.
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// Its attributes, in order.
    pub fn described(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Its document.
    pub fn document(&self) -> &str {
        &self.doc
    }
}

impl From<Block> for wit::Block {
    fn from(block: Block) -> Self {
        let Block { name, kind, required, attributes, doc } = block;
        Self { name, kind, required, attributes: attributes.into_iter().map(Into::into).collect(), doc }
    }
}
