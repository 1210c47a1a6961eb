//! The provider `apk` of the resource type `package`: apk-tools, on Alpine and what is like it.
//!
//! What is its own is here: the systems that it serves, its options, and what its manager calls things and cannot do. The host knows how the
//! manager is asked, `package_backend` what every such provider does.

use package_backend::{Desired, Native, Offers, Provider, cannot};
use runtime_sdk::Diagnostic;
use runtime_sdk::packages::Manager;

/// What is particular to the provider.
pub struct Apk;

runtime_sdk::export_provider!(Provider<Apk>);

impl Native for Apk {
    const NAME: &'static str = "apk";
    const SUMMARY: &'static str = "Packages by apk-tools, on Alpine and what is like it.";
    const MANAGER: Manager = Manager::Apk;
    const SYSTEMS: &'static [&'static str] = &["alpine"];
    const ARCHITECTURES: &'static [(&'static str, &'static str)] =
        &[("amd64", "x86_64"), ("arm64", "aarch64"), ("all", "noarch")];
    const OFFERS: Offers = Offers { recommends: false, files: None };

    fn refuse(desired: &Desired) -> Result<(), Diagnostic> {
        cannot::replace_configuration_files(Self::NAME, desired)?;
        cannot::hold(Self::NAME, desired)
    }
}

#[cfg(test)]
mod tests {
    use package_backend::{ConfigurationFiles, Ensure, WhenHeld};

    use super::*;

    #[test]
    fn architectures_have_the_managers_names() {
        assert_eq!(Provider::<Apk>::architecture("amd64"), "x86_64");
        assert_eq!(Provider::<Apk>::architecture("all"), "noarch");
    }

    #[test]
    fn no_package_is_held_and_configuration_files_stay() {
        let demo = || Desired::plain("demo", Ensure::Present);
        assert_eq!(Apk::refuse(&demo()), Ok(()));
        let refused = Apk::refuse(&Desired { configuration_files: ConfigurationFiles::Replace, ..demo() }).unwrap_err();
        assert_eq!(refused.message, "apk cannot be told to replace configuration files that were changed");
        let refused = Apk::refuse(&Desired { hold: Some(true), ..demo() }).unwrap_err();
        assert_eq!(refused.message, "apk cannot be told to hold a package, or to change one that is held");
        assert!(Apk::refuse(&Desired { when_held: WhenHeld::Change, ..demo() }).is_err());
    }
}
