//! Health checks: a program that tells whether what a resource brought about works, run by the host after the resource has converged.
//!
//! It is the manifest's own, not the module's, and nothing is recorded before it: a check is to look. A check that cannot start is tried again like
//! one that fails, since what it needs may be starting too.

use std::time::Duration;

use host_functions::Node;
use host_functions::processes::native::{Ended, Report};
use serde_json::Value as Json;

use crate::model::health::{Health, HealthFormat, HealthReport, HealthStatus};
use crate::model::key::escape;

/// The longest message that is kept, in bytes.
const MAX_MESSAGE: usize = 1_000;

/// Asks until it is well, or as often as it may be asked. Blocks.
pub(super) fn check(node: &Node, health: &Health) -> HealthReport {
    let mut tries = 1;
    loop {
        let (status, message) = ask(node, health);
        if status.is_well() || tries >= health.tries {
            return HealthReport { status, tries, message };
        }
        std::thread::sleep(Duration::from_millis(health.sleep_ms));
        tries += 1;
    }
}

fn ask(node: &Node, health: &Health) -> (HealthStatus, Option<String>) {
    match host_functions::processes::check_health(node, &health.command, Duration::from_millis(health.timeout_ms)) {
        Ok(report) => {
            let (status, message) = read(health.format, &report);
            (status, message.map(|message| shortened(&message)))
        }
        Err(error) => {
            let source = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
            (HealthStatus::Unknown, Some(shortened(&format!("{error}{source}"))))
        }
    }
}

fn read(format: HealthFormat, report: &Report) -> (HealthStatus, Option<String>) {
    let code = match report.ended {
        Ended::Exited(code) => code,
        Ended::Killed(signal) => return (HealthStatus::Unknown, Some(format!("it was ended by signal {signal}"))),
        Ended::TimedOut => return (HealthStatus::Unknown, Some("its time was over".to_owned())),
    };
    match format {
        HealthFormat::Exit => exit(code, report),
        HealthFormat::Nagios => nagios(code, &report.stdout),
        HealthFormat::Goss => goss(code, &report.stdout),
    }
}

fn exit(code: u8, report: &Report) -> (HealthStatus, Option<String>) {
    if code == 0 {
        return (HealthStatus::Ok, None);
    }
    let said = if report.stderr.is_empty() { first_line(&report.stdout) } else { first_line(&report.stderr) };
    let said = said.map(|said| format!(", and said: {said}")).unwrap_or_default();
    (HealthStatus::Critical, Some(format!("it ended with code {code}{said}")))
}

/// The first line, without the performance data after `|`.
fn nagios(code: u8, stdout: &[u8]) -> (HealthStatus, Option<String>) {
    let status = match code {
        0 => HealthStatus::Ok,
        1 => HealthStatus::Warning,
        2 => HealthStatus::Critical,
        _ => HealthStatus::Unknown,
    };
    let line = first_line(stdout);
    (status, line.map(|line| line.split('|').next().unwrap_or_default().trim().to_owned()))
}

fn goss(code: u8, stdout: &[u8]) -> (HealthStatus, Option<String>) {
    let answer: Option<Json> = serde_json::from_slice(stdout).ok();
    let count = |name: &str| answer.as_ref()?.get("summary")?.get(name)?.as_u64();
    match (count("failed-count"), count("test-count")) {
        (Some(0), Some(all)) if code == 0 && all > 0 => (HealthStatus::Ok, None),
        (Some(failed), Some(all)) => (HealthStatus::Critical, Some(format!("{failed} of {all} tests failed, code {code}"))),
        _ => (HealthStatus::Unknown, Some("it did not write the JSON of goss: give it `--format json`".to_owned())),
    }
}

fn first_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

fn shortened(text: &str) -> String {
    escape(&text[..text.floor_char_boundary(MAX_MESSAGE)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(ended: Ended, stdout: &str, stderr: &str) -> Report {
        let bytes = |text: &str| zeroize::Zeroizing::new(text.as_bytes().to_vec());
        Report { ended, stdout: bytes(stdout), stderr: bytes(stderr), cut: false, left_processes: false }
    }

    #[test]
    fn each_format_is_read_its_own_way() {
        let read = |format, code, stdout: &str| read(format, &report(Ended::Exited(code), stdout, ""));
        assert_eq!(read(HealthFormat::Exit, 0, "x"), (HealthStatus::Ok, None));
        assert_eq!(
            read(HealthFormat::Exit, 1, "no\n"),
            (HealthStatus::Critical, Some("it ended with code 1, and said: no".into()))
        );
        assert_eq!(
            read(HealthFormat::Nagios, 1, "LOAD WARNING | a=1\nmore"),
            (HealthStatus::Warning, Some("LOAD WARNING".into()))
        );
        assert_eq!(read(HealthFormat::Nagios, 2, "").0, HealthStatus::Critical);
        assert_eq!(read(HealthFormat::Nagios, 4, "").0, HealthStatus::Unknown);
        let goss = |failed: u8, all: u8| format!(r#"{{"results":[],"summary":{{"failed-count":{failed},"test-count":{all}}}}}"#);
        assert_eq!(read(HealthFormat::Goss, 0, &goss(0, 2)).0, HealthStatus::Ok);
        assert_eq!(
            read(HealthFormat::Goss, 1, &goss(1, 2)),
            (HealthStatus::Critical, Some("1 of 2 tests failed, code 1".into()))
        );
        assert_eq!(read(HealthFormat::Goss, 0, &goss(0, 0)).0, HealthStatus::Critical, "no test has said anything");
        assert_eq!(read(HealthFormat::Goss, 0, "fine").0, HealthStatus::Unknown);
    }

    #[test]
    fn a_check_without_an_answer_is_not_well() {
        for ended in [Ended::Killed(9), Ended::TimedOut] {
            assert!(!read(HealthFormat::Exit, &report(ended, "", "")).0.is_well());
        }
    }
}
