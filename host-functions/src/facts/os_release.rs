//! The os-release format: shell assignments, one a line (freedesktop os-release(5)).

use std::collections::BTreeMap;

/// Distributions whose name heads a family, and the family. Data about the world, not a list of what is supported: what is not here
/// still has a family.
const FAMILIES: [(&str, &str); 9] = [
    ("debian", "debian"),
    ("rhel", "redhat"),
    ("centos", "redhat"),
    ("fedora", "redhat"),
    ("suse", "suse"),
    ("opensuse", "suse"),
    ("arch", "arch"),
    ("alpine", "alpine"),
    ("gentoo", "gentoo"),
];

/// The assignments of the file; the last of a name counts, as in a shell. Lines that are not assignments are passed over.
pub(super) fn parse(content: &str) -> BTreeMap<String, String> {
    content.lines().filter_map(assignment).collect()
}

fn assignment(line: &str) -> Option<(String, String)> {
    let (key, value) = line.trim().split_once('=')?;
    let named = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    named.then(|| unquote(value).map(|value| (key.to_owned(), value)))?
}

/// The value as a shell would have it; none if its quotes do not match.
fn unquote(value: &str) -> Option<String> {
    let mut out = String::new();
    let mut quote = None;
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', Some('"')) => match chars.next()? {
                escaped @ ('"' | '\\' | '$' | '`') => out.push(escaped),
                other => out.extend(['\\', other]),
            },
            ('\\', None) => out.push(chars.next()?),
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (c, None) if c.is_whitespace() => break,
            (c, _) => out.push(c),
        }
    }
    quote.is_none().then_some(out)
}

/// The family of a system: the first of its own name and those it is like that heads one, else the last that it is like.
pub(super) fn family<'f>(id: Option<&'f str>, like: &[&'f str]) -> Option<&'f str> {
    let names = id.into_iter().chain(like.iter().copied());
    let known = names.clone().find_map(|name| FAMILIES.iter().find(|(head, _)| *head == name).map(|(_, family)| *family));
    known.or_else(|| names.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_a_shell_would() {
        let fields = parse(concat!(
            "# a comment\n\n",
            "ID=debian\n",
            "PRETTY_NAME=\"Debian \\\"GNU\\\"/Linux \\$12\"\n",
            "NAME='single \\ \"quoted\"'\n",
            "VERSION_ID=\"12\" # trailing\n",
            "VARIANT=plain\\ space\n",
            "BROKEN=\"no end\n",
            "lower=no\n",
            "not an assignment\n",
            "ID_LIKE=a\n",
            "ID_LIKE=\"b c\"\n",
            "EMPTY=\n",
        ));
        let expected = [
            ("EMPTY", ""),
            ("ID", "debian"),
            ("ID_LIKE", "b c"),
            ("NAME", "single \\ \"quoted\""),
            ("PRETTY_NAME", "Debian \"GNU\"/Linux $12"),
            ("VARIANT", "plain space"),
            ("VERSION_ID", "12"),
        ];
        let expected: BTreeMap<_, _> = expected.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        assert_eq!(fields, expected);
    }

    #[test]
    fn families_of_well_known_systems() {
        for (id, like, expected) in [
            (Some("debian"), &[][..], Some("debian")),
            (Some("linuxmint"), &["ubuntu", "debian"], Some("debian")),
            (Some("rocky"), &["rhel", "centos", "fedora"], Some("redhat")),
            (Some("opensuse-leap"), &["suse", "opensuse"], Some("suse")),
            (Some("void"), &[], Some("void")),
            (Some("derived"), &["void"], Some("void")),
            (None, &[], None),
        ] {
            assert_eq!(family(id, like), expected, "{id:?}");
        }
    }
}
