//! What a declaration means, and what a plan says of what a provider found.

use runtime_sdk::testing::{Given as Declared, Peers, any_digest, compile, foreign};
use runtime_sdk::{DefinitionError, Edge, LifecycleError, Plan};
use service_backend::{Activity, Boot, DAEMON_RELOAD, Desired, Identity, Mask, Observation};

use crate::{Service, claims, plan};

fn declared() -> Declared {
    Declared::new().set("name", "demo")
}

fn desired(given: Declared) -> Desired {
    compile::<Service>(&given, any_digest).unwrap()
}

fn running() -> Desired {
    desired(declared().set("ensure", "running"))
}

fn found(activity: Activity, boot: Boot, mask: Mask) -> Observation {
    let words = "active (running)".to_owned();
    Observation { exists: true, alias_of: None, activity, words, boot, mask, definition_changed: false }
}

fn up() -> Observation {
    found(Activity::Running, Boot::Enabled, Mask::Unmasked)
}

/// The attributes that differ with the reasons; a refusal's message; nothing.
fn told(desired: &Desired, found: Observation) -> Vec<String> {
    match plan(desired, found) {
        Ok(Plan::InSync(_)) => Vec::new(),
        Ok(Plan::NeedsApply(needed)) => {
            needed.changes.iter().map(|change| format!("{}: {}", change.attribute, change.reason)).collect()
        }
        Err(LifecycleError::Failed(failure)) => vec![format!("refused: {}", failure.diagnostic.message)],
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_description_keeps_the_contract() {
    runtime_sdk::testing::check_description::<Service>();
}

#[test]
fn what_is_omitted_is_left_alone() {
    let nothing = desired(declared());
    for found in [up(), found(Activity::Failed, Boot::Generated, Mask::Masked)] {
        assert_eq!(told(&nothing, found), [""; 0]);
    }
    let null = desired(declared().set("ensure", serde_json::Value::Null));
    assert_eq!(null, nothing);
}

#[test]
fn what_is_done_on_a_refresh_is_said_of_services_that_are_refreshed() {
    let refusal = |given: Declared| match compile::<Service>(&given, any_digest) {
        Err(DefinitionError::Invalid(diagnostic)) => diagnostic.attribute,
        other => panic!("{other:?}"),
    };
    for given in [declared(), declared().set("ensure", "stopped"), declared().set("enabled", true)] {
        assert_eq!(refusal(given.set("on_refresh", "reload")).as_deref(), Some("on_refresh"));
    }
    assert_eq!(
        desired(declared().set("ensure", "stopped").set("on_refresh", "restart")),
        desired(declared().set("ensure", "stopped"))
    );
    assert_eq!(desired(declared().set("ensure", "running").set("on_refresh", "restart")), running());
}

#[test]
fn a_service_is_known_by_one_name_and_its_state_is_its_ensure() {
    let one = desired(Declared::new().set("name", "demo.service").set("state", "stopped"));
    assert_eq!(one, desired(declared().set("ensure", "stopped")));
}

#[test]
fn differences_have_reasons() {
    use Activity::{Changing, Failed, Running, Stopped};
    let of = |desired: &Desired, activity| told(desired, found(activity, Boot::Disabled, Mask::Unmasked));
    assert_eq!(of(&running(), Running), [""; 0]);
    assert_eq!(of(&running(), Stopped), ["ensure: it does not run: active (running)"]);
    assert_eq!(of(&running(), Failed), ["ensure: it has failed: active (running)"]);
    let stopped = desired(declared().set("ensure", "stopped"));
    assert_eq!(of(&stopped, Failed), [""; 0], "stopped is not running");
    assert_eq!(of(&stopped, Changing), ["ensure: it is not to run: active (running)"]);
    let enabled = desired(declared().set("enabled", true));
    assert_eq!(of(&enabled, Stopped), ["enabled: it does not start at boot"]);
    let reboot = |boot| told(&enabled, found(Running, boot, Mask::Unmasked));
    assert_eq!(reboot(Boot::UntilReboot), ["enabled: it is enabled until the next boot only"]);
    assert!(reboot(Boot::Static)[0].starts_with("refused: it cannot be enabled"));
    let disabled = desired(declared().set("enabled", false));
    assert_eq!(told(&disabled, found(Running, Boot::Static, Mask::Unmasked)), [""; 0]);
    assert!(told(&disabled, found(Running, Boot::Generated, Mask::Unmasked))[0].starts_with("refused: it was generated"));
    let masked = desired(declared().set("masked", true));
    assert_eq!(
        told(&masked, found(Stopped, Boot::Disabled, Mask::UntilReboot)),
        ["masked: it is masked until the next boot only"]
    );
}

#[test]
fn a_mask_is_lifted_only_where_that_is_declared() {
    let masked = || found(Activity::Stopped, Boot::Disabled, Mask::Masked);
    assert_eq!(told(&running(), masked()), ["refused: it is masked, so it cannot be started"]);
    let both = desired(declared().set("ensure", "running").set("masked", false));
    assert_eq!(told(&both, masked()), ["masked: it is masked", "ensure: it does not run: active (running)"]);
}

#[test]
fn by_another_name_it_is_started_but_not_enabled() {
    let other = Observation { alias_of: Some("own.service".into()), ..found(Activity::Stopped, Boot::Disabled, Mask::Unmasked) };
    assert_eq!(told(&running(), other.clone()).len(), 1);
    let enabled = desired(declared().set("enabled", true));
    assert!(told(&enabled, other)[0].starts_with("refused: `name` is another name of `own.service`"));
}

#[test]
fn a_refresh_has_something_to_do_only_where_it_is_ensured_running() {
    let refreshable = |desired: &Desired| match plan(desired, up()).unwrap() {
        Plan::InSync(reading) => reading.refreshable,
        other => panic!("{other:?}"),
    };
    assert!(refreshable(&running()));
    assert!(!refreshable(&desired(declared().set("enabled", true))));
}

#[test]
fn starting_it_covers_a_refresh_and_enabling_it_does_not() {
    let needed = |desired: &Desired, found| match plan(desired, found).unwrap() {
        Plan::NeedsApply(needed) => needed,
        other => panic!("{other:?}"),
    };
    let stopped = found(Activity::Stopped, Boot::Disabled, Mask::Unmasked);
    assert!(needed(&running(), stopped).handles_refresh);
    let both = desired(declared().set("ensure", "running").set("enabled", true));
    assert!(!needed(&both, found(Activity::Running, Boot::Disabled, Mask::Unmasked)).handles_refresh);
}

#[test]
fn definitions_that_were_not_read_are_read_first() {
    let prerequisite = |desired: &Desired| match plan(desired, Observation { definition_changed: true, ..up() }).unwrap() {
        Plan::NeedsApply(needed) => (needed.prerequisite, needed.changes.len()),
        Plan::InSync(_) => (None, 0),
        other => panic!("{other:?}"),
    };
    assert_eq!(prerequisite(&running()), (Some(DAEMON_RELOAD.to_owned()), 0), "upkeep, and no change");
    assert_eq!(prerequisite(&desired(declared().set("ensure", "running").set("daemon_reload", false))), (None, 0));
    assert_eq!(prerequisite(&desired(declared().set("enabled", false).set("masked", false))).0, None);
}

#[test]
fn what_is_not_there_yet_can_be_planned_but_not_wholly() {
    let absent = Observation { exists: false, ..found(Activity::Stopped, Boot::Disabled, Mask::Unmasked) };
    let Plan::NeedsApply(needed) = plan(&running(), absent.clone()).unwrap() else { panic!() };
    assert!(needed.incomplete_preview.is_some());
    assert_eq!(needed.changes[0].before, None);
    let stopped = desired(declared().set("ensure", "stopped").set("enabled", false));
    assert_eq!(told(&stopped, absent), [""; 0], "what is not there does not run");
}

#[test]
fn its_other_names_are_held_too() {
    let names = || Identity { names: vec!["demo.service".into(), "other.service".into()] };
    let held = |desired: &Desired| claims(desired, names()).into_iter().map(|claim| claim.key).collect::<Vec<_>>();
    assert_eq!(held(&running()), [b"other.service".to_vec()]);
    assert!(held(&desired(declared())).is_empty(), "who only looks holds nothing");
}

#[test]
fn a_service_goes_after_whatever_defines_one() {
    let writes = |address: &str, path: &str| foreign(address, Vec::new(), Vec::new(), vec![path.into()]);
    let peers = |given: &Declared| {
        Peers::new()
            .add::<Service>("web", given)
            .add_peer(writes("file.unit", "/etc/systemd/system/web.service"))
            .add_peer(writes("thing.dropin", "/etc/systemd/system/db.service.d/a.conf"))
            .add_peer(writes("file.folder", "/etc/systemd/system"))
            .add_peer(writes("file.conf", "/etc/web.conf"))
    };
    let edges = |given: Declared| peers(&given).relationships::<Service>("web").unwrap();
    let web = "service.web".parse().unwrap();
    let after = |address: &str| {
        let way_out = format!("write `daemon_reload = false` in `service.web`, if it does not need what `{address}` writes");
        Edge::action(&web, &address.parse().unwrap(), DAEMON_RELOAD).way_out(way_out)
    };
    assert_eq!(edges(declared().set("ensure", "running")), [after("file.unit"), after("thing.dropin")]);
    assert_eq!(edges(declared().set("ensure", "running").set("daemon_reload", false)), []);
    assert_eq!(edges(declared().set("ensure", "stopped")), [], "it is stopped before its definition goes");
}
