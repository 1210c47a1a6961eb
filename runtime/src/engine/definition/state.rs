//! What the store of one definition call holds, and what the guest's handles give access to.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use wasmtime::component::{Resource, ResourceTable, ResourceTableError};

use super::{Child, DEFINITION_MEMORY_BYTES, ParameterError, Parameters, Peers};
use crate::engine::bindings::runtime::module::parameters::{self, Child as WitChild, ParameterError as WitParameterError};
use crate::engine::convert;
use crate::engine::error::Fault;
use crate::engine::limits::Limiter;
use crate::model::description::{Attribute, MAX_CHILD_BLOCKS};
use crate::model::ids::TypeName;

/// How many handles a definition may hold at a time: room to read all child blocks twice over.
const MAX_HANDLES: usize = 2 * MAX_CHILD_BLOCKS + 100;

/// The host's side of a `parameters` handle: which of the call's [`Given`] it is, by its number.
pub struct ParametersHandle(u64);

/// What a `parameters` handle gives access to.
struct Given {
    parameters: Rc<dyn Parameters>,
    /// The child block whose attributes they are; none for the declaration's own.
    block: Option<String>,
}

/// The host's side of a `catalog-view` handle.
pub struct CatalogViewHandle;

/// Whether an attribute may be read, of the child block of that name or of the declaration itself. One that does not exist may.
pub(in crate::engine) type Readable = Rc<dyn Fn(Option<&str>, &str) -> bool>;

/// What a store of one definition call holds.
pub(in crate::engine) struct DefinitionState {
    pub(in crate::engine) limiter: Limiter,
    pub(super) table: ResourceTable,
    /// What the guest holds handles on, by number.
    given: BTreeMap<u64, Given>,
    /// The number that the next one gets.
    next_given: u64,
    pub(super) peers: Option<Arc<Peers>>,
    pub(super) own_type: Option<TypeName>,
    /// The attributes that the call may read, where those are not all.
    readable: Option<Readable>,
}

impl DefinitionState {
    /// Of a call that reads any attributes, and sees no peers.
    pub(in crate::engine) fn new() -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        Self {
            limiter: Limiter::strict(DEFINITION_MEMORY_BYTES),
            table,
            given: BTreeMap::new(),
            next_given: 0,
            peers: None,
            own_type: None,
            readable: None,
        }
    }

    /// Lets the next call read only those attributes that `readable` says; none lets it read any.
    pub(in crate::engine) fn restrict(&mut self, readable: Option<Readable>) {
        self.readable = readable;
    }

    /// Lets the next call see `peers`, and the desired state of those of its own type.
    pub(in crate::engine) fn show_peers(&mut self, own_type: TypeName, peers: Arc<Peers>) {
        (self.own_type, self.peers) = (Some(own_type), Some(peers));
    }

    /// A handle on the catalog.
    pub(in crate::engine) fn give_view(&mut self) -> Result<Resource<CatalogViewHandle>, ResourceTableError> {
        self.table.push(CatalogViewHandle)
    }

    /// What a handle of the guest gives access to, for reading the attribute `name`.
    fn given(&self, handle: &Resource<ParametersHandle>, name: &str) -> wasmtime::Result<&Rc<dyn Parameters>> {
        let given = self.held(handle)?;
        if let Some(readable) = &self.readable
            && !readable(given.block.as_deref(), name)
        {
            return Err(wasmtime::Error::new(Fault::NotIdentity { attribute: name.to_owned() }));
        }
        Ok(&given.parameters)
    }

    /// A handle on attributes, of the child block of that name or the declaration's own.
    pub(in crate::engine) fn give(
        &mut self,
        parameters: Rc<dyn Parameters>,
        block: Option<String>,
    ) -> wasmtime::Result<Resource<ParametersHandle>> {
        let number = self.next_given;
        let handle = self.table.push(ParametersHandle(number))?;
        self.next_given += 1;
        self.given.insert(number, Given { parameters, block });
        Ok(handle)
    }

    fn held(&self, handle: &Resource<ParametersHandle>) -> wasmtime::Result<&Given> {
        let number = self.table.get(handle)?.0;
        self.given.get(&number).ok_or_else(|| wasmtime::Error::msg("a handle without what it is on"))
    }
}

/// Whether `name` is none of `attributes`, or one that is flagged identity.
pub(in crate::engine) fn is_identity(attributes: &[Attribute], name: &str) -> bool {
    !attributes.iter().any(|attribute| attribute.name == name && !attribute.identity)
}

impl parameters::Host for DefinitionState {}

impl parameters::HostParameters for DefinitionState {
    fn has(&mut self, handle: Resource<ParametersHandle>, name: String) -> wasmtime::Result<Result<bool, WitParameterError>> {
        let given = self.given(&handle, &name)?;
        Ok(given.has(&name).map_err(|error| parameter_error(error, name)))
    }

    fn read(
        &mut self,
        handle: Resource<ParametersHandle>,
        name: String,
    ) -> wasmtime::Result<Result<Option<String>, WitParameterError>> {
        let given = self.given(&handle, &name)?;
        match given.read(&name) {
            Ok(value) => Ok(Ok(value.as_ref().map(convert::canonical).transpose().map_err(wasmtime::Error::msg)?)),
            Err(error) => Ok(Err(parameter_error(error, name))),
        }
    }

    fn children(
        &mut self,
        handle: Resource<ParametersHandle>,
        block: String,
    ) -> wasmtime::Result<Result<Vec<WitChild>, WitParameterError>> {
        let given = self.held(&handle)?;
        if given.block.is_some() {
            return Ok(Err(WitParameterError::Unknown(block)));
        }
        match given.parameters.children(&block) {
            Ok(children) => {
                let give =
                    |child: Child| Ok(WitChild { given: self.give(child.given, Some(block.clone()))?, label: child.label });
                Ok(Ok(children.into_iter().map(give).collect::<wasmtime::Result<_>>()?))
            }
            Err(error) => Ok(Err(parameter_error(error, block))),
        }
    }

    fn drop(&mut self, handle: Resource<ParametersHandle>) -> wasmtime::Result<()> {
        let ParametersHandle(number) = self.table.delete(handle)?;
        self.given.remove(&number);
        Ok(())
    }
}

fn parameter_error(error: ParameterError, name: String) -> WitParameterError {
    match error {
        ParameterError::Deferred => WitParameterError::Deferred,
        ParameterError::Failed => WitParameterError::Failed,
        ParameterError::Unknown => WitParameterError::Unknown(name),
    }
}
