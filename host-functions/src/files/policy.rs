//! Which paths may be read and changed, and what a change may set.

use std::collections::BTreeSet;

use super::keep::{kept_count, kept_name};
use super::path::{is_beneath, lexical_target, split};
pub use super::pattern::{PathPattern, PatternError};
use crate::assets;
use crate::assets::policy::Use;
use crate::authorize::{Rule, Standing};
use crate::call::{Attributes, Content, HostCall};
use crate::grant::{Access, Ask};

/// Folders that no policy can grant: through them a file call reaches processes, the kernel and devices.
pub const NEVER: [&[u8]; 3] = [b"/proc", b"/sys", b"/dev"];

/// The set-user-ID, set-group-ID and sticky bits.
pub const SPECIAL_BITS: u32 = 0o7000;

/// The set-user-ID and set-group-ID bits.
pub const SET_ID_BITS: u32 = 0o6000;

/// Holds a call about files against effects, asks and grant. With `resolved`, the path after symbolic links in its parents, the
/// grant must allow that too.
pub(crate) fn permit(standing: &Standing<'_>, call: &HostCall, resolved: Option<&[u8]>) -> Result<(), Rule> {
    let Some((access, declared)) = call.path() else { return Ok(()) };
    let beneath = matches!(call, HostCall::FilesObjectRemove { recursive: true, .. });
    by_effects(standing, call, access, declared.as_bytes(), beneath)?;
    by_asks(standing, access, declared.as_bytes(), beneath)?;
    let mut paths = BTreeSet::from([declared.as_bytes()]);
    paths.extend(resolved);
    for path in paths {
        by_grant(standing, access, path, beneath)?;
    }
    if matches!(call, HostCall::FilesStagedCommitKeeping { .. }) {
        by_kept(standing, declared.as_bytes(), resolved)?;
    }
    by_arguments(standing, call, resolved.unwrap_or(declared.as_bytes()))
}

/// Each name under which what is replaced would be kept.
fn by_kept(standing: &Standing<'_>, declared: &[u8], resolved: Option<&[u8]>) -> Result<(), Rule> {
    let count = kept_count(&standing.rights.effects, declared);
    if count == 0 {
        return Err(Rule::Effects { access: Access::Write });
    }
    for number in 0..=count {
        by_asks(standing, Access::Write, &kept_name(declared, number), false)?;
        for path in std::iter::once(declared).chain(resolved) {
            by_grant(standing, Access::Write, &kept_name(path, number), false)?;
        }
    }
    Ok(())
}

fn by_effects(standing: &Standing<'_>, call: &HostCall, access: Access, path: &[u8], beneath: bool) -> Result<(), Rule> {
    let effects = &standing.rights.effects;
    let whole = !beneath || effects.iter().any(|effect| effect.permits_beneath(access, path));
    let named = whole && effects.iter().any(|effect| effect.permits(access, path));
    let made = makes_plain_directory(call) && effects.iter().any(|effect| effect.permits_making(path));
    if named || made { Ok(()) } else { Err(Rule::Effects { access }) }
}

/// Whether the call makes a directory as the system gives it, or removes what a lost run left of making one.
fn makes_plain_directory(call: &HostCall) -> bool {
    match call {
        HostCall::FilesObjectMakeDirectory { attributes, .. } => *attributes == Attributes::default(),
        HostCall::FilesDiscardStaged { .. } => true,
        _ => false,
    }
}

/// Whether the resource holds `path`, so that no other resource of the run may change it under another name. Who may only make a folder there
/// does not: others may need it too.
pub(crate) fn holds(standing: &Standing<'_>, path: &[u8]) -> bool {
    standing.rights.effects.iter().any(|effect| effect.permits(Access::Write, path))
}

fn by_asks(standing: &Standing<'_>, access: Access, path: &[u8], beneath: bool) -> Result<(), Rule> {
    let patterns = standing.rights.asks.iter().filter_map(|ask| match ask {
        Ask::Files(asked, pattern) if *asked == access => Some(pattern),
        _ => None,
    });
    if covered(patterns, path, beneath) { Ok(()) } else { Err(Rule::NotAsked { right: format!("files.{}", access.word()) }) }
}

fn by_grant(standing: &Standing<'_>, access: Access, path: &[u8], beneath: bool) -> Result<(), Rule> {
    if NEVER.iter().any(|never| *never == path || is_beneath(path, never)) {
        return Err(Rule::Protected { what: "`/proc`, `/sys` and `/dev`".to_owned() });
    }
    let files = &standing.rights.grant.files;
    let denied = files.deny.iter().find(|deny| deny.matches(path) || (beneath && deny.touches_beneath(path)));
    if let Some(pattern) = denied {
        return Err(Rule::PolicyDenies { pattern: pattern.to_string() });
    }
    let patterns = match access {
        Access::Read => &files.read,
        Access::Write => &files.write,
    };
    if covered(patterns, path, beneath) { Ok(()) } else { Err(Rule::NotGranted { access, path: path.to_vec(), beneath }) }
}

/// Whether one of `patterns` has `path`, and one all beneath it if that is wanted.
fn covered<'p>(patterns: impl IntoIterator<Item = &'p PathPattern>, path: &[u8], beneath: bool) -> bool {
    let (mut itself, mut below) = (false, !beneath);
    for pattern in patterns {
        itself |= pattern.matches(path);
        below |= pattern.covers_beneath(path);
    }
    itself && below
}

/// What goes beyond changing a path: special bits, other owners, links that lead elsewhere, assets of others.
fn by_arguments(standing: &Standing<'_>, call: &HostCall, path: &[u8]) -> Result<(), Rule> {
    if let Some(attributes) = call.attributes() {
        by_attributes(standing, attributes)?;
    }
    match call {
        HostCall::FilesObjectStage { content: Content::Asset(asset), .. } => assets::policy::permit(standing, asset, Use::Place),
        HostCall::FilesObjectRead { .. } if standing.rights.conceals_content() => Err(Rule::SensitiveContent),
        HostCall::FilesObjectMakeSymlink { target, .. } => by_link_target(standing, target, path),
        HostCall::FilesDiscardStaged { staging_name, .. } if standing.staging_name != Some(staging_name.as_str()) => {
            Err(Rule::StagingName)
        }
        _ => Ok(()),
    }
}

fn by_attributes(standing: &Standing<'_>, attributes: &Attributes) -> Result<(), Rule> {
    let files = &standing.rights.grant.files;
    if !files.setuid && attributes.mode.is_some_and(|mode| mode & SPECIAL_BITS != 0) {
        return Err(Rule::Word { word: "setuid", what: "setting set-user-ID, set-group-ID or sticky bits" });
    }
    let (uid, gid) = standing.run_as;
    let another = attributes.owner.is_some_and(|owner| owner != uid) || attributes.group.is_some_and(|group| group != gid);
    if !files.chown && another {
        return Err(Rule::Word { word: "chown", what: "giving a file to another owner or group" });
    }
    Ok(())
}

fn by_link_target(standing: &Standing<'_>, target: &[u8], path: &[u8]) -> Result<(), Rule> {
    let files = &standing.rights.grant.files;
    if files.links {
        return Ok(());
    }
    let folder = split(path).map_or(&b"/"[..], |(folder, _)| folder);
    let points_at = lexical_target(folder, target);
    let outside = by_grant(standing, Access::Write, &points_at, false).is_err();
    if outside {
        Err(Rule::Word { word: "links", what: "a symbolic link that points outside the paths it may write" })
    } else {
        Ok(())
    }
}

/// For a module that is not built in: the literal folder of the pattern that lets it at `path`, below which the kernel is told to stay.
pub(crate) fn confinement(standing: &Standing<'_>, access: Access, path: &[u8]) -> Option<Vec<u8>> {
    let grant = &standing.rights.grant;
    if grant.builtin {
        return None;
    }
    let patterns = match access {
        Access::Read => &grant.files.read,
        Access::Write => &grant.files.write,
    };
    let folder = patterns.iter().find(|pattern| pattern.matches(path))?.literal_folder();
    // A pattern without a star is the path itself: then it is the folder that holds it.
    if folder == path { split(path).map(|(parent, _)| parent.to_vec()) } else { Some(folder) }
}
