//! Catalogs and descriptions for people. Pure, as [`crate::report`] is.

pub(super) mod catalog;
pub(super) mod conformance;
pub(super) mod description;
pub(super) mod provider;

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

/// A size in bytes, rounded to a unit.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} B"),
        10_000..=10_239_999 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{} MiB", bytes.div_ceil(1024 * 1024)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_sizes_and_tables() {
        assert_eq!((count(1, "asset"), count(0, "asset")), ("1 asset".to_owned(), "0 assets".to_owned()));
        assert_eq!((size(9_999), size(10_240), size(20 << 20)), ("9999 B".into(), "10 KiB".into(), "20 MiB".into()));
        let rows = [vec!["a".to_owned(), "b".to_owned()], vec!["long".to_owned(), String::new()]];
        assert_eq!(table(&rows, "  "), ["  a     b", "  long"]);
    }
}
