//! What is at the path on the node.

use runtime_sdk::files::{self, Detail, Kind, Observation};
use runtime_sdk::node::unchanged;
use runtime_sdk::{Bytes, Diagnostic, HostCall as _, NodeResult, Principal};
use serde::{Serialize, Serializer};

use crate::desired::{Desired, Ensure, folders_above};
use crate::links::Links;
use crate::mode::Mode;

/// What was read from the node for one resource.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct State {
    /// What is at the path; none if nothing is.
    pub object: Option<Object>,
    /// Where the link at the path leads, if one is followed: the object is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The folders on the way that are not there and are to be made, the topmost first.
    #[serde(skip)]
    pub missing: Vec<String>,
    /// The numeric id of the desired owner on this node; none if no owner is desired, or nobody has its name yet.
    #[serde(skip)]
    pub owner: Option<u32>,
    /// The numeric id of the desired group on this node; none as of the owner.
    #[serde(skip)]
    pub group: Option<u32>,
}

/// An object, as far as this type looks at it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Object {
    /// What it is.
    #[serde(serialize_with = "kind_word")]
    pub kind: Kind,
    /// Numeric owner.
    pub owner: u32,
    /// Numeric group.
    pub group: u32,
    /// Permissions; none for a symbolic link.
    pub mode: Option<Mode>,
    /// Where a symbolic link points.
    pub target: Option<Bytes>,
    /// The name of a file's content, where that is managed: a digest, the slot of the sensitive value that it is, or `hidden`.
    pub digest: Option<String>,
}

fn kind_word<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(word(*kind))
}

/// A kind in the words of `ensure`, or in people's words where it has none.
pub fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Symlink => "symlink",
        Kind::Fifo => "named pipe",
        Kind::Socket => "socket",
        Kind::BlockDevice => "block device",
        Kind::CharacterDevice => "character device",
    }
}

/// The kind that `ensure` wants; none for `absent`.
pub fn wanted_kind(ensure: Ensure) -> Option<Kind> {
    match ensure {
        Ensure::File => Some(Kind::File),
        Ensure::Directory => Some(Kind::Directory),
        Ensure::Symlink => Some(Kind::Symlink),
        Ensure::Absent => None,
    }
}

impl From<Observation> for Object {
    fn from(seen: Observation) -> Self {
        let has_mode = seen.kind != Kind::Symlink;
        Self {
            kind: seen.kind,
            owner: seen.owner,
            group: seen.group,
            mode: Mode::from_bits(seen.mode).filter(|_| has_mode),
            target: seen.target.map(Bytes),
            digest: seen.digest,
        }
    }
}

/// Reads what is at the path, and looks up the accounts that are wanted.
pub fn read(desired: &Desired) -> NodeResult<State> {
    let Found { object, at, .. } = open(desired)?;
    let missing = if desired.parents && object.is_none() && at.is_none() { missing_folders(&desired.path)? } else { Vec::new() };
    Ok(State {
        object,
        at,
        missing,
        owner: desired.owner.as_ref().map(|owner| owner.look_up_user("owner")).transpose()?.flatten(),
        group: desired.group.as_ref().map(|group| group.look_up_group("group")).transpose()?.flatten(),
    })
}

/// What was found, and a handle on its place.
pub struct Found {
    /// On the path, or on where the link there leads.
    pub handle: files::Object,
    /// What is there.
    pub object: Option<Object>,
    /// Where the link leads, if one is followed.
    pub at: Option<String>,
}

/// Looks at the path, or where the link there leads if it is to be followed.
pub fn open(desired: &Desired) -> NodeResult<Found> {
    let (handle, object) = look(desired, &desired.path)?;
    let is_link = object.as_ref().is_some_and(|object| object.kind == Kind::Symlink);
    if !is_link || desired.links != Links::Follow {
        return Ok(Found { handle, object, at: None });
    }
    let leads_to = handle.destination().before_change("follow the link at the path")?;
    let Some(at) = desired.leads_to.iter().find(|place| place.as_bytes() == leads_to) else {
        return Err(unchanged(leads_elsewhere(&leads_to)));
    };
    let (handle, object) = look(desired, at)?;
    Ok(Found { handle, object, at: Some(at.clone()) })
}

/// A handle on one place and what is there. Content is hashed only where it is managed.
fn look(desired: &Desired, place: &str) -> NodeResult<(files::Object, Option<Object>)> {
    let handle = files::Object::open(place.as_bytes()).before_change("look at the path")?;
    let detail = if desired.content.is_some() { Detail::DIGEST } else { Detail::empty() };
    let object = handle.observe(detail).before_change("look at the path")?.map(Object::from);
    Ok((handle, object))
}

fn leads_elsewhere(leads_to: &[u8]) -> Diagnostic {
    let leads_to = String::from_utf8_lossy(leads_to);
    Diagnostic::at("leads_to", format!("the link at the path leads to `{leads_to}`, which `leads_to` does not list"))
        .hint("if that is what it should lead to, list it; else put the link right")
}

/// The folders above `path` that are not there, the topmost first. A link on the way counts as a folder: the host judges where it leads.
fn missing_folders(path: &str) -> NodeResult<Vec<String>> {
    const LOOK: &str = "look at the folders on the way";
    let mut missing = Vec::new();
    for folder in folders_above(path) {
        let handle = files::Object::open(folder.as_bytes()).before_change(LOOK)?;
        match handle.observe(Detail::empty()).before_change(LOOK)?.map(|seen| seen.kind) {
            None => missing.push(folder.to_owned()),
            Some(Kind::Directory | Kind::Symlink) => break,
            Some(other) => return Err(unchanged(not_a_folder(other))),
        }
    }
    missing.reverse();
    Ok(missing)
}

fn not_a_folder(found: Kind) -> Diagnostic {
    Diagnostic::at("path", format!("a {} is on the way, where a folder is needed", word(found))).hint("move it away")
}

/// Refuses to bring about a state of which an account is missing.
pub fn need_accounts(desired: &Desired, state: &State) -> NodeResult<()> {
    let accounts = [("owner", &desired.owner, state.owner), ("group", &desired.group, state.group)];
    match accounts.iter().find(|(_, declared, found)| declared.is_some() && found.is_none()) {
        Some((attribute, ..)) => {
            let what = if *attribute == "owner" { "user" } else { "group" };
            Err(unchanged(Principal::unknown(attribute, what)))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use runtime_sdk::{EffectClass, LifecycleError};

    use super::*;

    fn seen(kind: Kind) -> Observation {
        Observation { kind, owner: 1, group: 2, mode: 0o777, size: 3, links: 1, target: None, digest: None }
    }

    #[test]
    fn the_record_of_what_was_seen_is_small_and_has_no_ids_of_ours() {
        let state = State { object: Some(seen(Kind::File).into()), at: None, missing: Vec::new(), owner: Some(0), group: None };
        let expected = r#"{"object":{"digest":null,"group":2,"kind":"file","mode":"0777","owner":1,"target":null}}"#;
        assert_eq!(runtime_sdk::json::canonical(&state).unwrap(), expected);
        let followed = State { object: None, at: Some("/run/it".into()), ..state };
        assert_eq!(runtime_sdk::json::canonical(&followed).unwrap(), r#"{"at":"/run/it","object":null}"#);
    }

    #[test]
    fn a_link_has_a_target_and_no_mode() {
        let link = Observation { target: Some(b"\xff".to_vec()), ..seen(Kind::Symlink) };
        let object = Object::from(link);
        assert_eq!((object.mode, object.target), (None, Some(Bytes(b"\xff".to_vec()))));
    }

    #[test]
    fn a_missing_account_is_an_error_once_it_is_needed() {
        let desired = Desired { group: Some(Principal::Name("nobody".into())), ..crate::testing::desired(Ensure::File) };
        need_accounts(&desired, &State { group: Some(7), ..crate::testing::state(None) }).unwrap();
        let error = need_accounts(&desired, &crate::testing::state(None)).unwrap_err();
        let LifecycleError::Failed(failure) = error else { panic!("{error:?}") };
        assert_eq!(failure.effect_class, EffectClass::BeforeChange);
        assert_eq!(failure.diagnostic.attribute.as_deref(), Some("group"));
        assert_eq!(failure.diagnostic.message, "this node has no group of the name in `group`");
    }
}
