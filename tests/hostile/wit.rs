//! What the contract has, read from `wit/`: so that a function that is added is missed where its attacks should be.

use std::collections::BTreeMap;
use std::path::Path;

use wit_parser::{FunctionKind, PackageId, Resolve, Type, TypeDefKind, WorldItem};

/// A function as a table of attacks needs to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Whether a guest may say text, or bytes, to it.
    pub takes_text: bool,
    /// Whether it is called on a handle.
    pub is_method: bool,
    /// Whether it gives text, or bytes, back.
    pub gives_text: bool,
    /// Whether it gives JSON back.
    pub gives_json: bool,
}

fn folder(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit").join(name)
}

/// The functions of `runtime:host`, as `INTERFACE#FUNCTION`.
pub fn imports() -> BTreeMap<String, Shape> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(folder("deps/host")).unwrap();
    let names: Vec<String> = resolve.packages[package].interfaces.keys().cloned().collect();
    names.iter().flat_map(|name| functions(&resolve, package, name)).collect()
}

/// The functions that components export, of all worlds, as `INTERFACE#FUNCTION`.
pub fn exports() -> BTreeMap<String, Shape> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(folder("")).unwrap();
    let worlds = resolve.packages[package].worlds.values();
    let interfaces = worlds.flat_map(|world| resolve.worlds[*world].exports.values()).map(|item| match item {
        WorldItem::Interface { id, .. } => resolve.interfaces[*id].name.clone().expect("an interface of a file has a name"),
        other => panic!("an export that is no interface: {other:?}"),
    });
    interfaces.flat_map(|name| functions(&resolve, package, &name)).collect()
}

fn functions(resolve: &Resolve, package: PackageId, interface: &str) -> Vec<(String, Shape)> {
    let id = resolve.packages[package].interfaces[interface];
    let functions = resolve.interfaces[id].functions.values();
    let shape = |function: &wit_parser::Function| {
        let is_method = matches!(function.kind, FunctionKind::Method(_));
        // The first parameter of a method is the handle.
        let takes_text = function.params.iter().skip(usize::from(is_method)).any(|param| holds(resolve, param.ty, is_text));
        let gives = |kind: Kind| function.result.is_some_and(|ty| holds(resolve, ty, kind));
        Shape { takes_text, is_method, gives_text: gives(is_text), gives_json: gives(is_json) }
    };
    functions.map(|function| (format!("{interface}#{}", function.name), shape(function))).collect()
}

/// Whether a type is of a kind that is looked for.
type Kind = fn(&Resolve, Type) -> bool;

fn is_text(resolve: &Resolve, ty: Type) -> bool {
    let is_bytes = |ty| matches!(ty, Type::Id(id) if matches!(resolve.types[id].kind, TypeDefKind::List(Type::U8)));
    ty == Type::String || is_bytes(ty)
}

fn is_json(resolve: &Resolve, ty: Type) -> bool {
    matches!(ty, Type::Id(id) if resolve.types[id].name.as_deref() == Some("json"))
}

/// Whether a value of this type may hold one of such a kind.
fn holds(resolve: &Resolve, ty: Type, kind: Kind) -> bool {
    if kind(resolve, ty) {
        return true;
    }
    let Type::Id(id) = ty else { return false };
    let any = |types: Vec<Type>| types.into_iter().any(|ty| holds(resolve, ty, kind));
    match &resolve.types[id].kind {
        TypeDefKind::Type(ty) | TypeDefKind::Option(ty) | TypeDefKind::List(ty) => holds(resolve, *ty, kind),
        TypeDefKind::Record(record) => any(record.fields.iter().map(|field| field.ty).collect()),
        TypeDefKind::Tuple(tuple) => any(tuple.types.clone()),
        TypeDefKind::Variant(variant) => any(variant.cases.iter().filter_map(|case| case.ty).collect()),
        // What an error says is not the answer.
        TypeDefKind::Result(result) => result.ok.is_some_and(|ty| holds(resolve, ty, kind)),
        TypeDefKind::Handle(_) | TypeDefKind::Resource | TypeDefKind::Flags(_) | TypeDefKind::Enum(_) => false,
        other => panic!("the contract has no {other:?} so far: say what it may hold"),
    }
}
