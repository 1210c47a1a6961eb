//! What is fuzzed: a file a target. Each says where its inputs start from, what is done with one, what must hold then, and what it may cost.
//!
//! That nothing panics, overflows its stack, or goes beyond these bounds is held for every target by the loop that feeds it.

use std::time::Duration;

use crate::mutate::Mutator;

mod bundle;
mod catalog;
mod deferred;
pub(crate) mod faulty;
mod manifest;
mod names;
mod node_files;
mod policy;

/// Something that takes input from strangers.
pub(crate) struct Target {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Inputs to start from.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    /// Words of the format.
    pub(crate) words: &'static [&'static str],
    /// Makes another input of one.
    pub(crate) change: fn(&mut Mutator<'_>, &mut Vec<u8>),
    /// Takes an input. What does not hold is a panic.
    pub(crate) run: fn(&[u8]),
    /// How long one input may take, on a machine that does other things too.
    pub(crate) time: Duration,
    /// How much memory one input may take, in bytes.
    pub(crate) memory: usize,
}

/// All targets, in the order in which they are run.
pub(crate) fn all() -> Vec<Target> {
    vec![
        manifest::target(),
        deferred::target(),
        bundle::target(),
        catalog::target(),
        policy::target(),
        node_files::target(),
        names::target(),
    ]
}

/// Changes that know nothing of the format but its words.
fn plainly(mutator: &mut Mutator<'_>, input: &mut Vec<u8>) {
    mutator.change(input);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::seeds::kept;

    #[test]
    fn what_inputs_start_from_and_every_kept_case_is_nothing_to_its_target() {
        for target in all() {
            let seeds = (target.seeds)();
            assert!(!seeds.is_empty(), "{}", target.name);
            seeds.iter().chain(&kept(target.name)).for_each(|input| (target.run)(input));
        }
    }

    #[test]
    fn every_kept_case_is_one_of_a_target() {
        let known: Vec<_> = all().iter().map(|target| target.name).collect();
        for entry in std::fs::read_dir(crate::seeds::workspace().join("tests/fuzz/cases")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(name == "README.md" || known.contains(&name.as_str()), "`{name}` is no target");
        }
    }

    #[test]
    fn a_few_changes_of_each_are_nothing_to_it_either() {
        for target in all() {
            let (seeds, mut random) = ((target.seeds)(), Random::new(7));
            for _ in 0..100 {
                let mut input = random.pick(&seeds).unwrap().clone();
                let other = random.pick(&seeds).unwrap().clone();
                (target.change)(&mut Mutator { random: &mut random, words: target.words, other: &other }, &mut input);
                (target.run)(&input);
            }
        }
    }
}
