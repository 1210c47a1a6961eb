//! What the contract has, read from `wit/`: so that a function that is added is missed where its attacks should be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use wit_parser::{FunctionKind, Handle, InterfaceId, PackageId, Resolve, Type, TypeDefKind, TypeId, WorldItem, WorldKey};

/// A function as a table of attacks needs to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Whether a guest may say text, or bytes, to it.
    pub takes_text: bool,
    /// Whether a guest may say bytes to it.
    pub takes_bytes: bool,
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

/// A function that a pure half may call.
#[derive(Debug)]
pub struct PureImport {
    pub shape: Shape,
    /// The exports that are given a handle for it, as `INTERFACE#FUNCTION`.
    pub given_in: BTreeSet<String>,
}

/// The functions of `runtime:module` itself that components import, of all worlds, as `INTERFACE#FUNCTION`.
pub fn pure_imports() -> BTreeMap<String, PureImport> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(folder("")).unwrap();
    let worlds = || resolve.packages[package].worlds.values().map(|world| &resolve.worlds[*world]);
    let interface = |(_, item): (&WorldKey, &WorldItem)| match item {
        WorldItem::Interface { id, .. } => Some(*id),
        _ => None,
    };
    let imported: BTreeSet<InterfaceId> = worlds().flat_map(|world| world.imports.iter().filter_map(interface)).collect();
    let exported: BTreeSet<InterfaceId> = worlds().flat_map(|world| world.exports.iter().filter_map(interface)).collect();
    let name = |id: InterfaceId| resolve.interfaces[id].name.clone().expect("an interface of a file has a name");
    let given = |resource: TypeId| {
        let functions = exported.iter().flat_map(|id| resolve.interfaces[*id].functions.values().map(|function| (*id, function)));
        let takes = functions.filter(|(_, function)| function.params.iter().any(|param| is_borrow(&resolve, param.ty, resource)));
        takes.map(|(id, function)| format!("{}#{}", name(id), function.name)).collect()
    };
    let mut found = BTreeMap::new();
    for id in imported.into_iter().filter(|id| resolve.interfaces[*id].package == Some(package)) {
        let resources = resolve.interfaces[id].functions.values().map(of_resource);
        for ((function, shape), resource) in functions(&resolve, package, &name(id)).into_iter().zip(resources) {
            found.insert(function, PureImport { shape, given_in: given(resource) });
        }
    }
    found
}

/// The resource that a function is called on.
fn of_resource(function: &wit_parser::Function) -> TypeId {
    let FunctionKind::Method(resource) = function.kind else { panic!("{} is on no handle: say who may call it", function.name) };
    resource
}

/// Whether a parameter of this type is a handle on such a resource.
fn is_borrow(resolve: &Resolve, ty: Type, resource: TypeId) -> bool {
    let Type::Id(id) = ty else { return false };
    matches!(resolve.types[id].kind, TypeDefKind::Handle(Handle::Borrow(of)) if original(resolve, of) == resource)
}

/// What a name that an interface uses of another stands for.
fn original(resolve: &Resolve, id: TypeId) -> TypeId {
    match resolve.types[id].kind {
        TypeDefKind::Type(Type::Id(of)) => original(resolve, of),
        _ => id,
    }
}

fn functions(resolve: &Resolve, package: PackageId, interface: &str) -> Vec<(String, Shape)> {
    let id = resolve.packages[package].interfaces[interface];
    let functions = resolve.interfaces[id].functions.values();
    let shape = |function: &wit_parser::Function| {
        let is_method = matches!(function.kind, FunctionKind::Method(_));
        // The first parameter of a method is the handle.
        let takes = |kind: Kind| function.params.iter().skip(usize::from(is_method)).any(|param| holds(resolve, param.ty, kind));
        let gives = |kind: Kind| function.result.is_some_and(|ty| holds(resolve, ty, kind));
        Shape {
            takes_text: takes(is_text),
            takes_bytes: takes(is_bytes),
            is_method,
            gives_text: gives(is_text),
            gives_json: gives(is_json),
        }
    };
    functions.map(|function| (format!("{interface}#{}", function.name), shape(function))).collect()
}

/// Whether a type is of a kind that is looked for.
type Kind = fn(&Resolve, Type) -> bool;

fn is_text(resolve: &Resolve, ty: Type) -> bool {
    ty == Type::String || is_bytes(resolve, ty)
}

fn is_bytes(resolve: &Resolve, ty: Type) -> bool {
    matches!(ty, Type::Id(id) if matches!(resolve.types[id].kind, TypeDefKind::List(Type::U8)))
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
