//! What the policy says of the providers of a resource type on this node: which one to use, and which not.

use std::collections::BTreeSet;

use super::{Line, Policy, Unused};
use crate::model::ids::{ProviderName, TypeName};

impl Policy {
    /// The provider that the node's owner uses for a type.
    pub fn used_provider(&self, type_name: &TypeName) -> Option<&ProviderName> {
        self.providers.get(type_name)?.use_.as_ref().map(|(name, _)| name)
    }

    /// The providers of a type that the node's owner does not want.
    pub fn forbidden_providers(&self, type_name: &TypeName) -> BTreeSet<ProviderName> {
        self.providers.get(type_name).map(|row| row.forbid.keys().cloned().collect()).unwrap_or_default()
    }

    /// The rows for types of which no resource is among `types`.
    pub fn unused_providers(&self, types: &BTreeSet<TypeName>) -> Vec<Unused> {
        let rows = self.providers.iter().filter(|(name, _)| !types.contains(*name));
        let unused = rows.filter_map(|(name, row)| {
            let lines = row.use_.iter().map(|(_, line)| *line).chain(row.forbid.values().copied());
            let line: Line = lines.min()?;
            Some(Unused { line, row: format!("provider \"{name}\"") })
        });
        unused.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::parse;

    fn name(text: &str) -> TypeName {
        text.parse().unwrap()
    }

    #[test]
    fn rows_of_one_type_add_up_and_name_one_provider_to_use() {
        let policy =
            parse("provider \"package\" {\n  use = \"apt\"\n}\nprovider \"package\" {\n  forbid = [\"snap\", \"dnf\"]\n}\n", &[]);
        let policy = policy.unwrap();
        assert_eq!(policy.used_provider(&name("package")).map(ProviderName::as_str), Some("apt"));
        let forbidden = policy.forbidden_providers(&name("package"));
        assert_eq!(forbidden.iter().map(ProviderName::as_str).collect::<Vec<_>>(), ["dnf", "snap"]);
        assert_eq!(policy.used_provider(&name("service")), None);
        assert_eq!(policy.unused_providers(&BTreeSet::from([name("package")])), []);
        let unused = policy.unused_providers(&BTreeSet::new());
        assert_eq!(unused, [Unused { line: 2, row: "provider \"package\"".into() }]);
    }

    #[test]
    fn a_row_that_says_nothing_or_contradicts_itself_is_wrong() {
        let problems =
            |text: &str| parse(text, &[]).unwrap_err().iter().map(|problem| problem.message.clone()).collect::<Vec<_>>();
        assert_eq!(problems("provider {}"), ["a `provider` row has one name"]);
        assert_eq!(problems("provider \"package\" {}"), ["`provider` must say `use` or `forbid`"]);
        assert_eq!(problems("provider \"package\" {\n  use = \"A\"\n}").len(), 1);
        assert_eq!(problems("provider \"package\" {\n  prefer = \"apt\"\n}").len(), 2);
        let twice = "provider \"package\" {\n  use = \"apt\"\n}\nprovider \"package\" {\n  use = \"dnf\"\n}\n";
        assert_eq!(problems(twice), ["this type has a provider to use already, in line 2"]);
        let both = "provider \"package\" {\n  use = \"apt\"\n  forbid = [\"apt\"]\n}\n";
        assert_eq!(problems(both), ["`apt` is to be used and forbidden"]);
    }
}
