//! What several managers cannot do, told in the same words. Which of it a manager cannot do, its provider says.

use runtime_sdk::Diagnostic;

use crate::desired::{ConfigurationFiles, Desired, WhenHeld};

/// Refuses to replace configuration files that were changed on the node.
///
/// # Errors
/// If the desired state asks for it.
pub fn replace_configuration_files(manager: &str, desired: &Desired) -> Result<(), Diagnostic> {
    if desired.configuration_files == ConfigurationFiles::Keep {
        return Ok(());
    }
    let what = format!("{manager} cannot be told to replace configuration files that were changed");
    Err(Diagnostic::at("configuration_files", what))
}

/// Refuses to hold a package, to let one go, and to change one that is held.
///
/// # Errors
/// If the desired state asks for it.
pub fn hold(manager: &str, desired: &Desired) -> Result<(), Diagnostic> {
    if desired.hold.is_none() && desired.when_held != WhenHeld::Change {
        return Ok(());
    }
    Err(Diagnostic::at("hold", format!("{manager} cannot be told to hold a package, or to change one that is held")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ensure;

    #[test]
    fn what_is_asked_for_is_refused_at_its_attribute() {
        let plain = || Desired::plain("demo", Ensure::Present);
        let at = |refused: Result<(), Diagnostic>| refused.unwrap_err().attribute;
        assert_eq!((replace_configuration_files("m", &plain()), hold("m", &plain())), (Ok(()), Ok(())));
        let replace = Desired { configuration_files: ConfigurationFiles::Replace, ..plain() };
        assert_eq!(at(replace_configuration_files("m", &replace)).as_deref(), Some("configuration_files"));
        for held in [Desired { hold: Some(false), ..plain() }, Desired { when_held: WhenHeld::Change, ..plain() }] {
            assert_eq!(at(hold("m", &held)).as_deref(), Some("hold"));
        }
    }
}
