//! What `describe` says: the attributes, each with its reader, and the rights that the module asks for.
//!
//! The values with a grammar of their own refuse whatever does not follow it, so compiling and exporting take the same.

use runtime_sdk::path::{AbsolutePath, Target};
use runtime_sdk::{Attributes, Capability, Principal};

use crate::desired::Ensure;
use crate::links::Links;
use crate::mode::Mode;
use crate::validation::Validation;

/// A declaration. Each field is an attribute, read when it is asked for.
#[derive(Attributes)]
pub struct Given {
    /// The absolute path on the node, without `.`, `..`, double or trailing slashes. What becomes of a link at the path
    /// itself `links` says.
    #[attribute(identity, exported)]
    pub path: AbsolutePath,
    /// What is to be at the path.
    #[attribute(ensure, identity, exported)]
    pub ensure: Ensure,
    /// Whether an object of another kind may be replaced, and a directory removed with all that it holds.
    #[attribute(identity, default = false)]
    pub force: bool,
    /// What becomes of a symbolic link at the path where a file or directory is wanted: `refuse` is an error, `replace` puts what is wanted in its place,
    /// `follow` manages what it leads to, which `leads_to` must list.
    #[attribute(identity, default = Links::Refuse)]
    pub links: Links,
    /// Where a link at the path may lead with `links = "follow"`: absolute paths without links in them. What is there is held like the path itself.
    #[attribute(identity)]
    pub leads_to: Option<Vec<AbsolutePath>>,
    /// Whether folders that are missing on the way to the path are made, owned by the run (root) and with mode 0755. They are not managed further: declare a
    /// folder whose owner or mode matters.
    #[attribute(identity, default = false)]
    pub parents: bool,
    /// The file's content as text. Not with `source`.
    pub content: Option<String>,
    /// A file beneath the manifest's folder, or an `https` address, that has the content. Not with `content`.
    #[attribute(source)]
    pub source: Option<String>,
    /// The digest that the bytes of `source` must have: `sha256:` and 64 lower-case hex digits. An address needs it.
    #[attribute(checksum_of = "source")]
    pub checksum: Option<String>,
    /// The owner: a user name or a numeric id. Names are looked up on the node.
    #[attribute(exported)]
    pub owner: Option<Principal>,
    /// The group: a name or a numeric id. Names are looked up on the node.
    #[attribute(exported)]
    pub group: Option<Principal>,
    /// The permissions: octal as `0644` or `644`, or symbolic for all three classes as `u=rw,go=r`. Others read it as four octal digits.
    #[attribute(exported)]
    pub mode: Option<Mode>,
    /// How many replaced versions of the file are kept beside it, from 0 to 100: `NAME.~1~` is the newest. They belong to the resource. Of
    /// sensitive content nothing is kept.
    #[attribute(identity, default = 0)]
    pub backup: u32,
    /// A program that looks at the new file before it is put in place, by its absolute path, and its arguments, of which one has `{}` in the place of
    /// the file's path. It can change nothing. If it does not end with code 0, the old file stays.
    #[attribute(identity)]
    pub validate: Option<Validation>,
    /// Where a symbolic link points, kept as it is written.
    #[attribute(exported)]
    pub target: Option<Target>,
}

pub fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new("files", "read", "/**", "to compare what is at a declared path"),
        Capability::new("files", "write", "/**", "to bring about what is declared for a path"),
        Capability::new("processes", "query", "*", "to run the declared `validate`, which cannot change anything"),
        Capability::new("accounts", "read", "*", "to look up the numeric ids of owners and groups"),
    ]
}

#[cfg(test)]
mod tests {
    use crate::File;

    #[test]
    fn the_description_keeps_the_contract() {
        runtime_sdk::testing::check_description::<File>();
    }
}
