//! What the states of a unit mean for a service. Pure.

use runtime_sdk::systemd::{ActiveState, FileState, JobResult, LoadState, Unit};
use service_backend::{Activity, Boot, Mask, Observation, ServiceName};

/// A unit as a service.
pub fn observation(name: &ServiceName, unit: &Unit) -> Observation {
    Observation {
        exists: unit.load_state != LoadState::NotFound,
        alias_of: (unit.name != name.unit()).then(|| unit.name.clone()),
        activity: activity(unit),
        words: words(unit),
        boot: boot(unit.file_state.as_ref(), unit.load_state == LoadState::NotFound),
        mask: mask(unit),
        definition_changed: unit.need_daemon_reload,
    }
}

fn activity(unit: &Unit) -> Activity {
    match &unit.active_state {
        ActiveState::Active | ActiveState::Reloading => Activity::Running,
        ActiveState::Inactive => Activity::Stopped,
        ActiveState::Failed => Activity::Failed,
        // What reads its configuration again runs; every other word of systemd's is one for what does not, or not yet.
        ActiveState::Other(word) if word == "refreshing" => Activity::Running,
        ActiveState::Activating | ActiveState::Deactivating | ActiveState::Other(_) => Activity::Changing,
    }
}

fn boot(state: Option<&FileState>, is_absent: bool) -> Boot {
    match state {
        Some(FileState::Enabled) => Boot::Enabled,
        Some(FileState::EnabledRuntime) => Boot::UntilReboot,
        Some(FileState::Disabled | FileState::Linked | FileState::Masked | FileState::MaskedRuntime) => Boot::Disabled,
        Some(FileState::Static | FileState::Indirect | FileState::Transient | FileState::Alias) => Boot::Static,
        Some(FileState::Generated) => Boot::Generated,
        Some(FileState::Other(word)) if word == "linked-runtime" => Boot::Disabled,
        Some(FileState::Other(_)) => Boot::Static,
        None if is_absent => Boot::Disabled,
        None => Boot::Static,
    }
}

fn mask(unit: &Unit) -> Mask {
    match (&unit.file_state, &unit.load_state) {
        (Some(FileState::Masked), _) => Mask::Masked,
        (Some(FileState::MaskedRuntime), _) => Mask::UntilReboot,
        (None, LoadState::Masked) => Mask::Masked,
        _ => Mask::Unmasked,
    }
}

/// The states in systemd's words: `failed (failed), exit-code`.
fn words(unit: &Unit) -> String {
    let active = match &unit.active_state {
        ActiveState::Active => "active",
        ActiveState::Reloading => "reloading",
        ActiveState::Inactive => "inactive",
        ActiveState::Failed => "failed",
        ActiveState::Activating => "activating",
        ActiveState::Deactivating => "deactivating",
        ActiveState::Other(word) => word,
    };
    let mut words = format!("{active} ({})", unit.sub_state);
    if let Some(outcome) = unit.outcome.as_ref().filter(|outcome| *outcome != "success") {
        words = format!("{words}, {outcome}");
    }
    match unit.load_state {
        LoadState::BadSetting => format!("{words}, its definition cannot be used"),
        LoadState::Error => format!("{words}, its definition cannot be read"),
        _ => words,
    }
}

/// Why a job did not do what it was for.
pub fn job(ended: &JobResult) -> String {
    match ended {
        JobResult::Done => "done".to_owned(),
        JobResult::Failed => "it failed".to_owned(),
        JobResult::Canceled => "somebody asked for the contrary meanwhile".to_owned(),
        JobResult::Timeout => "it took longer than systemd lets it".to_owned(),
        JobResult::Dependency => "what it depends on did not come up".to_owned(),
        JobResult::Skipped => "systemd found nothing to do for it".to_owned(),
        JobResult::Other(word) => format!("the job ended as `{word}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(load_state: LoadState, active_state: ActiveState, file_state: Option<FileState>) -> Unit {
        Unit {
            name: "demo.service".into(),
            names: vec!["demo.service".into()],
            description: String::new(),
            load_state,
            active_state,
            sub_state: "dead".into(),
            file_state,
            fragment_path: None,
            drop_ins: Vec::new(),
            need_daemon_reload: false,
            can_reload: false,
            main_pid: None,
            outcome: None,
        }
    }

    fn of(unit: &Unit) -> Observation {
        observation(&ServiceName::parse("name", "demo").unwrap(), unit)
    }

    #[test]
    fn every_activity_of_a_unit_is_one_of_a_service() {
        use ActiveState as Is;
        let activity = |state| of(&unit(LoadState::Loaded, state, None)).activity;
        for (state, expected) in [
            (Is::Active, Activity::Running),
            (Is::Reloading, Activity::Running),
            (Is::Inactive, Activity::Stopped),
            (Is::Failed, Activity::Failed),
            (Is::Activating, Activity::Changing),
            (Is::Deactivating, Activity::Changing),
            (Is::Other("refreshing".into()), Activity::Running),
            (Is::Other("maintenance".into()), Activity::Changing),
        ] {
            assert_eq!(activity(state.clone()), expected, "{state:?}");
        }
    }

    #[test]
    fn every_state_of_a_unit_file_says_whether_it_starts_at_boot() {
        let seen = |state| {
            let seen = of(&unit(LoadState::Loaded, ActiveState::Inactive, state));
            (seen.boot, seen.mask)
        };
        let other = |word: &str| Some(FileState::Other(word.into()));
        for (state, boot, mask) in [
            (Some(FileState::Enabled), Boot::Enabled, Mask::Unmasked),
            (Some(FileState::EnabledRuntime), Boot::UntilReboot, Mask::Unmasked),
            (Some(FileState::Disabled), Boot::Disabled, Mask::Unmasked),
            (Some(FileState::Linked), Boot::Disabled, Mask::Unmasked),
            (Some(FileState::Masked), Boot::Disabled, Mask::Masked),
            (Some(FileState::MaskedRuntime), Boot::Disabled, Mask::UntilReboot),
            (Some(FileState::Static), Boot::Static, Mask::Unmasked),
            (Some(FileState::Indirect), Boot::Static, Mask::Unmasked),
            (Some(FileState::Transient), Boot::Static, Mask::Unmasked),
            (Some(FileState::Alias), Boot::Static, Mask::Unmasked),
            (Some(FileState::Generated), Boot::Generated, Mask::Unmasked),
            (other("linked-runtime"), Boot::Disabled, Mask::Unmasked),
            (other("bad"), Boot::Static, Mask::Unmasked),
            (None, Boot::Static, Mask::Unmasked),
        ] {
            assert_eq!(seen(state.clone()), (boot, mask), "{state:?}");
        }
    }

    #[test]
    fn a_unit_that_is_not_there_does_not_start_at_boot_and_may_be_masked() {
        let absent = of(&unit(LoadState::NotFound, ActiveState::Inactive, None));
        assert_eq!((absent.exists, absent.boot, absent.mask), (false, Boot::Disabled, Mask::Unmasked));
        let masked = of(&unit(LoadState::Masked, ActiveState::Inactive, None));
        assert_eq!((masked.exists, masked.mask), (true, Mask::Masked));
    }

    #[test]
    fn another_name_and_the_words_are_told() {
        let mut unit = unit(LoadState::BadSetting, ActiveState::Failed, None);
        unit.name = "own.service".into();
        unit.outcome = Some("exit-code".into());
        let seen = of(&unit);
        assert_eq!(seen.alias_of.as_deref(), Some("own.service"));
        assert_eq!(seen.words, "failed (dead), exit-code, its definition cannot be used");
    }
}
