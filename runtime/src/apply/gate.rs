//! The journal's intents as the gate that host functions ask before they change anything (I8).

use std::sync::Arc;

use host_functions::HostContext;
use host_functions::gate::IntentGate;

use crate::journal::{IntentToken, IntentWitness};

/// Lets changes of an attempt through as long as the intent is open.
pub(super) fn open_gate(host: &mut HostContext, token: &IntentToken) {
    let staging = token.staging_name().as_str().parse();
    host.set_intent(Arc::new(Gate(token.witness())), staging.expect("the journal's staging names are of the host's grammar"));
}

/// The journal's witness as the gate that host functions ask.
struct Gate(IntentWitness);

impl IntentGate for Gate {
    fn is_open(&self) -> bool {
        self.0.is_open()
    }
}
