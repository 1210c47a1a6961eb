//! The grammar of paths and link targets.

use crate::{AttributeType, Diagnostic, Type, Value};
use serde::Serialize;

/// Linux's limit on a path in a system call, without the closing NUL.
const MAX_BYTES: usize = 4_095;

/// Linux's limit on one name.
const MAX_NAME_BYTES: usize = 255;

/// Why a text is not a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It does not begin with a slash.
    #[error("the path is not absolute")]
    Relative,
    /// It ends in a slash.
    #[error("the path ends in a slash")]
    TrailingSlash,
    /// It has `.`, `..` or an empty part.
    #[error("the path has `.`, `..` or a double slash in it")]
    NotNormal,
    /// It has a NUL byte.
    #[error("the path has a NUL character in it")]
    Nul,
    /// It or a name in it is too long.
    #[error("the path is longer than 4,095 bytes, or a name in it longer than 255")]
    TooLong,
}

impl PathError {
    /// What to do about it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Relative => "begin it with `/`",
            Self::TrailingSlash => "leave the slash at the end out",
            Self::NotNormal => "write the path without detours",
            Self::Nul => "no file name can hold it",
            Self::TooLong => "use a shorter path",
        }
    }

    /// The message about the path in an attribute.
    pub fn at(self, attribute: &str) -> Diagnostic {
        Diagnostic::at(attribute, self.to_string()).hint(self.hint())
    }
}

/// An absolute path in normal form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct AbsolutePath(pub String);

impl AttributeType for AbsolutePath {
    fn attribute_type() -> Type {
        Type::String
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        let path = String::from_value(attribute, value)?;
        check(&path).map_err(|error| error.at(attribute))?;
        Ok(Self(path))
    }
}

/// Where a symbolic link points, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Target(pub String);

impl AttributeType for Target {
    fn attribute_type() -> Type {
        Type::String
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        let target = String::from_value(attribute, value)?;
        if is_target(&target) { Ok(Self(target)) } else { Err(no_target(attribute)) }
    }
}

/// The message for a text that no link can point to.
pub fn no_target(attribute: &str) -> Diagnostic {
    Diagnostic::at(attribute, format!("`{attribute}` is empty, longer than 4,095 bytes, or has a NUL character in it"))
}

/// Checks that the text is an absolute path in normal form.
pub fn check(path: &str) -> Result<(), PathError> {
    let Some(names) = path.strip_prefix('/') else { return Err(PathError::Relative) };
    if path.len() > MAX_BYTES {
        return Err(PathError::TooLong);
    }
    if names.is_empty() {
        return Ok(());
    }
    if names.ends_with('/') {
        return Err(PathError::TrailingSlash);
    }
    names.split('/').try_for_each(check_name)
}

fn check_name(name: &str) -> Result<(), PathError> {
    match name {
        "" | "." | ".." => Err(PathError::NotNormal),
        _ if name.contains('\0') => Err(PathError::Nul),
        _ if name.len() > MAX_NAME_BYTES => Err(PathError::TooLong),
        _ => Ok(()),
    }
}

/// Whether a symbolic link can point to this text.
pub fn is_target(target: &str) -> bool {
    !target.is_empty() && target.len() <= MAX_BYTES && !target.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_in_normal_form_pass() {
        for path in ["/", "/a", "/etc/motd", "/a b/.c/..d", "/é\n"] {
            assert_eq!(check(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn others_are_refused_with_the_reason() {
        let long_name = format!("/{}", "a".repeat(256));
        let long_path = "/a".repeat(2_048);
        let refused = [
            ("", PathError::Relative),
            ("etc/motd", PathError::Relative),
            ("/etc/", PathError::TrailingSlash),
            ("//", PathError::TrailingSlash),
            ("//etc", PathError::NotNormal),
            ("/etc/./motd", PathError::NotNormal),
            ("/etc/..", PathError::NotNormal),
            ("/et\0c", PathError::Nul),
            (&long_name, PathError::TooLong),
            (&long_path, PathError::TooLong),
        ];
        for (path, reason) in refused {
            assert_eq!(check(path), Err(reason), "{path:?}");
        }
    }

    #[test]
    fn targets_may_be_relative_but_not_empty() {
        assert!(is_target("../a") && is_target("/"));
        assert!(!is_target("") && !is_target("a\0b") && !is_target(&"a".repeat(4_096)));
    }
}
