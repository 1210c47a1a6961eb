//! The components that this program was built with.
//!
//! Which these are is said in one place, `modules/builtin.list`; nothing else in the program knows a resource type by its
//! name. A component's digest is what a bundle names it by.

use crate::model::digest::ComponentDigest;

/// A component that is part of the program.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// The name of its module: of its folder under `modules/`.
    pub name: &'static str,
    /// The component.
    pub bytes: &'static [u8],
    /// The digest of `bytes`.
    pub digest: ComponentDigest,
    /// Declarations of its type, as a manifest: what `runtime module check` tries it with.
    pub samples: &'static str,
}

/// Name, bytes and SHA-256 digest, as the build script wrote them.
type Embedded = (&'static str, &'static [u8], [u8; 32]);

const EMBEDDED: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/components.rs"));

/// The text of `samples.hcl` in each module's folder, in the same order.
const SAMPLES: &[&str] = include!(concat!(env!("OUT_DIR"), "/samples.rs"));

static BUILTINS: [Builtin; EMBEDDED.len()] = {
    let mut builtins =
        [Builtin { name: "", bytes: &[], digest: ComponentDigest::from_bytes([0; 32]), samples: "" }; EMBEDDED.len()];
    let mut index = 0;
    while index < EMBEDDED.len() {
        let (name, bytes, digest) = EMBEDDED[index];
        builtins[index] = Builtin { name, bytes, digest: ComponentDigest::from_bytes(digest), samples: SAMPLES[index] };
        index += 1;
    }
    builtins
};

/// All built-in components, in the order of their list.
pub fn all() -> &'static [Builtin] {
    &BUILTINS
}

/// The built-in component with this digest.
pub fn with_digest(digest: &ComponentDigest) -> Option<&'static Builtin> {
    all().iter().find(|builtin| builtin.digest == *digest)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the source")]
mod tests {
    use std::path::Path;

    use component_build::Names;

    use super::*;

    /// Folders under `modules/` that are not resource types.
    const NOT_TYPES: &[&str] = &["build", "package_backend", "sdk", "service_backend"];

    #[test]
    fn every_folder_of_a_type_is_in_the_list() {
        let folders = Names::of_folders(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../modules")).unwrap();
        let folders: Vec<&str> = folders.iter().filter(|name| !NOT_TYPES.contains(name)).collect();
        let mut listed: Vec<&str> = all().iter().map(|builtin| builtin.name).collect();
        listed.sort_unstable();
        assert_eq!(listed, folders, "a resource type is a folder under `modules/` and a line in `modules/builtin.list`");
    }

    /// Code that every type and every provider goes through.
    const SHARED: [&str; 12] = [
        "acquire",
        "apply",
        "compile",
        "engine",
        "journal",
        "manifest",
        "plan",
        "providers",
        "receipt",
        "relations.rs",
        "run",
        "store",
    ];

    /// Names of types and providers as code would write them.
    fn quoted_names() -> Vec<String> {
        let names: Vec<&str> = all().iter().map(|builtin| builtin.name).collect();
        let of_type = |name: &str, other: &str| other.strip_prefix(name)?.strip_prefix('_').map(str::to_owned);
        let providers: Vec<String> =
            names.iter().flat_map(|name| names.iter().filter_map(move |other| of_type(name, other))).collect();
        names.into_iter().map(str::to_owned).chain(providers).map(|name| format!("\"{name}\"")).collect()
    }

    fn assert_names_none(path: &Path, names: &[String]) {
        if path.is_dir() {
            let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
            return entries.filter(|path| !path.ends_with("tests")).for_each(|path| assert_names_none(&path, names));
        }
        if ["tests.rs", "testing.rs"].iter().any(|end| path.to_string_lossy().ends_with(end)) {
            return;
        }
        let text = std::fs::read_to_string(path).unwrap();
        let code = text.split("mod tests {").next().unwrap_or_default();
        let found: Vec<&String> = names.iter().filter(|name| code.contains(*name)).collect();
        assert_eq!(found, [""; 0], "{} matches on the name of a type or a provider", path.display());
    }

    #[test]
    fn nothing_that_serves_every_type_names_one() {
        let names = quoted_names();
        assert!(names.contains(&"\"file\"".to_owned()) && names.contains(&"\"apt\"".to_owned()), "{names:?}");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        SHARED.iter().for_each(|part| assert_names_none(&source.join(part), &names));
    }

    #[test]
    fn every_builtin_is_a_resource_type_or_a_provider_with_its_own_digest() {
        for builtin in all() {
            assert_eq!(builtin.digest, ComponentDigest::of(builtin.bytes), "{}", builtin.name);
            let found = with_digest(&builtin.digest).map(|found| found.name);
            assert_eq!(found, Some(builtin.name));
            let interfaces = component_build::interfaces(builtin.bytes).unwrap();
            let of_type = ["runtime:module/definition@0.1.0", "runtime:module/lifecycle@0.1.0"];
            let of_provider = ["runtime:module/backend@0.1.0", "runtime:module/options-definition@0.1.0"];
            assert!(
                interfaces.exports == of_type || interfaces.exports == of_provider,
                "{}: {:?}",
                builtin.name,
                interfaces.exports
            );
            let foreign = interfaces.imports.iter().find(|name| !name.starts_with("runtime:"));
            assert_eq!(foreign, None, "{} imports it", builtin.name);
        }
    }
}
