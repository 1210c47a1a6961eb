//! Imports that are not there: what is not linked traps when it is called, and is named (I4).

use std::collections::BTreeSet;

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, ResourceType};

use super::definition::{CatalogViewHandle, ParametersHandle};
use super::error::Fault;

/// Stands for every resource of an interface that is not there.
struct Absent;

/// Defines every import of `component` whose interface is not in `linked` (names with their version) as one that ends the call
/// and is named.
///
/// # Errors
/// If the linker has such a name already, or the component imports something that is neither an interface nor a function.
pub(super) fn trap_other_imports<T: 'static>(
    linker: &mut Linker<T>,
    component: &Component,
    linked: &BTreeSet<&str>,
) -> wasmtime::Result<()> {
    let engine = component.engine().clone();
    for (name, import) in component.component_type().imports(&engine) {
        if linked.contains(name) {
            continue;
        }
        match import.ty {
            ComponentItem::ComponentInstance(instance) => {
                let mut interface = linker.instance(name)?;
                for (item, export) in instance.exports(&engine) {
                    match export.ty {
                        ComponentItem::ComponentFunc(_) => {
                            let fault = Fault::Impure { import: format!("{name}#{item}") };
                            interface.func_new(item, move |_, _, _, _| Err(wasmtime::Error::new(fault.clone())))?;
                        }
                        ComponentItem::Resource(_) => {
                            interface.resource(item, resource_type(name, item), |_, _| Ok(()))?;
                        }
                        _ => {}
                    }
                }
            }
            ComponentItem::ComponentFunc(_) => {
                let fault = Fault::Impure { import: name.to_owned() };
                linker.root().func_new(name, move |_, _, _, _| Err(wasmtime::Error::new(fault.clone())))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The host's type of a resource. Exports that take one are checked for it even where nobody calls them.
fn resource_type(interface: &str, item: &str) -> ResourceType {
    match (interface.split('@').next(), item) {
        (Some("runtime:module/parameters"), "parameters") => ResourceType::host::<ParametersHandle>(),
        (Some("runtime:module/catalog-view"), "catalog-view") => ResourceType::host::<CatalogViewHandle>(),
        _ => ResourceType::host::<Absent>(),
    }
}
