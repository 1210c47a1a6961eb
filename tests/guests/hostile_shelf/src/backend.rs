//! The half that meets the node.

use runtime_sdk::bindings::runtime::host::backend_types::{BackendError, Complaint, EffectClass, Failure, Interrupted, Outcome};
use runtime_sdk::node;
use runtime_sdk::provider::BackendContext;
use runtime_sdk::provider::bindings::exports::runtime::module::backend::Guest;

use crate::Shelf;
use crate::act::{self, MISLEADING};

impl Guest for Shelf {
    fn inspect(_desired: String, options: String, _context: BackendContext) -> Result<String, BackendError> {
        state("inspect", &options)
    }

    fn read(_desired: String, options: String, _context: BackendContext) -> Result<String, BackendError> {
        state("read", &options)
    }

    fn apply(_desired: String, options: String, _current: String, _context: BackendContext) -> Result<Outcome, BackendError> {
        outcome("apply", &options)
    }

    fn refresh(_desired: String, options: String, _context: BackendContext) -> Result<Outcome, BackendError> {
        outcome("refresh", &options)
    }

    fn perform(_action: String, _desired: String, options: String, _context: BackendContext) -> Result<Outcome, BackendError> {
        outcome("perform", &options)
    }

    fn recover_interrupted(
        _desired: String,
        options: String,
        _operation: Interrupted,
        _context: BackendContext,
    ) -> Result<(), BackendError> {
        begin("recover-interrupted", &options).map(drop)
    }
}

fn begin(place: &str, options: &str) -> Result<Option<String>, BackendError> {
    let act = act::of_options(options, place);
    if act.as_deref() == Some("control-characters") {
        return Err(failed(MISLEADING.into()));
    }
    act::perform(act.as_deref()).map_err(|error| failed(node::explain(&error)))?;
    Ok(act)
}

fn failed(message: String) -> BackendError {
    let complaint = Complaint { attribute: None, message, hint: None };
    BackendError::Failed(Failure { effect_class: EffectClass::BeforeChange, complaint })
}

fn state(place: &str, options: &str) -> Result<String, BackendError> {
    let act = begin(place, options)?;
    Ok(act::text(act.as_deref(), "{}"))
}

fn outcome(place: &str, options: &str) -> Result<Outcome, BackendError> {
    let act = begin(place, options)?;
    let output = (act.as_deref() == Some("huge-string")).then(|| act::text(act.as_deref(), ""));
    Ok(Outcome { executed: false, handled_refresh: false, output })
}
