//! From times to ratios.

use crate::measure::{Cost, Rounds, Timed};

/// A run against something native.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// The bench that it is of.
    pub(crate) bench: &'static str,
    /// What was run.
    pub(crate) run: String,
    /// What it is compared with.
    pub(crate) native: String,
    /// What both took in each round.
    pub(crate) pairs: Vec<(Cost, Cost)>,
}

/// The least, the middle and the greatest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
}

impl Figure {
    /// Every one of the first `runs` of what was timed against every one of the rest.
    pub(crate) fn all(bench: &'static str, timed: &[Timed], runs: usize, rounds: &Rounds) -> Vec<Self> {
        let (subjects, natives) = timed.split_at(runs);
        let pair = |run: usize, native: usize| Self {
            bench,
            run: subjects[run].name.clone(),
            native: natives[native].name.clone(),
            pairs: rounds.iter().map(|round| (round[run], round[runs + native])).collect(),
        };
        (0..subjects.len())
            .flat_map(|run| (0..natives.len()).map(move |native| (run, native)))
            .map(|(run, native)| pair(run, native))
            .collect()
    }

    /// How many times the native time the run took, pair by pair.
    pub(crate) fn ratio(&self) -> Spread {
        self.of_pairs(|cost| cost.wall_ns)
    }

    /// The same of the time that processors were at work.
    pub(crate) fn cpu_ratio(&self) -> Spread {
        self.of_pairs(|cost| cost.cpu_ns)
    }

    fn of_pairs(&self, pick: fn(&Cost) -> u64) -> Spread {
        Spread::of(self.pairs.iter().map(|(run, native)| pick(run) as f64 / pick(native).max(1) as f64))
    }

    /// Milliseconds of the run, and of what is native.
    pub(crate) fn milliseconds(&self) -> (Spread, Spread) {
        let of = |pick: fn(&(Cost, Cost)) -> Cost| Spread::of(self.pairs.iter().map(|pair| pick(pair).wall_ns as f64 / 1e6));
        (of(|pair| pair.0), of(|pair| pair.1))
    }

    /// The most memory that the run had at once, in MiB.
    pub(crate) fn peak_mib(&self) -> Spread {
        Spread::of(self.pairs.iter().map(|(run, _)| run.peak_kib as f64 / 1024.0))
    }
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let at = |place: usize| values.get(place).copied().unwrap_or(f64::NAN);
        let (count, middle) = (values.len(), values.len() / 2);
        let median = if count % 2 == 1 { at(middle) } else { f64::midpoint(at(middle.saturating_sub(1)), at(middle)) };
        Self { min: at(0), median, max: at(count.saturating_sub(1)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;

    #[test]
    fn ratios_are_of_pairs_and_not_of_medians() {
        let timed: Vec<Timed> = ["plan", "apply", "once", "each"].map(|name| Timed::new(name, Task::All(Vec::new()))).to_vec();
        let cost = |wall_ns: u64| Cost { wall_ns, cpu_ns: 2 * wall_ns, peak_kib: 1024 * wall_ns };
        let rounds: Rounds =
            [[10, 20, 5, 1], [40, 20, 10, 1], [30, 20, 10, 1]].iter().map(|round| round.map(cost).to_vec()).collect();
        let figures = Figure::all("x", &timed, 2, &rounds);
        let names: Vec<String> = figures.iter().map(|figure| format!("{}/{}", figure.run, figure.native)).collect();
        assert_eq!(names, ["plan/once", "plan/each", "apply/once", "apply/each"]);
        assert_eq!(figures[0].ratio(), Spread { min: 2.0, median: 3.0, max: 4.0 });
        assert_eq!(figures[0].cpu_ratio(), figures[0].ratio());
        assert_eq!(figures[0].peak_mib().median, 30.0);
        assert_eq!(figures[3].milliseconds().0.median, 20.0 / 1e6);
    }

    #[test]
    fn an_even_count_has_its_median_between_two() {
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 3.0].into_iter()), Spread { min: 1.0, median: 2.5, max: 4.0 });
    }
}
