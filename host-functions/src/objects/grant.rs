//! What policy grants of such objects. Data only.

use std::collections::{BTreeMap, BTreeSet};

use super::{ArgumentsPattern, Domain, Interface, NamePattern};

/// Objects that a module may work on, and what it may do with them. The default grants nothing but reading.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ObjectGrant {
    /// Interfaces of which it gets whatever it asks for.
    pub everything: BTreeSet<Interface>,
    /// Names, and what may be done with what bears them.
    pub rows: Vec<ObjectRow>,
    /// Shared actions.
    pub maintenance: BTreeSet<(Interface, &'static str)>,
    /// Command lines by verb, `query` and `run`.
    pub commands: BTreeMap<&'static str, Vec<ArgumentsPattern>>,
    /// Whether a query may run where it cannot be confined.
    pub unconfined_queries: bool,
    /// Names that nothing may be done with, whatever else is said.
    pub deny: BTreeMap<Domain, Vec<NamePattern>>,
}

/// Names of one domain with verbs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRow {
    /// What kind of object.
    pub domain: Domain,
    /// Which.
    pub names: Vec<NamePattern>,
    /// What may be done; reading needs no grant.
    pub verbs: BTreeSet<&'static str>,
}

impl ObjectGrant {
    /// Whatever the module asks for.
    pub fn requested() -> Self {
        Self { everything: Interface::ALL.into(), unconfined_queries: false, ..Self::default() }
    }

    /// The pattern of `deny` that has `name`.
    pub fn denies(&self, domain: Domain, name: &str) -> Option<&NamePattern> {
        self.deny.get(&domain)?.iter().find(|pattern| pattern.matches(name))
    }

    /// Whether `verb` is granted on the object `name`. Programs are granted by their command lines, see [`Self::grants_command`].
    pub fn grants(&self, domain: Domain, verb: &str, name: &str) -> bool {
        if self.denies(domain, name).is_some() {
            return false;
        }
        let row = |row: &ObjectRow| {
            row.domain == domain && row.verbs.contains(verb) && row.names.iter().any(|pattern| pattern.matches(name))
        };
        verb == "read" || self.everything.contains(&domain.interface()) || self.rows.iter().any(row)
    }

    /// Whether a command line may be run, or queried.
    pub fn grants_command(&self, verb: &str, arguments: &[Option<&str>]) -> bool {
        let program = arguments.first().copied().flatten().unwrap_or_default();
        self.denies(Domain::Process, program).is_none()
            && (self.everything.contains(&Interface::Processes)
                || self.commands.get(verb).is_some_and(|patterns| patterns.iter().any(|pattern| pattern.matches(arguments))))
    }

    /// Whether some command line of `program` may be granted; of every program, for [`super::ANY`].
    pub fn may_grant_program(&self, verb: &str, program: &str) -> bool {
        let some = |pattern: &ArgumentsPattern| match program {
            // Which program it is, is not known before it is run: then the call is held to its command line.
            super::ANY => true,
            _ => pattern.program().matches(program),
        };
        self.denies(Domain::Process, program).is_none()
            && (self.everything.contains(&Interface::Processes)
                || self.commands.get(verb).is_some_and(|patterns| patterns.iter().any(some)))
    }

    /// Whether a shared action may be done.
    pub fn grants_maintenance(&self, interface: Interface, verb: &'static str) -> bool {
        self.everything.contains(&interface) || self.maintenance.contains(&(interface, verb))
    }
}
