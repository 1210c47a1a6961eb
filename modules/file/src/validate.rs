//! What a desired state must be, and what it means. The node calls this with what a bundle holds: nothing is taken for granted.

use std::time::Duration;

use runtime_sdk::{DefinitionResult, Diagnostic, Ensure as _, Principal, Semantics, path};

use crate::desired::{Desired, Ensure};
use crate::links;

/// Enough for a large file on a slow disk.
const TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The most versions of a file that the host keeps.
const MAX_BACKUP: u32 = 100;

/// Checks a complete desired state and says what it means.
pub fn validate(desired: &Desired) -> DefinitionResult<Semantics> {
    check(desired)?;
    if desired.content.is_some() && desired.content_name().is_none() {
        return Err(Diagnostic::at("content", "the content has no name").into());
    }
    let mut semantics =
        Semantics::new(desired.identity().footprint(), TIMEOUT).capability("files.read").capability("files.write");
    if [&desired.owner, &desired.group].into_iter().any(|account| matches!(account, Some(Principal::Name(_)))) {
        semantics = semantics.capability("accounts.read");
    }
    if desired.validate.is_some() {
        semantics = semantics.capability("processes.query");
    }
    if let Some(name) = desired.content_name() {
        semantics = semantics.asset(name);
    }
    Ok(semantics)
}

/// Checks all but the digest, which comes after compiling.
pub fn check(desired: &Desired) -> DefinitionResult<()> {
    check_path(desired)?;
    check_meaning(desired)?;
    check_target(desired)?;
    links::check(desired.links, &desired.leads_to, &desired.path)?;
    check_backup(desired)?;
    check_validation(desired)?;
    check_principal("owner", desired.owner.as_ref())?;
    check_principal("group", desired.group.as_ref())
}

fn check_path(desired: &Desired) -> DefinitionResult<()> {
    path::check(&desired.path).map_err(|error| error.at("path"))?;
    if desired.path == "/" && desired.ensure != Ensure::Directory {
        return Err(Diagnostic::at("path", "the root of the file system can only be a directory").into());
    }
    Ok(())
}

/// Attributes that cannot take effect with this `ensure`.
pub fn meaningless(ensure: Ensure) -> &'static [&'static str] {
    match ensure {
        Ensure::File => &["target"],
        Ensure::Directory => &["content", "source", "checksum", "backup", "validate", "target"],
        Ensure::Symlink => &["links", "leads_to", "content", "source", "checksum", "mode", "backup", "validate"],
        Ensure::Absent => &[
            "links", "leads_to", "parents", "content", "source", "checksum", "owner", "group", "mode", "backup", "validate",
            "target",
        ],
    }
}

/// The message for such an attribute.
pub fn meaningless_attribute(name: &str, ensure: Ensure) -> Diagnostic {
    Diagnostic::at(name, format!("`{name}` has no meaning when `ensure` is `{}`", ensure.word()))
        .hint(format!("leave `{name}` out, or change `ensure`"))
}

fn check_meaning(desired: &Desired) -> DefinitionResult<()> {
    let Desired { path: _, ensure, force: _, links, leads_to, parents, content, owner, group, mode, backup, validate, target } =
        desired;
    let given = [
        ("links", !links.is_default()),
        ("leads_to", !leads_to.is_empty()),
        ("parents", *parents),
        ("content", content.is_some()),
        ("owner", owner.is_some()),
        ("group", group.is_some()),
        ("mode", mode.is_some()),
        ("backup", *backup > 0),
        ("validate", validate.is_some()),
        ("target", target.is_some()),
    ];
    match given.iter().find(|(name, is_given)| *is_given && meaningless(*ensure).contains(name)) {
        Some((name, _)) => Err(meaningless_attribute(name, *ensure).into()),
        None => Ok(()),
    }
}

fn check_target(desired: &Desired) -> DefinitionResult<()> {
    match &desired.target {
        None if desired.ensure == Ensure::Symlink => {
            Err(Diagnostic::at("target", "`target` is missing").hint("a symbolic link needs a `target`").into())
        }
        Some(target) if !path::is_target(target) => Err(path::no_target("target").into()),
        _ => Ok(()),
    }
}

/// A number of versions that can be kept.
pub fn checked_backup(count: u32) -> Result<u32, Diagnostic> {
    let refusal = || Diagnostic::at("backup", format!("`backup` is from 0 to {MAX_BACKUP}"));
    if count <= MAX_BACKUP { Ok(count) } else { Err(refusal()) }
}

fn check_backup(desired: &Desired) -> DefinitionResult<()> {
    if checked_backup(desired.backup)? == 0 {
        return Ok(());
    }
    let mut last = desired.places().map(|place| format!("{place}.~{}~", desired.backup));
    last.try_for_each(|name| path::check(&name)).map_err(|_| {
        Diagnostic::at("backup", "the names of kept versions are longer than a name or a path can be").hint("leave `backup` out")
    })?;
    Ok(())
}

fn check_validation(desired: &Desired) -> DefinitionResult<()> {
    match &desired.validate {
        Some(validation) => Ok(validation.check("validate")?),
        None => Ok(()),
    }
}

fn check_principal(attribute: &str, principal: Option<&Principal>) -> DefinitionResult<()> {
    match principal {
        Some(principal) if !principal.is_valid() => Err(Principal::refusal(attribute).into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::File;
    use runtime_sdk::{Definition as _, json};

    fn validate(text: &str) -> Option<Semantics> {
        let desired: Desired = json::parse_canonical(text).ok()?;
        File::validate(&desired).ok()
    }

    fn digest() -> String {
        format!("sha256:{}", "ab".repeat(32))
    }

    #[test]
    fn a_state_says_what_it_means() {
        let text = format!(r#"{{"content":"{}","ensure":"file","force":false,"path":"/a"}}"#, digest());
        let semantics = validate(&text).unwrap();
        assert_eq!(semantics.assets, [digest()]);
        assert_eq!(semantics.capabilities, ["files.read", "files.write"]);
        assert_eq!(semantics.timeout_ms, 300_000);
        assert!(!semantics.sensitive && !semantics.accepts_refresh && semantics.prerequisites.is_empty());
        assert_eq!(semantics.affected_paths, [b"/a".to_vec()]);
        assert!(semantics.claims.is_empty(), "the host derives them from the effects");
    }

    #[test]
    fn accounts_are_needed_for_names_alone() {
        let needs = |owner: &str| {
            let text = format!(r#"{{"ensure":"file","force":false,"owner":{owner},"path":"/a"}}"#);
            validate(&text).unwrap().capabilities.contains(&"accounts.read".to_owned())
        };
        assert!(needs(r#""root""#));
        assert!(!needs("0"));
    }

    #[test]
    fn whatever_compile_cannot_give_is_refused() {
        let refused = [
            r#"{"ensure":"file","path":"/a"}"#,
            r#"{"ensure":"file","force":false,"path":"a"}"#,
            r#"{"ensure":"file","force":false,"path":"/a/"}"#,
            r#"{"ensure":"file","force":false,"path":"/"}"#,
            r#"{"ensure":"present","force":false,"path":"/a"}"#,
            r#"{"ensure":"file","extra":1,"force":false,"path":"/a"}"#,
            r#"{"content":"","ensure":"file","force":false,"path":"/a"}"#,
            r#"{"content":"sha256:00","ensure":"file","force":false,"path":"/a"}"#,
            r#"{"ensure":"file","force":false,"mode":"644","path":"/a"}"#,
            r#"{"ensure":"file","force":false,"mode":"9999","path":"/a"}"#,
            r#"{"ensure":"file","force":false,"owner":"1000","path":"/a"}"#,
            r#"{"ensure":"file","force":false,"owner":4294967295,"path":"/a"}"#,
            r#"{"ensure":"file","force":false,"owner":-1,"path":"/a"}"#,
            r#"{"ensure":"file","force":false,"group":"a:b","path":"/a"}"#,
            r#"{"ensure":"file","force":false,"path":"/a","target":"b"}"#,
            r#"{"ensure":"symlink","force":false,"path":"/a"}"#,
            r#"{"ensure":"symlink","force":false,"path":"/a","target":"b\u0000"}"#,
            r#"{"ensure":"symlink","force":false,"mode":"0644","path":"/a","target":"b"}"#,
            r#"{"ensure":"absent","force":false,"owner":0,"path":"/a"}"#,
            r#"{"ensure":"absent","force":false,"parents":true,"path":"/a"}"#,
            r#"{"ensure":"file","force":false,"parents":false,"path":"/a"}"#,
            r#"{"backup":0,"ensure":"file","force":false,"path":"/a"}"#,
            r#"{"ensure":"file","force":false,"links":"refuse","path":"/a"}"#,
            r#"{"ensure":"file","force":false,"leads_to":[],"path":"/a"}"#,
            r#"{"ensure":"file","force":false,"links":"follow","path":"/a"}"#,
            r#"{"ensure":"absent","force":false,"links":"replace","path":"/a"}"#,
            r#"{"backup":101,"ensure":"file","force":false,"path":"/a"}"#,
            r#"{"backup":1,"ensure":"directory","force":false,"path":"/a"}"#,
        ];
        for text in refused {
            assert_eq!(validate(text), None, "{text}");
        }
        let on_a_directory = format!(r#"{{"content":"{}","ensure":"directory","force":false,"path":"/a"}}"#, digest());
        assert_eq!(validate(&on_a_directory), None);
        assert!(validate(r#"{"ensure":"file","force":false,"path":"/a"}"#).is_some());
        assert!(validate(r#"{"backup":100,"ensure":"file","force":false,"path":"/a"}"#).is_some());
        assert!(validate(r#"{"backup":1,"content":"secret:0","ensure":"file","force":false,"path":"/a"}"#).is_some());
    }
}
