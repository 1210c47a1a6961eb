//! What may be typed.

use std::path::PathBuf;

use crate::benches::Bench;

/// Enough for a median that one disturbance does not move.
const ROUNDS: usize = 7;

/// The command line, read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// The program to measure.
    pub(crate) runtime: PathBuf,
    /// A folder of its own, on the disk to measure on.
    pub(crate) scratch: PathBuf,
    /// How often each pair is measured.
    pub(crate) rounds: usize,
    /// Records instead of a table.
    pub(crate) json: bool,
    pub(crate) benches: Vec<Bench>,
}

impl Arguments {
    pub(crate) fn parse(given: &[&str]) -> Result<Self, String> {
        let (mut runtime, mut scratch, mut rounds, mut json, mut benches) = (None, None, ROUNDS, false, Vec::new());
        let mut given = given.iter().copied();
        while let Some(word) = given.next() {
            let mut value = || given.next().ok_or_else(|| format!("`{word}` needs a value"));
            match word {
                "--runtime" => runtime = Some(PathBuf::from(value()?)),
                "--scratch" => scratch = Some(PathBuf::from(value()?)),
                "--rounds" => {
                    rounds =
                        value()?.parse::<usize>().ok().filter(|rounds| *rounds > 0).ok_or("`--rounds` is a number above 0")?
                }
                "--json" => json = true,
                name => benches.push(Bench::of_name(name).ok_or_else(|| format!("there is no bench `{name}`"))?),
            }
        }
        if benches.is_empty() {
            benches = Bench::ALL.to_vec();
        }
        let runtime = runtime.ok_or("`--runtime` is missing")?;
        Ok(Self { runtime, scratch: scratch.ok_or("`--scratch` is missing")?, rounds, json, benches })
    }
}

/// For people.
pub(crate) fn usage() -> String {
    let benches: String = Bench::ALL.iter().map(|bench| format!("\n  {:<9} {}", bench.name(), bench.about())).collect();
    format!(
        "Usage: bench --runtime PROGRAM --scratch DIR [--rounds N] [--json] [NAME…]\n\n\
         `cargo xtask bench` gives the first two.\n\n\
         --rounds N  how often each pair is measured (default {ROUNDS})\n\
         --json      records on standard output, one a line, in place of a table\n\nBenches (all, if none is named):{benches}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_benches_if_none_is_named_and_nothing_that_is_unknown() {
        let parse = |more: &[&str]| Arguments::parse(&[&["--runtime", "/r", "--scratch", "/s"], more].concat());
        let all = parse(&[]).unwrap();
        assert_eq!((all.benches.len(), all.rounds, all.json), (Bench::ALL.len(), ROUNDS, false));
        let one = parse(&["packages", "--rounds", "3", "--json"]).unwrap();
        assert_eq!((one.benches, one.rounds, one.json), (vec![Bench::Packages], 3, true));
        for wrong in [&["nothing"][..], &["--rounds"], &["--rounds", "0"], &["--rounds", "x"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
        assert!(Arguments::parse(&["--runtime", "/r"]).is_err());
    }
}
