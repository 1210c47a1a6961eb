//! What a plan says of what a provider found.

use package_backend::{Desired, Ensure, Observation, Order, State, WhenHeld};
use runtime_sdk::{Action, LifecycleError, Plan};

use crate::{Package, changes_of, plan};

fn desired(ensure: Ensure) -> Desired {
    Desired::plain("demo", ensure)
}

fn found(installed: Option<&str>, target: Option<&str>, order: Option<Order>) -> Observation {
    Observation {
        state: if installed.is_some() { State::Installed } else { State::Absent },
        detail: None,
        installed_version: installed.map(str::to_owned),
        architecture: None,
        held: false,
        target_version: target.map(str::to_owned),
        target_version_unconfirmed: false,
        needs_index_update: false,
        order,
    }
}

#[test]
fn the_description_keeps_the_contract() {
    runtime_sdk::testing::check_description::<Package>();
}

#[test]
fn an_installed_package_is_in_sync_and_a_missing_one_is_created() {
    let present = desired(Ensure::Present);
    let in_sync = plan(&present, found(Some("1"), Some("1"), Some(Order::Equal))).unwrap();
    assert!(matches!(in_sync, Plan::InSync(_)));
    let missing = plan(&present, found(None, Some("1"), None)).unwrap();
    assert_eq!(changes_of(&missing), ["ensure", "version"]);
    assert!(matches!(missing, Plan::NeedsApply(needed) if needed.action == Action::Create));
}

#[test]
fn a_newer_version_stays_for_latest_and_fails_for_a_pin_without_the_word() {
    let newer = || found(Some("3"), Some("2"), Some(Order::Higher));
    assert!(matches!(plan(&desired(Ensure::Latest), found(Some("3"), Some("3"), Some(Order::Equal))).unwrap(), Plan::InSync(_)));
    let pinned = Desired { version: Some("2".into()), ..desired(Ensure::Present) };
    let Err(LifecycleError::Failed(failure)) = plan(&pinned, newer()) else { panic!("a downgrade is refused") };
    assert!(failure.diagnostic.hint.unwrap().contains("allow_downgrade"));
    let allowed = Desired { allow_downgrade: true, ..pinned };
    assert_eq!(changes_of(&plan(&allowed, newer()).unwrap()), ["version"]);
}

#[test]
fn what_is_held_fails_is_kept_or_is_changed() {
    let held = || Observation { held: true, ..found(Some("1"), Some("2"), Some(Order::Lower)) };
    assert!(matches!(plan(&desired(Ensure::Latest), held()), Err(LifecycleError::Failed(_))));
    let keep = Desired { when_held: WhenHeld::Keep, ..desired(Ensure::Latest) };
    assert!(matches!(plan(&keep, held()).unwrap(), Plan::Skipped(reason) if reason.contains("holds it at 1")));
    let change = Desired { when_held: WhenHeld::Change, ..desired(Ensure::Latest) };
    assert_eq!(changes_of(&plan(&change, held()).unwrap()), ["version"]);
    let let_go = Desired { hold: Some(false), ..desired(Ensure::Latest) };
    assert_eq!(changes_of(&plan(&let_go, held()).unwrap()), ["version", "hold"]);
    let as_it_is = Observation { held: true, ..found(Some("2"), Some("2"), Some(Order::Equal)) };
    assert!(matches!(plan(&desired(Ensure::Latest), as_it_is).unwrap(), Plan::InSync(_)), "nothing would change");
}

#[test]
fn an_old_index_makes_the_preview_incomplete_and_none_makes_it_impossible() {
    let stale = Observation { target_version_unconfirmed: true, needs_index_update: true, ..found(None, None, None) };
    let Plan::NeedsApply(needed) = plan(&desired(Ensure::Present), stale).unwrap() else { panic!("the index is fetched") };
    assert_eq!(needed.prerequisite.as_deref(), Some("package.refresh_index.v1"));
    assert!(needed.incomplete_preview.is_some());
    let unknown = Observation { target_version_unconfirmed: true, ..found(None, None, None) };
    assert!(matches!(plan(&desired(Ensure::Present), unknown).unwrap(), Plan::CannotPlan(_)));
    let upkeep = Observation {
        target_version_unconfirmed: true,
        needs_index_update: true,
        ..found(Some("1"), Some("1"), Some(Order::Equal))
    };
    let Plan::NeedsApply(needed) = plan(&desired(Ensure::Latest), upkeep).unwrap() else { panic!("the index is fetched") };
    assert!(needed.changes.is_empty(), "only upkeep");
}

#[test]
fn configuration_files_are_gone_for_absent_and_not_for_purged() {
    let left = || Observation { state: State::ConfigurationFiles, ..found(None, None, None) };
    assert!(matches!(plan(&desired(Ensure::Absent), left()).unwrap(), Plan::InSync(_)));
    assert_eq!(changes_of(&plan(&desired(Ensure::Purged), left()).unwrap()), ["ensure"]);
    let broken = Observation { state: State::Partial, detail: Some("half-configured".into()), ..found(None, Some("1"), None) };
    let Plan::NeedsApply(needed) = plan(&desired(Ensure::Present), broken).unwrap() else { panic!("it is finished") };
    assert!(needed.changes[0].reason.contains("half-configured"));
}
