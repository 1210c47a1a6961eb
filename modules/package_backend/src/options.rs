//! The options of providers that work with a manager of the host: described, compiled, checked.
//!
//! Every one of them has `index_max_age`; which of the others a provider has is its own to say ([`Offers`]).

use runtime_sdk::provider::OptionsSemantics;
use runtime_sdk::{
    Asset, AssetRef, Attribute, Attributes, Compiled, DefinitionError, DefinitionResult, Diagnostic, Footprint, Parameters,
};
use serde::{Deserialize, Serialize};

use crate::source::Source;

/// The least of `index_max_age`: what is younger was fetched in this run.
const LEAST_AGE: u64 = 60;

/// What stands in the documents of [`FromFile`] for the end of a package file's name.
const SUFFIX: &str = ".SUFFIX";

/// Which options a provider has besides `index_max_age`.
#[derive(Debug, Clone, Copy)]
pub struct Offers {
    /// Whether it has `recommends`.
    pub recommends: bool,
    /// How the names of its package files end (`.deb`), if it has `source` and `checksum`.
    pub files: Option<&'static str>,
}

/// What every provider takes.
#[derive(Attributes)]
struct Index {
    /// The oldest that the index of packages may be, in seconds, from 60. An older one is fetched anew where a version depends on it. Omitted, the
    /// index is never fetched.
    index_max_age: Option<u64>,
}

/// What those take whose packages recommend others.
#[derive(Attributes)]
struct Recommending {
    /// Whether packages are installed too that others recommend. Omitted, it is as the node's package manager is configured.
    recommends: Option<bool>,
}

/// What those take that install a package file.
#[derive(Attributes)]
struct FromFile {
    /// A package file to install from, `….SUFFIX`: beneath the manifest's folder, or an `https` address, which needs a `checksum`. It is installed where
    /// the package is not there, or not at `version`.
    #[attribute(source)]
    source: Option<String>,
    /// The digest that the bytes of `source` must have: `sha256:` and 64 lower-case hex digits.
    #[attribute(checksum_of = "source")]
    checksum: Option<String>,
}

/// Compiled options. Those that a provider does not offer are none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The oldest that the index may be, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_max_age: Option<u64>,
    /// Whether recommended packages are installed too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommends: Option<bool>,
    /// The package file to install from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Asset>,
}

impl Offers {
    /// The descriptors of the options.
    pub(crate) fn attributes(self) -> Vec<Attribute> {
        let mut attributes = Index::attributes();
        if self.recommends {
            attributes.extend(Recommending::attributes());
        }
        if let Some(suffix) = self.files {
            attributes.extend(FromFile::attributes().into_iter().map(|attribute| {
                let document = attribute.document().replace(SUFFIX, suffix);
                attribute.doc(&document)
            }));
        }
        attributes
    }

    /// The options of a declaration. What is not offered is not asked for.
    pub(crate) fn compile(self, given: &Parameters) -> DefinitionResult<Compiled<Options>> {
        let index_max_age = Index::index_max_age(given)?;
        let source = match self.files {
            Some(_) => Source::given(FromFile::source(given)?, FromFile::checksum(given)?)?,
            None => None,
        };
        let recommends = if self.recommends { Recommending::recommends(given)? } else { None };
        let options = Options { index_max_age, recommends, source: source.as_ref().map(|_| Asset::pending()) };
        self.check(&options)?;
        let compiled = Compiled::new(options);
        Ok(match source {
            Some(source) => source.ask(compiled),
            None => compiled,
        })
    }

    /// Refuses what [`compile`](Self::compile) cannot give.
    pub(crate) fn check(self, options: &Options) -> Result<(), Diagnostic> {
        if options.index_max_age.is_some_and(|age| age < LEAST_AGE) {
            return Err(Diagnostic::at("index_max_age", format!("`index_max_age` is at least {LEAST_AGE} seconds")));
        }
        for (option, is_offered, is_given) in [
            ("recommends", self.recommends, options.recommends.is_some()),
            ("source", self.files.is_some(), options.source.is_some()),
        ] {
            if is_given && !is_offered {
                return Err(Diagnostic::at(option, format!("`{option}` is no option of this provider")));
            }
        }
        Ok(())
    }
}

impl Options {
    /// Puts in the name of the one asset.
    pub(crate) fn assign(&mut self, slot: &str, asset: AssetRef) -> DefinitionResult<()> {
        match &mut self.source {
            Some(source) if Source::is_slot(slot) => {
                source.assign(asset);
                Ok(())
            }
            _ => Err(DefinitionError::Other(format!("no asset was asked for under the slot `{slot}`"))),
        }
    }

    /// What they mean.
    pub(crate) fn semantics(&self) -> Result<OptionsSemantics, Diagnostic> {
        let semantics = OptionsSemantics::new(Footprint::empty()).capability("packages.read");
        Ok(match &self.source {
            None => semantics,
            Some(source) => {
                semantics.asset(source.name().ok_or_else(|| Diagnostic::at("source", "the package file has no name"))?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(offers: Offers) -> Vec<String> {
        offers.attributes().iter().map(|attribute| attribute.name().to_owned()).collect()
    }

    #[test]
    fn a_provider_has_the_options_that_it_offers() {
        assert_eq!(names(Offers { recommends: false, files: None }), ["index_max_age"]);
        let files = Offers { recommends: false, files: Some(".deb") };
        assert_eq!(names(files), ["index_max_age", "source", "checksum"]);
        let all = Offers { recommends: true, ..files };
        assert_eq!(names(all), ["index_max_age", "recommends", "source", "checksum"]);
        let source = &all.attributes()[2];
        assert!(source.document().starts_with("A package file to install from, `….deb`: beneath"), "{}", source.document());
        assert!(source.is_source());
        assert_eq!(all.attributes()[3].source_of_checksum(), Some("source"));
    }

    #[test]
    fn options_that_are_not_offered_are_refused_in_a_bundle() {
        let none = Offers { recommends: false, files: None };
        let plain = Options { index_max_age: None, recommends: None, source: None };
        assert!(none.check(&plain).is_ok());
        assert!(none.check(&Options { recommends: Some(false), ..plain.clone() }).is_err());
        assert!(none.check(&Options { source: Some(Asset::pending()), ..plain }).is_err());
    }
}
