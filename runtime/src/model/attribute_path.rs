//! Which attribute of a declaration is meant, its own or one of a child block.

use std::fmt;
use std::str::FromStr;

/// `NAME`, or `BLOCK[N].NAME` in the block of that name that is the `N`th of its name, from 0; `BLOCK[N]` is that block itself. Names are
/// canonical ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttributePath {
    /// The child block; none for the declaration itself.
    pub block: Option<(String, usize)>,
    /// The attribute; none for the whole block.
    pub name: Option<String>,
}

/// Text that is no [`AttributePath`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is neither NAME nor BLOCK[N].NAME")]
pub struct PathError;

impl fmt::Display for AttributePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.block, &self.name) {
            (None, name) => f.write_str(name.as_deref().unwrap_or_default()),
            (Some((block, place)), None) => write!(f, "{block}[{place}]"),
            (Some((block, place)), Some(name)) => write!(f, "{block}[{place}].{name}"),
        }
    }
}

impl FromStr for AttributePath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let Some((block, rest)) = text.split_once('[') else {
            return Ok(Self { block: None, name: Some(name(text)?) });
        };
        let (digits, rest) = rest.split_once(']').ok_or(PathError)?;
        let place: usize = digits.parse().map_err(|_| PathError)?;
        let tail = match rest {
            "" => None,
            rest => Some(name(rest.strip_prefix('.').ok_or(PathError)?)?),
        };
        let path = Self { block: Some((name(block)?, place)), name: tail };
        // `+1` and `01` are numbers to the parser; a path has one spelling.
        if path.to_string() == text { Ok(path) } else { Err(PathError) }
    }
}

fn name(text: &str) -> Result<String, PathError> {
    let is_part = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    if !text.is_empty() && text.len() <= 127 && text.bytes().all(is_part) { Ok(text.to_owned()) } else { Err(PathError) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_spelling() {
        for good in ["content", "vhost[0].page", "vhost[12]"] {
            assert_eq!(good.parse::<AttributePath>().unwrap().to_string(), good);
        }
        for bad in ["", "a.b", "a[", "a[]", "a[x].b", "a[01].b", "a[+1].b", "a[0]b", "a[0].", "[0].a", "A", "a[0].b[0].c", "a b"]
        {
            assert_eq!(bad.parse::<AttributePath>(), Err(PathError), "{bad}");
        }
    }
}
