//! The guests of the tests, as components built from `tests/guests/`.
//!
//! A guest that is named here and has no folder is an error when this is compiled.

/// Name, component and SHA-256 digest, as the build script wrote them.
type Embedded = (&'static str, &'static [u8], [u8; 32]);

const EMBEDDED: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/components.rs"));

/// A guest that misbehaves in the way that its declaration asks for.
pub const HOSTILE: &[u8] = named("hostile");

/// A well-behaved guest with one of everything that a definition can have.
pub const SAMPLER: &[u8] = named("sampler");

/// All guests, by name.
pub fn all() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    EMBEDDED.iter().map(|(name, component, _)| (*name, *component))
}

const fn named(name: &str) -> &'static [u8] {
    let mut index = 0;
    while index < EMBEDDED.len() {
        if is_equal(EMBEDDED[index].0.as_bytes(), name.as_bytes()) {
            return EMBEDDED[index].1;
        }
        index += 1;
    }
    panic!("there is no such folder under `tests/guests`")
}

const fn is_equal(left: &[u8], right: &[u8]) -> bool {
    let mut index = 0;
    while index < left.len() && index < right.len() && left[index] == right[index] {
        index += 1;
    }
    index == left.len() && index == right.len()
}
