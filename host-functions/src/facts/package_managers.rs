//! `package_managers`: those whose program is in the root, in the order of this list.

use serde_json::{Value as Json, json};

use super::init::exists;
use crate::node::Root;

/// Package managers, each with the paths at which its program may be.
const MANAGERS: [(&str, &[&str]); 12] = [
    ("apk", &["/sbin/apk", "/usr/sbin/apk", "/usr/bin/apk"]),
    ("apt", &["/usr/bin/apt-get"]),
    ("dnf", &["/usr/bin/dnf", "/usr/bin/dnf5", "/usr/bin/microdnf"]),
    ("emerge", &["/usr/bin/emerge"]),
    ("flatpak", &["/usr/bin/flatpak"]),
    ("nix", &["/run/current-system/sw/bin/nix-env", "/nix/var/nix/profiles/default/bin/nix-env", "/usr/bin/nix-env"]),
    ("opkg", &["/bin/opkg", "/usr/bin/opkg"]),
    ("pacman", &["/usr/bin/pacman"]),
    ("rpm-ostree", &["/usr/bin/rpm-ostree"]),
    ("snap", &["/usr/bin/snap"]),
    ("yum", &["/usr/bin/yum"]),
    ("zypper", &["/usr/bin/zypper"]),
];

pub(super) fn gather(root: &Root) -> Option<Json> {
    let there = MANAGERS.iter().filter(|(_, paths)| paths.iter().any(|path| exists(root, path)));
    Some(json!(there.map(|(name, _)| *name).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::root_with;
    use super::*;

    #[test]
    fn managers_are_known_by_their_programs() {
        let (_folder, root) =
            root_with(&[("usr/bin/zypper", ""), ("usr/bin/apt-get", ""), ("usr/bin/microdnf", ""), ("usr/bin/x", "")]);
        assert_eq!(gather(&root).unwrap(), json!(["apt", "dnf", "zypper"]));
        assert!(MANAGERS.is_sorted_by_key(|(name, _)| *name));
    }
}
