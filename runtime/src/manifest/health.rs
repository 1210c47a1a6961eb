//! `health` blocks: constants, so that everybody who reads the manifest sees what will be run.

use hcl_edit::Span;
use hcl_edit::structure::Block;
use serde_json::Value as Json;

use super::blocks::{Allowed, Found, Reader};
use crate::model::health::{Health, HealthFormat};
use crate::model::units;

const HEALTH: Allowed = Allowed {
    block: "a `health` block",
    attributes: &["command", "format", "tries", "sleep", "timeout"],
    blocks: &[],
    later: &[],
};

/// How long one try may take when nothing is said.
const TIMEOUT_MS: u64 = 10_000;

/// How long to wait between tries when nothing is said.
const SLEEP_MS: u64 = 1_000;

impl Reader<'_> {
    /// A health check; none if it is not sound, which has been told.
    pub(super) fn health(&mut self, block: &Block) -> Option<Health> {
        let found = self.content(&block.body, &HEALTH);
        let command = self.constant_as(&found, "command", "a list of strings", texts);
        if !found.attributes.contains_key("command") {
            let place = self.header(block);
            self.error(&place, "a `health` block without `command`");
        }
        let words = HealthFormat::ALL.map(|format| format!("`{}`", format.word())).join(", ");
        let format = |json: &Json| HealthFormat::ALL.into_iter().find(|format| json.as_str() == Some(format.word()));
        let format = self.constant_as(&found, "format", &format!("one of {words}"), format);
        let tries = self.constant_as(&found, "tries", "a whole number from 1", |json| u32::try_from(json.as_u64()?).ok());
        let sleep = self.duration(&found, "sleep");
        let timeout = self.duration(&found, "timeout");
        if let (Some(sleep), false) = (found.attributes.get("sleep"), found.attributes.contains_key("tries")) {
            let place = self.place(sleep.key.span());
            let error = self.error(&place, "`sleep` has no effect on a check that is tried once");
            error.hint = Some("say with `tries` how often it is tried, or leave it out".to_owned());
        }
        let (command, place) = command?;
        let health = Health {
            command,
            format: format.map_or(HealthFormat::Exit, |(format, _)| format),
            tries: tries.map_or(1, |(tries, _)| tries),
            sleep_ms: sleep.unwrap_or(SLEEP_MS),
            timeout_ms: timeout.unwrap_or(TIMEOUT_MS),
        };
        match health.problem() {
            None => Some(health),
            Some(problem) => {
                let error = self.error(&place, problem);
                error.hint = Some("write `command = [\"/usr/bin/curl\", \"-fsS\", \"http://127.0.0.1/\"]`".to_owned());
                None
            }
        }
    }

    fn duration(&mut self, found: &Found<'_>, name: &str) -> Option<u64> {
        let (text, place) = self.text(found, name)?;
        let parsed = units::milliseconds(&text);
        if parsed.is_none() {
            let error = self.error(&place, format!("`{name}` must be a duration"));
            error.hint = Some("write a whole number and a unit, `ms`, `s`, `m` or `h`: `\"5s\"`".to_owned());
        }
        parsed
    }
}

fn texts(json: &Json) -> Option<Vec<String>> {
    json.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}
