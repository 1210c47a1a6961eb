//! Where sources may come from, by options and environment.

use super::super::args::SourceOptions;
use super::super::error::CliError;
use super::{Environment, absolute};
use crate::acquire;

pub(super) fn settings(options: &SourceOptions, environment: &Environment) -> Result<acquire::Settings, CliError> {
    Ok(acquire::Settings {
        folders: options.allowed_folders.iter().map(|folder| absolute(folder)).collect::<Result<_, _>>()?,
        addresses: options.allowed_addresses.clone(),
        max_size: options.max_source_size.unwrap_or(acquire::DEFAULT_MAX_SIZE),
        timeout: options.source_timeout.unwrap_or(acquire::DEFAULT_TIMEOUT),
        ca_file: options.ca_file.clone(),
        proxy: environment.proxy(),
    })
}

impl Environment {
    /// The first of these variables that is set and is text; as elsewhere, the name in small letters holds over the other.
    fn variable(&self, names: &[&str]) -> Option<String> {
        let find = |name: &str| self.variables.iter().find(|(found, _)| found == name)?.1.to_str().map(str::to_owned);
        names.iter().find_map(|name| find(name).or_else(|| find(&name.to_ascii_uppercase())))
    }

    fn proxy(&self) -> acquire::ProxySettings {
        acquire::ProxySettings {
            https: self.variable(&["https_proxy", "all_proxy"]),
            none: self.variable(&["no_proxy"]).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn the_proxy_by_small_letters_then_large_ones() {
        let environment = |variables: &[(&str, &str)]| Environment {
            variables: variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect(),
            ..Environment::default()
        };
        let proxy = |variables: &[(&str, &str)]| environment(variables).proxy();
        assert_eq!(proxy(&[]), acquire::ProxySettings::default());
        assert_eq!(proxy(&[("HTTPS_PROXY", "b"), ("https_proxy", "a"), ("NO_PROXY", "x")]).https.as_deref(), Some("a"));
        assert_eq!(proxy(&[("ALL_PROXY", "c"), ("HTTPS_PROXY", "b"), ("NO_PROXY", "x")]).https.as_deref(), Some("b"));
        assert_eq!(proxy(&[("ALL_PROXY", "c"), ("no_proxy", "x")]).none, "x");
        assert_eq!(proxy(&[("http_proxy", "d")]).https, None);
    }

    #[test]
    fn sources_are_bounded_by_default() {
        let bounded = settings(&SourceOptions::default(), &Environment::default()).unwrap();
        assert_eq!((bounded.max_size, bounded.timeout.as_secs()), (1 << 30, 900));
        assert!(bounded.folders.is_empty() && bounded.addresses.is_empty());
        let options = SourceOptions { allowed_folders: vec!["shared".into()], ..SourceOptions::default() };
        assert!(settings(&options, &Environment::default()).unwrap().folders[0].is_absolute());
    }
}
