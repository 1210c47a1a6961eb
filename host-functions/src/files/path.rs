//! Paths as guests write them: absolute, normal, in bytes.

use std::fmt;

use crate::error::CallError;
use crate::text::escape_bytes;

/// The longest path in bytes, as on Linux.
pub const MAX_PATH: usize = 4096;

/// The longest name in bytes, as on Linux.
pub const MAX_NAME: usize = 255;

/// An absolute path without `.`, `..`, empty parts, NUL or a `/` at its end, but for `/` itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodePath(Vec<u8>);

impl NodePath {
    /// Takes a path that a guest gave.
    ///
    /// # Errors
    /// `too-large` above [`MAX_PATH`], `unsafe-path` for a name above [`MAX_NAME`], else `invalid-argument`, which says what is wrong.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, CallError> {
        if bytes.len() > MAX_PATH {
            return Err(CallError::TooLarge(format!("a path has at most {MAX_PATH} bytes, and this one has {}", bytes.len())));
        }
        let shown = || escape_bytes(&bytes);
        let Some(rest) = bytes.strip_prefix(b"/") else {
            return Err(CallError::invalid(format!("path `{}` does not start with `/`", shown())));
        };
        if bytes.contains(&0) {
            return Err(CallError::invalid(format!("path `{}` has a NUL", shown())));
        }
        for name in rest.split(|byte| *byte == b'/') {
            match name {
                b"" if rest.is_empty() => {}
                b"" => return Err(CallError::invalid(format!("path `{}` has an empty part", shown()))),
                b"." | b".." => return Err(CallError::invalid(format!("path `{}` has a part `.` or `..`", shown()))),
                _ if name.len() > MAX_NAME => {
                    return Err(CallError::UnsafePath(format!(
                        "a name in a path has at most {MAX_NAME} bytes, and no file has more"
                    )));
                }
                _ => {}
            }
        }
        Ok(Self(bytes))
    }

    /// The path's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The folder and the name in it; none for `/`.
    pub fn split(&self) -> Option<(&[u8], &[u8])> {
        split(&self.0)
    }
}

/// The folder and the name in it of an absolute, normal path; none for `/`.
pub fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    let name = &path[slash + 1..];
    (!name.is_empty()).then_some((if slash == 0 { b"/" } else { &path[..slash] }, name))
}

/// `name` in `folder`, where `folder` is absolute and normal.
pub fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = if folder == b"/" { Vec::new() } else { folder.to_vec() };
    path.push(b'/');
    path.extend_from_slice(name);
    path
}

/// Whether `path` lies beneath `folder`, both absolute and normal; a path is not beneath itself.
pub fn is_beneath(path: &[u8], folder: &[u8]) -> bool {
    if folder == b"/" {
        return path.len() > 1 && path.starts_with(b"/");
    }
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"))
}

/// Where `target`, as written in a symbolic link in `folder`, points: absolute and normal, as if no part of it were a link.
pub fn lexical_target(folder: &[u8], target: &[u8]) -> Vec<u8> {
    let mut path = if target.starts_with(b"/") { b"/".to_vec() } else { folder.to_vec() };
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => path = split(&path).map_or_else(|| b"/".to_vec(), |(parent, _)| parent.to_vec()),
            name => path = join(&path, name),
        }
    }
    path
}

impl fmt::Display for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape_bytes(&self.0))
    }
}

impl fmt::Debug for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_normal_absolute_paths_are_taken() {
        for good in ["/", "/a", "/a/b.c", "/a/...", "/a b/\u{1b}"] {
            assert!(NodePath::parse(good.into()).is_ok(), "{good}");
        }
        for bad in ["", "a", "./a", "//", "/a/", "/a//b", "/.", "/a/./b", "/a/..", "/a\0b"] {
            assert!(matches!(NodePath::parse(bad.into()), Err(CallError::InvalidArgument(_))), "{bad:?}");
        }
        let long = format!("/{}", "x".repeat(MAX_NAME + 1));
        assert!(matches!(NodePath::parse(long.into()), Err(CallError::UnsafePath(_))));
        let longer = "/x".repeat(MAX_PATH);
        assert!(matches!(NodePath::parse(longer.into()), Err(CallError::TooLarge(_))));
    }

    #[test]
    fn splitting_and_joining() {
        assert_eq!(split(b"/"), None);
        assert_eq!(split(b"/a"), Some((&b"/"[..], &b"a"[..])));
        assert_eq!(split(b"/a/b"), Some((&b"/a"[..], &b"b"[..])));
        assert_eq!(join(b"/", b"a"), b"/a");
        assert_eq!(join(b"/a", b"b"), b"/a/b");
        assert!(is_beneath(b"/a/b", b"/a") && is_beneath(b"/a", b"/"));
        assert!(!is_beneath(b"/ab", b"/a") && !is_beneath(b"/a", b"/a") && !is_beneath(b"/", b"/"));
    }

    #[test]
    fn link_targets_never_leave_the_root() {
        assert_eq!(lexical_target(b"/a/b", b"../c"), b"/a/c");
        assert_eq!(lexical_target(b"/a", b"../../../etc/./x"), b"/etc/x");
        assert_eq!(lexical_target(b"/a", b"/etc//x/"), b"/etc/x");
    }
}
