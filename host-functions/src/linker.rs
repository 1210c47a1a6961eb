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
    host::processes::add_to_linker::<T, Data>(linker, T::host)?;
    host::facts::add_to_linker::<T, Data>(linker, T::host)?;
    host::systemd::add_to_linker::<T, Data>(linker, T::host)?;
    host::openrc::add_to_linker::<T, Data>(linker, T::host)?;
    host::packages::add_to_linker::<T, Data>(linker, T::host)?;
    host::log::add_to_linker::<T, Data>(linker, T::host)?;
    host::backend_types::add_to_linker::<T, Data>(linker, T::host)?;
    host::backends::add_to_linker::<T, Data>(linker, T::host)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Data(HostContext);

    impl HostView for Data {
        fn host(&mut self) -> &mut HostContext {
            &mut self.0
        }
    }

    #[test]
    fn every_interface_is_linked_once() {
        let engine = wasmtime::Engine::default();
        let mut linker = Linker::<Data>::new(&engine);
        add_to_linker(&mut linker).unwrap();
        for name in [
            "types",
            "files",
            "assets",
            "accounts",
            "processes",
            "facts",
            "systemd",
            "openrc",
            "packages",
            "log",
            "backend-types",
            "backends",
        ] {
            let name = format!("runtime:host/{name}@0.1.0");
            linker.instance(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        assert!(add_to_linker(&mut linker).is_err(), "nothing is shadowed");
    }
}
