//! The way from an attribute to what is being evaluated for it.

use std::fmt;

use crate::model::ids::ResourceId;

/// How many resources may read one another in a row.
pub(super) const MAX_EXPORTS: usize = 64;

/// One thing being evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Local(String),
    Attribute(ResourceId, String),
    Export(ResourceId, String),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(name) => write!(f, "local.{name}"),
            Self::Attribute(id, name) | Self::Export(id, name) => write!(f, "{id}.{name}"),
        }
    }
}

/// What is being evaluated, outermost first. Starts empty; hand on what [`super::Exports::export`] is given.
#[derive(Debug, Clone, Default)]
pub struct Trail {
    steps: Vec<Step>,
    depth: u32,
}

impl Trail {
    pub(super) fn within(&self, step: Step, depth: u32) -> Self {
        let mut steps = self.steps.clone();
        steps.push(step);
        Self { steps, depth }
    }

    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    pub(super) fn exports(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Export(..))).count()
    }

    /// The cycle that one more step would close, in full: `a -> b -> a`.
    pub(super) fn cycle(&self, next: &Step) -> Option<String> {
        let start = self.steps.iter().position(|step| step == next)?;
        let mut names: Vec<String> = Vec::new();
        let steps: Vec<&Step> = self.steps[start..].iter().chain([next]).collect();
        for (index, step) in steps.iter().enumerate() {
            // An attribute that is evaluated because it is exported under the same name shows once.
            let within_export = matches!(step, Step::Attribute(..)) && index > 0 && matches!(steps[index - 1], Step::Export(..));
            if !within_export || names.last() != Some(&step.to_string()) {
                names.push(step.to_string());
            }
        }
        Some(names.join(" -> "))
    }
}
