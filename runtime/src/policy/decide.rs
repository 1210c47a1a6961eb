//! What the policy says of one component.

use std::collections::BTreeSet;

use host_functions::effects::{MAKE_DIRECTORY, PATH};
use host_functions::files::policy::{NEVER, PathPattern};
use host_functions::grant::{Access, FileGrant, Grant, Limits};
use host_functions::objects::{Domain, Interface, ObjectGrant, is_read_only};

use super::executable;
use super::row::row_that_would_allow;
use super::{Line, ModuleRow, Policy};
use crate::model::catalog::{Claim, Effect};
use crate::model::digest::ComponentDigest;
use crate::model::ids::TypeName;
use crate::model::key::{Key, escape};

/// Whether a component's name is that of a module that is built into the program. Such names are reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// It is that very component.
    Same,
    /// It is another one, such as that of another version of the program.
    Other {
        /// The one that is built in.
        ours: ComponentDigest,
    },
}

/// Something that the resources of a module declare to touch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Want {
    /// A path.
    Path {
        /// What they do there.
        access: Access,
        /// A path, or one that ends in `/**` for all beneath it.
        path: Key,
    },
    /// Another object.
    Object {
        /// What kind.
        domain: Domain,
        /// What they do with it.
        verb: &'static str,
        /// Its name.
        name: String,
    },
    /// To hold another object, so that nobody else can.
    Hold {
        /// What kind.
        domain: Domain,
        /// Its name.
        name: String,
    },
}

impl Want {
    /// What an effect wants, if it is on objects that the host knows.
    pub fn of_effect(effect: &Effect) -> Vec<Self> {
        match Domain::from_word(&effect.domain) {
            Some(domain) => {
                let name = String::from_utf8_lossy(&effect.key.0).into_owned();
                let verbs = effect.actions.iter().filter_map(|action| domain.interface().verb(action));
                verbs.map(|verb| Self::Object { domain, verb, name: name.clone() }).collect()
            }
            None if effect.domain == PATH => {
                // To make a folder there is to change what is there: it has no word of its own in policy.
                let access = effect.actions.iter().filter_map(|action| match action.as_str() {
                    MAKE_DIRECTORY => Some(Access::Write),
                    word => Access::from_word(word),
                });
                access.map(|access| Self::Path { access, path: effect.key.clone() }).collect()
            }
            None => Vec::new(),
        }
    }

    /// What a claim wants, if it is on an object that the host knows. To hold it keeps others from it, which is no less than changing it.
    pub fn to_hold(claim: &Claim) -> Option<Self> {
        match Domain::from_word(&claim.domain) {
            Some(domain) => Some(Self::Hold { domain, name: String::from_utf8_lossy(&claim.key.0).into_owned() }),
            None => (claim.domain == PATH).then(|| Self::Path { access: Access::Write, path: claim.key.clone() }),
        }
    }

    /// What is wanted, for people: "to read `/etc/motd`".
    pub(super) fn words(&self) -> String {
        match self {
            Self::Path { access, path } => format!("to {} `{path}`", access.word()),
            Self::Object { domain, verb, name } => format!("to {verb} the {} `{}`", domain.word(), escape(name)),
            Self::Hold { domain, name } => format!("to hold the {} `{}`", domain.word(), escape(name)),
        }
    }
}

/// A component that asks to run here.
#[derive(Debug, Clone, Copy)]
pub struct ModuleIdentity<'a> {
    /// The resource type that it is to serve.
    pub name: &'a TypeName,
    /// Its bytes.
    pub digest: ComponentDigest,
    /// Whether its name is reserved.
    pub builtin: Option<Builtin>,
    /// What its resources declare.
    pub wants: &'a BTreeSet<Want>,
}

/// What the policy says of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a component that is refused must not be loaded"]
pub enum Decision {
    /// It may run, and do this.
    Granted {
        /// What it may do. The rights of a call are this and what the module asks for.
        grant: Box<Grant>,
        /// Which rule lets it, for the receipt.
        by: String,
    },
    /// It may not run.
    Refused(Refusal),
}

/// Why a component may not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// The reason.
    pub reason: String,
    /// The row that would allow it, if one can: to be put into the policy as it is.
    pub row: Option<String>,
}

/// A row that no module of a bundle makes use of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unused {
    /// Where it is.
    pub line: Line,
    /// What it is, for people.
    pub row: String,
}

impl Policy {
    /// What `module` may do, if it may run at all.
    ///
    /// One that is built in gets everything unless a row for its name says less; another version of a built-in gets the same if
    /// `builtins` lists its digest; any other one gets what rows with its name and digest say. `deny` goes before all of that.
    /// A module whose resources declare paths outside its grant is refused.
    pub fn decide(&self, module: &ModuleIdentity<'_>) -> Decision {
        match self.grant(module) {
            Ok((grant, by)) => match outside(module.name, module.digest, module.wants, &grant) {
                Some(refusal) => Decision::Refused(refusal),
                None => Decision::Granted { grant: Box::new(grant), by },
            },
            Err(refusal) => Decision::Refused(refusal),
        }
    }

    /// The rows that none of `modules` makes use of. Rows of `deny` are never listed: they are there for what is not to come.
    pub fn unused(&self, modules: &[(TypeName, ComponentDigest)]) -> Vec<Unused> {
        let is_used = |row: &ModuleRow| modules.iter().any(|(name, digest)| row.is_for(name, *digest));
        let rows = self.modules.iter().filter(|row| !is_used(row));
        let rows = rows.map(|row| Unused { line: row.line, row: format!("module \"{}\"", row.name) });
        let is_seen = |digest: &ComponentDigest| modules.iter().any(|(_, seen)| seen == digest);
        let digests = self.builtins.iter().filter(|(digest, _)| !is_seen(digest));
        let digests = digests.map(|(digest, line)| Unused { line: *line, row: format!("builtins: {digest}") });
        let mut unused: Vec<_> = rows.chain(digests).collect();
        unused.sort_by_key(|unused| unused.line);
        unused
    }

    fn grant(&self, module: &ModuleIdentity<'_>) -> Result<(Grant, String), Refusal> {
        self.check_denied(module)?;
        let rows: Vec<&ModuleRow> = self.modules.iter().filter(|row| row.is_for(module.name, module.digest)).collect();
        let mut by = match module.builtin {
            Some(Builtin::Same) => "built in".to_owned(),
            Some(Builtin::Other { ours }) => match self.builtins.get(&module.digest) {
                Some(line) => format!("`builtins`, line {line}"),
                None => return Err(other_version(module, ours)),
            },
            None if rows.is_empty() => return Err(self.no_row(module)),
            None => String::new(),
        };
        let mut grant = if module.builtin.is_some() { Grant::requested(true) } else { Grant::none() };
        grant.files = self.files(grant.files, module.builtin.is_some(), &rows);
        grant.objects = self.objects(module.builtin.is_some(), &rows);
        grant.accounts &= rows.iter().all(|row| row.accounts != Some(false));
        grant.facts &= rows.iter().all(|row| row.facts != Some(false));
        grant.limits = limits(&rows);
        for row in rows {
            let comma = if by.is_empty() { "" } else { ", " };
            by += &format!("{comma}`module`, line {}", row.line);
        }
        Ok((grant, by))
    }

    fn check_denied(&self, module: &ModuleIdentity<'_>) -> Result<(), Refusal> {
        let by_name = self.deny.modules.get(module.name);
        let Some(line) = by_name.or_else(|| self.deny.digests.get(&module.digest)) else { return Ok(()) };
        let reason = format!("the policy denies the module `{}` ({}), in line {line}", module.name, module.digest);
        Err(Refusal { reason, row: None })
    }

    /// What several rows say together: paths of any row, words of any row unless another one says `false`.
    fn files(&self, requested: FileGrant, builtin: bool, rows: &[&ModuleRow]) -> FileGrant {
        let lists_paths = rows.iter().any(|row| row.files.read.is_some() || row.files.write.is_some());
        let everything = builtin && !lists_paths;
        let paths = |of: fn(&ModuleRow) -> &Option<Vec<PathPattern>>| {
            rows.iter().filter_map(|row| of(row).as_ref()).flatten().cloned().collect()
        };
        let word = |of: fn(&ModuleRow) -> Option<bool>| {
            let says = |value| rows.iter().any(|row| of(row) == Some(value));
            !says(false) && (everything || says(true))
        };
        let denied = rows.iter().flat_map(|row| &row.files.deny).chain(&self.deny.files);
        FileGrant {
            read: if everything { requested.read } else { paths(|row| &row.files.read) },
            write: if everything { requested.write } else { paths(|row| &row.files.write) },
            deny: denied.cloned().collect(),
            setuid: word(|row| row.files.setuid),
            chown: word(|row| row.files.chown),
            links: word(|row| row.files.links),
        }
    }

    /// What several rows say together. Of an interface that none says anything of, a built-in module gets everything.
    fn objects(&self, builtin: bool, rows: &[&ModuleRow]) -> ObjectGrant {
        let mut grant = ObjectGrant { deny: self.deny.objects.clone(), ..ObjectGrant::default() };
        if builtin {
            let unsaid = |interface: &Interface| !rows.iter().any(|row| row.objects.said.contains(interface));
            grant.everything = Interface::ALL.into_iter().filter(unsaid).collect();
        }
        for row in rows.iter().map(|row| &row.objects) {
            grant.rows.extend(row.rows.iter().cloned());
            grant.maintenance.extend(&row.maintenance);
            for (verb, commands) in &row.commands {
                grant.commands.entry(verb).or_default().extend(commands.iter().cloned());
            }
        }
        let says = |value| rows.iter().any(|row| row.objects.unconfined_queries == Some(value));
        grant.unconfined_queries = says(true) && !says(false);
        grant
    }

    fn no_row(&self, module: &ModuleIdentity<'_>) -> Refusal {
        if let Some(refusal) = never(module.name, module.wants) {
            return refusal;
        }
        if let Some(refusal) = never_together(module.name, &Grant::none(), module.wants) {
            return refusal;
        }
        let same_name = self.modules.iter().find(|row| row.name == *module.name);
        let same_digest = self.modules.iter().find(|row| row.digest == Some(module.digest));
        let more = match (same_name, same_digest) {
            (Some(row), _) => format!("; line {} has a row for another version of it", row.line),
            (None, Some(row)) => format!("; line {} has a row for its digest under the name `{}`", row.line, row.name),
            (None, None) => String::new(),
        };
        let reason = format!("no policy row allows the module `{}` ({}){more}", module.name, module.digest);
        Refusal { reason, row: Some(row_that_would_allow(module.name, module.digest, module.wants)) }
    }
}

impl ModuleRow {
    fn is_for(&self, name: &TypeName, digest: ComponentDigest) -> bool {
        self.name == *name && self.digest.is_none_or(|own| own == digest)
    }
}

/// The refusal of the module `name`, whose resources declare something outside `grant`; none if all of `wants` is granted.
pub fn outside(name: &TypeName, digest: ComponentDigest, wants: &BTreeSet<Want>, grant: &Grant) -> Option<Refusal> {
    if let Some(refusal) = never(name, wants) {
        return Some(refusal);
    }
    if let Some((want, pattern)) = wants.iter().find_map(|want| Some((want, denied_by(grant, want)?))) {
        let reason = format!("`{name}` declares {}, and the policy denies `{}`", want.words(), escape(&pattern));
        return Some(Refusal { reason, row: None });
    }
    let missing: BTreeSet<Want> = wants.iter().filter(|want| !is_granted(grant, want)).cloned().collect();
    let first = missing.first()?;
    if let Some(refusal) = never_together(name, grant, &missing) {
        return Some(refusal);
    }
    let and_more = if missing.len() > 1 { format!(" and {} more", missing.len() - 1) } else { String::new() };
    let reason = format!("`{name}` declares {}{and_more}, which the policy does not grant it", first.words());
    Some(Refusal { reason, row: Some(row_that_would_allow(name, digest, &missing)) })
}

/// The refusal of what no row can grant.
fn never(name: &TypeName, wants: &BTreeSet<Want>) -> Option<Refusal> {
    let want = wants.iter().find(|want| is_never(want))?;
    let reason = format!("`{name}` declares {}, which can never be granted", want.words());
    Some(Refusal { reason, row: None })
}

/// The refusal of what no row can grant beside `grant`.
fn never_together(name: &TypeName, grant: &Grant, wants: &BTreeSet<Want>) -> Option<Refusal> {
    let both = executable::would_meet(grant, wants)?;
    let reason = format!("`{name}` declares {both}, which can never be granted together");
    Some(Refusal { reason, row: None })
}

fn is_never(want: &Want) -> bool {
    match want {
        Want::Path { path, .. } => NEVER.iter().any(|folder| lies_in(&path.0, folder)),
        Want::Object { .. } | Want::Hold { .. } => false,
    }
}

/// The pattern of `deny` that has what is wanted.
fn denied_by(grant: &Grant, want: &Want) -> Option<String> {
    match want {
        Want::Path { path, .. } => {
            grant.files.deny.iter().find(|pattern| touches(pattern, &path.0)).map(|pattern| pattern.as_str().to_owned())
        }
        Want::Object { domain, name, .. } | Want::Hold { domain, name } => {
            grant.objects.denies(*domain, name).map(|pattern| pattern.as_str().to_owned())
        }
    }
}

fn other_version(module: &ModuleIdentity<'_>, ours: ComponentDigest) -> Refusal {
    let reason = format!(
        "the module `{}` ({}) is not the one that this program has built in ({ours}), and its name is reserved",
        module.name, module.digest
    );
    Refusal { reason, row: Some(format!("builtins {{\n  digests = [\"{}\"]\n}}", module.digest)) }
}

/// The tightest of the limits that rows say.
fn limits(rows: &[&ModuleRow]) -> Limits {
    Limits {
        memory: rows.iter().filter_map(|row| row.limits.memory).min(),
        deadline: rows.iter().filter_map(|row| row.limits.deadline).min(),
    }
}

/// The folder, if `path` is everything beneath one.
fn tree(path: &[u8]) -> Option<&[u8]> {
    let folder = path.strip_suffix(b"/**")?;
    Some(if folder.is_empty() { b"/" } else { folder })
}

fn is_granted(grant: &Grant, want: &Want) -> bool {
    match want {
        Want::Path { access, path } => is_path_granted(&grant.files, *access, &path.0),
        Want::Object { domain: Domain::Process, verb, name } => grant.objects.may_grant_program(verb, name),
        Want::Object { domain, verb, name } => grant.objects.grants(*domain, verb, name),
        Want::Hold { domain, name } => changing(*domain).any(|verb| grant.objects.grants(*domain, verb, name)),
    }
}

/// What changes an object.
pub(super) fn changing(domain: Domain) -> impl Iterator<Item = &'static str> {
    domain.verbs().iter().copied().filter(|verb| !is_read_only(verb))
}

fn is_path_granted(files: &FileGrant, access: Access, path: &[u8]) -> bool {
    let patterns = match access {
        Access::Read => &files.read,
        Access::Write => &files.write,
    };
    patterns.iter().any(|pattern| match tree(path) {
        Some(folder) => pattern.covers_beneath(folder),
        None => pattern.matches(path),
    })
}

fn touches(pattern: &PathPattern, path: &[u8]) -> bool {
    match tree(path) {
        Some(folder) => pattern.touches_beneath(folder),
        None => pattern.matches(path),
    }
}

/// Whether `path` is `folder` or beneath it.
pub(super) fn lies_in(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
