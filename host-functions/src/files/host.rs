//! The functions of `files`.
//!
//! Each makes sense of its arguments, builds the [`HostCall`], has it authorised, and only then does anything.

use wasmtime::component::Resource;

use super::path::NodePath;
use super::symlink::check_target;
use super::{Object, Staged};
use crate::bindings::runtime::host::{files, processes};
use crate::call::{Attributes, Content, HostCall};
use crate::context::HostContext;
use crate::error::CallError;
use crate::processes::Command;

impl files::Host for HostContext {
    fn discard_staged(&mut self, path: Vec<u8>, staging_name: String) -> Result<bool, CallError> {
        let path = NodePath::parse(path)?;
        let call = HostCall::FilesDiscardStaged { path: path.clone(), staging_name: staging_name.clone() };
        self.authorize(&call)?;
        self.discard(&call, &path, &staging_name)
    }
}

impl files::HostObject for HostContext {
    fn open(&mut self, path: Vec<u8>) -> Result<Resource<Object>, CallError> {
        let path = NodePath::parse(path)?;
        self.authorize(&HostCall::FilesObjectOpen { path: path.clone() })?;
        Ok(self.table.push(Object::new(path))?)
    }

    fn observe(&mut self, object: Resource<Object>, detail: files::Detail) -> Result<Option<files::Observation>, CallError> {
        let object = self.object(&object)?;
        let detail = detail.into();
        let call = HostCall::FilesObjectObserve { path: object.path.clone(), detail };
        self.authorize(&call)?;
        Ok(self.observe_object(&call, &object, detail)?.map(Into::into))
    }

    fn destination(&mut self, object: Resource<Object>) -> Result<Vec<u8>, CallError> {
        let object = self.object(&object)?;
        let call = HostCall::FilesObjectDestination { path: object.path.clone() };
        self.authorize(&call)?;
        self.destination_of(&call, &object)
    }

    fn read(&mut self, object: Resource<Object>, offset: u64, length: u32) -> Result<Vec<u8>, CallError> {
        let object = self.object(&object)?;
        let call = HostCall::FilesObjectRead { path: object.path.clone(), offset, length };
        self.authorize(&call)?;
        self.read_object(&call, &object, offset, length)
    }

    fn stage(
        &mut self,
        object: Resource<Object>,
        content: files::Content,
        attributes: files::Attributes,
    ) -> Result<Resource<Staged>, CallError> {
        let object = self.object(&object)?;
        let content = Content::try_from(content)?;
        let attributes = checked(attributes)?;
        let call = HostCall::FilesObjectStage { path: object.path.clone(), content: content.clone(), attributes };
        self.authorize(&call)?;
        let staged = self.stage_file(&call, &object, &content, attributes)?;
        Ok(self.table.push(staged)?)
    }

    fn set_attributes(&mut self, object: Resource<Object>, attributes: files::Attributes) -> Result<(), CallError> {
        let object = self.object(&object)?;
        let attributes = checked(attributes)?;
        let call = HostCall::FilesObjectSetAttributes { path: object.path.clone(), attributes };
        self.authorize(&call)?;
        self.set_object_attributes(&call, &object, attributes)
    }

    fn make_directory(&mut self, object: Resource<Object>, attributes: files::Attributes) -> Result<(), CallError> {
        let object = self.object(&object)?;
        let attributes = checked(attributes)?;
        let call = HostCall::FilesObjectMakeDirectory { path: object.path.clone(), attributes };
        self.authorize(&call)?;
        self.make_object_directory(&call, &object, attributes)
    }

    fn make_symlink(
        &mut self,
        object: Resource<Object>,
        target: Vec<u8>,
        attributes: files::Attributes,
    ) -> Result<(), CallError> {
        let object = self.object(&object)?;
        check_target(&target)?;
        // A link has no mode of its own.
        let attributes = Attributes { mode: None, ..checked(attributes)? };
        let call = HostCall::FilesObjectMakeSymlink { path: object.path.clone(), target: target.clone(), attributes };
        self.authorize(&call)?;
        let made = self.make_object_symlink(&call, &object, &target, attributes);
        self.node().packages().file_changed(object.path.as_bytes());
        made
    }

    fn remove(&mut self, object: Resource<Object>, recursive: bool) -> Result<(), CallError> {
        let object = self.object(&object)?;
        let call = HostCall::FilesObjectRemove { path: object.path.clone(), recursive };
        self.authorize(&call)?;
        let removed = self.remove_object(&call, &object, recursive);
        self.node().packages().file_changed(object.path.as_bytes());
        removed
    }

    fn drop(&mut self, object: Resource<Object>) -> wasmtime::Result<()> {
        self.table.delete(object)?;
        Ok(())
    }
}

impl files::HostStaged for HostContext {
    fn validate(&mut self, staged: Resource<Staged>, command: processes::Command) -> Result<processes::Finished, CallError> {
        let path = self.table.get(&staged)?.path.clone();
        let command = Command::try_from(command)?;
        let call = HostCall::FilesStagedValidate { path: path.clone(), command: command.clone() };
        self.authorize(&call)?;
        self.validate_staged(&call, &path, command)
    }

    fn commit(&mut self, staged: Resource<Staged>) -> Result<(), CallError> {
        let path = self.table.get(&staged)?.path.clone();
        let call = HostCall::FilesStagedCommit { path };
        self.authorize(&call)?;
        self.commit_by(&staged, |context, staged| context.commit_staged(&call, staged))
    }

    fn commit_keeping(&mut self, staged: Resource<Staged>) -> Result<(), CallError> {
        let path = self.table.get(&staged)?.path.clone();
        let call = HostCall::FilesStagedCommitKeeping { path };
        self.authorize(&call)?;
        self.commit_by(&staged, |context, staged| context.commit_staged_keeping(&call, staged))
    }

    fn drop(&mut self, staged: Resource<Staged>) -> wasmtime::Result<()> {
        let undone = self.table.delete(staged)?.undo();
        // What was staged and is gone again has changed nothing, unless something else was changed since.
        if let Some((before, changes)) = undone
            && changes == self.changes()
        {
            self.take_back_change(before);
        }
        Ok(())
    }
}

impl HostContext {
    /// A handle's own copy: it holds a path and shares what was seen.
    fn object(&self, object: &Resource<Object>) -> Result<Object, CallError> {
        let Object { path, seen } = self.table.get(object)?;
        Ok(Object { path: path.clone(), seen: seen.clone() })
    }

    /// Commits what is staged, by a function that needs both it and this.
    fn commit_by(
        &mut self,
        staged: &Resource<Staged>,
        commit: impl FnOnce(&mut Self, &mut Staged) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        // Out of the table for as long as both are needed, and back in under the same handle.
        let mut table = std::mem::take(&mut self.table);
        let result = table.get_mut(staged).map_err(CallError::from).and_then(|staged| {
            let committed = commit(self, staged);
            self.node().packages().file_changed(staged.path.as_bytes());
            committed
        });
        self.table = table;
        result
    }
}

fn checked(attributes: files::Attributes) -> Result<Attributes, CallError> {
    let attributes = Attributes::from(attributes);
    attributes.check()?;
    Ok(attributes)
}
