//! What the policy says of secrets of the node: nothing is given out but to the manifests and resource types that a row names.

use std::collections::{BTreeMap, BTreeSet};

use super::{Policy, Refusal, Unused};
use crate::model::ids::{OwnerName, SecretName, TypeName};

/// The resource types that use each secret.
pub type SecretReaders = BTreeMap<SecretName, BTreeSet<TypeName>>;

impl Policy {
    /// The resource types of the manifest `owner` that may use the secret `name`.
    pub fn secret_readers(&self, owner: &OwnerName, name: &SecretName) -> BTreeSet<TypeName> {
        let rows = self.secrets.iter().filter(|row| row.name == *name && row.owners.contains(owner));
        rows.flat_map(|row| row.modules.iter().cloned()).collect()
    }

    /// A refusal for each secret that the manifest `owner` may not use as it wants to.
    pub fn refused_secrets(&self, owner: &OwnerName, wanted: &SecretReaders) -> Vec<Refusal> {
        let refuse = |(name, types): (&SecretName, &BTreeSet<TypeName>)| {
            let allowed = self.secret_readers(owner, name);
            let missing: BTreeSet<&TypeName> = types.difference(&allowed).collect();
            let first = missing.first()?;
            let reason =
                format!("no policy row lets the manifest `{owner}` use the secret `{name}` in resources of the type `{first}`");
            Some(Refusal { reason, row: Some(row(owner, name, &missing)) })
        };
        wanted.iter().filter_map(refuse).collect()
    }

    /// The rows for `owner` whose secret it does not read.
    pub fn unused_secrets(&self, owner: &OwnerName, read: &[SecretName]) -> Vec<Unused> {
        let unused = self.secrets.iter().filter(|row| row.owners.contains(owner) && !read.contains(&row.name));
        unused.map(|row| Unused { line: row.line, row: format!("secret \"{}\"", row.name) }).collect()
    }
}

/// The row that would allow it, and no more. Rows for one secret add up, so it may stand beside those that are there.
fn row(owner: &OwnerName, name: &SecretName, types: &BTreeSet<&TypeName>) -> String {
    // These names have no character that HCL would read otherwise.
    let types: Vec<String> = types.iter().map(|name| format!("\"{name}\"")).collect();
    format!("secret \"{name}\" {{\n  owners  = [\"{owner}\"]\n  modules = [{}]\n}}", types.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::parse;

    fn policy(text: &str) -> Policy {
        parse(text, &["file".parse().unwrap()]).unwrap()
    }

    fn wanted(types: &[&str]) -> SecretReaders {
        BTreeMap::from([("db".parse().unwrap(), types.iter().map(|name| name.parse().unwrap()).collect())])
    }

    fn refused(policy: &Policy, owner: &str, types: &[&str]) -> Vec<Refusal> {
        policy.refused_secrets(&owner.parse().unwrap(), &wanted(types))
    }

    #[test]
    fn nothing_is_given_out_by_default_and_the_row_that_is_printed_allows_it() {
        let refusals = refused(&Policy::default(), "site", &["file", "user"]);
        assert_eq!(refusals.len(), 1);
        assert_eq!(
            refusals[0].reason,
            "no policy row lets the manifest `site` use the secret `db` in resources of the type `file`"
        );
        let allowed = policy(refusals[0].row.as_ref().unwrap());
        assert_eq!(refused(&allowed, "site", &["file", "user"]), []);
        assert_eq!(refused(&allowed, "other", &["file"]).len(), 1, "another manifest");
        assert_eq!(refused(&allowed, "site", &["exec"]).len(), 1, "another type");
    }

    #[test]
    fn a_row_allows_its_own_owners_with_its_own_types() {
        let policy = policy(concat!(
            "secret \"db\" {\n  owners = [\"a\"]\n  modules = [\"file\"]\n}\n",
            "secret \"db\" {\n  owners = [\"b\"]\n  modules = [\"user\"]\n}\n",
        ));
        assert_eq!(refused(&policy, "a", &["file"]), []);
        assert_eq!(refused(&policy, "a", &["user"]).len(), 1);
        assert_eq!(refused(&policy, "b", &["user"]), []);
    }

    #[test]
    fn rows_say_who_and_with_what() {
        let problems =
            |text: &str| parse(text, &[]).unwrap_err().iter().map(|problem| problem.message.clone()).collect::<Vec<_>>();
        assert_eq!(problems("secret {}"), ["a `secret` row has one name"]);
        let names = ["`secret` must name `owners`", "`secret` must name `modules`"];
        assert_eq!(problems("secret \"db\" {}"), names);
        assert_eq!(problems("secret \"db\" {\n  owners = []\n  modules = []\n}"), names);
        assert_eq!(problems("secret \"../x\" {\n  owners = [\"a\"]\n  modules = [\"file\"]\n}").len(), 1);
        assert_eq!(problems("secret \"x\" {\n  owners = [\"a\"]\n  modules = [\"*\"]\n}").len(), 2, "no pattern, and none named");
        assert_eq!(problems("secret \"x\" {\n  owners = [\"a\"]\n  modules = [\"f\"]\n  types = []\n}").len(), 1);
    }

    #[test]
    fn a_row_that_its_own_manifest_makes_no_use_of_is_noted() {
        let policy = policy("secret \"db\" {\n  owners = [\"a\"]\n  modules = [\"file\"]\n}\n");
        let unused = |owner: &str, read: &[SecretName]| policy.unused_secrets(&owner.parse().unwrap(), read).len();
        assert_eq!((unused("a", &[]), unused("a", &["db".parse().unwrap()]), unused("b", &[])), (1, 0, 0));
    }
}
