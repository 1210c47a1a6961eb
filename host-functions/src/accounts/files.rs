//! `/etc/passwd`, `/etc/group` and `/etc/shadow` beneath a root, read and never written here.
//!
//! They are read anew for each question, since the run changes them. A line that is not well formed is passed over, as the system's own
//! look-up does.

use zeroize::Zeroizing;

use super::Kind;
use super::entry::{Group, Login, User};
use crate::error::CallError;
use crate::node::Root;

/// The largest account file that is read, in bytes.
const MAX_FILE: u64 = 16 * 1024 * 1024;

const PASSWD: &[u8] = b"/etc/passwd";
const GROUP: &[u8] = b"/etc/group";
const SHADOW: &[u8] = b"/etc/shadow";

/// The id of the first account called `name`; none if there is none, or no such file.
pub(super) fn find(root: &Root, kind: Kind, name: &str) -> Result<Option<u32>, CallError> {
    let content = read(root, if kind == Kind::User { PASSWD } else { GROUP })?;
    Ok(line_of(&content, name).and_then(|fields| number(fields.get(2)?)))
}

/// The user called `name`.
pub(super) fn user(root: &Root, name: &str) -> Result<Option<User>, CallError> {
    let passwd = read(root, PASSWD)?;
    let Some((id, group, fields)) = line_of(&passwd, name).and_then(user_fields) else { return Ok(None) };
    let content = read(root, GROUP)?;
    let lines = || content.split(|byte| *byte == b'\n').filter_map(group_fields);
    let group_name = lines().find(|(_, id, _)| *id == group).map(|(name, ..)| text(name));
    let lists = |members: &[u8]| members.split(|byte| *byte == b',').any(|member| member == name.as_bytes());
    let mut groups: Vec<String> = lines().filter(|(.., members)| lists(members)).map(|(name, ..)| text(name)).collect();
    groups.sort_unstable();
    groups.dedup();
    let field = |index: usize| fields.get(index).map(|bytes| text(bytes)).unwrap_or_default();
    Ok(Some(User { id, group, group_name, groups, comment: field(4), home: field(5), shell: field(6), local: true }))
}

/// The group called `name`.
pub(super) fn group(root: &Root, name: &str) -> Result<Option<Group>, CallError> {
    let content = read(root, GROUP)?;
    let found = content.split(|byte| *byte == b'\n').filter_map(group_fields).find(|(found, ..)| *found == name.as_bytes());
    Ok(found.map(|(_, id, members)| Group { id, members: names(members), local: true }))
}

/// The name of the group with this id, which is the id in digits where nobody has named it.
pub(super) fn group_with_id(root: &Root, id: u32) -> Result<Option<String>, CallError> {
    let content = read(root, GROUP)?;
    let found = content.split(|byte| *byte == b'\n').filter_map(group_fields).find(|(_, found, _)| *found == id);
    Ok(found.map(|(name, ..)| text(name)))
}

/// Who may log in as the user called `name`. Where there is no shadow file, the password field of `/etc/passwd` counts.
pub(super) fn login(root: &Root, name: &str) -> Result<Option<Login>, CallError> {
    with_password(root, name, Login::of_fields)
}

/// What `ask` says of the password and expiry fields of the user called `name`; none if there is no such user. The fields are wiped.
pub(super) fn with_password<T>(root: &Root, name: &str, ask: impl FnOnce(&str, &str) -> T) -> Result<Option<T>, CallError> {
    let passwd = Zeroizing::new(read(root, PASSWD)?);
    let Some(fields) = line_of(&passwd, name).filter(|fields| fields.len() >= 7) else { return Ok(None) };
    let shadow = Zeroizing::new(read(root, SHADOW)?);
    let empty: &[u8] = b"";
    let (password, expires) = match line_of(&shadow, name) {
        Some(fields) => (fields.get(1).copied().unwrap_or(empty), fields.get(7).copied().unwrap_or(empty)),
        None => (fields[1], empty),
    };
    // What is not UTF-8 is no hash.
    Ok(Some(ask(std::str::from_utf8(password).unwrap_or("*"), std::str::from_utf8(expires).unwrap_or_default())))
}

fn read(root: &Root, path: &[u8]) -> Result<Vec<u8>, CallError> {
    Ok(root.read_file(path, MAX_FILE)?.unwrap_or_default())
}

/// The fields of the first line about `name`.
fn line_of<'c>(content: &'c [u8], name: &str) -> Option<Vec<&'c [u8]>> {
    let mut lines = content.split(|byte| *byte == b'\n');
    let is_about = |line: &&[u8]| line.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&b':'));
    lines.find(is_about).map(|line| line.split(|byte| *byte == b':').collect())
}

/// Id, primary group and all fields of a user's line.
fn user_fields(fields: Vec<&[u8]>) -> Option<(u32, u32, Vec<&[u8]>)> {
    let (id, group) = (number(fields.get(2)?)?, number(fields.get(3)?)?);
    Some((id, group, fields))
}

/// Name, id and members in a line of the group file.
fn group_fields(line: &[u8]) -> Option<(&[u8], u32, &[u8])> {
    let mut fields = line.split(|byte| *byte == b':');
    let (name, _password, id) = (fields.next()?, fields.next()?, number(fields.next()?)?);
    Some((name, id, fields.next().unwrap_or_default()))
}

fn names(list: &[u8]) -> Vec<String> {
    let mut names: Vec<String> = list.split(|byte| *byte == b',').filter(|name| !name.is_empty()).map(text).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn number(bytes: &[u8]) -> Option<u32> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::entry::Password;

    fn root() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        (folder, root)
    }

    fn with_files() -> (tempfile::TempDir, Root) {
        let (folder, root) = root();
        std::fs::create_dir(folder.path().join("etc")).unwrap();
        let passwd = "root:x:0:0::/root:/bin/sh\n#alice:x:1:1::/:\nalice:x:1000:1000:Alice, 1st:/home/alice:/bin/sh\n\
                      broken:x\nodd:x:-1:0::/:\nold:ab01FAX.bQRSU:7:7::/:/bin/false\n";
        std::fs::write(folder.path().join("etc/passwd"), passwd).unwrap();
        let group = "wheel:x:10:alice,root\n1000:x:7:\nalice:x:1000:\nadm:x:4:alice\nodd:x:x:alice\n";
        std::fs::write(folder.path().join("etc/group"), group).unwrap();
        std::fs::write(folder.path().join("etc/shadow"), "alice:!$6$abc$0123456789:19000:0:99999:7::20000:\n").unwrap();
        (folder, root)
    }

    #[test]
    fn accounts_beneath_a_root_are_those_of_its_files() {
        let (_folder, empty) = root();
        assert_eq!(find(&empty, Kind::User, "alice").unwrap(), None, "no file, no accounts");
        assert_eq!((user(&empty, "alice").unwrap(), group(&empty, "alice").unwrap()), (None, None));
        let (_folder, root) = with_files();
        assert_eq!(find(&root, Kind::User, "alice").unwrap(), Some(1000));
        assert_eq!(find(&root, Kind::User, "broken").unwrap(), None);
        assert_eq!(find(&root, Kind::User, "odd").unwrap(), None);
        assert_eq!(find(&root, Kind::Group, "wheel").unwrap(), Some(10));
        assert_eq!(find(&root, Kind::Group, "1000").unwrap(), Some(7), "all digits is looked up as a name");
    }

    #[test]
    fn a_user_is_read_whole_with_the_groups_that_list_it() {
        let (_folder, root) = with_files();
        let expected = User {
            id: 1000,
            group: 1000,
            group_name: Some("alice".into()),
            groups: vec!["adm".into(), "wheel".into()],
            comment: "Alice, 1st".into(),
            home: "/home/alice".into(),
            shell: "/bin/sh".into(),
            local: true,
        };
        assert_eq!(user(&root, "alice").unwrap(), Some(expected));
        assert_eq!(user(&root, "odd").unwrap(), None);
        assert_eq!(user(&root, "old").unwrap().unwrap().group_name.as_deref(), Some("1000"));
    }

    #[test]
    fn a_group_is_read_with_its_members() {
        let (_folder, root) = with_files();
        let expected = Group { id: 10, members: vec!["alice".into(), "root".into()], local: true };
        assert_eq!(group(&root, "wheel").unwrap(), Some(expected));
        assert_eq!(group(&root, "odd").unwrap(), None);
        assert_eq!(group_with_id(&root, 4).unwrap().as_deref(), Some("adm"));
    }

    #[test]
    fn the_shadow_file_counts_where_it_has_the_user() {
        let (_folder, root) = with_files();
        let expected = Login { password: Password::Hash, locked: true, expires: Some(20_000) };
        assert_eq!(login(&root, "alice").unwrap(), Some(expected));
        let old = Login { password: Password::Hash, locked: false, expires: None };
        assert_eq!(login(&root, "old").unwrap(), Some(old), "in the first file");
        assert_eq!(login(&root, "root").unwrap().unwrap().password, Password::Unusable);
        assert_eq!(login(&root, "nobody").unwrap(), None);
    }
}
