//! Figures as a table for people, or as records.

use serde_json::{Value as Json, json};

use crate::Failure;
use crate::benches::Bench;
use crate::conditions::Conditions;
use crate::figure::{Figure, Spread};

/// The version of the records.
const VERSION: u32 = 2;

const HEAD: [&str; COLUMNS] = ["bench", "run", "median", "native", "median", "ratio", "least to most", "CPU", "peak"];

const COLUMNS: usize = 9;

/// Where figures go.
pub(crate) struct Output {
    json: bool,
    /// The number of the next record.
    next: u64,
    rows: Vec<[String; COLUMNS]>,
    notes: Vec<String>,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, next: 0, rows: Vec::new(), notes: Vec::new() }
    }

    pub(crate) fn begin(&mut self, conditions: &Conditions) {
        let Conditions { date, processor, processors, memory_mib, kernel, program, rounds } = conditions;
        self.record(
            "begun",
            &json!({ "date": date, "processor": processor, "processors": processors, "memory_mib": memory_mib, "kernel": kernel,
                     "program": program, "rounds": rounds }),
        );
        let computer = format!("{date}; {processors} × {processor}, {memory_mib} MiB, Linux {kernel}");
        self.notes.push(format!("{computer}; {program}; {rounds} rounds"));
    }

    pub(crate) fn skipped(&mut self, bench: Bench, reason: &str) {
        self.record("skipped", &json!({ "bench": bench.name(), "reason": reason }));
        self.notes.push(format!("{}: not measured: {reason}", bench.name()));
    }

    pub(crate) fn figures(&mut self, found: &Found) {
        for figure in &found.figures {
            let ((run, native), ratio) = (figure.milliseconds(), figure.ratio());
            self.record(
                "figure",
                &json!({ "bench": figure.bench, "run": figure.run, "native": figure.native, "run_ms": told(run), "native_ms": told(native),
                         "ratio": told(ratio), "cpu_ratio": told(figure.cpu_ratio()), "peak_mib": told(figure.peak_mib()),
                         "pairs": figure.pairs }),
            );
            self.rows.push([
                figure.bench.to_owned(),
                figure.run.clone(),
                milliseconds(run.median),
                figure.native.clone(),
                milliseconds(native.median),
                format!("{:.2}", ratio.median),
                format!("{:.2} to {:.2}", ratio.min, ratio.max),
                format!("{:.2}", figure.cpu_ratio().median),
                format!("{:.0} MiB", figure.peak_mib().max),
            ]);
        }
        for note in &found.notes {
            self.record("note", &json!({ "text": note }));
            self.notes.push(note.clone());
        }
    }

    /// Writes the table, or the last record.
    pub(crate) fn end(&mut self, all: &Result<(), Failure>) {
        match all {
            Ok(()) => self.record("result", &json!({ "figures": self.rows.len() })),
            Err(failure) => self.record("error", &json!({ "message": failure })),
        }
        if !self.json {
            print!("{}", table(&self.rows));
            self.notes.iter().for_each(|note| println!("\n{note}"));
        }
    }

    fn record(&mut self, kind: &str, fields: &Json) {
        if !self.json {
            return;
        }
        let mut record = json!({ "record": kind, "version": VERSION, "seq": self.next });
        if let (Some(record), Some(fields)) = (record.as_object_mut(), fields.as_object()) {
            record.extend(fields.clone());
        }
        println!("{record}");
        self.next += 1;
    }
}

/// What a bench found.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Found {
    pub(crate) figures: Vec<Figure>,
    /// What belongs beside them, in words.
    pub(crate) notes: Vec<String>,
}

fn told(spread: Spread) -> Json {
    json!({ "min": spread.min, "median": spread.median, "max": spread.max })
}

fn milliseconds(value: f64) -> String {
    if value < 100.0 { format!("{value:.1} ms") } else { format!("{value:.0} ms") }
}

/// Columns that are as wide as their widest word; figures are to the right of theirs.
fn table(rows: &[[String; COLUMNS]]) -> String {
    let head = HEAD.map(str::to_owned);
    let all = || std::iter::once(&head).chain(rows);
    let widths: [usize; COLUMNS] = std::array::from_fn(|at| all().map(|row| row[at].chars().count()).max().unwrap_or(0));
    let line = |row: &[String; COLUMNS]| {
        let cells = row.iter().zip(widths).enumerate().map(|(at, (cell, width))| match at {
            2 | 4 | 5 | 7 | 8 => format!("{cell:>width$}"),
            _ => format!("{cell:<width$}"),
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    all().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_beneath_each_other() {
        let row = |run: &str, took: &str, ratio: &str| {
            ["packages", run, took, "dpkg-query", "9.5 ms", ratio, "1.90 to 12.10", "2.50", "40 MiB"].map(str::to_owned)
        };
        let expected = "\
bench     run     median  native      median  ratio  least to most   CPU    peak
packages  plan   19.0 ms  dpkg-query  9.5 ms   2.00  1.90 to 12.10  2.50  40 MiB
packages  apply  1200 ms  dpkg-query  9.5 ms  12.00  1.90 to 12.10  2.50  40 MiB
";
        assert_eq!(table(&[row("plan", "19.0 ms", "2.00"), row("apply", "1200 ms", "12.00")]), expected);
    }

    #[test]
    fn short_times_have_a_decimal() {
        assert_eq!((milliseconds(9.46), milliseconds(1234.5)), ("9.5 ms".to_owned(), "1234 ms".to_owned()));
    }
}
