//! Addresses, and prefixes that allow them. Both are compared in one normal form, which is also what is sent: what was allowed is what is
//! asked for.

use std::fmt;
use std::str::FromStr;

use url::Url;

/// The longest address, in bytes.
const MAX_LENGTH: usize = 2_048;

/// An `https` address in its normal form: host in lower case, no default port, no `.` and `..`, no fragment, no credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Url);

impl Address {
    /// The address that a text says.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        check_text(text)?;
        Self::check(Url::parse(text).map_err(|error| error.to_string())?)
    }

    /// The address that a server means by `location`, which may be relative to this one.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub(super) fn join(&self, location: &str) -> Result<Self, String> {
        check_text(location)?;
        Self::check(self.0.join(location).map_err(|error| error.to_string())?)
    }

    fn check(mut url: Url) -> Result<Self, String> {
        if url.scheme() != "https" {
            return Err(format!("it begins with `{}:` where only `https:` is fetched", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it has a user name or a password in it, which would get into logs".to_owned());
        }
        if steps_out(url.path()) {
            return Err("its path has `.` or `..` behind an encoded slash".to_owned());
        }
        url.set_fragment(None);
        Ok(Self(url))
    }

    /// As it is sent.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Host and port, for messages and proxies.
    pub(super) fn host(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        self.0.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// The host alone.
    pub(super) fn host_name(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// For messages: without the query, which may hold a token.
    pub(super) fn shown(&self) -> String {
        let mut url = self.0.clone();
        url.set_query(None);
        url.into()
    }

    /// The prefix that would allow this address and its neighbours.
    pub(super) fn suggested_prefix(&self) -> String {
        let shown = self.shown();
        let end = shown.rfind('/').map_or(shown.len(), |slash| slash + 1);
        shown[..end].to_owned()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

/// An `https` address beneath which everything may be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix(Address);

/// Text that is no prefix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PrefixError(String);

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let address = Address::parse(text).map_err(PrefixError)?;
        if address.0.query().is_some() || text.contains('#') {
            return Err(PrefixError("a prefix ends with its path: it has no `?` and no `#`".to_owned()));
        }
        Ok(Self(address))
    }
}

impl Prefix {
    /// Whether it allows the address: same host and port, and a path that is this one or lies beneath it.
    pub fn covers(&self, address: &Address) -> bool {
        let (own, other) = (&self.0.0, &address.0);
        let same_server = own.host_str() == other.host_str() && own.port_or_known_default() == other.port_or_known_default();
        let beneath = other.path().strip_prefix(own.path());
        same_server && beneath.is_some_and(|rest| rest.is_empty() || own.path().ends_with('/') || rest.starts_with('/'))
    }
}

/// What a parser of addresses would take out in silence is refused.
fn check_text(text: &str) -> Result<(), String> {
    if text.len() > MAX_LENGTH {
        return Err(format!("it is longer than {MAX_LENGTH} bytes"));
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("it has white space or control characters in it".to_owned());
    }
    if text.contains('\\') {
        return Err("it has a backslash in it".to_owned());
    }
    Ok(())
}

/// Whether a server that decodes `%2F` before it resolves `..` would end up elsewhere than the path says.
fn steps_out(path: &str) -> bool {
    let decoded = path.to_ascii_lowercase().replace("%2f", "/").replace("%5c", "/").replace("%2e", ".");
    decoded.split('/').any(|step| step == "." || step == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(prefix: &str, address: &str) -> bool {
        prefix.parse::<Prefix>().unwrap().covers(&Address::parse(address).unwrap())
    }

    #[test]
    fn a_prefix_covers_its_host_and_what_lies_beneath_its_path() {
        let prefix = "https://example.org/pub";
        for inside in [
            "https://example.org/pub",
            "https://EXAMPLE.org:443/pub/a",
            "https://example.org/x/../pub/a?b=c#d",
            "https://example.org/pub/%2e%2e/pub/a",
            "https://example.org/pub/group%2Fname/a",
        ] {
            assert!(covers(prefix, inside), "{inside}");
        }
        for outside in [
            "https://example.org/public/a",
            "https://example.org/pub/../secret",
            "https://example.org/pub/%2E./secret",
            "https://example.org:444/pub/a",
            "https://example.org.evil.net/pub/a",
            "https://www.example.org/pub/a",
            "https://example.org/PUB/a",
        ] {
            assert!(!covers(prefix, outside), "{outside}");
        }
        assert!(covers("https://example.org", "https://example.org/any/thing"));
        assert!(!covers("https://example.org/pub/", "https://example.org/pub"));
    }

    #[test]
    fn addresses_that_could_mislead_are_refused() {
        for (bad, why) in [
            ("http://example.org/a", "`http:`"),
            ("ftp://example.org/a", "`ftp:`"),
            ("https://user:pass@example.org/a", "password"),
            ("https://example.org@evil.net/a", "user name"),
            ("https://example.org/pub/..%2fsecret", "encoded slash"),
            ("https://example.org/pub/a%5C..%5Cb", "encoded slash"),
            ("https://example.org\\@evil.net/", "backslash"),
            ("https://exam\tple.org/", "control"),
            (" https://example.org/", "white space"),
            ("https:///a b", "white space"),
            ("motd", "relative URL"),
        ] {
            let error = Address::parse(bad).unwrap_err();
            assert!(error.contains(why), "{bad}: {error}");
        }
        assert!(Address::parse(&format!("https://example.org/{}", "a".repeat(MAX_LENGTH))).unwrap_err().contains("longer"));
        assert!("https://example.org/?a".parse::<Prefix>().is_err() && "https://example.org/#a".parse::<Prefix>().is_err());
    }

    #[test]
    fn messages_have_no_query_and_the_hint_names_the_folder() {
        let address = Address::parse("https://Example.org:8443/pub/a.tar?token=hunter2#x").unwrap();
        assert_eq!(address.to_string(), "https://example.org:8443/pub/a.tar");
        assert_eq!(address.host(), "example.org:8443");
        assert_eq!(address.suggested_prefix(), "https://example.org:8443/pub/");
        assert_eq!(address.as_str(), "https://example.org:8443/pub/a.tar?token=hunter2");
        assert_eq!(address.join("../b").unwrap().as_str(), "https://example.org:8443/b");
        assert!(address.join("http://example.org/b").is_err());
    }
}
