//! `virtualization.*`: the container that the running system is in, and what the machine is emulated by. Null where there is none.

use serde_json::{Value as Json, json};

use super::init::exists;
use super::machine;
use crate::node::Root;
use crate::text::escape;

/// Where firmware tells who made the machine.
const DMI: [&str; 4] = ["product_name", "sys_vendor", "board_vendor", "bios_vendor"];

/// What makers of virtual machines write there, in the order in which it counts.
const HYPERVISORS: [(&str, &str); 16] = [
    ("KVM", "kvm"),
    ("OpenStack", "kvm"),
    ("KubeVirt", "kvm"),
    ("Amazon EC2", "amazon"),
    ("QEMU", "qemu"),
    ("VMware", "vmware"),
    ("VMW", "vmware"),
    ("innotek GmbH", "virtualbox"),
    ("VirtualBox", "virtualbox"),
    ("Xen", "xen"),
    ("Bochs", "bochs"),
    ("Parallels", "parallels"),
    ("BHYVE", "bhyve"),
    ("Hyper-V", "hyperv"),
    ("Virtual Machine", "hyperv"),
    ("Google Compute Engine", "google"),
];

pub(super) fn gather(root: &Root) -> Option<Json> {
    root.is_system().then(|| json!({ "container": container(root), "hypervisor": hypervisor() }))
}

/// The container manager, as it tells by itself.
fn container(root: &Root) -> Option<String> {
    let told = root.read_file(b"/run/systemd/container", 256).ok().flatten();
    let told = told.map(|name| String::from_utf8_lossy(&name).trim().to_owned());
    let environment = || {
        let environment = machine::read("/proc/1/environ", 256 * 1024)?;
        environment.split('\0').find_map(|pair| pair.strip_prefix("container=").map(str::to_owned))
    };
    let kernel = || {
        let release = machine::read("/proc/sys/kernel/osrelease", 256)?.to_lowercase();
        ["microsoft", "wsl"].iter().any(|word| release.contains(word)).then(|| "wsl".to_owned())
    };
    let file = || {
        let files = [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")];
        files.iter().find(|(path, _)| exists(root, path)).map(|(_, name)| (*name).to_owned())
    };
    told.or_else(environment).filter(|name| !name.is_empty()).or_else(file).or_else(kernel).map(|name| escape(&name))
}

fn hypervisor() -> Option<String> {
    let firmware = DMI.iter().filter_map(|name| machine::read(&format!("/sys/class/dmi/id/{name}"), 256));
    let by_firmware = firmware.into_iter().find_map(|maker| maker_of(&maker));
    by_firmware.map(str::to_owned).or_else(|| {
        let told = machine::read("/sys/hypervisor/type", 64).map(|name| escape(name.trim()));
        told.filter(|name| !name.is_empty())
    })
}

fn maker_of(text: &str) -> Option<&'static str> {
    HYPERVISORS.iter().find(|(maker, _)| text.contains(maker)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::super::tests::root_with;
    use super::*;

    #[test]
    fn makers_are_known_by_what_firmware_says() {
        for (text, expected) in [
            ("KVM Virtual Machine\n", Some("kvm")),
            ("Standard PC (Q35 + ICH9, 2009)\n", None),
            ("QEMU\n", Some("qemu")),
            ("VMware7,1\n", Some("vmware")),
            ("Virtual Machine\n", Some("hyperv")),
            ("Google Compute Engine\n", Some("google")),
            ("ThinkPad\n", None),
        ] {
            assert_eq!(maker_of(text), expected, "{text}");
        }
    }

    #[test]
    fn another_root_is_no_container_of_this_machine() {
        let (_folder, root) = root_with(&[("run/systemd/container", "docker\n")]);
        assert_eq!(gather(&root), None);
        assert_eq!(container(&root).as_deref(), Some("docker"));
    }
}
