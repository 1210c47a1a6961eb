//! Many packages that are installed already: any version, and the latest that is offered.

use super::declare::{manifest, resource, text};
use super::{Bench, QUERY};
use crate::Failure;
use crate::figure::Figure;
use crate::measure::{Job, Timed};
use crate::output::Found;
use crate::setting::Setting;
use crate::site::{COUNT, packages};
use crate::task::Task;

const POLICY: &[&str] = &["apt-cache", "policy", "--"];

pub(super) fn run(setting: &Setting) -> Result<Found, Failure> {
    let (site, names) = (setting.site()?, packages(COUNT));
    let mut found = Found::default();
    for (ensure, looks_up) in [("present", false), ("latest", true)] {
        let mut text_of = manifest(&format!("packages-{ensure}"));
        for (number, name) in names.iter().enumerate() {
            resource(&mut text_of, "package", number, &[("name", &text(name)), ("ensure", &text(ensure))]);
        }
        let converged = site.converge(&format!("packages-{ensure}"), &text_of);
        let programs = site.programs(&converged.plan);
        found.notes.push(format!("packages, {ensure}: programs that a plan ran: {programs}"));
        let mut timed = vec![
            Timed::new(format!("plan, {ensure}"), Task::run(converged.plan)),
            Timed::new(format!("apply, {ensure}"), Task::run(converged.apply)),
        ];
        timed.extend(natives(&names, looks_up));
        let job = Job { rounds: setting.rounds, timed };
        found.figures.extend(Figure::all(Bench::Packages.name(), &job.timed, 2, &site.measure(&job)?));
    }
    Ok(found)
}

fn natives(names: &[String], looks_up: bool) -> Vec<Timed> {
    let (once, each) = (Task::run_once(QUERY, names), Task::run_each(QUERY, names));
    if !looks_up {
        return vec![Timed::new("dpkg-query, once for all", once), Timed::new("dpkg-query, once for each", each)];
    }
    let both = |query: Task, policy: Task| Task::All(vec![query, policy]);
    vec![
        Timed::new("dpkg-query and apt-cache, once for all", both(once, Task::run_once(POLICY, names))),
        Timed::new("dpkg-query and apt-cache, once for each", both(each, Task::run_each(POLICY, names))),
    ]
}
