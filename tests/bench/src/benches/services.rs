//! Many services that run and are enabled already.

use super::declare::{manifest, resource, text};
use super::{Bench, SHOW};
use crate::Failure;
use crate::figure::Figure;
use crate::measure::{Job, Timed};
use crate::output::Found;
use crate::setting::Setting;
use crate::site::{COUNT, services};
use crate::task::Task;

pub(super) fn run(setting: &Setting) -> Result<Found, Failure> {
    let (site, units) = (setting.site()?, services(COUNT));
    let mut site_text = manifest("services");
    for (number, unit) in units.iter().enumerate() {
        declare(&mut site_text, number, unit);
    }
    let converged = site.converge("services", &site_text);
    let timed = vec![
        Timed::new("plan", Task::run(converged.plan)),
        Timed::new("apply", Task::run(converged.apply)),
        Timed::new("systemctl show, once for all", Task::run_once(SHOW, &units)),
        Timed::new("systemctl show, once for each", Task::run_each(SHOW, &units)),
    ];
    let job = Job { rounds: setting.rounds, timed };
    Ok(Found { figures: Figure::all(Bench::Services.name(), &job.timed, 2, &site.measure(&job)?), notes: Vec::new() })
}

/// A service that runs and is enabled.
pub(super) fn declare(site: &mut String, number: usize, unit: &str) {
    let name = text(unit.trim_end_matches(".service"));
    resource(site, "service", number, &[("name", &name), ("ensure", &text("running")), ("enabled", "true")]);
}
