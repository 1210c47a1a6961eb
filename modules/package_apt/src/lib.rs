//! The provider `apt` of the resource type `package`: dpkg with apt-get, on Debian and what is like it.
//!
//! What is its own is here: the systems that it serves, its options, and what its manager calls things and cannot do. The host knows how the
//! manager is asked, `package_backend` what every such provider does.

use package_backend::{Desired, Native, Offers, Provider};
use runtime_sdk::Diagnostic;
use runtime_sdk::packages::Manager;

/// What is particular to the provider.
pub struct Apt;

runtime_sdk::export_provider!(Provider<Apt>);

impl Native for Apt {
    const NAME: &'static str = "apt";
    const SUMMARY: &'static str = "Packages by dpkg with apt-get, on Debian and what is like it.";
    const MANAGER: Manager = Manager::Apt;
    const SYSTEMS: &'static [&'static str] = &["debian", "ubuntu"];
    const ARCHITECTURES: &'static [(&'static str, &'static str)] =
        &[("x86_64", "amd64"), ("aarch64", "arm64"), ("noarch", "all"), ("i686", "i386")];
    const OFFERS: Offers = Offers { recommends: true, files: Some(".deb") };

    /// apt can do all that the resource type asks for, so that its own grammar is the only thing to hold it against.
    fn refuse(desired: &Desired) -> Result<(), Diagnostic> {
        let is_sound = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte);
        if desired.name.bytes().all(is_sound) {
            return Ok(());
        }
        Err(Diagnostic::at("name", "a package of dpkg has lower-case letters, digits, `+`, `-` and `.` in its name"))
    }
}

#[cfg(test)]
mod tests {
    use package_backend::{ConfigurationFiles, Ensure, WhenHeld};

    use super::*;

    #[test]
    fn architectures_have_the_managers_names() {
        assert_eq!(Provider::<Apt>::architecture("x86_64"), "amd64");
        assert_eq!(Provider::<Apt>::architecture("noarch"), "all");
        assert_eq!(Provider::<Apt>::architecture("amd64"), "amd64");
    }

    #[test]
    fn nothing_but_a_name_that_dpkg_cannot_have_is_refused() {
        let demo = |name: &str| Desired::plain(name, Ensure::Present);
        let asks_much = Desired {
            hold: Some(true),
            when_held: WhenHeld::Change,
            configuration_files: ConfigurationFiles::Replace,
            ..demo("libdemo-c++1.0")
        };
        assert_eq!(Apt::refuse(&asks_much), Ok(()));
        assert_eq!(Apt::refuse(&demo("Demo")).unwrap_err().attribute.as_deref(), Some("name"));
        assert!(Apt::refuse(&demo("de_mo")).is_err());
    }
}
