//! The program is killed at each step by which it changes a file: of the node, and of its own state. Which steps there are nobody says: they are
//! counted from outside, and each run is killed one further, until one ends by itself.

use std::os::unix::process::ExitStatusExt as _;

use testkit::steps::{Step, Verdict, Watched, watch};

use crate::every_act::Site;
use crate::killed_at_random::Random;
use crate::soak::kills;

/// An apply that is killed at a step, unless it has ended before.
fn killed_at(site: &Site, last: usize) -> Watched {
    let verdict = |step: &Step| if step.number == last { Verdict::Kill } else { Verdict::Go };
    watch(&mut site.apply(), &site.folders(), verdict)
}

/// Kills a run at each of its steps in turn, and gives how many there are.
fn killed_at_each_step(site: &Site) -> usize {
    for last in site.steps() {
        let watched = killed_at(site, last);
        let Some(step) = watched.steps.get(last - 1) else {
            assert_eq!(watched.output.status.code(), Some(2), "{watched:?}");
            site.is_as_wanted("the run that was not killed");
            return watched.steps.len();
        };
        let moment = format!("killed before step {last}, {}", step.told(site.scene.folder()));
        assert_eq!(watched.output.status.signal(), Some(9), "{moment}: {:?}", watched.output);
        site.converges(&moment);
        site.again();
    }
    unreachable!("there are fewer steps than numbers")
}

#[test]
fn killed_at_any_step_of_any_change_the_next_run_converges() {
    let site = Site::of_every_act();
    let steps = killed_at_each_step(&site);
    println!("{steps} steps");
    assert!(steps > 150, "{steps} steps are not all");
}

#[test]
fn killed_at_any_step_of_the_first_run_the_next_one_converges() {
    let site = Site::of_a_first_run();
    let steps = killed_at_each_step(&site);
    println!("{steps} steps");
    assert!(steps > 20, "{steps} steps are not all");
}

/// `cargo xtask soak` has thousands of them killed.
#[test]
fn runs_that_recover_and_are_killed_in_their_turn_end_converged() {
    let (site, mut random, mut killed) = (Site::of_every_act(), Random::new(), 0);
    let whole = killed_at(&site, usize::MAX).steps.len();
    site.again();
    while killed < kills() {
        let mut chain = Vec::new();
        loop {
            let last = 1 + random.below(whole as u64) as usize;
            let watched = killed_at(&site, last);
            if watched.output.status.signal() != Some(9) {
                assert!(matches!(watched.output.status.code(), Some(0 | 2)), "{chain:?}: {watched:?}");
                break;
            }
            chain.push(last);
        }
        killed += chain.len();
        site.converges(&format!("killed in turn before steps {chain:?}"));
        site.again();
    }
}
