//! Rows about packages, units, accounts and programs.

use std::collections::BTreeSet;

use hcl_edit::Span;
use hcl_edit::structure::{Attribute, Block};
use host_functions::objects::{ArgumentsPattern, Domain, Interface, NamePattern, ObjectRow};

use super::Parser;
use crate::policy::ObjectRows;

impl Parser<'_> {
    pub(super) fn packages(&mut self, block: &Block, rows: &mut ObjectRows) {
        self.named(block, Interface::Packages, &[("names", Domain::Package)], rows);
    }

    pub(super) fn systemd(&mut self, block: &Block, rows: &mut ObjectRows) {
        self.named(block, Interface::Systemd, &[("units", Domain::Unit)], rows);
    }

    /// `accounts`: `read` is for looking up any of them; the rest for changing some.
    pub(super) fn accounts(&mut self, block: &Block, read: &mut Option<bool>, rows: &mut ObjectRows) {
        if block.body.has_attribute("read") || block.body.is_empty() {
            self.everything_or_nothing(block, &["read", "users", "groups", "verbs"], read);
        }
        if ["users", "groups", "verbs"].iter().any(|name| block.body.has_attribute(name)) || !block.body.has_attribute("read") {
            let lists = [("users", Domain::User), ("groups", Domain::Group)];
            self.named(block, Interface::Accounts, &lists, rows);
        }
    }

    /// Lists of names and one of verbs.
    fn named(&mut self, block: &Block, interface: Interface, lists: &[(&str, Domain)], rows: &mut ObjectRows) {
        self.no_labels(block);
        let mut known: Vec<&str> = lists.iter().map(|(list, _)| *list).chain(["verbs"]).collect();
        if interface == Interface::Accounts {
            known.push("read");
        }
        let kind = format!("attribute of `{}`", interface.word());
        let (mut names, mut verbs) = (Vec::new(), BTreeSet::new());
        for attribute in self.attributes(block, &kind, &known) {
            match lists.iter().find(|(list, _)| attribute.has_key(list)) {
                Some((_, domain)) => names.push((*domain, self.names::<NamePattern>(attribute))),
                None if attribute.has_key("verbs") => verbs.extend(self.verbs(attribute, interface)),
                None => {}
            }
        }
        let shared = |verb: &&'static str| interface.maintenance().contains(verb);
        rows.maintenance.extend(verbs.iter().filter(|verb| shared(verb)).map(|verb| (interface, *verb)));
        verbs.retain(|verb| !shared(verb));
        if names.is_empty() != verbs.is_empty() {
            let lists: Vec<String> = lists.iter().map(|(list, _)| format!("`{list}`")).collect();
            let message = format!("`{}` needs both {} and `verbs`", interface.word(), lists.join(" or "));
            self.problem(block.ident.span(), &message, Some("`verbs` says what may be done with what bears one of the names"));
        }
        rows.said.insert(interface);
        rows.rows.extend(names.into_iter().map(|(domain, names)| ObjectRow { domain, names, verbs: verbs.clone() }));
    }

    fn verbs(&mut self, attribute: &Attribute, interface: Interface) -> Vec<&'static str> {
        let mut verbs = Vec::new();
        for (text, span) in self.texts(attribute) {
            match interface.verb(&text) {
                Some("read") => self.problem(span, "`read` needs no row: what a module asks to read of these it may", None),
                Some(verb) => verbs.push(verb),
                None => {
                    let known = [interface.verbs(), interface.maintenance()].concat();
                    let known: Vec<&str> = known.into_iter().filter(|verb| *verb != "read").collect();
                    self.unknown(span, "verb", &text, &known);
                }
            }
        }
        verbs
    }

    pub(super) fn processes(&mut self, block: &Block, rows: &mut ObjectRows) {
        self.no_labels(block);
        rows.said.insert(Interface::Processes);
        for attribute in self.attributes(block, "attribute of `processes`", &["run", "query", "unconfined_queries"]) {
            match Interface::Processes.verb(&attribute.key) {
                Some(verb) => {
                    let commands = self.commands(attribute);
                    rows.commands.entry(verb).or_default().extend(commands);
                }
                None => self.word(attribute, &mut rows.unconfined_queries),
            }
        }
    }

    /// `health { run = [[…]] }`: the command lines that health checks of manifests may have.
    pub(super) fn health(&mut self, block: &Block) -> Vec<ArgumentsPattern> {
        self.no_labels(block);
        let attributes = self.attributes(block, "attribute of `health`", &["run"]);
        attributes.into_iter().flat_map(|attribute| self.commands(attribute)).collect()
    }

    /// A list of command lines, each a list of patterns.
    fn commands(&mut self, attribute: &Attribute) -> Vec<ArgumentsPattern> {
        let Some(array) = attribute.value.as_array() else {
            let message = format!("`{}` must be a list of command lines", attribute.key.as_str());
            self.problem(attribute.value.span(), &message, Some("write `[[\"/usr/sbin/nginx\", \"-t\"]]`"));
            return Vec::new();
        };
        let mut commands = Vec::new();
        for item in array.iter() {
            let Some(texts) = item.as_array() else {
                self.problem(item.span(), "a command line is a list of strings", Some("write `[\"/usr/sbin/nginx\", \"-t\"]`"));
                continue;
            };
            let texts: Vec<String> = texts.iter().filter_map(|text| self.plain_text(text)).map(|(text, _)| text).collect();
            match ArgumentsPattern::parse(texts.iter().map(String::as_str)) {
                Ok(pattern) => commands.push(pattern),
                Err(error) => self.problem(item.span(), &error.to_string(), None),
            }
        }
        commands
    }
}
