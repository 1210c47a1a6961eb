//! The one comparison of desired and observed, for plans and for verification. Pure.

use package_backend::{Desired, Ensure, Observation, Order, State, WhenHeld};
use runtime_sdk::node::unchanged;
use runtime_sdk::{Change, Diagnostic, Ensure as _, NodeResult};
use serde_json::json;

/// What differs; nothing if the package is as desired.
///
/// # Errors
/// If it could only be reached by a downgrade that was not allowed, or is held and that is to fail.
pub fn changes(desired: &Desired, found: &Observation) -> NodeResult<Vec<Change>> {
    let mut changes = Vec::new();
    changes.extend(ensure(desired, found)?);
    changes.extend(version(desired, found)?);
    if !changes.is_empty() && found.held && desired.when_held == WhenHeld::Fail && desired.hold != Some(false) {
        let message =
            format!("the package manager holds the package at {}", found.installed_version.as_deref().unwrap_or("its version"));
        return Err(unchanged(
            Diagnostic::new(message).hint("set `hold = false` to let it go, or say in `when_held` what is to happen"),
        ));
    }
    changes.extend(hold(desired, found)?);
    Ok(changes)
}

/// Why nothing is done although something differs, if that is so.
pub fn kept_back(desired: &Desired, found: &Observation, changes: &[Change]) -> Option<String> {
    let keeps = desired.when_held == WhenHeld::Keep && found.held && desired.hold != Some(false);
    let differs = changes.iter().any(|change| change.attribute != "hold");
    (keeps && differs).then(|| {
        let version = found.installed_version.as_deref().unwrap_or("its version");
        format!("the package manager holds it at {version}, and held packages are kept")
    })
}

fn word(state: State) -> &'static str {
    match state {
        State::Absent => "absent",
        State::ConfigurationFiles => "configuration-files",
        State::Partial => "partial",
        State::Installed => "present",
    }
}

fn ensure(desired: &Desired, found: &Observation) -> NodeResult<Option<Change>> {
    let reason = match (desired.ensure, found.state) {
        (Ensure::Present | Ensure::Latest, State::Installed)
        | (Ensure::Absent, State::Absent | State::ConfigurationFiles)
        | (Ensure::Purged, State::Absent) => return Ok(None),
        (Ensure::Present | Ensure::Latest, State::Absent) => "it is not installed".to_owned(),
        (Ensure::Present | Ensure::Latest, State::ConfigurationFiles) => {
            "it was removed, and its configuration files stayed".to_owned()
        }
        (Ensure::Present | Ensure::Latest, State::Partial) => {
            format!("its installation broke off ({})", found.detail.as_deref().unwrap_or("partly installed"))
        }
        (Ensure::Absent | Ensure::Purged, State::Installed | State::Partial) => "it is not to be there".to_owned(),
        (Ensure::Purged, State::ConfigurationFiles) => "its configuration files are not to be there".to_owned(),
    };
    Change::new("ensure", Some(json!(word(found.state))), Some(json!(desired.ensure.word())), reason).map(Some)
}

fn version(desired: &Desired, found: &Observation) -> NodeResult<Option<Change>> {
    let installed = found.installed_version.as_ref().map(|version| json!(version));
    let target = found.target_version.as_ref().map(|version| json!(version));
    if !desired.ensure.installs() {
        return installed
            .map_or(Ok(None), |installed| Change::new("version", Some(installed), None, "it goes with the package").map(Some));
    }
    if found.state != State::Installed {
        return target.map_or(Ok(None), |target| Change::new("version", None, Some(target), "set as it is installed").map(Some));
    }
    match found.order {
        Some(Order::Lower) => {
            let reason =
                if desired.ensure == Ensure::Latest { "a higher version is offered" } else { "a lower version is installed" };
            Change::new("version", installed, target, reason).map(Some)
        }
        Some(Order::Higher) if desired.ensure == Ensure::Present && desired.allow_downgrade => {
            Change::new("version", installed, target, "a higher version is installed").map(Some)
        }
        Some(Order::Higher) if desired.ensure == Ensure::Present => {
            let message = "a higher version is installed, and the package may not go to a lower one";
            Err(unchanged(
                Diagnostic::at("version", message).hint("set `allow_downgrade = true` to let it, or give the higher version"),
            ))
        }
        _ => Ok(None),
    }
}

fn hold(desired: &Desired, found: &Observation) -> NodeResult<Option<Change>> {
    match desired.hold {
        Some(wanted) if wanted != found.held => {
            let reason = if wanted { "the package manager does not hold it" } else { "the package manager holds it" };
            Change::new("hold", Some(json!(found.held)), Some(json!(wanted)), reason).map(Some)
        }
        _ => Ok(None),
    }
}
