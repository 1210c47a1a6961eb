//! Calls of the small interfaces: `assets`, `facts`, `log`, and `backends` of a type that has no providers.

use runtime_sdk::bindings::runtime::host::backend_types::{BackendError, Interrupted, OperationReason};
use runtime_sdk::bindings::runtime::host::backends;
use runtime_sdk::{assets, facts, log};

use super::with::With;
use super::{Answer, seen};
use crate::acts::FOREIGN_DIGEST;

pub fn call(function: &str, with: &With<'_>) -> Option<Answer> {
    let name = || with.text(FOREIGN_DIGEST);
    let state = || with.text("{}");
    match function {
        "assets#size" => seen(assets::size(&name())),
        "assets#read" => {
            let (offset, length) = if with.is("offset") { (u64::MAX, u32::MAX) } else { (0, 4_096) };
            seen(assets::read(&name(), offset, length))
        }
        "facts#get" => Some(Ok(format!("{:?}", facts::get(&with.text("hostname"))))),
        "log#write" => {
            log::info(&with.text("a message"));
            Some(Ok(String::new()))
        }
        "backends#selected" => seen(backends::selected()),
        "backends#inspect" => of_backend(backends::inspect(&state())),
        "backends#read" => of_backend(backends::read(&state())),
        "backends#apply" => of_backend(backends::apply(&state(), "{}")),
        "backends#refresh" => of_backend(backends::refresh(&state())),
        "backends#perform" => of_backend(backends::perform(&state(), "{}")),
        "backends#recover" => {
            let operation = Interrupted { staging_name: ".runtime-0123abcd".into(), reason: OperationReason::Converge };
            of_backend(backends::recover(&state(), &operation))
        }
        _ => None,
    }
}

fn of_backend<T: std::fmt::Debug>(answer: Result<T, BackendError>) -> Option<Answer> {
    Some(answer.map(|value| format!("{value:?}")).map_err(|error| match error {
        BackendError::Denied(failure) => ("denied", failure.complaint.message),
        BackendError::Unsupported(complaint) => ("unsupported", complaint.message),
        BackendError::Failed(failure) => ("failed", failure.complaint.message),
        BackendError::Other(text) => ("other", text),
    }))
}
