//! Patterns over whole paths, in policy and in what modules ask for.
//!
//! A pattern is an absolute path. In a part of it `*` stands for any run of bytes other than `/`; a part that is `**` stands for
//! any number of parts, and at the end for at least one, so `/srv/**` is everything beneath `/srv` and not `/srv` itself. There
//! are no other special characters. Paths are compared as bytes.

use std::fmt;
use std::str::FromStr;

/// The longest pattern, in bytes: that of a path on Linux.
pub const MAX_PATTERN: usize = 4096;

/// Why a text is not a path pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It does not start at the root.
    #[error("a path pattern must start with `/`")]
    NotAbsolute,
    /// It has a part that no path has.
    #[error("a path pattern must not have empty parts, `.`, `..` or a `/` at its end")]
    Part,
    /// `**` is only part of a part.
    #[error("`**` in a path pattern must be a whole part, as in `/srv/**`")]
    DoubleStar,
    /// It has a NUL or another control character.
    #[error("a path pattern must not have control characters")]
    Control,
    /// It is longer than any path.
    #[error("a path pattern must not be longer than {MAX_PATTERN} bytes")]
    TooLong,
}

/// A set of absolute paths.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathPattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    /// `**` before other parts: any number of parts.
    Any,
    /// `**` at the end: at least one part.
    Beneath,
    /// One part, where `*` stands for any run of bytes.
    One(Vec<u8>),
}

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// If it is not absolute, or has a part that could never match.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.len() > MAX_PATTERN {
            return Err(PatternError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(PatternError::Control);
        }
        let rest = text.strip_prefix('/').ok_or(PatternError::NotAbsolute)?;
        let mut parts = Vec::new();
        if !rest.is_empty() {
            for part in rest.split('/') {
                parts.push(parse_part(part)?);
            }
        }
        if let Some(last @ Part::Any) = parts.last_mut() {
            *last = Part::Beneath;
        }
        Ok(Self { text: text.to_owned(), parts })
    }

    /// `/`: the root itself.
    pub fn root() -> Self {
        Self { text: "/".to_owned(), parts: Vec::new() }
    }

    /// `/**`: every path but the root itself.
    pub fn everything() -> Self {
        Self { text: "/**".to_owned(), parts: vec![Part::Beneath] }
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether `path`, absolute and normal, is in the set.
    pub fn matches(&self, path: &[u8]) -> bool {
        self.reach(path).is_some_and(|reached| reached[self.parts.len()])
    }

    /// Whether everything beneath the directory `path` is in the set.
    pub fn covers_beneath(&self, path: &[u8]) -> bool {
        let Some((Part::Beneath, before)) = self.parts.split_last() else { return false };
        // It lies in the tree if all before the `**` has matched the whole of it, or what lies above it.
        self.reach(path).is_some_and(|reached| reached[before.len()] || reached[self.parts.len()])
    }

    /// Whether something beneath the directory `path` may be in the set.
    pub fn touches_beneath(&self, path: &[u8]) -> bool {
        // A state that is not the last has parts left to match; `Beneath` takes any number of further parts.
        self.reach(path).is_some_and(|reached| {
            reached[..self.parts.len()].contains(&true)
                || (reached[self.parts.len()] && matches!(self.parts.last(), Some(Part::Beneath)))
        })
    }

    /// The folder that every path of the set lies beneath, or the one path of the set: the part of the pattern before its first `*`.
    pub fn literal_folder(&self) -> Vec<u8> {
        let mut folder = Vec::new();
        for part in &self.parts {
            match part {
                Part::One(text) if !text.contains(&b'*') => {
                    folder.push(b'/');
                    folder.extend_from_slice(text);
                }
                _ => break,
            }
        }
        if folder.is_empty() { b"/".to_vec() } else { folder }
    }

    /// Which prefixes of the pattern match the whole of `path`: `reached[i]` for its first `i` parts. None for a relative path.
    fn reach(&self, path: &[u8]) -> Option<Vec<bool>> {
        let rest = path.strip_prefix(b"/")?;
        let mut reached = vec![false; self.parts.len() + 1];
        reached[0] = true;
        self.skip_any(&mut reached);
        if !rest.is_empty() {
            for name in rest.split(|byte| *byte == b'/') {
                reached = self.step(&reached, name);
            }
        }
        Some(reached)
    }

    /// Takes one more name of the path.
    fn step(&self, reached: &[bool], name: &[u8]) -> Vec<bool> {
        let mut next = vec![false; reached.len()];
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Any => next[index] |= reached[index],
                Part::Beneath => next[index + 1] |= reached[index] || reached[index + 1],
                Part::One(glob) => next[index + 1] |= reached[index] && glob_matches(glob, name),
            }
        }
        self.skip_any(&mut next);
        next
    }

    /// `**` in the middle matches no part as well.
    fn skip_any(&self, reached: &mut [bool]) {
        for (index, part) in self.parts.iter().enumerate() {
            if *part == Part::Any && reached[index] {
                reached[index + 1] = true;
            }
        }
    }
}

fn parse_part(part: &str) -> Result<Part, PatternError> {
    match part {
        "" | "." | ".." => Err(PatternError::Part),
        "**" => Ok(Part::Any),
        _ if part.contains("**") => Err(PatternError::DoubleStar),
        _ => Ok(Part::One(part.as_bytes().to_vec())),
    }
}

/// Whether `name` matches `glob`, where `*` stands for any run of bytes. Takes time in proportion to the product of their lengths.
fn glob_matches(glob: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        if glob.get(at) == Some(&b'*') {
            star = Some((at, from));
            at += 1;
        } else if glob.get(at) == Some(&name[from]) {
            at += 1;
            from += 1;
        } else if let Some((star_at, taken)) = star {
            // Let the last `*` take one byte more.
            star = Some((star_at, taken + 1));
            at = star_at + 1;
            from = taken + 1;
        } else {
            return false;
        }
    }
    glob[at..].iter().all(|byte| *byte == b'*')
}

impl FromStr for PathPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        Self::parse(text)
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pattern(text: &str) -> PathPattern {
        PathPattern::parse(text).unwrap()
    }

    #[test]
    fn stars_stay_within_a_part_and_double_stars_do_not() {
        for (text, path, expected) in [
            ("/etc/motd", "/etc/motd", true),
            ("/etc/motd", "/etc/motd.d", false),
            ("/etc/*", "/etc/motd", true),
            ("/etc/*", "/etc/ssh/config", false),
            ("/etc/*", "/etc", false),
            ("/etc/*.conf", "/etc/a.conf", true),
            ("/etc/*.conf", "/etc/.conf", true),
            ("/etc/**", "/etc/ssh/config", true),
            ("/etc/**", "/etc", false),
            ("/etc/**", "/etcetera", false),
            ("/srv/**/logs", "/srv/logs", true),
            ("/srv/**/logs", "/srv/a/b/logs", true),
            ("/srv/**/logs", "/srv/a/b/logs/x", false),
            ("/**", "/", false),
            ("/", "/", true),
            ("/*", "/", false),
            ("/a[b]/{c}?", "/a[b]/{c}?", true),
            ("/a?", "/ab", false),
            ("/a*b*c", "/aXbYbZc", true),
        ] {
            assert_eq!(pattern(text).matches(path.as_bytes()), expected, "{text} {path}");
        }
        assert!(pattern("/x/*").matches(b"/x/\xff\xfe"), "names are bytes");
        assert!(!pattern("/x/*").matches(b"x/y"), "relative paths are in no set");
    }

    #[test]
    fn trees_are_covered_only_as_a_whole() {
        assert!(pattern("/srv/**").covers_beneath(b"/srv"));
        assert!(pattern("/srv/**").covers_beneath(b"/srv/a/b"));
        assert!(pattern("/srv/*/**").covers_beneath(b"/srv/a"));
        assert!(!pattern("/srv/*/**").covers_beneath(b"/srv"));
        assert!(!pattern("/srv/*").covers_beneath(b"/srv"));
        assert!(PathPattern::everything().covers_beneath(b"/"));
    }

    #[test]
    fn a_denied_path_beneath_is_seen() {
        assert!(pattern("/srv/a/secret").touches_beneath(b"/srv"));
        assert!(pattern("/srv/**/secret").touches_beneath(b"/srv/a/b"));
        assert!(pattern("/srv/**").touches_beneath(b"/srv/a/b"));
        assert!(!pattern("/srv/a").touches_beneath(b"/srv/a"), "it is that directory, not beneath it");
        assert!(!pattern("/srv/b/secret").touches_beneath(b"/srv/a"));
    }

    #[test]
    fn bad_patterns_are_refused() {
        for (text, error) in [
            ("", PatternError::NotAbsolute),
            ("etc", PatternError::NotAbsolute),
            ("/etc/", PatternError::Part),
            ("//etc", PatternError::Part),
            ("/etc/../x", PatternError::Part),
            ("/etc/**x", PatternError::DoubleStar),
            ("/etc/***", PatternError::DoubleStar),
            ("/etc/\n", PatternError::Control),
            ("/etc/\0", PatternError::Control),
        ] {
            assert_eq!(PathPattern::parse(text), Err(error), "{text:?}");
        }
        assert_eq!(PathPattern::parse(&format!("/{}", "a".repeat(MAX_PATTERN))), Err(PatternError::TooLong));
    }

    #[test]
    fn literal_folder_ends_at_the_first_star() {
        assert_eq!(pattern("/etc/nginx/sites-*/x").literal_folder(), b"/etc/nginx");
        assert_eq!(pattern("/etc/motd").literal_folder(), b"/etc/motd");
        assert_eq!(pattern("/**").literal_folder(), b"/");
    }

    proptest! {
        /// The same answers as a well-known implementation gives.
        #[test]
        fn agrees_with_globset(text in "(/(\\*\\*|[ab*]{1,3})){1,4}", path in "(/[ab]{1,3}){1,5}") {
            prop_assume!(!text.contains("**/**") && !text.contains("***"));
            let Ok(ours) = PathPattern::parse(&text) else { return Ok(()) };
            let theirs = globset::GlobBuilder::new(&text).literal_separator(true).build().unwrap().compile_matcher();
            prop_assert_eq!(ours.matches(path.as_bytes()), theirs.is_match(&path), "{} {}", text, path);
        }

        /// A tree is covered just when every path beneath it matches.
        #[test]
        fn covered_trees_match_beneath(text in "(/(\\*\\*|[ab*]{1,2})){1,4}", tree in "(/[ab]{1,2}){1,3}", more in "(/[ab]{1,2}){1,3}") {
            let Ok(pattern) = PathPattern::parse(&text) else { return Ok(()) };
            let path = format!("{tree}{more}");
            if pattern.covers_beneath(tree.as_bytes()) {
                prop_assert!(pattern.matches(path.as_bytes()));
            }
            if pattern.matches(path.as_bytes()) {
                prop_assert!(pattern.touches_beneath(tree.as_bytes()));
            }
        }
    }
}
