//! What a module says about a declaration, as messages at the places of the manifest.

use super::Compiler;
use super::parameters::Given;
use crate::engine::{DefinitionError, Diagnostic as ModuleDiagnostic};
use crate::language::diagnostic::Diagnostic;
use crate::manifest::Declaration;

impl Compiler {
    /// Tells the author why a definition gave no result. What a parameter read has told already is not told again.
    pub(super) fn tell(&self, declaration: &Declaration, given: Option<&Given>, error: DefinitionError) {
        match error {
            DefinitionError::Parameter if given.is_some_and(Given::has_failed) => {}
            DefinitionError::Parameter => {
                let summary = format!("the module `{}` gave up without a reason", declaration.id.type_name);
                self.evaluation.add(Diagnostic::error(&declaration.place, summary));
            }
            DefinitionError::Invalid(message) => self.evaluation.add(self.at_attribute(declaration, message)),
            DefinitionError::Call(call) => {
                let message = Diagnostic::error(&declaration.place, call.to_string());
                self.evaluation.add(message.hint(call.fault.hint()));
            }
            error => self.evaluation.add(Diagnostic::error(&declaration.place, error.to_string())),
        }
    }

    fn at_attribute(&self, declaration: &Declaration, message: ModuleDiagnostic) -> Diagnostic {
        let place = message.attribute.as_ref().map_or_else(|| declaration.place.clone(), |path| self.place_at(declaration, path));
        Diagnostic::error(&place, message.message).hint(message.hint)
    }
}
