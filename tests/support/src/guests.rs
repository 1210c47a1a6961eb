//! The guests of the tests, as components built from `tests/guests/`.
//!
//! A guest that is named here and has no folder is an error when this is compiled.

/// Name, component and SHA-256 digest, as the build script wrote them.
type Embedded = (&'static str, &'static [u8], [u8; 32]);

const EMBEDDED: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/components.rs"));

/// A guest that misbehaves in the way that its declaration asks for.
pub const HOSTILE: &[u8] = named("hostile");

/// A guest that keeps the contract, until a test puts a flaw into its bytes.
pub const BROKEN: &[u8] = named("broken");

/// What stands in [`BROKEN`] before the word of its flaw.
const MARK: &[u8] = b"broken-behaviour=";

/// How much room the mark and the word have.
const ROOM: usize = 48;

/// [`BROKEN`] with a flaw, by its word.
///
/// # Panics
/// If the place for the word is not in the component just once, or the word does not fit.
pub fn broken(word: &str) -> Vec<u8> {
    let mut bytes = BROKEN.to_vec();
    let mut found = bytes.windows(MARK.len()).enumerate().filter(|(_, part)| *part == MARK).map(|(at, _)| at);
    let (at, other) = (found.next().expect("the component has a place for the word"), found.next());
    assert_eq!(other, None, "the component has two places for the word");
    let place = &mut bytes[at + MARK.len()..at + ROOM];
    assert!(word.len() < place.len(), "`{word}` fits");
    place.fill(b'.');
    place[..word.len()].copy_from_slice(word.as_bytes());
    bytes
}

/// A well-behaved guest with one of everything that a definition can have.
pub const SAMPLER: &[u8] = named("sampler");
/// A guest with three assets, each from an attribute of its own.
pub const KEEPER: &[u8] = named("keeper");

/// A resource type that leaves its work to a provider.
pub const GADGET: &[u8] = named("gadget");

/// A provider of it.
pub const GADGET_SHELF: &[u8] = named("gadget_shelf");

/// A guest that takes refreshes, and asks for a shared action.
pub const BELL: &[u8] = named("bell");

/// A provider of `package` that reaches for more than it may.
pub const PACKAGE_ROGUE: &[u8] = named("package_rogue");

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
