//! Rights that a confined program gives up for good, in the process that becomes it.

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, PathFdError, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
};

use super::super::order::Failure;
use super::calls;
use super::mounts::SCRATCH;

/// The newest version of Landlock whose rights are known here. An older kernel is held to those that it knows.
const NEWEST: ABI = ABI::V6;

/// Sees to it that neither this process nor what it runs can ever have a capability, being root or not. What it has now it keeps
/// until [`restrict`].
pub(in super::super) fn give_up_capabilities() -> Result<(), Failure> {
    let failed = |errno| Failure::confine("giving up capabilities", errno);
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // One that this kernel does not have.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(errno) => return Err(failed(errno)),
        }
    }
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    set_capabilities_secure_bits(bits).map_err(failed)
}

/// Gives up every right to change something. Nothing that needs one may come after.
pub(in super::super) fn restrict() -> Result<(), Failure> {
    let failed = |errno| Failure::confine("giving up capabilities", errno);
    clear_ambient_capability_set().map_err(failed)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none }).map_err(failed)?;
    set_no_new_privs(true).map_err(failed)?;
    restrict_files()?;
    calls::restrict()
}

fn restrict_files() -> Result<(), Failure> {
    let failed = |error: &dyn std::error::Error| Failure::confine("limiting files by Landlock", error);
    let all = AccessFs::from_all(NEWEST);
    let reading = AccessFs::from_read(NEWEST);
    let own = all & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)
        .and_then(|ruleset| ruleset.scope(Scope::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .map_err(|error| failed(&error))?;
    let scratch = SCRATCH.iter().map(|path| (*path, own));
    let devices = ["/dev/null", "/dev/zero", "/dev/urandom"].map(|path| (path, device));
    let mut ruleset = ruleset;
    for (path, access) in [("/", reading)].into_iter().chain(scratch).chain(devices) {
        match PathFd::new(path) {
            Ok(fd) => ruleset = ruleset.add_rule(PathBeneath::new(fd, access)).map_err(|error| failed(&error))?,
            // A root that lacks it.
            Err(PathFdError::OpenCall { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&error)),
        }
    }
    let status = ruleset.restrict_self().map_err(|error| failed(&error))?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err(Failure::confine("limiting files by Landlock", "the kernel does not have it, or it is switched off"));
    }
    Ok(())
}
