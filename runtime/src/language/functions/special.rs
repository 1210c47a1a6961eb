//! Functions that the evaluator does itself: only their descriptions are here.

use super::{Function, Run, Special};
use crate::model::secret::SECRET_FUNCTION;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "try",
        parameters: &["expression"],
        required: 1,
        rest: Some("expressions"),
        doc: "The first of the expressions that can be evaluated without an error: `try(facts.cloud.region, \"none\")`.",
        run: Run::Special(Special::Try),
    },
    Function {
        name: "can",
        parameters: &["expression"],
        required: 1,
        rest: None,
        doc: "Whether the expression can be evaluated without an error.",
        run: Run::Special(Special::Can),
    },
    Function {
        name: "sensitive",
        parameters: &["value"],
        required: 1,
        rest: None,
        doc: "The value, marked as sensitive.",
        run: Run::Special(Special::Sensitive),
    },
    Function {
        name: "nonsensitive",
        parameters: &["value"],
        required: 1,
        rest: None,
        doc: "The value without that mark, for what is no longer a secret.",
        run: Run::Special(Special::Nonsensitive),
    },
    Function {
        name: SECRET_FUNCTION,
        parameters: &["name"],
        required: 1,
        rest: None,
        doc: "The secret of that name, which the node's owner keeps there: text, sensitive, and known on the node only. The name must be known on the controller.",
        run: Run::Special(Special::Secret),
    },
    Function {
        name: "file",
        parameters: &["path"],
        required: 1,
        rest: None,
        doc: "The text of a file beneath the manifest's folder. Its path must be known on the controller.",
        run: Run::Special(Special::File),
    },
    Function {
        name: "fileexists",
        parameters: &["path"],
        required: 1,
        rest: None,
        doc: "Whether there is such a file beneath the manifest's folder.",
        run: Run::Special(Special::FileExists),
    },
    Function {
        name: "templatefile",
        parameters: &["path", "variables"],
        required: 2,
        rest: None,
        doc: "A file beneath the manifest's folder as a template, in which the members of `variables` are names. It sees nothing else.",
        run: Run::Special(Special::TemplateFile),
    },
];
