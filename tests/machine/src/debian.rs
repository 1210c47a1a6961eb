//! Makes the Debian root.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::program::run;
use crate::system::write;

/// Beyond what Debian calls required: an init system with its bus, what tests look around with, the package managers of other
/// distributions, and what makes repositories for them.
const PACKAGES: &[&str] = &[
    "apt-utils",
    "createrepo-c",
    "dbus",
    "dnf",
    "iproute2",
    "libarchive-tools",
    "makepkg",
    "pacman-package-manager",
    "procps",
    "rpm",
    "systemd",
    "systemd-sysv",
    "zstd",
    "zypper",
];

/// Packages that are not installed, in `/srv/packages`: a server for tests that install one, and what it needs.
const BROUGHT: &str = "mkdir -p \"$1/srv/packages\" && cd \"$1/srv/packages\" && APT_CONFIG=\"$MMDEBSTRAP_APT_CONFIG\" apt-get -qq download mini-httpd lsb-base";

const NEEDS: &str =
    "tests on real machines need `mmdebstrap` and Debian's archive (`cargo xtask setup --all` installs the program)";

pub(crate) fn make(folder: &Path) {
    let parent = folder.parent().expect("a root stands in a folder");
    let include = format!("--include={}", PACKAGES.join(","));
    // Nothing of it has to survive a power cut: who is lost begins anew.
    let hook = format!("--customize-hook={BROUGHT}");
    let arguments =
        ["--quiet", "--variant=minbase", "--dpkgopt=force-unsafe-io", "--format=directory", &include, &hook, "bookworm"];
    let target = folder.to_str().expect("the cache has a name in UTF-8");
    run("mmdebstrap", arguments.iter().copied().chain([target]), parent, NEEDS);
    configure(folder);
}

fn configure(root: &Path) {
    // Tests are told nothing by the network, nor by this computer.
    write(root, "etc/apt/sources.list", "");
    write(root, "etc/machine-id", "5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e\n");
    for name in ["etc/hostname", "etc/resolv.conf"] {
        let _ = fs::remove_file(root.join(name));
    }
    // It has no console, and a unit that fails makes the whole state "degraded".
    fs::create_dir_all(root.join("etc/systemd/system")).expect("a folder can be made");
    symlink("/dev/null", root.join("etc/systemd/system/console-getty.service")).expect("a link can be made");
    // Debian's packages of these leave to the user what their own distributions configure.
    write(root, "etc/dnf/dnf.conf", "[main]\nreposdir=/etc/yum.repos.d\nmodule_platform_id=platform:x\nreleasever=1\n");
    write(root, "root/.rpmmacros", "%_dbpath /var/lib/rpm\n");
    for name in ["etc/yum.repos.d", "var/lib/pacman"] {
        fs::create_dir_all(root.join(name)).expect("a folder can be made");
    }
}
