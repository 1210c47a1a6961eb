//! dnf's table of a transaction.

use crate::error::CallError;
use crate::packages::judge::Step;
use crate::packages::rpm;

/// The name of each section of the table, and whether its packages are there afterwards.
const SECTIONS: [(&str, bool); 11] = [
    ("Installing:", true),
    ("Installing dependencies:", true),
    ("Installing weak dependencies:", true),
    ("Installing group/module packages:", true),
    ("Reinstalling:", true),
    ("Upgrading:", true),
    ("Downgrading:", true),
    ("Removing:", false),
    ("Removing dependent packages:", false),
    ("Removing unused dependencies:", false),
    ("Removing obsoleted packages:", false),
];

/// The steps in dnf's table. A row is a name, an architecture, a version, a repository and a size with its unit; what is too long for its
/// column goes on in the next line. A line `replacing NAME.ARCHITECTURE VERSION` tells what goes away for the row before it.
pub(super) fn steps(text: &str) -> Result<Vec<Step>, CallError> {
    let mut steps = Vec::new();
    let mut section = None;
    let mut row: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some((_, installs)) = SECTIONS.iter().find(|(name, _)| *name == line.trim()) {
            section = Some(*installs);
            row.clear();
            continue;
        }
        if section.is_none() && is_unknown_section(line) {
            return Err(CallError::Other(format!("dnf told of changes that are not known here: {}", crate::text::escape(line))));
        }
        let Some(installs) = section else { continue };
        if line.trim().is_empty() || line.starts_with("Transaction Summary") {
            section = None;
            continue;
        }
        if let Some(replaced) = line.trim().strip_prefix("replacing ") {
            steps.push(replaced_step(replaced)?);
            continue;
        }
        if !line.starts_with(' ') {
            return Err(CallError::Other("dnf told of a kind of change that is not known here".into()));
        }
        row.extend(line.split_whitespace());
        // Sizes of ten bytes have no unit.
        let complete = row.len() >= 6 || (row.len() == 5 && row[4].bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
        if complete {
            steps.push(Step {
                name: row[0].to_owned(),
                architecture: Some(row[1].to_owned()),
                before: None,
                after: installs.then(|| rpm::plain(row[2])),
            });
            row.clear();
        }
    }
    Ok(steps)
}

/// A heading that is none of ours. What is skipped or merely told is no change.
fn is_unknown_section(line: &str) -> bool {
    let heads_rows = line.ends_with(':') && !line.starts_with(' ');
    heads_rows
        && !["Skipping", "Dependencies", "Problem", "Last metadata", "Error", "Warning"].iter().any(|word| line.starts_with(word))
}

fn replaced_step(text: &str) -> Result<Step, CallError> {
    let word = text.split_whitespace().next().unwrap_or_default();
    let (name, architecture) = word.rsplit_once('.').ok_or_else(|| CallError::Other("dnf replaces what is no package".into()))?;
    Ok(Step { name: name.to_owned(), architecture: Some(architecture.to_owned()), before: None, after: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_row_by_row() {
        let text = "Last metadata expiration check: 0:00:01 ago on Mon Nov 30 20:52:09 2026.
Dependencies resolved.
================================================================================
 Package           Architecture       Version           Repository         Size
================================================================================
Installing:
 a-very-long-package-name-that-goes-beyond-the-column-width-of-tables
                   noarch             1.0~rc1-1         local             6.6 k
 replaces          noarch            1.0-1             local            6.2 k
     replacing  demo.noarch 1.0-1
Upgrading:
 demo              noarch             1:2.0-1           local             6.1 k
Removing:
 old               x86_64             2.0-1             @local             10
Removing dependent packages:
 needs             noarch             1.0-1             @local             10

Transaction Summary
================================================================================
Install  1 Package
";
        let told: Vec<_> = steps(text).unwrap().into_iter().map(|step| (step.name, step.after)).collect();
        let told: Vec<_> = told.iter().map(|(name, after)| (name.as_str(), after.as_deref())).collect();
        let long = "a-very-long-package-name-that-goes-beyond-the-column-width-of-tables";
        let expected = [
            (long, Some("1.0~rc1-1")),
            ("replaces", Some("1.0-1")),
            ("demo", None),
            ("demo", Some("1:2.0-1")),
            ("old", None),
            ("needs", None),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_kind_of_change_that_is_not_known_is_an_error() {
        assert!(steps("Frobnicating:\n demo noarch 1 local 1 k\n").is_err());
        assert!(steps("Skipping packages with conflicts:\n demo noarch 1 local 1 k\n").unwrap().is_empty());
    }
}
