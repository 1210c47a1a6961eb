//! Offers every interface of `runtime:host` to components.

use wasmtime::component::{HasSelf, Linker};

use crate::bindings::runtime::host;
use crate::context::{HostContext, HostView};

/// Adds the interfaces of `runtime:host` to the linker of lifecycle stores.
///
/// # Errors
/// If one of them is there already.
pub fn add_to_linker<T: HostView + Send + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    type Data = HasSelf<HostContext>;
    host::types::add_to_linker::<T, Data>(linker, T::host)?;
    host::files::add_to_linker::<T, Data>(linker, T::host)?;
    host::assets::add_to_linker::<T, Data>(linker, T::host)?;
    host::accounts::add_to_linker::<T, Data>(linker, T::host)?;
    host::facts::add_to_linker::<T, Data>(linker, T::host)?;
    host::log::add_to_linker::<T, Data>(linker, T::host)
}
