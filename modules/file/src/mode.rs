//! Permission bits, in octal and symbolic spelling. They are numbers everywhere else, so that spellings compare equal.

use std::fmt;
use std::str::FromStr;

use runtime_sdk::{AttributeType, Diagnostic, Type, Value};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Permission bits with set-id and sticky, 0 to 0o7777. As JSON: four octal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode(u32);

/// All bits that a mode can have.
const ALL: u32 = 0o7777;

/// How to write a mode.
pub const HINT: &str = "write octal digits as `0644`, or all three classes as `u=rw,go=r`";

/// Why a text is not a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ModeError {
    /// Neither octal nor symbolic.
    #[error("the mode is neither octal nor symbolic")]
    Unknown,
    /// Digits that are not three or four octal ones.
    #[error("an octal mode has three or four digits from 0 to 7")]
    Digits,
    /// `+` or `-`: what they give depends on what is there.
    #[error("a symbolic mode can only set with `=`, not add or remove")]
    Relative,
    /// A class that is not `u`, `g`, `o` or `a`.
    #[error("a symbolic mode names classes by `u`, `g`, `o` and `a`")]
    Class,
    /// A permission that is not `r`, `w`, `x`, `s` or `t`, or not for this class.
    #[error("a symbolic mode has the permissions `r`, `w`, `x`, `s` (for `u` and `g`) and `t` (for `o`)")]
    Permission,
    /// A class twice.
    #[error("the symbolic mode sets a class twice")]
    Twice,
    /// A class left out.
    #[error("the symbolic mode leaves out a class")]
    Missing,
}

impl Mode {
    /// The mode of these bits; none if there are bits beyond 0o7777.
    pub fn from_bits(bits: u32) -> Option<Self> {
        (bits <= ALL).then_some(Self(bits))
    }

    /// The bits.
    pub fn bits(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}

impl FromStr for Mode {
    type Err = ModeError;

    fn from_str(text: &str) -> Result<Self, ModeError> {
        match text.as_bytes().first() {
            Some(b'0'..=b'9') => octal(text),
            Some(b'a'..=b'z') => symbolic(text),
            _ => Err(ModeError::Unknown),
        }
    }
}

impl AttributeType for Mode {
    fn attribute_type() -> Type {
        Type::String
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        let text = String::from_value(attribute, value)?;
        text.parse().map_err(|error: ModeError| Diagnostic::at(attribute, error.to_string()).hint(HINT))
    }
}

fn octal(text: &str) -> Result<Mode, ModeError> {
    let is_octal = text.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
    if !is_octal || !(3..=4).contains(&text.len()) {
        return Err(ModeError::Digits);
    }
    u32::from_str_radix(text, 8).map(Mode).map_err(|_| ModeError::Digits)
}

/// `u=rw,go=r`: each class set exactly once, so that the result does not depend on what is there.
fn symbolic(text: &str) -> Result<Mode, ModeError> {
    let mut bits = 0;
    let mut seen = 0;
    for clause in text.split(',') {
        let Some((classes, permissions)) = clause.split_once('=') else {
            return Err(if clause.contains(['+', '-']) { ModeError::Relative } else { ModeError::Unknown });
        };
        let named = named_classes(classes)?;
        if seen & named != 0 {
            return Err(ModeError::Twice);
        }
        seen |= named;
        for permission in permissions.chars() {
            bits |= permission_bits(permission, named)?;
        }
    }
    if seen == USER | GROUP | OTHER { Ok(Mode(bits)) } else { Err(ModeError::Missing) }
}

const USER: u32 = 0o700;
const GROUP: u32 = 0o070;
const OTHER: u32 = 0o007;

/// The three bits of each class in `text`.
fn named_classes(text: &str) -> Result<u32, ModeError> {
    if text.is_empty() {
        return Err(ModeError::Class);
    }
    let mut named = 0;
    for class in text.chars() {
        let bits = match class {
            'u' => USER,
            'g' => GROUP,
            'o' => OTHER,
            'a' => USER | GROUP | OTHER,
            '+' | '-' => return Err(ModeError::Relative),
            _ => return Err(ModeError::Class),
        };
        if named & bits != 0 {
            return Err(ModeError::Twice);
        }
        named |= bits;
    }
    Ok(named)
}

/// The bits of one permission for the classes in `named`.
fn permission_bits(permission: char, named: u32) -> Result<u32, ModeError> {
    let bits = match permission {
        'r' => named & 0o444,
        'w' => named & 0o222,
        'x' => named & 0o111,
        's' => (if named & USER != 0 { 0o4000 } else { 0 }) | (if named & GROUP != 0 { 0o2000 } else { 0 }),
        't' if named & OTHER != 0 => 0o1000,
        _ => 0,
    };
    if bits == 0 { Err(ModeError::Permission) } else { Ok(bits) }
}

impl Serialize for Mode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match octal(&text) {
            Ok(mode) if text.len() == 4 => Ok(mode),
            _ => Err(D::Error::custom("a mode is four octal digits")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<String, ModeError> {
        text.parse::<Mode>().map(|mode| mode.to_string())
    }

    #[test]
    fn spellings_of_one_mode_are_equal() {
        for text in ["644", "0644", "u=rw,go=r", "go=r,u=rw", "u=wr,g=r,o=r", "go=rr,u=rw"] {
            assert_eq!(parse(text).as_deref(), Ok("0644"), "{text}");
        }
        for (text, mode) in [("000", "0000"), ("7777", "7777"), ("a=", "0000"), ("u=rwx,go=", "0700"), ("a=rx", "0555")] {
            assert_eq!(parse(text).as_deref(), Ok(mode), "{text}");
        }
    }

    #[test]
    fn special_bits_have_their_classes() {
        for (text, mode) in [("u=rwxs,go=rx", "4755"), ("u=rwx,g=rxs,o=", "2750"), ("ug=rwxs,o=", "6770"), ("a=rwxt", "1777")] {
            assert_eq!(parse(text).as_deref(), Ok(mode), "{text}");
        }
        assert_eq!(parse("ug=rw,o=s"), Err(ModeError::Permission));
        assert_eq!(parse("ug=rwt,o=r"), Err(ModeError::Permission));
    }

    #[test]
    fn what_is_no_mode_is_refused_with_the_reason() {
        let refused = [
            ("", ModeError::Unknown),
            (" 644", ModeError::Unknown),
            ("-644", ModeError::Unknown),
            ("64", ModeError::Digits),
            ("00644", ModeError::Digits),
            ("0o644", ModeError::Digits),
            ("648", ModeError::Digits),
            ("rw-r--r--", ModeError::Relative),
            ("u+x,go=r", ModeError::Relative),
            ("u-x=r,go=", ModeError::Relative),
            ("u=rw", ModeError::Missing),
            ("u=rw,g=r", ModeError::Missing),
            ("u=rw,a=r", ModeError::Twice),
            ("uu=rw,go=r", ModeError::Twice),
            ("u=X,go=r", ModeError::Permission),
            ("u=rw,go=u", ModeError::Permission),
            ("k=rw,go=r", ModeError::Class),
            ("u=rw,=r,go=r", ModeError::Class),
            ("u=rw,go=r,", ModeError::Unknown),
            ("u", ModeError::Unknown),
        ];
        for (text, reason) in refused {
            assert_eq!(parse(text), Err(reason), "{text:?}");
        }
    }

    #[test]
    fn json_has_one_form() {
        let read = serde_json::from_str::<Mode>;
        assert_eq!(read(r#""0644""#).unwrap().bits(), 0o644);
        for wrong in [r#""644""#, "420", r#""u=rw,go=r""#, r#""8644""#, "null"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn every_mode_reads_back(bits in 0_u32..=0o7777) {
            let mode = Mode::from_bits(bits).unwrap();
            prop_assert_eq!(mode.to_string().parse::<Mode>(), Ok(mode));
        }

        #[test]
        fn no_text_breaks_the_parser(text in "[ugoarwxst=,+0-9 -]{0,12}") {
            if let Ok(mode) = text.parse::<Mode>() {
                prop_assert!(mode.bits() <= 0o7777);
            }
        }
    }

    #[test]
    fn bits_beyond_a_mode_are_none() {
        assert_eq!(Mode::from_bits(0o10000), None);
    }
}
