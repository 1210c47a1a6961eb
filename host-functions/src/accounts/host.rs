//! The functions of `accounts`.

use zeroize::Zeroizing;

use super::change::{GroupChange, NewGroup, NewUser, UserChange};
use super::name::check_name;
use super::{Kind, MAX_ACCOUNT_NAME, manage};
use crate::assets::{AssetName, AssetNameError};
use crate::authorize::Rule;
use crate::bindings::runtime::host::accounts;
use crate::call::HostCall;
use crate::context::HostContext;
use crate::error::CallError;
use crate::files::path::NodePath;

/// The user and the group that nothing makes, changes the id of, or removes.
const SUPERUSER: u32 = 0;

impl accounts::Host for HostContext {
    fn find_user(&mut self, name: String) -> Result<Option<u32>, CallError> {
        self.authorize(&HostCall::AccountsFindUser { name: shortened(&name) })?;
        self.node().accounts().find(self.node().root(), Kind::User, &name)
    }

    fn find_group(&mut self, name: String) -> Result<Option<u32>, CallError> {
        self.authorize(&HostCall::AccountsFindGroup { name: shortened(&name) })?;
        self.node().accounts().find(self.node().root(), Kind::Group, &name)
    }

    fn read_user(&mut self, name: String) -> Result<Option<accounts::User>, CallError> {
        self.authorize(&HostCall::AccountsReadUser { name: shortened(&name) })?;
        Ok(self.node().accounts().user(self.node().root(), &name)?.map(Into::into))
    }

    fn read_group(&mut self, name: String) -> Result<Option<accounts::Group>, CallError> {
        self.authorize(&HostCall::AccountsReadGroup { name: shortened(&name) })?;
        Ok(self.node().accounts().group(self.node().root(), &name)?.map(Into::into))
    }

    fn read_login(&mut self, name: String) -> Result<Option<accounts::Login>, CallError> {
        self.authorize(&HostCall::AccountsReadLogin { name: shortened(&name) })?;
        Ok(self.node().accounts().login(self.node().root(), &name)?.map(Into::into))
    }

    fn password_matches(&mut self, name: String, secret: String) -> Result<bool, CallError> {
        let secret = parse_secret(secret)?;
        self.authorize(&HostCall::AccountsPasswordMatches { name: shortened(&name), secret: secret.clone() })?;
        let hash = self.hash(&secret)?;
        manage::password_matches(self.node().root(), &name, &hash)
    }

    fn create_user(&mut self, name: String, user: accounts::NewUser) -> Result<(), CallError> {
        let user = NewUser::try_from(user)?;
        check_name(&name)?;
        user.check()?;
        let call = HostCall::AccountsCreateUser { name: name.clone(), user: user.clone() };
        self.authorize(&call)?;
        self.refuse_superuser(&call, user.id)?;
        if let (true, Some(home)) = (user.make_home, &user.home) {
            self.allow_made_directory(&NodePath::parse(home.as_bytes().to_vec())?, user.id)?;
        }
        let hash = user.password.as_ref().map(|secret| self.hash(secret)).transpose()?;
        self.changing(|context| {
            let (node, deadline) = (context.node(), context.deadline());
            node.accounts().create_user(node.root(), &name, &user, hash.as_ref(), deadline)
        })
    }

    fn change_user(&mut self, name: String, change: accounts::UserChange) -> Result<(), CallError> {
        let change = UserChange::try_from(change)?;
        check_name(&name)?;
        change.check()?;
        let call = HostCall::AccountsChangeUser { name: name.clone(), change: change.clone() };
        self.authorize(&call)?;
        self.refuse_superuser(&call, change.id)?;
        if change.id.is_some() {
            self.refuse_superusers_account(&call, Kind::User, &name)?;
        }
        let hash = change.password.as_ref().map(|secret| self.hash(secret)).transpose()?;
        self.changing(|context| {
            let (node, deadline) = (context.node(), context.deadline());
            node.accounts().change_user(node.root(), &name, &change, hash.as_ref(), deadline)
        })
    }

    fn delete_user(&mut self, name: String) -> Result<(), CallError> {
        check_name(&name)?;
        let call = HostCall::AccountsDeleteUser { name: name.clone() };
        self.authorize(&call)?;
        self.refuse_superusers_account(&call, Kind::User, &name)?;
        self.changing(|context| {
            let (node, deadline) = (context.node(), context.deadline());
            node.accounts().delete_user(node.root(), &name, deadline)
        })
    }

    fn create_group(&mut self, name: String, group: accounts::NewGroup) -> Result<(), CallError> {
        let accounts::NewGroup { id, system, members } = group;
        let group = NewGroup { id, system, members };
        check_name(&name)?;
        group.check()?;
        let call = HostCall::AccountsCreateGroup { name: name.clone(), group: group.clone() };
        self.authorize(&call)?;
        self.refuse_superuser(&call, group.id)?;
        self.changing(|context| {
            let (node, deadline) = (context.node(), context.deadline());
            node.accounts().create_group(node.root(), &name, &group, deadline)
        })
    }

    fn change_group(&mut self, name: String, change: accounts::GroupChange) -> Result<(), CallError> {
        let accounts::GroupChange { id, members } = change;
        let change = GroupChange { id, members };
        check_name(&name)?;
        change.check()?;
        let call = HostCall::AccountsChangeGroup { name: name.clone(), change: change.clone() };
        self.authorize(&call)?;
        self.refuse_superuser(&call, change.id)?;
        if change.id.is_some() {
            self.refuse_superusers_account(&call, Kind::Group, &name)?;
        }
        self.changing(|context| {
            let (node, deadline) = (context.node(), context.deadline());
            node.accounts().change_group(node.root(), &name, &change, deadline)
        })
    }

    fn delete_group(&mut self, name: String) -> Result<(), CallError> {
        check_name(&name)?;
        let call = HostCall::AccountsDeleteGroup { name: name.clone() };
        self.authorize(&call)?;
        self.refuse_superusers_account(&call, Kind::Group, &name)?;
        self.changing(|context| {
            let (node, deadline) = (context.node(), context.deadline());
            node.accounts().delete_group(node.root(), &name, deadline)
        })
    }
}

impl HostContext {
    /// Makes a change. One that was refused before a tool changed anything has not been let through.
    fn changing(&mut self, change: impl FnOnce(&Self) -> Result<(), CallError>) -> Result<(), CallError> {
        let before = self.let_change_through();
        self.note_change();
        let result = change(self);
        if result.as_ref().is_err_and(super::tools::is_refusal) {
            self.take_back_change(before);
        }
        result
    }

    /// The value of a secret that authorising has found among the resource's own.
    fn hash(&self, secret: &AssetName) -> Result<Zeroizing<Vec<u8>>, CallError> {
        let AssetName::Secret(slot) = secret else {
            return Err(CallError::invalid("a password is named by the slot of a sensitive value: `secret:SLOT`"));
        };
        let hash = self.assets().secret(slot);
        let hash = hash.ok_or_else(|| CallError::Other(format!("the asset {secret} is listed but has no text")))?;
        manage::check_hash(&hash)?;
        Ok(hash)
    }

    /// Refuses to give an account the id that may do everything.
    fn refuse_superuser(&mut self, call: &HostCall, id: Option<u32>) -> Result<(), CallError> {
        match id {
            Some(SUPERUSER) => Err(self.deny(call, Rule::Protected { what: "the id 0".to_owned() })),
            _ => Ok(()),
        }
    }

    /// Refuses to take its id from the account that may do everything, or to remove it.
    fn refuse_superusers_account(&mut self, call: &HostCall, kind: Kind, name: &str) -> Result<(), CallError> {
        let found = self.node().accounts().find(self.node().root(), kind, name)?;
        match found {
            Some(SUPERUSER) => Err(self.deny(call, Rule::Protected { what: "the account with the id 0".to_owned() })),
            _ => Ok(()),
        }
    }
}

/// What the audit trail keeps of a name that may be of any length.
fn shortened(name: &str) -> String {
    name.chars().take(MAX_ACCOUNT_NAME).collect()
}

fn parse_secret(name: String) -> Result<AssetName, CallError> {
    name.parse().map_err(|error: AssetNameError| CallError::invalid(error.to_string()))
}

impl TryFrom<accounts::NewUser> for NewUser {
    type Error = CallError;

    fn try_from(user: accounts::NewUser) -> Result<Self, CallError> {
        let accounts::NewUser { id, system, group, groups, comment, home, make_home, shell, expires, password, locked } = user;
        let password = password.map(parse_secret).transpose()?;
        Ok(Self { id, system, group, groups, comment, home, make_home, shell, expires, password, locked })
    }
}

impl TryFrom<accounts::UserChange> for UserChange {
    type Error = CallError;

    fn try_from(change: accounts::UserChange) -> Result<Self, CallError> {
        let accounts::UserChange { id, group, join, leave, comment, home, shell, expires, password, locked } = change;
        let expires = expires.map(|expiry| match expiry {
            accounts::Expiry::Never => None,
            accounts::Expiry::Day(day) => Some(day),
        });
        let password = password.map(parse_secret).transpose()?;
        Ok(Self { id, group, join, leave, comment, home, shell, expires, password, locked })
    }
}

impl From<super::User> for accounts::User {
    fn from(user: super::User) -> Self {
        let super::User { id, group, group_name, groups, comment, home, shell, local } = user;
        Self { id, group, group_name, groups, comment, home, shell, local }
    }
}

impl From<super::Group> for accounts::Group {
    fn from(group: super::Group) -> Self {
        let super::Group { id, members, local } = group;
        Self { id, members, local }
    }
}

impl From<super::Login> for accounts::Login {
    fn from(login: super::Login) -> Self {
        let super::Login { password, locked, expires } = login;
        let password = match password {
            super::Password::Empty => accounts::Password::Empty,
            super::Password::Unusable => accounts::Password::Unusable,
            super::Password::Hash => accounts::Password::Hash,
        };
        Self { password, locked, expires }
    }
}
