//! The one comparison of desired and observed, for plans and for verification. Pure.

use runtime_sdk::node::unchanged;
use runtime_sdk::{Change, Diagnostic, Ensure as _, LifecycleError, NodeResult};
use serde_json::json;
use service_backend::{Activity, Boot, Desired, Ensure, Mask, Observation};

/// What differs; nothing if the service is as desired.
///
/// # Errors
/// If something stands in the way that the declaration does not speak of: a mask, a definition that cannot be enabled, another name.
pub fn changes(desired: &Desired, found: &Observation) -> NodeResult<Vec<Change>> {
    let mut changes = Vec::new();
    changes.extend(mask(desired, found)?);
    changes.extend(boot(desired, found)?);
    changes.extend(activity(desired, found)?);
    Ok(changes)
}

fn refused(attribute: &str, message: String, hint: &str) -> LifecycleError {
    unchanged(Diagnostic::at(attribute, message).hint(hint))
}

/// Whether it is masked now and stays so.
fn stays_masked(desired: &Desired, found: &Observation) -> bool {
    found.mask != Mask::Unmasked && desired.masked != Some(false)
}

/// A change of files needs the service's own name: links that bear another name lead nowhere.
fn own_name(attribute: &str, found: &Observation) -> NodeResult<()> {
    match &found.alias_of {
        Some(own) => Err(refused(
            attribute,
            format!("`name` is another name of `{own}`, by which it can be started and stopped alone"),
            "declare the service by its own name",
        )),
        None => Ok(()),
    }
}

fn activity(desired: &Desired, found: &Observation) -> NodeResult<Option<Change>> {
    let Some(ensure) = desired.ensure else { return Ok(None) };
    let reason = match (ensure, found.activity) {
        (Ensure::Running, Activity::Running) | (Ensure::Stopped, Activity::Stopped | Activity::Failed) => return Ok(None),
        (Ensure::Running, _) if stays_masked(desired, found) => {
            return Err(refused("ensure", "it is masked, so it cannot be started".into(), "set `masked = false` to unmask it"));
        }
        (Ensure::Running, _) if !found.exists => "there is no such service yet".to_owned(),
        (Ensure::Running, Activity::Failed) => format!("it has failed: {}", found.words),
        (Ensure::Running, _) => format!("it does not run: {}", found.words),
        (Ensure::Stopped, _) => format!("it is not to run: {}", found.words),
    };
    let before = found.exists.then(|| json!(found.activity));
    Change::new("ensure", before, Some(json!(ensure.word())), reason).map(Some)
}

fn boot(desired: &Desired, found: &Observation) -> NodeResult<Option<Change>> {
    let Some(wanted) = desired.enabled else { return Ok(None) };
    let reason = match (wanted, found.boot) {
        (true, Boot::Enabled) | (false, Boot::Disabled | Boot::Static) => return Ok(None),
        (true, _) if stays_masked(desired, found) => {
            return Err(refused("enabled", "it is masked, so it cannot be enabled".into(), "set `masked = false` to unmask it"));
        }
        (true, Boot::Static) => {
            let message = "it cannot be enabled: its definition does not say what would start it".to_owned();
            return Err(refused("enabled", message, "leave `enabled` out, or enable what starts it"));
        }
        (_, Boot::Generated) => {
            let message = "it was generated at boot, and whether it starts is for its generator to say".to_owned();
            return Err(refused("enabled", message, "leave `enabled` out, or change what it is generated from"));
        }
        (true, Boot::UntilReboot) => "it is enabled until the next boot only",
        (true, Boot::Disabled) if !found.exists => "there is no such service yet",
        (true, Boot::Disabled) => "it does not start at boot",
        (false, Boot::Enabled | Boot::UntilReboot) => "it is not to start at boot",
    };
    own_name("enabled", found)?;
    let before = found.exists.then(|| json!(found.boot == Boot::Enabled));
    Change::new("enabled", before, Some(json!(wanted)), reason).map(Some)
}

fn mask(desired: &Desired, found: &Observation) -> NodeResult<Option<Change>> {
    let Some(wanted) = desired.masked else { return Ok(None) };
    let reason = match (wanted, found.mask) {
        (true, Mask::Masked) | (false, Mask::Unmasked) => return Ok(None),
        (true, Mask::UntilReboot) => "it is masked until the next boot only",
        (true, Mask::Unmasked) => "it can be started",
        (false, _) => "it is masked",
    };
    own_name("masked", found)?;
    Change::new("masked", Some(json!(found.mask == Mask::Masked)), Some(json!(wanted)), reason).map(Some)
}
