//! The home directory and the shell: their grammar, and making and removing a managed home directory.

use runtime_sdk::files::{self, Attributes, Detail, Kind};
use runtime_sdk::node::unchanged;
use runtime_sdk::{AttributeType, Diagnostic, HostCall as _, InterruptedOperation, NodeResult, Progress, Type, Value};
use serde::{Deserialize, Serialize};

use crate::Desired;

/// The longest field of an account file, in bytes.
const MAX_BYTES: usize = 255;

/// Whether nobody but the user may look into a new home directory: as account tools make it.
const MODE: u32 = 0o700;

/// The path of a home directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Home(pub String);

/// The path of a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shell(pub String);

macro_rules! path_attribute {
    ($name:ty) => {
        impl AttributeType for $name {
            fn attribute_type() -> Type {
                Type::String
            }

            fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
                let path = String::from_value(attribute, value)?;
                if is_path(&path) { Ok(Self(path)) } else { Err(no_path(attribute)) }
            }
        }
    };
}

path_attribute!(Home);
path_attribute!(Shell);

/// Whether it is an absolute path in normal form that an account file can hold.
pub fn is_path(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return false };
    let is_normal = rest.is_empty() || rest.split('/').all(|part| !matches!(part, "" | "." | ".."));
    is_normal && path.len() <= MAX_BYTES && !path.contains(|c: char| c == ':' || c.is_control())
}

/// The message for a path that is none.
pub fn no_path(attribute: &str) -> Diagnostic {
    Diagnostic::at(attribute, format!("`{attribute}` is no path that an account can have")).hint(
        "write an absolute path without `.`, `..`, double or trailing slashes, `:` and control characters, at most 255 bytes",
    )
}

/// The id of who owns the directory at `home`; none if nothing is there.
///
/// # Errors
/// If it cannot be looked at, or is something else.
pub fn owner(home: &str) -> NodeResult<Option<u32>> {
    let seen = open(home)?.observe(Detail::empty()).before_change("look at the home directory")?;
    match seen {
        None => Ok(None),
        Some(seen) if seen.kind == Kind::Directory => Ok(Some(seen.owner)),
        Some(_) => Err(unchanged(
            Diagnostic::at("home", "something that is no directory is at the home directory's path").hint("move it away"),
        )),
    }
}

fn open(home: &str) -> NodeResult<files::Object> {
    files::Object::open(home.as_bytes()).before_change("look at the home directory")
}

/// Makes the home directory of a user with these ids.
pub fn make(home: &str, owner: u32, group: u32, progress: &mut Progress) -> NodeResult<()> {
    let handle = open(home)?;
    progress.harmless("look at the home directory", handle.observe(Detail::empty()))?;
    let attributes = Attributes { owner: Some(owner), group: Some(group), mode: Some(MODE) };
    progress.stepwise("make the home directory", handle.make_directory(attributes))
}

/// Removes the home directory with all that it holds.
pub fn remove(home: &str, progress: &mut Progress) -> NodeResult<()> {
    let handle = open(home)?;
    progress.harmless("look at the home directory", handle.observe(Detail::empty()))?;
    progress.stepwise("remove the home directory", handle.remove(true))
}

/// Removes what an interrupted operation left beside the home directory.
pub fn recover(desired: &Desired, operation: &InterruptedOperation) -> NodeResult<()> {
    if let (true, Some(home)) = (desired.manage_home, &desired.home) {
        files::discard_staged(home.0.as_bytes(), &operation.staging_name).before_change("remove what was staged")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_and_normal_and_one_field() {
        for good in ["/", "/home/web", "/srv/with space"] {
            assert!(is_path(good), "{good}");
        }
        for bad in ["", "home", "/home/", "/home//web", "/home/../etc", "/a:b", "/a\nb", &format!("/{}", "a".repeat(255))] {
            assert!(!is_path(bad), "{bad}");
        }
    }
}
