//! What `describe` says: the attributes, each with its reader, and the rights that the module asks for.

use runtime_sdk::{AccountId, AccountName, Attributes, Capability, Presence};

/// A declaration. Each field is an attribute, read when it is asked for.
#[derive(Attributes)]
pub struct Given {
    /// The group's name: it begins with a letter or `_`, has letters, digits, `_`, `.` and `-`, and at most 32 characters.
    #[attribute(identity, exported)]
    pub name: AccountName,
    /// Whether the group is there.
    #[attribute(ensure, identity, exported)]
    pub ensure: Presence,
    /// Its numeric id, from 1 to 4294967294. Files that have the old id keep it.
    #[attribute(exported)]
    pub gid: Option<AccountId>,
    /// Whether a new group gets an id from the range of system groups. Of a group that is there it says nothing.
    #[attribute(default = false)]
    pub system: bool,
    /// All users that the group lists as members; an empty list is none. Users whose primary group it is need not be listed. Whoever
    /// manages members here cannot name the group in `groups` of a `user`.
    #[attribute(identity)]
    pub members: Option<Vec<AccountName>>,
}

pub fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new("accounts", "read", "*", "to compare groups with what is declared"),
        Capability::new("accounts", "create", "*", "to make declared groups"),
        Capability::new("accounts", "modify", "*", "to bring about what is declared of groups"),
        Capability::new("accounts", "delete", "*", "to remove groups that are declared absent"),
    ]
}

#[cfg(test)]
mod tests {
    use crate::Group;

    #[test]
    fn the_description_keeps_the_contract() {
        runtime_sdk::testing::check_description::<Group>();
    }
}
