//! Child blocks: how often, with which labels, and the attributes within.

use super::{Check, Space, first_sentence};
use crate::language::diagnostic::Diagnostic;
use crate::language::suggest;
use crate::manifest::{ChildBlock, Part};
use crate::model::description::{Block, BlockKind, MAX_CHILD_BLOCKS};

impl Check<'_> {
    pub(super) fn blocks(&mut self) {
        let declaration = self.declaration;
        if declaration.blocks.len() > MAX_CHILD_BLOCKS {
            let summary = format!("`{}` has more than {MAX_CHILD_BLOCKS} blocks", declaration.id);
            self.refuse(Diagnostic::error(&declaration.blocks[MAX_CHILD_BLOCKS].place, summary).label("one too many"));
            return;
        }
        for (place, block) in declaration.blocks.iter().enumerate() {
            match self.description.block(&block.name) {
                Some(described) => self.block(Part::Block(place), block, described),
                None => self.refuse(self.unknown_block(block)),
            }
        }
        let description = self.description;
        for described in &description.blocks {
            self.occurrences(described);
        }
    }

    fn unknown_block(&self, block: &ChildBlock) -> Diagnostic {
        let name = block.name.as_str();
        let known = self.description.blocks.iter().map(|block| block.name.as_str()).chain(["meta"]);
        let hint = match name {
            _ if self.description.attribute(name).is_some() => {
                Some(format!("`{name}` is an attribute: write `{name} = {{ … }}`"))
            }
            "control" => Some("it belongs into `meta { … }`".to_owned()),
            _ => suggest::did_you_mean(name, known.clone()).or_else(|| {
                let none_described = self.description.blocks.is_empty();
                let object = format!("an attribute that is an object is written `{name} = {{ … }}`");
                if none_described { Some(object) } else { suggest::one_of(name, known) }
            }),
        };
        let summary = format!("the resource type `{}` has no block `{name}`", self.declaration.id.type_name);
        Diagnostic::error(&block.place, summary).hint(hint)
    }

    fn block(&mut self, part: Part, block: &ChildBlock, described: &Block) {
        self.labels(block, described);
        let whole = match block.labels.first() {
            Some((label, _)) => format!("the block `{} \"{label}\"`", block.name),
            None => format!("the block `{}`", block.name),
        };
        let space = Space {
            part,
            place: &block.place,
            given: &block.attributes,
            known: &described.attributes,
            whole,
            kind: format!("the block `{}`", block.name),
        };
        self.attributes(&space);
    }

    fn labels(&mut self, block: &ChildBlock, described: &Block) {
        let name = &block.name;
        let wanted = usize::from(described.kind == BlockKind::Labelled);
        let message = match block.labels.get(wanted) {
            None if block.labels.len() == wanted => return,
            None => Diagnostic::error(&block.place, format!("a block `{name}` needs a label")).label("it has none"),
            Some((_, place)) if wanted == 0 => Diagnostic::error(place, format!("a block `{name}` takes no label")),
            Some((_, place)) => Diagnostic::error(place, format!("a block `{name}` takes one label")).label("one too many"),
        };
        self.refuse(message.hint(format!("write `{}`", described.written())));
    }

    /// How many there are of one name, and whether their labels differ.
    fn occurrences(&mut self, described: &Block) {
        let declaration = self.declaration;
        let name = &described.name;
        let mut seen: Vec<&ChildBlock> = Vec::new();
        for (_, block) in declaration.blocks_named(name) {
            let label = |block: &ChildBlock| block.labels.first().map(|(label, _)| label.clone());
            let first = match described.kind {
                BlockKind::Single => seen.first(),
                BlockKind::Repeated => None,
                BlockKind::Labelled => seen.iter().find(|earlier| label(block).is_some() && label(earlier) == label(block)),
            };
            if let Some(first) = first {
                let summary = match described.kind {
                    BlockKind::Labelled => format!("a second block `{name}` with the same label in `{}`", declaration.id),
                    BlockKind::Single | BlockKind::Repeated => format!("a second block `{name}` in `{}`", declaration.id),
                };
                self.refuse(Diagnostic::error(&block.place, summary).related(&first.place, "the first one"));
            }
            seen.push(block);
        }
        if described.required && seen.is_empty() {
            let summary = format!("`{}` needs a block `{name}`", declaration.id);
            let message = Diagnostic::error(&declaration.place, summary).label("it is not given");
            let what = first_sentence(&described.doc).map_or_else(String::new, |sentence| format!(": {sentence}"));
            self.refuse(message.hint(format!("write `{}`{what}", described.written())));
        }
    }
}
