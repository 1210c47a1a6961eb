//! Thousands of lost runs.

use crate::command::run_with;
use crate::{Failure, setup, test};

/// Killed at any time, and at any step; each as often.
const TESTS: [&str; 2] = [
    "soak::however_often_it_is_killed_nothing_is_lost_doubled_or_left_over",
    "killed_at_steps::runs_that_recover_and_are_killed_in_their_turn_end_converged",
];

/// Has applies killed so many times, twice over.
pub(crate) fn run(kills: &str) -> Result<(), Failure> {
    if kills.parse::<u32>().is_err() {
        return Err(format!("`{kills}` is no number of kills"));
    }
    setup::wasm()?;
    let selection = test::native()?;
    let mut command = vec!["cargo", "test"];
    command.extend(selection.iter().map(String::as_str));
    command.extend(["--test", "recovery", "--", "--exact", "--nocapture"]);
    command.extend(TESTS);
    run_with(&command, &[("RUNTIME_TEST_KILLS", kills)])
}
