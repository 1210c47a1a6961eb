//! The tables of promises and of attacks name tests, and those tests are there.

use std::collections::BTreeSet;
use std::path::Path;

const PROMISES: &str = include_str!("../../docs/promises.md");
const ATTACKS: &str = include_str!("../../docs/security.md");

/// The first cells of rows that are headings.
const HEADINGS: [&str; 4] = ["| promise |", "| it cannot |", "| they cannot |", "| attack |"];

/// What stands between backticks in the last column of each row.
fn named(text: &str) -> BTreeSet<String> {
    let is_heading = |line: &str| HEADINGS.iter().any(|heading| line.starts_with(heading));
    let rows = text.lines().filter(|line| line.starts_with("| ") && !is_heading(line));
    let cells = rows.filter_map(|row| row.trim_end_matches(" |").rsplit_once(" | ").map(|(_, cell)| cell));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The functions beneath `folder` that are tests.
fn tests_beneath(folder: &Path, tests: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            tests_beneath(&path, tests);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap().replace("#[tokio::test]", "#[test]");
            let parts = text.split("#[test]").skip(1);
            let names = parts.filter_map(|part| part.split_once("fn ").and_then(|(_, rest)| rest.split_once('(')));
            tests.extend(names.map(|(name, _)| name.to_owned()));
        }
    }
}

#[test]
fn every_test_that_the_promises_name_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut tests = BTreeSet::new();
    for folder in ["runtime", "host-functions", "modules", "tests", "xtask"] {
        tests_beneath(&root.join(folder), &mut tests);
    }
    for (page, text, least) in [("promises.md", PROMISES, 100), ("security.md", ATTACKS, 60)] {
        let named = named(text);
        assert!(named.len() > least, "the tables of docs/{page} have {} tests", named.len());
        let missing: Vec<_> = named.difference(&tests).collect();
        assert_eq!(missing, [""; 0], "docs/{page} names tests that do not exist");
    }
}
