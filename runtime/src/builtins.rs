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
