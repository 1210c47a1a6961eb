//! What `describe` says: the attributes, each with its reader, and the rights that the module asks for.

use runtime_sdk::{AccountId, AccountName, AttributeType, Attributes, Capability, Presence, Sensitive};

use crate::expiry::Expiry;
use crate::hash::PasswordHash;
use crate::home::{Home, Shell};
use crate::primary::PrimaryGroup;

/// A declaration. Each field is an attribute, read when it is asked for.
#[derive(Attributes)]
pub struct Given {
    /// The user's name: it begins with a letter or `_`, has letters, digits, `_`, `.` and `-`, and at most 32 characters.
    #[attribute(identity, exported)]
    pub name: AccountName,
    /// Whether the user is there.
    #[attribute(ensure, identity, exported)]
    pub ensure: Presence,
    /// The numeric id, from 1 to 4294967294. When it changes, files in the home directory go over to the new id.
    #[attribute(exported)]
    pub uid: Option<AccountId>,
    /// The primary group: a name or a numeric id. It must exist, or be declared. A new user for which it is left out gets a group of its own
    /// name.
    #[attribute(alias = "gid", identity, exported)]
    pub group: Option<PrimaryGroup>,
    /// Names of other groups that the user is a member of.
    #[attribute(identity)]
    pub groups: Option<Vec<AccountName>>,
    /// Whether other groups than those in `groups` are left as they are (`minimum`), or the user leaves them (`exact`).
    #[attribute(default = "minimum")]
    pub membership: Membership,
    /// The comment, usually the full name: at most 255 bytes, without `:` and control characters.
    #[attribute(exported)]
    pub comment: Option<String>,
    /// The absolute path of the home directory. Changing it moves nothing.
    #[attribute(identity, exported)]
    pub home: Option<Home>,
    /// Whether the directory at `home` is made if it is not there, and removed with all that it holds if the user is `absent`. It is removed only if it
    /// is known to be that user's: the user owns it, and the account or the record of the last run names it. A new user's has what `/etc/skel`
    /// holds. Needs `home`.
    #[attribute(identity, default = false)]
    pub manage_home: bool,
    /// The absolute path of the login shell.
    #[attribute(exported)]
    pub shell: Option<Shell>,
    /// The first day on which the account cannot be used, as `2030-06-30`, or `never`.
    pub expires: Option<Expiry>,
    /// Whether no password is accepted. Keys of SSH are another matter: let the account expire.
    pub locked: Option<bool>,
    /// The hash of the password, as crypt(5) has them (`$6$…`, `$y$…`).
    pub password_hash: Option<Sensitive<PasswordHash>>,
    /// Whether a new user gets an id of the system's range. Of a user that is there it says nothing.
    #[attribute(default = false)]
    pub system: bool,
}

/// What becomes of groups that are not named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AttributeType)]
pub enum Membership {
    /// They are left as they are.
    Minimum,
    /// The user leaves them.
    Exact,
}

pub fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new("accounts", "read", "*", "to compare users with what is declared"),
        Capability::new("accounts", "create", "*", "to make declared users"),
        Capability::new("accounts", "modify", "*", "to bring about what is declared of users"),
        Capability::new("accounts", "delete", "*", "to remove users that are declared absent"),
        Capability::new("accounts", "join", "*", "to make users members of declared groups"),
        Capability::new("files", "read", "/**", "to see whether a managed home directory is there"),
        Capability::new("files", "write", "/**", "to make and remove managed home directories"),
    ]
}

#[cfg(test)]
mod tests {
    use crate::User;

    #[test]
    fn the_description_keeps_the_contract() {
        runtime_sdk::testing::check_description::<User>();
    }
}
