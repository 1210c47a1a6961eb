//! The one place where a host call is allowed or refused.
//!
//! A call needs all of: the phase, an open intent if it changes the node, the resource's effects, what the module asked for, and what
//! policy grants. The first that forbids it makes the [`Denial`], which names the rule, and the policy row that would allow it where a
//! row can. Nothing on the node is looked at here.

use std::fmt;

use crate::assets::policy::Use;
use crate::call::HostCall;
use crate::grant::{Access, Grant};
use crate::objects::{ArgumentsPattern, Domain, Interface};
use crate::phase::{Phase, Reach};
use crate::processes::policy::Verb;
use crate::rights::Rights;
use crate::text::escape_bytes;
use crate::{accounts, assets, backends, facts, files, openrc, packages, processes, systemd};

/// What a call is held against: the rights of the attempt and where the attempt is.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// The attempt's rights.
    pub rights: &'a Rights,
    /// Where the attempt is.
    pub phase: Phase,
    /// Whether an intent of this attempt is on disk and open.
    pub intent_open: bool,
    /// The name recorded for what this operation stages.
    pub staging_name: Option<&'a str>,
    /// User and group that the run has.
    pub run_as: (u32, u32),
}

/// The rule that forbids a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// The phase does not allow this kind of call.
    Phase {
        /// The phase.
        phase: Phase,
        /// The kind of call.
        reach: Reach,
    },
    /// A change before the intent is on disk, or after it was settled.
    NoIntent,
    /// The resource's effects do not name the object.
    Effects {
        /// The access that an effect would have to name.
        access: Access,
    },
    /// The resource's effects do not name the object, or not with what is to be done.
    ObjectEffects {
        /// What kind of object.
        domain: Domain,
        /// What was to be done.
        verb: &'static str,
    },
    /// The resource's effects name the package at another version.
    PackageVersion,
    /// A change of packages after a change of the same attempt was denied.
    AfterDenial,
    /// A change of packages that its manager has no words for.
    PackageWords {
        /// What is wrong.
        what: String,
    },
    /// The module's `describe` does not ask for it.
    NotAsked {
        /// The right: `files.write`.
        right: String,
    },
    /// Policy does not grant it.
    NotGranted {
        /// The access that was wanted.
        access: Access,
        /// The path that the grant would have to have: as declared, or what symbolic links in its parents lead to.
        path: Vec<u8>,
        /// Whether all beneath it is wanted too.
        beneath: bool,
    },
    /// Policy does not grant doing it with that object.
    ObjectNotGranted {
        /// What kind of object.
        domain: Domain,
        /// What was to be done.
        verb: &'static str,
        /// Its name.
        name: String,
    },
    /// Policy does not grant the command line.
    CommandNotGranted {
        /// `query` or `run`.
        verb: &'static str,
        /// The program and its arguments; none stands for a sensitive value.
        arguments: Vec<Option<String>>,
    },
    /// Policy does not grant the shared action.
    MaintenanceNotGranted {
        /// The interface.
        interface: Interface,
        /// The action.
        verb: &'static str,
    },
    /// Policy does not grant the interface.
    InterfaceNotGranted {
        /// The interface.
        interface: &'static str,
    },
    /// A `deny` pattern of policy has the path.
    PolicyDenies {
        /// The pattern.
        pattern: String,
    },
    /// Policy has a word for this and does not say it.
    Word {
        /// The word: `setuid`, `chown`, `links`.
        word: &'static str,
        /// What it is for.
        what: &'static str,
    },
    /// The object is one that no policy can grant.
    Protected {
        /// What is protected, for people.
        what: String,
    },
    /// The resource's `validate` did not list the asset.
    AssetNotListed,
    /// A sensitive asset, which no guest may read.
    SensitiveAsset,
    /// Content that may be a sensitive value, which no guest may read.
    SensitiveContent,
    /// A slot of another resource.
    ForeignSecret,
    /// Not the staging name recorded for this operation.
    StagingName,
    /// The resource's type has no providers, so there is none to call.
    NoProvider,
    /// Another resource of the run holds the same object under another path.
    Held {
        /// That resource.
        by: String,
        /// The path under which it declared the object.
        path: String,
    },
}

/// A refused call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{call}` on `{subject}` is denied: {rule}")]
pub struct Denial {
    /// The function, `files.object.stage`.
    pub call: String,
    /// The object, as the guest named it, escaped.
    pub subject: String,
    /// Whether the call would have changed the node.
    pub changes: bool,
    /// The rule that forbids it.
    pub rule: Rule,
    /// The policy row that would allow it, in the syntax of policy files, where a row can.
    pub row: Option<String>,
}

/// Allows `call`, or says which rule forbids it.
///
/// For calls about files this is asked twice: with what the guest said before anything is looked at, and with `resolved`, where
/// symbolic links in the parents lead, before the object is touched.
///
/// # Errors
/// The denial.
pub fn authorize(standing: &Standing<'_>, call: &HostCall, resolved: Option<&[u8]>) -> Result<(), Box<Denial>> {
    let allowed = by_phase(standing, call).and_then(|()| by_interface(standing, call, resolved));
    allowed.map_err(|rule| Box::new(Denial::new(standing, call, rule)))
}

fn by_phase(standing: &Standing<'_>, call: &HostCall) -> Result<(), Rule> {
    let reach = call.reach();
    if !standing.phase.allows(reach) {
        return Err(Rule::Phase { phase: standing.phase, reach });
    }
    if call.changes() && !standing.intent_open {
        return Err(Rule::NoIntent);
    }
    Ok(())
}

fn by_interface(standing: &Standing<'_>, call: &HostCall, resolved: Option<&[u8]>) -> Result<(), Rule> {
    match call {
        HostCall::FilesObjectOpen { .. }
        | HostCall::FilesObjectObserve { .. }
        | HostCall::FilesObjectDestination { .. }
        | HostCall::FilesObjectRead { .. }
        | HostCall::FilesObjectStage { .. }
        | HostCall::FilesObjectSetAttributes { .. }
        | HostCall::FilesObjectMakeDirectory { .. }
        | HostCall::FilesObjectMakeSymlink { .. }
        | HostCall::FilesObjectRemove { .. }
        | HostCall::FilesStagedCommit { .. }
        | HostCall::FilesStagedCommitKeeping { .. }
        | HostCall::FilesDiscardStaged { .. } => files::policy::permit(standing, call, resolved),
        HostCall::FilesStagedValidate { command, .. } => files::policy::permit(standing, call, resolved)
            .and_then(|()| processes::policy::permit(standing, Verb::Query, command)),
        HostCall::AssetsSize { asset } => assets::policy::permit(standing, asset, Use::Size),
        HostCall::AssetsRead { asset, .. } => assets::policy::permit(standing, asset, Use::Bytes),
        HostCall::ProcessesQuery { command } => processes::policy::permit(standing, Verb::Query, command),
        HostCall::ProcessesRun { command } => processes::policy::permit(standing, Verb::Run, command),
        HostCall::AccountsFindUser { .. }
        | HostCall::AccountsFindGroup { .. }
        | HostCall::AccountsReadUser { .. }
        | HostCall::AccountsReadGroup { .. } => accounts::policy::permit_lookup(standing),
        HostCall::AccountsReadLogin { .. }
        | HostCall::AccountsPasswordMatches { .. }
        | HostCall::AccountsCreateUser { .. }
        | HostCall::AccountsChangeUser { .. }
        | HostCall::AccountsDeleteUser { .. }
        | HostCall::AccountsCreateGroup { .. }
        | HostCall::AccountsChangeGroup { .. }
        | HostCall::AccountsDeleteGroup { .. } => accounts::policy::permit(standing, call),
        HostCall::FactsGet { .. } => facts::policy::permit(standing),
        HostCall::BackendsSelected
        | HostCall::BackendsInspect
        | HostCall::BackendsRead
        | HostCall::BackendsApply
        | HostCall::BackendsRefresh
        | HostCall::BackendsPerform { .. }
        | HostCall::BackendsRecover => backends::policy::permit(standing),
        HostCall::PackagesQuery { subjects, .. } => packages::policy::permit_query(standing, subjects),
        HostCall::PackagesIndex { .. } | HostCall::PackagesCompareVersions { .. } => packages::policy::permit_look(standing),
        HostCall::PackagesApply { transaction, .. } => packages::policy::permit_transaction(standing, transaction),
        HostCall::PackagesInstallFile { asset, change, .. } => packages::policy::permit_file(standing, asset, change),
        HostCall::PackagesRefreshIndex { .. } => packages::policy::permit_refresh(standing),
        HostCall::Systemd(call) => systemd::policy::permit(standing, call),
        HostCall::Openrc(call) => openrc::policy::permit(standing, call),
        // To wait or to say something touches nothing; time and size are capped where it is done.
        HostCall::LogWrite { .. } | HostCall::ProcessesPause { .. } => Ok(()),
    }
}

impl Denial {
    /// What would allow the call: the policy row, in words.
    pub fn hint(&self) -> Option<String> {
        self.row.as_ref().map(|row| format!("the node's owner can allow it with this row in the policy file:\n{row}"))
    }

    pub(crate) fn new(standing: &Standing<'_>, call: &HostCall, rule: Rule) -> Self {
        let row = row(&standing.rights.module, &rule).filter(|_| !would_write_what_runs(&standing.rights.grant, &rule));
        Self { call: call.name(), subject: call.subject(), changes: call.changes(), rule, row }
    }
}

/// The policy row that would lift `rule`.
fn row(module: &crate::rights::Module, rule: &Rule) -> Option<String> {
    let setting = match rule {
        Rule::NotGranted { access, path, beneath } => {
            let path = literal(path)?;
            let beneath = if *beneath { format!(", \"{path}/**\"") } else { String::new() };
            format!("files {{ {} = [\"{path}\"{beneath}] }}", access.word())
        }
        Rule::Word { word, .. } => format!("files {{ {word} = true }}"),
        Rule::ObjectNotGranted { domain, verb, name } => object_row(*domain, verb, name)?,
        Rule::CommandNotGranted { verb, arguments } => {
            let argument = |argument: &Option<String>| match argument {
                Some(text) => literal(text.as_bytes()).map(|text| format!("\"{text}\"")),
                None => Some("\"*\"".to_owned()),
            };
            let arguments: Option<Vec<String>> = arguments.iter().map(argument).collect();
            format!("processes {{ {verb} = [[{}]] }}", arguments?.join(", "))
        }
        Rule::MaintenanceNotGranted { interface, verb } => format!("{} {{ verbs = [\"{verb}\"] }}", interface.word()),
        _ => return None,
    };
    Some(format!("module \"{}\" {{\n  digest = \"{}\"\n  {setting}\n}}", module.name, module.digest))
}

/// Whether to lift `rule` would let a module run what it may write, which no policy file can say.
fn would_write_what_runs(grant: &Grant, rule: &Rule) -> bool {
    let is_written = |program: &str| grant.files.write.iter().any(|pattern| pattern.matches(program.as_bytes()));
    let is_run = |path: &[u8]| {
        let mut programs = grant.objects.commands.values().flatten().map(ArgumentsPattern::program);
        std::str::from_utf8(path).is_ok_and(|path| programs.any(|program| program.matches(path)))
    };
    !grant.builtin
        && match rule {
            Rule::CommandNotGranted { arguments, .. } => arguments.first().and_then(Option::as_deref).is_some_and(is_written),
            Rule::ObjectNotGranted { domain: Domain::Process, name, .. } => is_written(name),
            Rule::NotGranted { access: Access::Write, path, .. } => is_run(path),
            _ => false,
        }
}

/// The setting that grants doing this with the object `name`.
fn object_row(domain: Domain, verb: &str, name: &str) -> Option<String> {
    let name = literal(name.as_bytes())?;
    let list = match domain {
        Domain::Package => "names",
        Domain::Unit => "units",
        Domain::User => "users",
        Domain::Group => "groups",
        Domain::Process => return Some(format!("processes {{ {verb} = [[\"{name}\", \"**\"]] }}")),
    };
    let interface = domain.interface().word();
    Some(format!("{interface} {{\n    {list} = [\"{name}\"]\n    verbs = [\"{verb}\"]\n  }}"))
}

/// `path` as it can stand in a policy file and mean itself alone.
fn literal(path: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(path).ok()?;
    let special = |c: char| c.is_control() || matches!(c, '"' | '\\' | '*' | '$' | '%');
    (!text.contains(special)).then_some(text)
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Phase { phase, reach } => write!(f, "the {phase} phase does not allow {reach}"),
            Rule::NoIntent => f.write_str("no intent of this resource is on record"),
            Rule::Effects { access } => write!(f, "the resource's effects do not name it with the action `{}`", access.word()),
            Rule::ObjectEffects { domain, verb } => {
                write!(f, "the resource's effects do not name this {} with the action `{verb}`", domain.word())
            }
            Rule::ObjectNotGranted { domain, verb, .. } => {
                write!(f, "policy does not grant the module `{}.{verb}` for it", domain.interface().word())
            }
            Rule::CommandNotGranted { verb, .. } => {
                write!(f, "policy does not grant the module `processes.{verb}` with these arguments")
            }
            Rule::MaintenanceNotGranted { interface, verb } => {
                write!(f, "policy does not grant the module `{}.{verb}`", interface.word())
            }
            Rule::PackageVersion => f.write_str("the resource's effects name the package at another version"),
            Rule::AfterDenial => f.write_str("a change was denied in this attempt, and none is made after that"),
            Rule::PackageWords { what } => f.write_str(what),
            Rule::NotAsked { right } => write!(f, "the module does not ask for `{right}` there in `describe`"),
            // The path may be one that the guest does not know, so the text does not name it.
            Rule::NotGranted { access, .. } => write!(f, "policy does not grant the module `files.{}` there", access.word()),
            Rule::InterfaceNotGranted { interface } => write!(f, "policy does not grant the module `{interface}`"),
            Rule::PolicyDenies { pattern } => write!(f, "policy denies `{}`", escape_bytes(pattern.as_bytes())),
            Rule::Word { word, what } => write!(f, "{what} needs the word `{word}` in policy"),
            Rule::Protected { what } => write!(f, "{what} can never be granted"),
            Rule::AssetNotListed => f.write_str("the resource did not list this asset"),
            Rule::SensitiveAsset => f.write_str("the asset is sensitive"),
            Rule::SensitiveContent => f.write_str("the resource has sensitive assets, and its content may be one of them"),
            Rule::ForeignSecret => f.write_str("the sensitive value belongs to another resource"),
            Rule::StagingName => f.write_str("it is not the staging name recorded for this operation"),
            Rule::NoProvider => f.write_str("no provider was selected for the resource"),
            Rule::Held { by, path } => write!(f, "`{by}` holds the same object as `{path}`"),
        }
    }
}

#[cfg(test)]
mod tests;
