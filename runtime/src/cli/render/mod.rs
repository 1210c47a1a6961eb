//! Catalogs, descriptions and runs on record for people. Pure, as [`crate::report`] is.

use crate::model::catalog::EdgeReason;
use crate::report::line;

pub(super) mod catalog;
pub(super) mod conformance;
pub(super) mod description;
pub(super) mod graph;
pub(super) mod history;
pub(super) mod provider;
pub(super) mod run;

/// Why one resource goes before another, in a word, or in those of its type; escaped.
fn reason(reason: &EdgeReason) -> String {
    match reason {
        EdgeReason::Require => "require".to_owned(),
        EdgeReason::Before => "before".to_owned(),
        EdgeReason::Subscribe => "subscribe".to_owned(),
        EdgeReason::Notify => "notify".to_owned(),
        EdgeReason::Reference => "reference".to_owned(),
        EdgeReason::Derived(words) => line(words),
        EdgeReason::Action(key) => format!("action {}", line(key)),
    }
}

/// `rows` with their first columns padded to one width each; the last column flows.
pub(super) fn table(rows: &[Vec<String>], indent: &str) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let padded = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{indent}{}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
    };
    rows.iter().map(padded).collect()
}

/// `number` with its noun, in the plural where it is not one.
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_tables() {
        assert_eq!((count(1, "asset"), count(0, "asset")), ("1 asset".to_owned(), "0 assets".to_owned()));
        let rows = [vec!["a".to_owned(), "b".to_owned()], vec!["long".to_owned(), String::new()]];
        assert_eq!(table(&rows, "  "), ["  a     b", "  long"]);
    }
}
