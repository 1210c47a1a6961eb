//! The provider `zypper` of the resource type `package`: rpm with zypper, on SUSE and what is like it.
//!
//! What is its own is here: the systems that it serves, its options, and what its manager calls things and cannot do. The host knows how the
//! manager is asked, `package_backend` what every such provider does.

use package_backend::{Desired, Native, Offers, Provider, cannot};
use runtime_sdk::Diagnostic;
use runtime_sdk::packages::Manager;

/// What is particular to the provider.
pub struct Zypper;

runtime_sdk::export_provider!(Provider<Zypper>);

impl Native for Zypper {
    const NAME: &'static str = "zypper";
    const SUMMARY: &'static str = "Packages by rpm with zypper, on SUSE and what is like it.";
    const MANAGER: Manager = Manager::Zypper;
    const SYSTEMS: &'static [&'static str] = &["suse", "opensuse", "sles", "opensuse-leap", "opensuse-tumbleweed"];
    const ARCHITECTURES: &'static [(&'static str, &'static str)] =
        &[("amd64", "x86_64"), ("arm64", "aarch64"), ("all", "noarch"), ("i386", "i686")];
    const OFFERS: Offers = Offers { recommends: true, files: Some(".rpm") };

    fn refuse(desired: &Desired) -> Result<(), Diagnostic> {
        cannot::replace_configuration_files(Self::NAME, desired)
    }
}

#[cfg(test)]
mod tests {
    use package_backend::{ConfigurationFiles, Ensure, WhenHeld};

    use super::*;

    #[test]
    fn architectures_have_the_managers_names() {
        assert_eq!(Provider::<Zypper>::architecture("amd64"), "x86_64");
        assert_eq!(Provider::<Zypper>::architecture("all"), "noarch");
    }

    #[test]
    fn packages_are_held_and_configuration_files_stay() {
        let demo = || Desired::plain("demo", Ensure::Present);
        assert_eq!(Zypper::refuse(&Desired { hold: Some(true), when_held: WhenHeld::Change, ..demo() }), Ok(()));
        let refused = Zypper::refuse(&Desired { configuration_files: ConfigurationFiles::Replace, ..demo() }).unwrap_err();
        assert_eq!(refused.message, "zypper cannot be told to replace configuration files that were changed");
    }
}
