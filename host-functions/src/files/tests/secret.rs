//! Content from sensitive values: the host writes it, and the guest learns whether it is there and nothing else.

use std::os::unix::fs::PermissionsExt as _;

use crate::bindings::runtime::host::files::{Content, HostObject as _};
use crate::error::CallError;
use crate::rights::{Rights, Sensitivity};
use crate::testing::{Attempt, all_rights, assert_error, attributes, digest_of};

const NAME: &str = "secret:file.a/content";

/// What the kit has for that slot.
const VALUE: &[u8] = b"FILE.A/CONTENT";

fn rights() -> Rights {
    let mut rights = all_rights("file.a");
    rights.assets.insert(NAME.parse().unwrap(), Sensitivity::Sensitive);
    rights
}

fn mode(attempt: &Attempt, path: &str) -> u32 {
    std::fs::metadata(attempt.host(path)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_secret_is_written_for_its_owner_alone_and_seen_by_name() {
    let mut attempt = Attempt::with_assets(rights(), &[b"plain"]);
    let handle = attempt.observed("/f");
    let staged = attempt.stage_with(handle, Content::Asset(NAME.into()), attributes(None, None, None)).unwrap();
    attempt.commit(staged).unwrap();
    assert_eq!(std::fs::read(attempt.host("/f")).unwrap(), VALUE);
    assert_eq!(mode(&attempt, "/f"), 0o600, "nothing says otherwise");
    let seen = attempt.digest(handle).unwrap().unwrap();
    assert_eq!((seen.digest.as_deref(), seen.size), (Some(NAME), 0));
    assert_error!(attempt.context.read(handle.borrow(), 0, 100), CallError::Denied(_));
    attempt.write("/f", b"anything");
    assert_eq!(attempt.digest(handle).unwrap().unwrap().digest.as_deref(), Some("hidden"), "no digest of what may be a secret");
    attempt.write("/f", b"plain");
    let digest = digest_of(b"plain").to_string();
    assert_eq!(attempt.digest(handle).unwrap().unwrap().digest, Some(digest), "its own plain asset is no secret");
}

#[test]
fn a_mode_that_is_asked_for_or_there_holds() {
    let mut attempt = Attempt::with(rights());
    let handle = attempt.observed("/f");
    let staged = attempt.stage_with(handle, Content::Asset(NAME.into()), attributes(None, None, Some(0o640))).unwrap();
    attempt.commit(staged).unwrap();
    assert_eq!(mode(&attempt, "/f"), 0o640);
    let staged = attempt.stage_with(handle, Content::Asset(NAME.into()), attributes(None, None, None)).unwrap();
    attempt.commit(staged).unwrap();
    assert_eq!(mode(&attempt, "/f"), 0o640);
}

#[test]
fn what_an_earlier_run_put_there_stays_hidden() {
    let mut attempt = Attempt::with_assets(Rights { had_secrets: true, ..all_rights("file.a") }, &[b"plain"]);
    attempt.write("/f", b"hunter2");
    let handle = attempt.observed("/f");
    let seen = attempt.digest(handle).unwrap().unwrap();
    assert_eq!((seen.digest.as_deref(), seen.size), (Some("hidden"), 0));
    assert_error!(attempt.context.read(handle.borrow(), 0, 100), CallError::Denied(_));
}

#[test]
fn a_secret_of_another_resource_cannot_be_named() {
    let mut attempt = Attempt::with(rights());
    let handle = attempt.observed("/f");
    for other in ["secret:file.b/content", "secret:file.a/content#0"] {
        let staged = attempt.stage_with(handle, Content::Asset(other.into()), attributes(None, None, None));
        assert_error!(staged, CallError::Denied(_));
    }
    let (records, _) = attempt.context.node().audit().snapshot();
    assert!(!format!("{records:?}").contains("FILE.A/CONTENT"));
}
