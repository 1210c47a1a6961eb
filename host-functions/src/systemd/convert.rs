//! Between what systemd says and the types of the WIT.

use super::{SystemdError, Unit};
use crate::bindings::runtime::host::systemd::{self as wit, ActiveState, FileState, JobResult, LoadState};
use crate::error::{CallError, MAX_ERROR_TEXT};
use crate::text::cut;

pub(super) fn unit(unit: Unit) -> wit::Unit {
    wit::Unit {
        name: unit.id,
        names: unit.names,
        description: unit.description,
        load_state: load_state(unit.load_state),
        active_state: active_state(unit.active_state),
        sub_state: unit.sub_state,
        file_state: unit.file_state.map(file_state),
        fragment_path: unit.fragment_path,
        drop_ins: unit.drop_ins,
        need_daemon_reload: unit.need_daemon_reload,
        can_reload: unit.can_reload,
        main_pid: unit.main_pid,
        outcome: unit.result,
    }
}

fn load_state(word: String) -> LoadState {
    match word.as_str() {
        "loaded" => LoadState::Loaded,
        "not-found" => LoadState::NotFound,
        "masked" => LoadState::Masked,
        "bad-setting" => LoadState::BadSetting,
        "error" => LoadState::Error,
        _ => LoadState::Other(word),
    }
}

fn active_state(word: String) -> ActiveState {
    match word.as_str() {
        "active" => ActiveState::Active,
        "reloading" => ActiveState::Reloading,
        "inactive" => ActiveState::Inactive,
        "failed" => ActiveState::Failed,
        "activating" => ActiveState::Activating,
        "deactivating" => ActiveState::Deactivating,
        _ => ActiveState::Other(word),
    }
}

fn file_state(word: String) -> FileState {
    match word.as_str() {
        "enabled" => FileState::Enabled,
        "enabled-runtime" => FileState::EnabledRuntime,
        "disabled" => FileState::Disabled,
        "masked" => FileState::Masked,
        "masked-runtime" => FileState::MaskedRuntime,
        "static" => FileState::Static,
        "alias" => FileState::Alias,
        "indirect" => FileState::Indirect,
        "generated" => FileState::Generated,
        "transient" => FileState::Transient,
        "linked" => FileState::Linked,
        _ => FileState::Other(word),
    }
}

pub(super) fn job_result(word: String) -> JobResult {
    match word.as_str() {
        "done" => JobResult::Done,
        "failed" => JobResult::Failed,
        "canceled" => JobResult::Canceled,
        "timeout" => JobResult::Timeout,
        "dependency" => JobResult::Dependency,
        "skipped" => JobResult::Skipped,
        _ => JobResult::Other(word),
    }
}

pub(super) fn error(error: SystemdError) -> CallError {
    let text = || cut(error.to_string(), MAX_ERROR_TEXT);
    match &error {
        SystemdError::Unsupported(_) => CallError::Unsupported(text()),
        SystemdError::NoSuchUnit => CallError::NotFound,
        SystemdError::InTheWay(_) => CallError::AlreadyExists,
        SystemdError::Masked => CallError::PermissionDenied(text()),
        SystemdError::NotApplicable(_) => CallError::invalid(text()),
        SystemdError::Deadline => CallError::Deadline,
        SystemdError::Refused(_) | SystemdError::Bus(_) => CallError::Other(text()),
    }
}
