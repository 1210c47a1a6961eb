//! What a desired state must be, and what it means. The node calls this with what a bundle holds: nothing is taken for granted.

use std::time::Duration;

use runtime_sdk::{AccountId, AccountName, DefinitionResult, Diagnostic, Presence, Semantics};

use crate::attributes::Membership;
use crate::desired::Desired;
use crate::home::{self, is_path};
use crate::primary::PrimaryGroup;

/// Account tools wait for each other's locks, and a home directory that goes away may be large.
const TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The longest comment, in bytes.
const MAX_COMMENT: usize = 255;

/// Attributes that cannot take effect when `ensure` is `absent`.
pub const MEANINGLESS: [&str; 10] =
    ["uid", "group", "groups", "membership", "comment", "shell", "expires", "locked", "password_hash", "system"];

/// The message for such an attribute.
pub fn meaningless_attribute(name: &str) -> Diagnostic {
    Diagnostic::at(name, format!("`{name}` has no meaning when `ensure` is `absent`"))
        .hint(format!("leave `{name}` out, or change `ensure`"))
}

/// The message for a policy about groups that are not managed.
pub fn membership_of_nothing() -> Diagnostic {
    Diagnostic::at("membership", "`membership` is given, and `groups` is not").hint("name the groups, or leave `membership` out")
}

/// Checks a complete desired state and says what it means.
pub fn validate(desired: &Desired) -> DefinitionResult<Semantics> {
    check(desired)?;
    let mut semantics = Semantics::new(desired.identity().footprint(), TIMEOUT).capability("accounts.read");
    for right in rights(desired) {
        semantics = semantics.capability(right);
    }
    match &desired.password_hash {
        None => Ok(semantics),
        Some(hash) => match hash.name() {
            Some(name) => Ok(semantics.asset(name)),
            None => Err(Diagnostic::at("password_hash", "the hash has no name").into()),
        },
    }
}

fn rights(desired: &Desired) -> Vec<&'static str> {
    let mut rights = match desired.ensure {
        Presence::Present => vec!["accounts.create", "accounts.modify"],
        Presence::Absent => vec!["accounts.delete"],
    };
    if desired.group.is_some() || desired.groups.as_ref().is_some_and(|groups| !groups.is_empty()) {
        rights.push("accounts.join");
    }
    if desired.manage_home {
        rights.extend(["files.read", "files.write"]);
    }
    rights
}

/// Checks all but the name of the hash, which comes after compiling.
pub fn check(desired: &Desired) -> DefinitionResult<()> {
    check_meaning(desired)?;
    let refused = [
        (!desired.name.is_valid()).then(|| AccountName::refusal("name")),
        desired.uid.filter(|uid| !uid.is_valid()).map(|_| AccountId::refusal("uid")),
        desired.group.as_ref().filter(|group| !group.is_valid()).map(|_| PrimaryGroup::refusal("group")),
        desired.groups.as_deref().and_then(wrong_groups),
        desired.groups.as_ref().zip(desired.group.as_ref()).and_then(|(groups, primary)| primary_among(groups, primary)),
        desired.comment.as_deref().filter(|comment| !is_comment(comment)).map(|_| no_comment()),
        desired.home.as_ref().filter(|home| !is_path(&home.0)).map(|_| home::no_path("home")),
        desired.shell.as_ref().filter(|shell| !is_path(&shell.0)).map(|_| home::no_path("shell")),
    ];
    match refused.into_iter().flatten().next() {
        Some(diagnostic) => Err(diagnostic.into()),
        None => Ok(()),
    }
}

fn check_meaning(desired: &Desired) -> DefinitionResult<()> {
    let Desired { ensure, uid, group, groups, membership, comment, shell, expires, locked, password_hash, system, .. } = desired;
    let given = [
        uid.is_some(),
        group.is_some(),
        groups.is_some(),
        *membership == Membership::Exact,
        comment.is_some(),
        shell.is_some(),
        expires.is_some(),
        locked.is_some(),
        password_hash.is_some(),
        *system,
    ];
    let meaningless = MEANINGLESS.iter().zip(given).find(|(_, is_given)| *is_given);
    match (ensure, meaningless) {
        (Presence::Absent, Some((name, _))) => return Err(meaningless_attribute(name).into()),
        (Presence::Absent, None) if desired.home.is_some() && !desired.manage_home => {
            return Err(Diagnostic::at("home", "`home` has no meaning when `ensure` is `absent` and the directory stays")
                .hint("leave `home` out, or set `manage_home` to remove it")
                .into());
        }
        (Presence::Present, _) if *membership == Membership::Exact && groups.is_none() => {
            return Err(membership_of_nothing().into());
        }
        _ => {}
    }
    match (desired.manage_home, desired.home.as_ref()) {
        (true, None) => {
            Err(Diagnostic::at("manage_home", "`manage_home` needs to know the directory").hint("say it with `home`").into())
        }
        (true, Some(home)) if home.0 == "/" => {
            Err(Diagnostic::at("manage_home", "the root of the file system is nobody's home directory to make or remove").into())
        }
        _ => Ok(()),
    }
}

fn wrong_groups(groups: &[AccountName]) -> Option<Diagnostic> {
    if groups.iter().any(|group| !group.is_valid()) {
        return Some(AccountName::refusal("groups"));
    }
    let is_sorted = groups.windows(2).all(|pair| pair[0] < pair[1]);
    (!is_sorted).then(|| Diagnostic::at("groups", "the groups are not sorted, or one is there twice"))
}

fn primary_among(groups: &[AccountName], primary: &PrimaryGroup) -> Option<Diagnostic> {
    let is_among = matches!(primary, PrimaryGroup::Name(name) if groups.contains(name));
    let message = "the primary group is among the other groups";
    is_among.then(|| Diagnostic::at("groups", message).hint("leave it out of `groups`: whoever has it as `group` is in it"))
}

fn is_comment(comment: &str) -> bool {
    comment.len() <= MAX_COMMENT && !comment.contains(|c: char| c == ':' || c.is_control())
}

fn no_comment() -> Diagnostic {
    Diagnostic::at("comment", "`comment` is no text that an account can have")
        .hint("write at most 255 bytes, without `:` and control characters")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::User;
    use runtime_sdk::{Definition as _, json};

    fn validate(fields: &str) -> Option<Semantics> {
        let text =
            format!(r#"{{"ensure":"present","manage_home":false,"membership":"minimum","name":"web","system":false{fields}}}"#);
        // Canonical order is the host's matter; what is held here is the meaning.
        let desired: Desired = serde_json::from_str(&text).ok()?;
        User::validate(&desired).ok()
    }

    #[test]
    fn rights_follow_from_what_is_declared() {
        assert_eq!(validate("").unwrap().capabilities, ["accounts.read", "accounts.create", "accounts.modify"]);
        assert!(validate(r#","groups":["adm"]"#).unwrap().capabilities.contains(&"accounts.join".to_owned()));
        assert!(!validate(r#","groups":[]"#).unwrap().capabilities.contains(&"accounts.join".to_owned()));
        let hash = r#","password_hash":"secret:user.web/password_hash""#;
        assert_eq!(validate(hash).unwrap().assets, ["secret:user.web/password_hash"]);
    }

    #[test]
    fn whatever_compile_cannot_give_is_refused() {
        let refused = [
            r#","uid":0"#,
            r#","uid":4294967295"#,
            r#","group":"a:b""#,
            r#","group":4294967295"#,
            r#","groups":["b","a"]"#,
            r#","groups":["a","a"]"#,
            r#","groups":["-G"]"#,
            r#","group":"a","groups":["a"]"#,
            r#","comment":"a:b""#,
            r#","home":"/a/../b""#,
            r#","shell":"/bin/sh\n""#,
            r#","expires":"2030-02-30""#,
            r#","expires":7"#,
            r#","password_hash":"""#,
            r#","password_hash":"hunter2""#,
            r#","extra":1"#,
        ];
        for fields in refused {
            assert_eq!(validate(fields), None, "{fields}");
        }
        assert!(json::parse_canonical::<Desired>(r#"{"ensure":"present","name":"web"}"#).is_err(), "a field is missing");
    }
}
