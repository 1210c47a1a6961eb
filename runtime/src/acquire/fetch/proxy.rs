//! How a server is reached: through the proxy that the environment names, or without.

use super::Address;

/// The proxy of the environment.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxySettings {
    /// `https_proxy`, else `all_proxy`.
    pub https: Option<String>,
    /// `no_proxy`: hosts to reach without it, between commas; `*` is all of them.
    pub none: String,
}

impl std::fmt::Debug for ProxySettings {
    /// Without the proxy's address, which may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProxySettings").field("https", &self.https.is_some()).field("none", &self.none).finish()
    }
}

impl ProxySettings {
    /// The proxy to use for an address.
    pub(super) fn of(&self, address: &Address) -> Option<&str> {
        let proxy = self.https.as_deref().filter(|proxy| !proxy.is_empty())?;
        (!self.is_excepted(address.host_name())).then_some(proxy)
    }

    /// As other programs have it: a name also stands for every name beneath it, and a leading dot changes nothing.
    fn is_excepted(&self, host: &str) -> bool {
        self.none.split(',').map(str::trim).filter(|name| !name.is_empty()).any(|name| {
            let name = name.trim_start_matches("*.").trim_start_matches('.').to_ascii_lowercase();
            let beneath = host.strip_suffix(name.as_str());
            name == "*" || beneath.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excepted_hosts_are_reached_without_the_proxy() {
        let settings = |none: &str| ProxySettings { https: Some("http://proxy:3128".into()), none: none.into() };
        let of = |none: &str, address: &str| settings(none).of(&Address::parse(address).unwrap()).is_some();
        assert!(of("", "https://example.org/"));
        assert!(!of("*", "https://example.org/"));
        assert!(!of("localhost, Example.org", "https://example.org/"));
        assert!(!of("example.org", "https://files.example.org/"));
        assert!(!of(".example.org", "https://files.example.org/"));
        assert!(!of("*.example.org", "https://files.example.org/"));
        assert!(of("example.org", "https://badexample.org/"));
        assert!(!of("127.0.0.1", "https://127.0.0.1:8443/"));
        assert!(
            ProxySettings { https: Some(String::new()), none: String::new() }
                .of(&Address::parse("https://a/").unwrap())
                .is_none()
        );
    }

    #[test]
    fn a_proxys_password_is_not_in_debug_output() {
        let settings = ProxySettings { https: Some("http://user:hunter2@proxy".into()), none: String::new() };
        assert!(!format!("{settings:?}").contains("hunter2"));
    }
}
