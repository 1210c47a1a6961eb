//! What a command gave, as one text that is the same on every machine.

use std::fmt;
use std::process::Output;

use regex::Regex;

/// Standard output, standard error and exit status, with what differs from run to run replaced.
///
/// Its `Display` is for snapshots. Replaced are: the test's own folder, digests (whole and short), run ids, times of day, durations,
/// sizes and random names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// What is replaced, in this order.
const REPLACEMENTS: &[(&str, &str)] = &[
    (r"sha256:[0-9a-f]{64}", "sha256:[digest]"),
    (r"\.bundle-[0-9A-Za-z]+\.tmp", ".bundle-[random].tmp"),
    (r"\b[0-9a-f]{32}\b", "[run]"),
    (r"\b[0-9a-f]{12}\b", "[short]"),
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[time]"),
    (r"\.bundle-[A-Za-z0-9]+\.tmp", ".bundle-[random].tmp"),
    (r#""duration_us":\d+"#, r#""duration_us":"[duration]""#),
    (r#""memory_used_bytes":\d+"#, r#""memory_used_bytes":"[size]""#),
    (r#""took_ms":\d+"#, r#""took_ms":"[duration]""#),
    (r"used: [\d.]+ \w+ of", "used: [duration] of"),
    (r"took [\d.]+ (ms|s)\b", "took [duration]"),
    (r#""size":\d+"#, r#""size":"[size]""#),
    (r"\b\d+ (B|KiB|MiB)\b", "[size]"),
];

impl CommandOutput {
    /// The output of a command that ran in the folder `home`.
    pub fn new(output: &Output, home: &str) -> Self {
        let patterns: Vec<(Regex, &str)> =
            REPLACEMENTS.iter().map(|(pattern, text)| (Regex::new(pattern).expect("the pattern is valid"), *text)).collect();
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).replace(home, "$TEST");
            patterns.iter().fold(text, |text, (pattern, with)| pattern.replace_all(&text, *with).into_owned())
        };
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// The same, if it ended with 0.
    ///
    /// # Panics
    /// If it did not: with all that it said.
    #[track_caller]
    pub fn success(self) -> Self {
        self.exits_with(0)
    }

    /// The same, if it ended with `code`.
    ///
    /// # Panics
    /// If it did not: with all that it said.
    #[track_caller]
    pub fn exits_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }
}

impl fmt::Display for CommandOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => writeln!(f, "exit {code}")?,
            None => writeln!(f, "ended by a signal")?,
        }
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}\n{}", text.trim_end_matches('\n'))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    fn output(stdout: &str, status: i32) -> CommandOutput {
        let output = Output {
            status: std::process::ExitStatus::from_raw(status),
            stdout: stdout.as_bytes().to_vec(),
            stderr: b"words".to_vec(),
        };
        CommandOutput::new(&output, "/tmp/abc")
    }

    #[test]
    fn what_differs_from_run_to_run_is_replaced() {
        let long = "ab".repeat(32);
        let text = output(&format!("/tmp/abc/x sha256:{long} {} {} 12 KiB 2025-01-01T00:00:00.5Z", &long[..32], &long[..12]), 0);
        assert_eq!(
            text.to_string(),
            "exit 0\n--- stdout\n$TEST/x sha256:[digest] [run] [short] [size] [time]\n--- stderr\nwords\n"
        );
    }

    #[test]
    fn a_signal_is_no_exit_code() {
        assert!(output("", 9).to_string().starts_with("ended by a signal\n"));
    }

    #[test]
    #[should_panic(expected = "exit 1")]
    fn another_code_is_shown_whole() {
        let _ = output("", 256).success();
    }
}
