//! Descriptors of outputs: `Output::string("stdout").sensitive().doc("…")`.

use crate::bindings::exports::runtime::module::definition as wit;
use crate::{AttributeType, Type, attribute};

/// Something that is known once the resource has been applied, and that others may read.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "an output counts once it is in the list that `outputs` returns"]
pub struct Output {
    name: String,
    kind: Type,
    sensitive: bool,
    doc: String,
}

impl Output {
    /// An output of this type.
    pub fn new(name: &str, kind: Type) -> Self {
        Self { name: name.into(), kind, sensitive: false, doc: String::new() }
    }

    /// An output that is a `T`; sensitive where `T` can hold a sensitive value.
    pub fn of<T: AttributeType>(name: &str) -> Self {
        Self { sensitive: T::is_sensitive(), ..Self::new(name, T::attribute_type()) }
    }

    /// An output that is text.
    pub fn string(name: &str) -> Self {
        Self::new(name, Type::String)
    }

    /// An output that is a whole number.
    pub fn integer(name: &str) -> Self {
        Self::new(name, Type::Integer)
    }

    /// An output that is true or false.
    pub fn boolean(name: &str) -> Self {
        Self::new(name, Type::Boolean)
    }

    /// Whoever reads it reads a sensitive value.
    pub fn sensitive(mut self) -> Self {
        self.sensitive = true;
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

    /// Its type.
    pub fn kind(&self) -> &Type {
        &self.kind
    }

    /// Its document.
    pub fn document(&self) -> &str {
        &self.doc
    }
}

impl From<Output> for wit::Output {
    fn from(output: Output) -> Self {
        let Output { name, kind, sensitive, doc } = output;
        Self { name, type_json: attribute::canonical(&kind.json()), sensitive, doc }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sensitive;

    #[test]
    fn outputs_cross_as_they_are_described() {
        let wit = wit::Output::from(Output::string("stdout").sensitive().doc("What it wrote."));
        assert_eq!((wit.name.as_str(), wit.type_json.as_str(), wit.sensitive), ("stdout", r#""string""#, true));
        assert_eq!(wit.doc, "What it wrote.");
        assert_eq!(
            Output::of::<Sensitive<String>>("stdout").doc("What it wrote."),
            Output::string("stdout").sensitive().doc("What it wrote.")
        );
    }
}
