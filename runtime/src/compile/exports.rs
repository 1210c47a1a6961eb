//! Exports as other declarations read them. What a module read to find one is what the value came from, whatever it made of it.

use std::rc::Rc;

use super::Compiler;
use super::parameters::Given;
use crate::engine::{DefinitionError, Module, Parameters};
use crate::language::value::Marks;
use crate::manifest::{ExportError, Exported, Exports, Trail};
use crate::model::description::Output;
use crate::model::ids::ResourceId;

/// What expressions can read of other resources.
#[derive(Clone)]
pub(super) struct Scope(pub(super) Rc<Compiler>);

impl Exports for Scope {
    fn canonical(&self, resource: &ResourceId, attribute: &str) -> Option<String> {
        let module = self.0.modules.get(&resource.type_name)?;
        module.description().attribute(attribute).map(|found| found.name.clone())
    }

    fn export(&self, resource: &ResourceId, attribute: &str, trail: &Trail) -> Result<Exported, ExportError> {
        let compiler = &self.0;
        let module = compiler.modules.get(&resource.type_name).ok_or(ExportError::Reported)?;
        let exported = module.description().attribute(attribute).filter(|found| found.exported);
        let output = module.description().output(attribute);
        if exported.is_none() && output.is_none() {
            return Err(ExportError::NotExported { exported: readable_names(module) });
        }
        if !compiler.declared.get(resource).is_some_and(|declared| declared.sound) {
            return Err(ExportError::Reported);
        }
        let Some(canonical) = exported.map(|found| &found.name) else {
            return Ok(Exported::Deferred(marks_of(resource, output)));
        };
        let given = Given::new(self.clone(), resource.clone(), trail.clone());
        let mut marks = Marks::resource(resource);
        let resolved = module.resolve_export(resource, canonical, Rc::clone(&given) as Rc<dyn Parameters>);
        marks.join(&given.marks());
        match resolved {
            Err(error @ DefinitionError::Call(_)) => Err(refused(resource, canonical, &error)),
            _ if given.has_failed() => Err(ExportError::Reported),
            Ok(_) | Err(DefinitionError::Parameter) if given.deferred().is_some() => Ok(Exported::Deferred(marks)),
            Ok(json) => {
                let value = given.reveal(&json).map_err(|error| refused(resource, canonical, &error))?;
                Ok(Exported::Known(value.marked(&marks)))
            }
            Err(error) => Err(refused(resource, canonical, &error)),
        }
    }
}

fn refused(resource: &ResourceId, attribute: &str, error: &dyn std::error::Error) -> ExportError {
    ExportError::Refused(format!("`{resource}.{attribute}` cannot be read: {error}"))
}

/// What is known here of an output, which only the node knows: whose it is, and whether it may be shown.
fn marks_of(resource: &ResourceId, output: Option<&Output>) -> Marks {
    let mut marks = Marks::resource(resource);
    if output.is_some_and(|output| output.sensitive) {
        marks.join(&Marks::sensitive());
    }
    marks
}

/// Everything that other resources may read.
fn readable_names(module: &Module) -> Vec<String> {
    let description = module.description();
    let exported = description.attributes.iter().filter(|a| a.exported).map(|a| a.name.clone());
    exported.chain(description.outputs.iter().map(|output| output.name.clone())).collect()
}
