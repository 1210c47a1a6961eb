//! How often the managers' programs are run for what a run asks: counted by a double in their place.

use std::cell::{Cell, RefCell};
use std::path::Path;

use super::super::State;
use super::super::tools::{Finished, Order};
use super::*;
use crate::node::Root;

/// The programs of a Debian with `count` packages, of which a change makes another version.
struct Counting<'c> {
    root: Root,
    count: usize,
    version: Cell<u32>,
    /// Told that packages may have changed, in the middle of the next reading.
    interrupts: Cell<Option<&'c PackageCache>>,
    ran: RefCell<Vec<&'static str>>,
}

impl Counting<'_> {
    fn new(count: usize) -> Self {
        let root = Root::open(Path::new("/")).unwrap();
        Self { root, count, version: Cell::new(1), interrupts: Cell::new(None), ran: RefCell::default() }
    }

    /// How often each of the two programs has run.
    fn ran(&self) -> (usize, usize) {
        let times = |name: &str| self.ran.borrow().iter().filter(|ran| **ran == name).count();
        (times("dpkg-query"), times("apt-cache"))
    }
}

impl Tools for Counting<'_> {
    fn run(&self, order: &Order) -> Result<Finished, CallError> {
        self.ran.borrow_mut().push(order.name());
        let version = self.version.get();
        if let Some(cache) = self.interrupts.take() {
            cache.invalidate();
        }
        let text = match order.name() {
            "dpkg-query" => {
                let line = |number| format!("p{number}\tamd64\t{version}\tinstall\tok\tinstalled\n");
                let packages: String = (0..self.count).map(line).collect();
                format!("dpkg\tamd64\t1.21\tinstall\tok\tinstalled\n{packages}")
            }
            _ => {
                let names = order.arguments.iter().skip_while(|argument| *argument != "--").skip(1);
                names.map(|name| format!("{name}:\n  Installed: 1\n  Candidate: {}\n", version + 1)).collect()
            }
        };
        Ok(Finished { code: Some(0), stdout: text.into_bytes(), stderr: Vec::new() })
    }

    fn root(&self) -> &Root {
        &self.root
    }

    fn deadline(&self) -> Instant {
        Instant::now() + Duration::from_secs(10)
    }
}

fn subject(number: usize) -> Subject {
    Subject { name: format!("p{number}"), architecture: None }
}

/// What one resource asks: its package alone. Its state and version, and its candidate.
fn ask(cache: &PackageCache, tools: &Counting<'_>, number: usize) -> (Option<String>, Option<String>) {
    let reading = cache.read(tools, Manager::Apt, &[subject(number)], true).unwrap();
    told(&reading, &subject(number))
}

fn told(reading: &Reading, subject: &Subject) -> (Option<String>, Option<String>) {
    let installed = reading.table.find(Manager::Apt, subject).filter(|package| package.state == State::Installed);
    (installed.map(|package| package.version.clone()), reading.candidates[0].clone())
}

fn announced(count: usize) -> PackageCache {
    let cache = PackageCache::default();
    let names: Vec<String> = (0..count).map(|number| format!("p{number}")).collect();
    cache.announce(names.iter().map(|name| ("package", name.as_bytes())));
    cache.announce([("path", b"/etc/motd".as_slice()), ("package", b"Not-A-Name-Of-Apt"), ("package", b"\xff")]);
    cache
}

#[test]
fn two_hundred_packages_and_their_candidates_are_read_once_and_again_after_a_change() {
    let (cache, tools) = (announced(200), Counting::new(200));
    let both = |installed: &str, candidate: &str| (Some(installed.to_owned()), Some(candidate.to_owned()));
    for number in 0..200 {
        assert_eq!(ask(&cache, &tools, number), both("1", "2"));
    }
    assert_eq!(tools.ran(), (1, 1));
    tools.version.set(2);
    assert_eq!(ask(&cache, &tools, 7), both("1", "2"), "what was read is told again");
    cache.invalidate();
    for number in 0..200 {
        assert_eq!(ask(&cache, &tools, number), both("2", "3"));
    }
    assert_eq!(tools.ran(), (2, 2));
}

#[test]
fn candidates_of_packages_that_are_not_there_are_read_once_too() {
    let (cache, tools) = (announced(200), Counting::new(0));
    for number in 0..200 {
        assert_eq!(ask(&cache, &tools, number), (None, Some("2".to_owned())));
    }
    assert_eq!(tools.ran(), (1, 1));
    let foreign = Subject { name: "p7".into(), architecture: Some("i386".into()) };
    for _ in 0..2 {
        cache.read(&tools, Manager::Apt, std::slice::from_ref(&foreign), true).unwrap();
    }
    assert_eq!(tools.ran(), (1, 2), "those of another architecture are others");
    assert_eq!(ask(&cache, &tools, 200), (None, Some("2".to_owned())), "nobody announced it");
    assert_eq!(tools.ran(), (1, 3));
}

#[test]
fn what_verifies_is_told_nothing_that_was_read_before_and_what_it_reads_is_known_from_then_on() {
    let (cache, tools) = (announced(2), Counting::new(2));
    ask(&cache, &tools, 0);
    // Nobody says that anything has changed.
    tools.version.set(2);
    let verify = |with_candidates| cache.read_anew(&tools, Manager::Apt, &[subject(0)], with_candidates).unwrap();
    assert_eq!(told(&verify(true), &subject(0)), (Some("2".to_owned()), Some("3".to_owned())));
    assert_eq!(tools.ran(), (2, 2));
    cache.invalidate();
    verify(false);
    assert_eq!(tools.ran(), (3, 2));
    assert_eq!(ask(&cache, &tools, 1), (Some("2".to_owned()), Some("3".to_owned())));
    assert_eq!(tools.ran(), (3, 3), "the verification has read after the change");
    verify(false);
    verify(false);
    assert_eq!(tools.ran(), (5, 3), "one verification is told nothing of another one's");
}

#[test]
fn a_reading_during_which_something_may_have_changed_is_not_kept() {
    let (cache, tools) = (announced(2), Counting::new(2));
    tools.interrupts.set(Some(&cache));
    ask(&cache, &tools, 0);
    ask(&cache, &tools, 0);
    assert_eq!(tools.ran(), (2, 2));
    cache.invalidate();
    tools.interrupts.set(Some(&cache));
    cache.read_anew(&tools, Manager::Apt, &[subject(0)], false).unwrap();
    ask(&cache, &tools, 0);
    assert_eq!(tools.ran(), (4, 3));
}

#[test]
fn a_managers_settings_and_database_are_files_that_change_packages() {
    let (cache, tools) = (announced(1), Counting::new(1));
    ask(&cache, &tools, 0);
    for path in ["/etc/motd", "/srv/etc/apt/sources.list"] {
        cache.file_changed(path.as_bytes());
    }
    ask(&cache, &tools, 0);
    assert_eq!(tools.ran(), (1, 1));
    for path in ["/etc/apt/preferences.d/pin", "/var/lib/dpkg/status", "/var/lib/apt/extended_states", "/usr/lib/sysimage/rpm/x"]
    {
        cache.file_changed(path.as_bytes());
        let before = tools.ran().0;
        ask(&cache, &tools, 0);
        assert_eq!(tools.ran().0, before + 1, "{path}");
    }
}
