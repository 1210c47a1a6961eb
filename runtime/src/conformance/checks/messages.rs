//! The rule about messages: whatever a value is, no refusal quotes it. Every message of every call is looked at; here, calls are made
//! whose messages would have something to quote.

use super::super::probe::Probe;
use super::super::subject::Subject;
use super::super::values;

/// How many declarations are tried.
const MAX_SUBJECTS: usize = 8;

pub(in super::super) fn check(probe: &Probe<'_>, subjects: &[Subject]) {
    for subject in subjects.iter().take(MAX_SUBJECTS) {
        for attribute in probe.description().attributes.clone() {
            for value in values::marked(&attribute.attribute_type) {
                let sample = subject.sample.with(&attribute.name, Some(value));
                // A sensitive attribute becomes a slot here, as it would for any module.
                let Ok(sample) = sample.canonical(probe.description()) else { continue };
                let compiled = probe.compile(&sample);
                if attribute.identity {
                    probe.identity(&sample);
                }
                if attribute.exported {
                    probe.export(&sample, &attribute.name);
                }
                if let Some(Ok(compiled)) = compiled {
                    probe.validate(&sample, &compiled.desired);
                }
            }
        }
    }
}
