//! Under what conditions figures were taken: without them no figure can be compared with another.

use std::fs;
use std::process::Command;

use crate::Failure;
use crate::setting::Setting;

/// The computer, the day and the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conditions {
    /// Of the measurement, `2026-01-31`.
    pub(crate) date: String,
    /// The model of its processors.
    pub(crate) processor: String,
    pub(crate) processors: usize,
    pub(crate) memory_mib: u64,
    /// The version of the kernel.
    pub(crate) kernel: String,
    /// What the measured program says of itself.
    pub(crate) program: String,
    pub(crate) rounds: usize,
}

impl Conditions {
    pub(crate) fn of(setting: &Setting) -> Result<Self, Failure> {
        let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
        let memory = field(&read("/proc/meminfo")?, "MemTotal").and_then(|value| value.split(' ').next()?.parse::<u64>().ok());
        Ok(Self {
            date: said(Command::new("date").args(["-u", "+%F"]))?,
            processor: field(&read("/proc/cpuinfo")?, "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mib: memory.unwrap_or(0) / 1024,
            kernel: read("/proc/sys/kernel/osrelease")?.trim().to_owned(),
            program: said(Command::new(&setting.runtime).arg("--version"))?,
            rounds: setting.rounds,
        })
    }
}

/// The first value of a name in a file of `NAME: VALUE` lines.
fn field(text: &str, name: &str) -> Option<String> {
    let values = text.lines().filter_map(|line| line.split_once(':')).filter(|(key, _)| key.trim() == name);
    values.map(|(_, value)| value.trim().to_owned()).next()
}

/// What a program says.
fn said(command: &mut Command) -> Result<String, Failure> {
    let output = command.output().map_err(|error| format!("{} cannot be run: {error}", command.get_program().display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_name() {
        let text = "processor\t: 0\nmodel name\t: A Processor: 2\nmodel name\t: B\n";
        assert_eq!(field(text, "model name").as_deref(), Some("A Processor: 2"));
        assert_eq!(field(text, "model"), None);
    }
}
