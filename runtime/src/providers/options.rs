//! A declaration without an options block of a provider.

use serde_json::Value as Json;

use crate::engine::{Child, Diagnostic, ParameterError, Parameters, Provider};

/// The options of a declaration without an options block.
pub struct NoOptions(pub Provider);

impl Parameters for NoOptions {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Ok(self.read(name)?.is_some())
    }

    fn read(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        let is_option = self.0.description().options.iter().any(|option| option.name == name);
        if is_option { Ok(None) } else { Err(ParameterError::Unknown) }
    }

    fn children(&self, _block: &str) -> Result<Vec<Child>, ParameterError> {
        Err(ParameterError::Unknown)
    }
}

/// What is said of a declaration without an options block where the provider has an option that must be given.
pub fn missing_option(provider: &Provider) -> Option<Diagnostic> {
    let name = provider.name();
    let option = provider.description().options.iter().find(|option| option.required)?;
    let message = format!("the provider `{name}` needs the option `{}`", option.name);
    let hint = Some(format!("write `{name} {{ {} = … }}`", option.name));
    Some(Diagnostic { attribute: None, message, hint })
}
