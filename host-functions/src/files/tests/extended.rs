//! What a file has beside content, owner, group and mode, when it is replaced. The file system of the temporary folder must have such attributes.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use rustix::fs::XattrFlags;
use rustix::io::Errno;

use crate::error::CallError;
use crate::grant::Grant;
use crate::rights::Rights;
use crate::testing::{Attempt, all_rights, assert_error};

const ACCESS_LIST: &str = "system.posix_acl_access";

/// An access list by which one user more, number 1000, may read; the group and that user have what the mask lets through.
fn access_list(mask: u16) -> Vec<u8> {
    let entry = |tag: u16, rights: u16, id: u32| [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat();
    let nobody = u32::MAX;
    let entries =
        [entry(1, 6, nobody), entry(2, 4, 1000), entry(4, 4, nobody), entry(0x10, mask, nobody), entry(0x20, 0, nobody)];
    [&2_u32.to_le_bytes()[..], &entries.concat()].concat()
}

fn set(attempt: &Attempt, path: &str, name: &str, value: &[u8]) {
    rustix::fs::setxattr(attempt.host(path), name, value, XattrFlags::empty())
        .unwrap_or_else(|errno| panic!("these tests need root, and a temporary folder whose file system has `{name}`: {errno}"));
}

fn get(attempt: &Attempt, path: &str, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1024];
    match rustix::fs::getxattr(attempt.host(path), name, value.as_mut_slice()) {
        Ok(length) => {
            value.truncate(length);
            Some(value)
        }
        Err(Errno::NODATA) => None,
        Err(errno) => panic!("{name}: {errno}"),
    }
}

fn mode(attempt: &Attempt, path: &str) -> u32 {
    std::fs::metadata(attempt.host(path)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_new_file_gets_what_the_old_one_had() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"old");
    set(&attempt, "/f", "user.note", b"mine");
    set(&attempt, "/f", ACCESS_LIST, &access_list(4));
    attempt.put("/f", b"new").unwrap();
    assert_eq!(std::fs::read(attempt.host("/f")).unwrap(), b"new");
    assert_eq!(get(&attempt, "/f", "user.note").as_deref(), Some(&b"mine"[..]));
    assert_eq!(get(&attempt, "/f", ACCESS_LIST), Some(access_list(4)));
    assert_eq!(mode(&attempt, "/f"), 0o640, "the mask stands in the group's bits");
}

/// Without SELinux a label is a value like any other, which is all that can be shown here; with it, the policy of the node may refuse to have it set.
#[test]
fn a_label_goes_over_where_the_system_lets_it_be_set() {
    let label = b"system_u:object_r:etc_t:s0\0";
    let mut attempt = Attempt::new();
    attempt.write("/f", b"old");
    set(&attempt, "/f", "security.selinux", label);
    attempt.put("/f", b"new").unwrap();
    assert_eq!(get(&attempt, "/f", "security.selinux").as_deref(), Some(&label[..]));
}

#[test]
fn a_mode_that_is_given_sets_the_mask_as_it_does_on_a_file_in_place() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"old");
    set(&attempt, "/f", ACCESS_LIST, &access_list(4));
    let handle = attempt.observed("/f");
    let given = crate::testing::attributes(None, None, Some(0o600));
    let staged =
        attempt.stage_with(handle, crate::bindings::runtime::host::files::Content::Inline(b"new".to_vec()), given).unwrap();
    attempt.commit(staged).unwrap();
    assert_eq!(get(&attempt, "/f", ACCESS_LIST), Some(access_list(0)));
}

#[test]
fn what_the_folder_gives_to_new_files_is_not_what_the_old_one_had() {
    let mut attempt = Attempt::new();
    attempt.write("/d/f", b"old");
    set(&attempt, "/d", "system.posix_acl_default", &access_list(4));
    attempt.put("/d/f", b"new").unwrap();
    assert_eq!(get(&attempt, "/d/f", ACCESS_LIST), None);
    attempt.put("/d/fresh", b"new").unwrap();
    assert!(get(&attempt, "/d/fresh", ACCESS_LIST).is_some(), "a new file is what the folder makes it");
}

/// `cap_net_raw` for whoever runs the file, as the kernel keeps it.
const CAPABILITY: [u8; 20] = [1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn a_file_with_capabilities_keeps_them_and_is_not_for_everybody_to_replace() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"old");
    set(&attempt, "/f", "security.capability", &CAPABILITY);
    attempt.put("/f", b"new").unwrap();
    assert_eq!(get(&attempt, "/f", "security.capability").as_deref(), Some(&CAPABILITY[..]));

    let all = all_rights("file.a");
    let mut grant = Grant::clone(&all.grant);
    grant.files.setuid = false;
    let mut stranger = Attempt::with(Rights { grant: Arc::new(grant), ..all });
    stranger.write("/f", b"old");
    set(&stranger, "/f", "security.capability", &CAPABILITY);
    assert_error!(stranger.put("/f", b"new"), CallError::Denied(_));
    assert_eq!(std::fs::read(stranger.host("/f")).unwrap(), b"old");
}
