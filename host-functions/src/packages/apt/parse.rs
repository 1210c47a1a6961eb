//! What dpkg and apt write.

use std::collections::BTreeMap;

use crate::error::CallError;
use crate::packages::backend::PackageFile;
use crate::packages::judge::Step;
use crate::packages::table::Table;
use crate::packages::{Package, State};

/// The packages in the lines of dpkg-query.
pub(super) fn table(text: &str) -> Result<Table, CallError> {
    let mut packages = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        packages.extend(package(line)?);
    }
    // dpkg itself is always of the native architecture.
    let native = packages.iter().find(|package| package.name == "dpkg").map(|package| package.architecture.clone());
    Ok(Table::new(packages, native))
}

/// None for a package of which nothing is there.
fn package(line: &str) -> Result<Option<Package>, CallError> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [name, architecture, version, want, flag, status] = fields[..] else {
        return Err(CallError::Other("dpkg-query gave a line that is no package".into()));
    };
    let (state, detail) = match (status, flag) {
        ("not-installed", _) => return Ok(None),
        ("config-files", _) => (State::ConfigurationFiles, None),
        ("installed", "ok") => (State::Installed, None),
        ("installed", _) => (State::Partial, Some("reinstallation-required".to_owned())),
        (other, _) => (State::Partial, Some(crate::text::escape(other))),
    };
    let (name, architecture, version) = (name.to_owned(), architecture.to_owned(), version.to_owned());
    Ok(Some(Package { name, architecture, version, state, detail, held: want == "hold" }))
}

/// The candidates in what `apt-cache policy` writes, by the name that apt writes.
pub(super) fn policy(text: &str) -> BTreeMap<String, Option<String>> {
    let mut candidates = BTreeMap::new();
    let mut package = None;
    for line in text.lines() {
        if let Some(name) = line.strip_suffix(':').filter(|_| !line.starts_with(' ')) {
            package = Some(name.to_owned());
        } else if let Some(version) = line.strip_prefix("  Candidate: ") {
            let version = Some(version.trim()).filter(|version| *version != "(none)").map(str::to_owned);
            candidates.extend(package.take().map(|name| (name, version)));
        }
    }
    candidates
}

/// The steps in what `apt-get -s` writes.
pub(super) fn simulation(text: &str) -> Result<Vec<Step>, CallError> {
    let (mut steps, mut configured) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let Some((word, rest)) = line.split_once(' ') else { continue };
        match word {
            "Inst" => steps.push(step(rest, true)?),
            "Remv" | "Purg" => steps.push(step(rest, false)?),
            "Conf" => configured.push(step(rest, true)?),
            _ => {}
        }
    }
    // What is only configured was unpacked before: its installation is brought to its end.
    configured.retain(|conf: &Step| !steps.iter().any(|step: &Step| step.name == conf.name));
    steps.extend(configured);
    Ok(steps)
}

/// `NAME [BEFORE] (AFTER ORIGIN [ARCHITECTURE]) …`, of which all but the name may be missing.
fn step(rest: &str, installs: bool) -> Result<Step, CallError> {
    let no_step = || CallError::Other("apt-get simulated a line that is no package".into());
    let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let (name, foreign) = word.split_once(':').map_or((word, None), |(name, foreign)| (name, Some(foreign)));
    if name.is_empty() {
        return Err(no_step());
    }
    let before = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(before, _)| before.to_owned());
    let offer = rest.split_once('(').and_then(|(_, offer)| offer.split_once(')')).map(|(offer, _)| offer);
    let after = offer.and_then(|offer| offer.split(' ').next()).map(str::to_owned);
    let architecture = offer.and_then(|offer| offer.rsplit_once('[')).map(|(_, architecture)| architecture.trim_end_matches(']'));
    if installs && after.is_none() {
        return Err(no_step());
    }
    Ok(Step {
        name: name.to_owned(),
        architecture: architecture.or(foreign).map(str::to_owned),
        before,
        after: after.filter(|_| installs),
    })
}

/// What a package file says of itself.
pub(super) fn package_file(text: &str) -> Result<PackageFile, CallError> {
    let fields: Vec<&str> = text.trim_end().split('\t').collect();
    let [name, version, architecture] = fields[..] else {
        return Err(CallError::invalid("the asset is no package file of dpkg"));
    };
    Ok(PackageFile { name: name.to_owned(), version: version.to_owned(), architecture: architecture.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packages::{Manager, Subject};

    #[test]
    fn dpkgs_words_become_states() {
        let text = "dpkg\tamd64\t1.21\tinstall\tok\tinstalled\n\
            held\tamd64\t1\thold\tok\tinstalled\n\
            old\tall\t2\tdeinstall\tok\tconfig-files\n\
            half\tall\t1\tinstall\tok\thalf-configured\n\
            bad\tall\t1\tinstall\treinstreq\tinstalled\n\
            never\tall\t\tunknown\tok\tnot-installed\n";
        let table = table(text).unwrap();
        let found = |name: &str| {
            let subject = Subject { name: name.into(), architecture: None };
            table.find(Manager::Apt, &subject).map(|package| (package.state, package.detail.as_deref(), package.held))
        };
        assert_eq!(found("held"), Some((State::Installed, None, true)));
        assert_eq!(found("old"), Some((State::ConfigurationFiles, None, false)));
        assert_eq!(found("half"), Some((State::Partial, Some("half-configured"), false)));
        assert_eq!(found("bad"), Some((State::Partial, Some("reinstallation-required"), false)));
        assert_eq!(found("never"), None);
        assert!(super::table("one\ttwo\n").is_err());
    }

    #[test]
    fn candidates_are_read_and_none_is_none() {
        let text = "demo:\n  Installed: 1.0\n  Candidate: 2.0\n  Version table:\n     2.0 500\nrc:\n  Installed: (none)\n  Candidate: (none)\n";
        let candidates = policy(text);
        assert_eq!(candidates["demo"].as_deref(), Some("2.0"));
        assert_eq!(candidates["rc"], None);
    }

    #[test]
    fn a_simulation_is_read_line_by_line() {
        let text = "NOTE: This is only a simulation!\nRemv demo [1.0]\nInst fights (1.0 localhost, local-deb [all])\n\
            Inst libc6:i386 [2.36-9] (2.36-10 Debian:12.1/stable [i386]) []\nConf fights (1.0 localhost [all])\nConf half (3 localhost [all])\nPurg old\n";
        let steps = simulation(text).unwrap();
        let told: Vec<_> =
            steps.iter().map(|s| (&*s.name, s.architecture.as_deref(), s.before.as_deref(), s.after.as_deref())).collect();
        assert_eq!(
            told,
            [
                ("demo", None, Some("1.0"), None),
                ("fights", Some("all"), None, Some("1.0")),
                ("libc6", Some("i386"), Some("2.36-9"), Some("2.36-10")),
                ("old", None, None, None),
                ("half", Some("all"), None, Some("3")),
            ]
        );
        assert!(simulation("Inst \n").is_err() && simulation("Inst x [1]\n").is_err());
    }
}
