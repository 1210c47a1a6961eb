//! The guests of the tests, as components built from `tests/guests/`.
//!
//! A guest that is named here and has no folder is an error when this is compiled.

/// Name, component and SHA-256 digest, as the build script wrote them.
type Embedded = (&'static str, &'static [u8], [u8; 32]);

const EMBEDDED: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/components.rs"));

/// A guest that misbehaves in the way that its declaration asks for.
pub const HOSTILE: &[u8] = named("hostile");

/// A provider that misbehaves in the way that its option asks for.
pub const HOSTILE_SHELF: &[u8] = named("hostile_shelf");

/// A guest that keeps the contract, until a test puts a flaw into its bytes.
pub const BROKEN: &[u8] = named("broken");

/// [`BROKEN`] with a flaw, by its word.
///
/// # Panics
/// If the place for the word is not in the component just once, or the word does not fit.
pub fn broken(word: &str) -> Vec<u8> {
    marked(BROKEN, b"broken-behaviour=", 48, word)
}

/// [`HOSTILE`] with a behaviour in its own bytes, for functions that are given nothing of a declaration.
///
/// # Panics
/// As [`broken`].
pub fn hostile(behaviour: &str) -> Vec<u8> {
    marked(HOSTILE, b"hostile-behaviour=", 64, behaviour)
}

/// As [`hostile`], of [`HOSTILE_SHELF`].
///
/// # Panics
/// As [`broken`].
pub fn hostile_shelf(behaviour: &str) -> Vec<u8> {
    marked(HOSTILE_SHELF, b"hostile-behaviour=", 64, behaviour)
}

/// `component` with `word` in the place that begins with `mark` and has `room` bytes.
fn marked(component: &[u8], mark: &[u8], room: usize, word: &str) -> Vec<u8> {
    let mut bytes = component.to_vec();
    let mut found = bytes.windows(mark.len()).enumerate().filter(|(_, part)| *part == mark).map(|(at, _)| at);
    let (at, other) = (found.next().expect("the component has a place for the word"), found.next());
    assert_eq!(other, None, "the component has two places for the word");
    let place = &mut bytes[at + mark.len()..at + room];
    assert!(word.len() < place.len(), "`{word}` fits");
    place.fill(b'.');
    place[..word.len()].copy_from_slice(word.as_bytes());
    bytes
}

/// [`HOSTILE`] with a table of so many elements in its first module.
///
/// # Panics
/// If that has no table, or more than one.
pub fn hostile_with_table(elements: u32) -> Vec<u8> {
    const MODULE: u8 = 1;
    const TABLES: u8 = 4;
    let table = [&[1, 0x70, 0][..], &leb(elements)].concat();
    let mut replaced = false;
    let component = with_section(HOSTILE, MODULE, &mut |module| {
        let module = with_section(module, TABLES, &mut |tables| {
            assert_eq!(tables[..2], [1, 0x70], "one table of functions");
            table.clone()
        });
        replaced = true;
        module
    });
    assert!(replaced && component != HOSTILE, "a module has a table");
    component
}

/// A module or component with the first section of this kind replaced by what `make` makes of it.
fn with_section(binary: &[u8], kind: u8, make: &mut dyn FnMut(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let (mut made, mut rest) = binary.split_at(8);
    let mut out = made.to_vec();
    let mut is_replaced = false;
    while let [id, after @ ..] = rest {
        let (size, after) = read_leb(after);
        (made, rest) = after.split_at(size);
        let section = if *id == kind && !is_replaced { make(made) } else { made.to_vec() };
        is_replaced |= *id == kind;
        out.push(*id);
        out.extend(leb(u32::try_from(section.len()).expect("a section is not that large")));
        out.extend(section);
    }
    out
}

/// An unsigned number as WebAssembly writes it.
fn leb(mut number: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        bytes.push(if number == 0 { low } else { low | 0x80 });
        if number == 0 {
            return bytes;
        }
    }
}

/// The number that `bytes` begin with, and what follows it.
fn read_leb(bytes: &[u8]) -> (usize, &[u8]) {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0).expect("a number ends") + 1;
    let number = bytes[..length].iter().rev().fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f));
    (number, &bytes[length..])
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
