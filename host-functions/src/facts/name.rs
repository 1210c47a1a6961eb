//! `hostname` and `fqdn`. No name server is asked: an answer can take seconds, and be another tomorrow.

use serde_json::Value as Json;

use super::{FactsError, read, text};
use crate::node::Root;

/// Of the running system; beneath another root that of its `/etc/hostname`, if it has one.
pub(super) fn hostname(root: &Root) -> Result<Option<Json>, FactsError> {
    if root.is_system() {
        return Ok(Some(text(rustix::system::uname().nodename().to_bytes())));
    }
    let content = read(root, "/etc/hostname")?.unwrap_or_default();
    let content = String::from_utf8_lossy(&content);
    let name = content.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(name.map(|name| text(name.as_bytes())))
}

/// The hostname if it has a domain, else the name in `/etc/hosts` that is the hostname with one.
pub(super) fn fqdn(root: &Root) -> Option<Json> {
    let Ok(Some(Json::String(name))) = hostname(root) else { return None };
    if name.contains('.') {
        return Some(name.into());
    }
    let hosts = read(root, "/etc/hosts").ok()??;
    let hosts = String::from_utf8_lossy(&hosts);
    let names = hosts.lines().flat_map(|line| line.split('#').next().unwrap_or_default().split_whitespace().skip(1));
    let whole = names.into_iter().find(|whole| whole.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.')))?;
    Some(text(whole.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::root_with;
    use super::*;

    #[test]
    fn the_name_is_that_of_the_root_and_gets_its_domain_from_its_hosts() {
        let hosts = "127.0.0.1 localhost\n10.0.0.1 db10.example.org db10\n10.0.0.2\tdb1 db1.example.org # db1.wrong\n";
        let (_folder, root) = root_with(&[("etc/hostname", "# name\n db1\n"), ("etc/hosts", hosts)]);
        assert_eq!(hostname(&root).unwrap().unwrap(), "db1");
        assert_eq!(fqdn(&root).unwrap(), "db1.example.org");
        let (_folder, root) = root_with(&[("etc/hostname", "db1.here\n")]);
        assert_eq!(fqdn(&root).unwrap(), "db1.here");
        let (_folder, root) = root_with(&[("etc/hostname", "db1\n"), ("etc/hosts", "127.0.0.1 localhost\n")]);
        assert_eq!(fqdn(&root), None);
        let (_folder, root) = root_with(&[]);
        assert_eq!((hostname(&root).unwrap(), fqdn(&root)), (None, None));
    }
}
