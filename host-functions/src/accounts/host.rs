//! The functions of `accounts`.

use super::{Kind, MAX_ACCOUNT_NAME};
use crate::bindings::runtime::host::accounts;
use crate::call::HostCall;
use crate::context::HostContext;
use crate::error::CallError;

impl accounts::Host for HostContext {
    fn find_user(&mut self, name: String) -> Result<Option<u32>, CallError> {
        self.authorize(&HostCall::AccountsFindUser { name: shortened(&name) })?;
        self.node().accounts().find(self.node().root(), Kind::User, &name)
    }

    fn find_group(&mut self, name: String) -> Result<Option<u32>, CallError> {
        self.authorize(&HostCall::AccountsFindGroup { name: shortened(&name) })?;
        self.node().accounts().find(self.node().root(), Kind::Group, &name)
    }
}

/// What the audit trail keeps of a name that may be of any length.
fn shortened(name: &str) -> String {
    name.chars().take(MAX_ACCOUNT_NAME).collect()
}
