//! Patterns over names and over the arguments of a program, in policy and in what modules ask for.

use std::fmt;
use std::str::FromStr;

use super::MAX_NAME;

/// The most elements of a pattern of arguments.
pub const MAX_ARGUMENTS: usize = 256;

/// Why a text is not a pattern of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NamePatternError {
    /// It is empty.
    #[error("a pattern of names must not be empty")]
    Empty,
    /// It is longer than any name.
    #[error("a pattern of names must not be longer than {MAX_NAME} bytes")]
    TooLong,
    /// It has a NUL or another control character.
    #[error("a pattern of names must not have control characters")]
    Control,
    /// There are too many elements.
    #[error("a pattern of arguments has at most {MAX_ARGUMENTS} elements")]
    TooMany,
    /// The program is not an absolute path.
    #[error("a pattern of arguments begins with the absolute path of a program, or with `*`")]
    Program,
    /// `**` before the end.
    #[error("`**` can only be the last element of a pattern of arguments")]
    Rest,
}

/// A set of names. `*` stands for any run of characters; there are no other special characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamePattern(String);

impl NamePattern {
    /// Every name.
    pub fn everything() -> Self {
        Self("*".to_owned())
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `name` is in the set.
    pub fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        let Some(last) = parts.next_back() else { return rest.is_empty() };
        for part in parts {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

impl FromStr for NamePattern {
    type Err = NamePatternError;

    fn from_str(text: &str) -> Result<Self, NamePatternError> {
        if text.is_empty() {
            return Err(NamePatternError::Empty);
        }
        if text.len() > MAX_NAME {
            return Err(NamePatternError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(NamePatternError::Control);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A set of command lines: a pattern for the program and one for each argument; with `rest`, any more arguments may follow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArgumentsPattern {
    elements: Vec<NamePattern>,
    rest: bool,
}

impl ArgumentsPattern {
    /// Reads a pattern: the program, then its arguments; a last element `**` stands for any more of them. The first alone, `["**"]`, is every
    /// command line.
    ///
    /// # Errors
    /// If it is empty, too long, does not begin with an absolute path or `*`, or has `**` before its end.
    pub fn parse<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, NamePatternError> {
        let mut texts: Vec<&str> = texts.into_iter().take(MAX_ARGUMENTS + 1).collect();
        if texts.len() > MAX_ARGUMENTS {
            return Err(NamePatternError::TooMany);
        }
        let rest = texts.pop_if(|last| *last == "**").is_some();
        if texts.contains(&"**") {
            return Err(NamePatternError::Rest);
        }
        match texts.first() {
            None if rest => texts.push("*"),
            Some(program) if program.starts_with('/') || program.starts_with('*') => {}
            _ => return Err(NamePatternError::Program),
        }
        // An argument may be empty, a name may not.
        let element = |text: &str| if text.is_empty() { Ok(NamePattern(String::new())) } else { text.parse() };
        Ok(Self { elements: texts.into_iter().map(element).collect::<Result<_, _>>()?, rest })
    }

    /// The pattern of the program.
    pub fn program(&self) -> &NamePattern {
        &self.elements[0]
    }

    /// Whether it has every command line of the programs that it is for.
    pub fn is_open(&self) -> bool {
        self.rest && self.elements.len() == 1
    }

    /// Whether a command line is in the set: the program, then its arguments. What is none is a sensitive value, which only `*` and the rest
    /// have.
    pub fn matches(&self, arguments: &[Option<&str>]) -> bool {
        let enough = if self.rest { arguments.len() >= self.elements.len() } else { arguments.len() == self.elements.len() };
        let fits = |(element, argument): (&NamePattern, &Option<&str>)| match argument {
            Some(text) => element.matches(text),
            None => element.as_str() == "*",
        };
        enough && self.elements.iter().zip(arguments).all(fits)
    }

    /// Its elements as they were written.
    pub fn texts(&self) -> Vec<&str> {
        self.elements.iter().map(NamePattern::as_str).chain(self.rest.then_some("**")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> NamePattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_star_is_any_run_and_nothing_else_is_special() {
        assert!(name("nginx").matches("nginx") && !name("nginx").matches("nginx-full") && !name("nginx").matches("n"));
        assert!(name("nginx*").matches("nginx") && name("nginx*").matches("nginx-full"));
        assert!(name("*-dev").matches("x-dev") && !name("*-dev").matches("x-dev2"));
        assert!(name("a*b*c").matches("axbxc") && !name("a*b*c").matches("axcxb"));
        assert!(name("a*a").matches("aa") && !name("a*a").matches("a"), "the ends do not overlap");
        assert!(name("*").matches(""));
        assert!(!name("a?").matches("ab") && name("a.").matches("a."));
        for text in ["", "a\u{1b}"] {
            assert!(text.parse::<NamePattern>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_command_line_is_matched_whole() {
        let pattern = ArgumentsPattern::parse(["/usr/sbin/nginx", "-t"]).unwrap();
        assert!(pattern.matches(&[Some("/usr/sbin/nginx"), Some("-t")]));
        assert!(!pattern.matches(&[Some("/usr/sbin/nginx")]));
        assert!(!pattern.matches(&[Some("/usr/sbin/nginx"), Some("-t"), Some("-c")]));
        let open = ArgumentsPattern::parse(["/usr/sbin/nginx", "**"]).unwrap();
        assert!(open.is_open() && open.matches(&[Some("/usr/sbin/nginx")]) && open.matches(&[Some("/usr/sbin/nginx"), None]));
        assert!(!open.matches(&[Some("/bin/sh"), Some("-c")]));
        let any = ArgumentsPattern::parse(["**"]).unwrap();
        assert!(any.matches(&[Some("/bin/true")]) && any.is_open());
    }

    #[test]
    fn a_sensitive_argument_is_only_let_in_by_a_star() {
        let pattern = ArgumentsPattern::parse(["/bin/login", "-p*"]).unwrap();
        assert!(!pattern.matches(&[Some("/bin/login"), None]));
        assert!(ArgumentsPattern::parse(["/bin/login", "*"]).unwrap().matches(&[Some("/bin/login"), None]));
    }

    #[test]
    fn what_cannot_be_a_command_line_is_refused() {
        for texts in [&[][..], &["nginx"], &["/a", "**", "b"], &["", "**"]] {
            assert!(ArgumentsPattern::parse(texts.iter().copied()).is_err(), "{texts:?}");
        }
        let many = vec!["/a"; MAX_ARGUMENTS + 1];
        assert_eq!(ArgumentsPattern::parse(many), Err(NamePatternError::TooMany));
    }
}
