//! Health checks of resources: what a manifest asks for, and what came of it.

use serde::{Deserialize, Serialize};

use super::catalog::MAX_TIMEOUT_MS;

/// How often a check may be tried.
pub const MAX_TRIES: u32 = 1_000;

/// How many words a check's command may have.
pub const MAX_WORDS: usize = 256;

/// `meta { health { … } }`: a program that tells whether what a resource brought about works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// The absolute path of the program, and its arguments.
    pub command: Vec<String>,
    /// How its answer is read.
    pub format: HealthFormat,
    /// How often it is tried until it is well.
    pub tries: u32,
    /// Milliseconds between two tries.
    pub sleep_ms: u64,
    /// Milliseconds that one try may take.
    pub timeout_ms: u64,
}

/// How the answer of a check is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthFormat {
    /// By its exit code: 0 is well, anything else is not.
    Exit,
    /// As a plugin of Nagios: 0 ok, 1 warning, 2 critical, 3 unknown, with a line of text.
    Nagios,
    /// As `goss validate --format json`: by the number of failed tests.
    Goss,
}

impl HealthFormat {
    /// Every one.
    pub const ALL: [HealthFormat; 3] = [HealthFormat::Exit, HealthFormat::Nagios, HealthFormat::Goss];

    /// Its word in manifests and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            HealthFormat::Exit => "exit",
            HealthFormat::Nagios => "nagios",
            HealthFormat::Goss => "goss",
        }
    }
}

/// How well a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthStatus {
    /// It was not asked: a plan runs no checks.
    Pending,
    /// Well.
    Ok,
    /// Well, with something to look at.
    Warning,
    /// Not well.
    Critical,
    /// The check gave no answer.
    Unknown,
}

impl HealthStatus {
    /// Whether the resource counts as converged.
    pub const fn is_well(self) -> bool {
        matches!(self, HealthStatus::Pending | HealthStatus::Ok | HealthStatus::Warning)
    }

    /// Its word for people and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            HealthStatus::Pending => "pending",
            HealthStatus::Ok => "ok",
            HealthStatus::Warning => "warning",
            HealthStatus::Critical => "critical",
            HealthStatus::Unknown => "unknown",
        }
    }
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HealthReport {
    /// How well it is.
    pub status: HealthStatus,
    /// How often it was tried.
    pub tries: u32,
    /// What the check said, or why it could not be asked.
    pub message: Option<String>,
}

impl Health {
    /// What is wrong with it, in words, if anything is.
    pub fn problem(&self) -> Option<&'static str> {
        let path = self.command.first().is_some_and(|program| program.starts_with('/') && program.len() > 1);
        let texts = self.command.len() <= MAX_WORDS && self.command.iter().all(|word| !word.contains('\0'));
        let time = |ms: u64, least: u64| (least..=MAX_TIMEOUT_MS).contains(&ms);
        if !path {
            Some("its health check does not begin with the absolute path of a program")
        } else if !texts {
            Some("its health check has a NUL in an argument, or too many of them")
        } else if !(1..=MAX_TRIES).contains(&self.tries) {
            Some("its health check has `tries` out of range")
        } else if !time(self.timeout_ms, 1) || !time(self.sleep_ms, 0) {
            Some("its health check has a time out of range")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_manifest_can_say_is_a_problem() {
        let good = Health { command: vec!["/bin/true".into()], format: HealthFormat::Exit, tries: 1, sleep_ms: 0, timeout_ms: 1 };
        assert_eq!(good.problem(), None);
        let with = |change: fn(&mut Health)| {
            let mut health = good.clone();
            change(&mut health);
            health.problem()
        };
        assert!(with(|health| health.command.clear()).is_some());
        assert!(with(|health| health.command[0] = "true".into()).is_some());
        assert!(with(|health| health.command.push("\0".into())).is_some());
        assert!(with(|health| health.tries = 0).is_some() && with(|health| health.timeout_ms = 0).is_some());
        assert!(with(|health| health.sleep_ms = u64::MAX).is_some());
    }
}
