//! Who may do what with such an object: effects, then what the module asks for, then what policy grants.

use super::{ANY, Domain, Interface};
use crate::authorize::{Rule, Standing};
use crate::effects::Effect;
use crate::grant::Ask;

/// Holds a call about the object `name` against effects, asks and grant.
///
/// An effect on the object with whatever action lets its state be read.
pub(crate) fn permit(standing: &Standing<'_>, domain: Domain, verb: &'static str, name: &str) -> Result<(), Rule> {
    by_effects(standing, domain, verb, name)?;
    by_asks(standing, domain.interface(), verb, name)?;
    let objects = &standing.rights.grant.objects;
    if let Some(pattern) = objects.denies(domain, name) {
        return Err(Rule::PolicyDenies { pattern: pattern.to_string() });
    }
    if domain.interface() == Interface::Accounts && verb == "read" && !standing.rights.grant.accounts {
        return Err(Rule::InterfaceNotGranted { interface: "accounts" });
    }
    if objects.grants(domain, verb, name) { Ok(()) } else { Err(Rule::ObjectNotGranted { domain, verb, name: name.to_owned() }) }
}

/// Holds a program and its arguments against effects, asks and grant. An argument that is none is a sensitive value.
#[expect(dead_code, reason = "for the interface `processes`")]
pub(crate) fn permit_command(standing: &Standing<'_>, verb: &'static str, arguments: &[Option<&str>]) -> Result<(), Rule> {
    let program = arguments.first().copied().flatten().unwrap_or_default();
    by_effects(standing, Domain::Process, verb, program)?;
    by_asks(standing, Interface::Processes, verb, program)?;
    let objects = &standing.rights.grant.objects;
    if let Some(pattern) = objects.denies(Domain::Process, program) {
        return Err(Rule::PolicyDenies { pattern: pattern.to_string() });
    }
    if objects.grants_command(verb, arguments) {
        return Ok(());
    }
    let arguments = arguments.iter().map(|argument| argument.map(str::to_owned)).collect();
    Err(Rule::CommandNotGranted { verb, arguments })
}

/// Holds a shared action against what the module asks for and is granted. That it is one of the resource's prerequisites, the engine sees to.
pub(crate) fn permit_maintenance(standing: &Standing<'_>, interface: Interface, verb: &'static str) -> Result<(), Rule> {
    by_asks(standing, interface, verb, ANY)?;
    if standing.rights.grant.objects.grants_maintenance(interface, verb) {
        Ok(())
    } else {
        Err(Rule::MaintenanceNotGranted { interface, verb })
    }
}

fn by_effects(standing: &Standing<'_>, domain: Domain, verb: &'static str, name: &str) -> Result<(), Rule> {
    let permits = |effect: &Effect| effect.permits_object(domain, verb, name);
    if standing.rights.effects.iter().any(permits) { Ok(()) } else { Err(Rule::ObjectEffects { domain, verb }) }
}

fn by_asks(standing: &Standing<'_>, interface: Interface, verb: &'static str, name: &str) -> Result<(), Rule> {
    let asked = |ask: &Ask| match ask {
        Ask::Object { interface: of, verb: asked, names } => *of == interface && *asked == verb && names.matches(name),
        Ask::Accounts => interface == Interface::Accounts && verb == "read",
        Ask::Files(..) | Ask::Facts => false,
    };
    if standing.rights.asks.iter().any(asked) {
        Ok(())
    } else {
        Err(Rule::NotAsked { right: format!("{}.{verb}", interface.word()) })
    }
}
