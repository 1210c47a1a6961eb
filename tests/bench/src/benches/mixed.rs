//! Resources of every type, as a node has them, all as declared.

use std::path::PathBuf;

use super::declare::{manifest, resource, text};
use super::{Bench, QUERY, RESOURCES, SHOW, services};
use crate::Failure;
use crate::figure::Figure;
use crate::measure::{Job, Timed};
use crate::output::Found;
use crate::setting::Setting;
use crate::site::{self, Site};
use crate::task::Task;

/// Where the files are.
const FOLDER: &str = "/srv/bench";

const DIRECTORIES: usize = 50;
const LINKS: usize = 50;
const GROUPS: usize = 100;
const USERS: usize = 100;
const PACKAGES: usize = 150;
const SERVICES: usize = 100;
/// Commands whose guard is a path, and as many whose guard is a program.
const COMMANDS: usize = 50;

/// What is declared, and what asks for the same natively.
#[derive(Default)]
struct Mixed {
    text: String,
    /// How many there are of each type, for people.
    counts: Vec<String>,
    total: usize,
    paths: Vec<PathBuf>,
    /// Native queries, once for all of a type.
    once: Vec<Task>,
    /// Native queries, once for each.
    each: Vec<Task>,
}

pub(super) fn run(setting: &Setting) -> Result<Found, Failure> {
    let site = setting.site()?;
    let mut mixed = Mixed { text: manifest("mixed"), ..Mixed::default() };
    mixed.accounts();
    mixed.packages();
    mixed.services(setting);
    mixed.commands();
    mixed.files();
    site.shell(&format!("mkdir -p {FOLDER}"));
    measure(setting, site, mixed)
}

fn measure(setting: &Setting, site: &Site, mut mixed: Mixed) -> Result<Found, Failure> {
    let converged = site.converge("mixed", &mixed.text);
    let programs = site.programs(&converged.plan);
    let read = Task::Read { paths: mixed.paths };
    mixed.once.push(read.clone());
    mixed.each.push(read);
    let timed = vec![
        Timed::new("plan", Task::run(converged.plan)),
        Timed::new("apply", Task::run(converged.apply)),
        Timed::new("native queries, once for each type", Task::All(mixed.once)),
        Timed::new("native queries, once for each resource", Task::All(mixed.each)),
    ];
    let job = Job { rounds: setting.rounds, timed };
    let figures = Figure::all(Bench::Mixed.name(), &job.timed, 2, &site.measure(&job)?);
    let notes = vec![
        format!("mixed: {} resources: {}", mixed.total, mixed.counts.join(", ")),
        format!("mixed: package managers' programs that a plan ran: {programs}"),
    ];
    Ok(Found { figures, notes })
}

impl Mixed {
    fn resource(&mut self, type_name: &str, attributes: &[(&str, &str)]) {
        resource(&mut self.text, type_name, self.total, attributes);
        self.total += 1;
    }

    fn note(&mut self, count: usize, what: &str) {
        self.counts.push(format!("{count} {what}"));
    }

    fn asks(&mut self, command: &[&str], names: &[String]) {
        self.once.push(Task::run_once(command, names));
        self.each.push(Task::run_each(command, names));
    }

    fn accounts(&mut self) {
        let named = |kind: &str, count: usize| (0..count).map(|number| format!("bench-{kind}{number:03}")).collect::<Vec<_>>();
        let (groups, users) = (named("g", GROUPS), named("u", USERS));
        groups.iter().for_each(|name| self.resource("group", &[("name", &text(name))]));
        users.iter().for_each(|name| self.resource("user", &[("name", &text(name)), ("shell", &text("/usr/sbin/nologin"))]));
        self.note(GROUPS, "groups");
        self.note(USERS, "users");
        self.asks(&["getent", "group"], &groups);
        self.asks(&["getent", "passwd"], &users);
    }

    fn packages(&mut self) {
        let names = site::packages(PACKAGES);
        names.iter().for_each(|name| self.resource("package", &[("name", &text(name))]));
        self.note(PACKAGES, "packages");
        self.asks(QUERY, &names);
    }

    /// If there is the type; else there are more files.
    fn services(&mut self, setting: &Setting) {
        if !setting.has_type("service") {
            return self.counts.push("no services, since this program has no such type".to_owned());
        }
        let units = site::services(SERVICES);
        for unit in &units {
            services::declare(&mut self.text, self.total, unit);
            self.total += 1;
        }
        self.note(SERVICES, "services");
        self.asks(SHOW, &units);
    }

    fn commands(&mut self) {
        let made = |kind: &str| (0..COMMANDS).map(|number| format!("{FOLDER}/{kind}-{number:03}")).collect::<Vec<_>>();
        let (made, tested) = (made("made"), made("tested"));
        let touch = |path: &str| format!("[\"/usr/bin/touch\", \"{path}\"]");
        for path in &made {
            self.resource("exec", &[("command", &touch(path)), ("creates", &text(path))]);
        }
        for path in &tested {
            let unless = format!("[\"/usr/bin/test\", \"-e\", \"{path}\"]");
            self.resource("exec", &[("command", &touch(path)), ("unless", &unless)]);
        }
        self.note(2 * COMMANDS, "commands, half of them with a program as guard");
        self.paths.extend(made.iter().map(PathBuf::from));
        // A program that looks at one thing can be asked for each alone.
        let guards = Task::run_each(&["/usr/bin/test", "-e"], &tested);
        self.once.push(guards.clone());
        self.each.push(guards);
    }

    /// Directories, links, and as many files as are missing.
    fn files(&mut self) {
        let path = |kind: &str, number: usize| format!("{FOLDER}/{kind}-{number:03}");
        for number in 0..DIRECTORIES {
            self.file(&path("directory", number), &[("ensure", &text("directory")), ("mode", &text("0750"))]);
        }
        for number in 0..LINKS {
            let target = text(path("directory", number));
            self.file(&path("link", number), &[("ensure", &text("symlink")), ("target", &target)]);
        }
        let files = RESOURCES - self.total;
        for number in 0..files {
            let content = text(format_args!("setting {number}\\n"));
            self.file(&path("file", number), &[("content", &content), ("mode", &text("0640"))]);
        }
        self.note(DIRECTORIES, "directories");
        self.note(LINKS, "links");
        self.note(files, "files");
    }

    fn file(&mut self, path: &str, attributes: &[(&str, &str)]) {
        let path_text = text(path);
        self.resource("file", &[&[("path", path_text.as_str())], attributes].concat());
        self.paths.push(path.into());
    }
}
