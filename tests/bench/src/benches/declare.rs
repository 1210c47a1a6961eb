//! Manifests as text.

use std::fmt::Write as _;

/// A manifest with this name and nothing in it.
pub(super) fn manifest(name: &str) -> String {
    format!("manifest {{\n  name = \"{name}\"\n}}\n")
}

/// Adds a resource with these attributes, whose values are written as they stand.
pub(super) fn resource(manifest: &mut String, type_name: &str, number: usize, attributes: &[(&str, &str)]) {
    let lines: String = attributes.iter().map(|(name, value)| format!("  {name} = {value}\n")).collect();
    // Writing to a text cannot fail.
    let _ = write!(manifest, "resource \"{type_name}\" \"n{number:04}\" {{\n{lines}}}\n");
}

/// A text as an expression. What is given has nothing to escape.
pub(super) fn text(value: impl std::fmt::Display) -> String {
    format!("\"{value}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_has_its_attributes_as_they_stand() {
        let mut found = manifest("site");
        resource(&mut found, "file", 7, &[("path", &text("/a")), ("force", "true")]);
        let expected = "manifest {\n  name = \"site\"\n}\nresource \"file\" \"n0007\" {\n  path = \"/a\"\n  force = true\n}\n";
        assert_eq!(found, expected);
    }
}
