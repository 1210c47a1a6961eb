//! Secrets of the node: one file each, in a folder that only its owner can look into.
//!
//! [`read`] gives the ones that a bundle names, and believes nothing of the folder but what it has checked: nobody but root, or whoever runs the
//! program, may have written or read what is used. It does not decide who may use a secret (that is policy), and never writes one.

mod error;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use serde_json::Value as Json;
use zeroize::Zeroizing;

use crate::model::ids::SecretName;
use crate::model::secret::SecretValue;
use crate::store::folder::check_private;

pub use error::SecretError;

/// The largest secret, in bytes.
pub const MAX_SECRET: u64 = 64 << 10;

/// Permissions that a secret and its folder may not give.
const OTHERS: u32 = 0o077;

/// Secrets of the node by name.
pub type NodeSecrets = BTreeMap<SecretName, SecretValue>;

/// The secrets of these `names` in `folder`, which is not looked at if there are none. One newline at the end of a file is not part of it.
///
/// # Errors
/// With the first that is missing, or that others could have written or read.
pub fn read(folder: &Path, names: &[SecretName]) -> Result<NodeSecrets, SecretError> {
    if names.is_empty() {
        return Ok(NodeSecrets::new());
    }
    let opened = open_folder(folder, &names[0])?;
    names.iter().map(|name| Ok((name.clone(), read_one(folder, &opened, name)?))).collect()
}

fn open_folder(folder: &Path, first: &SecretName) -> Result<OwnedFd, SecretError> {
    let failed = |errno: Errno| match errno {
        Errno::NOENT => SecretError::Missing { name: first.clone(), path: folder.join(first.as_str()) },
        errno => SecretError::Io { path: folder.to_owned(), source: errno.into() },
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(folder, flags, Mode::empty()).map_err(failed)?;
    check_private(folder).map_err(|source| SecretError::Folder { source })?;
    let stat = rustix::fs::fstat(&opened).map_err(failed)?;
    check(folder, &stat)?;
    Ok(opened)
}

fn read_one(folder: &Path, opened: &OwnedFd, name: &SecretName) -> Result<SecretValue, SecretError> {
    let path = folder.join(name.as_str());
    // A link is not followed, and a pipe not waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(opened.as_fd(), name.as_str(), flags, Mode::empty()).map_err(|errno| match errno {
        Errno::NOENT => SecretError::Missing { name: name.clone(), path: path.clone() },
        Errno::LOOP | Errno::NXIO => SecretError::NotAFile { path: path.clone() },
        errno => SecretError::Io { path: path.clone(), source: errno.into() },
    })?;
    let stat = rustix::fs::fstat(&file).map_err(|errno| SecretError::Io { path: path.clone(), source: errno.into() })?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(SecretError::NotAFile { path });
    }
    check(&path, &stat)?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(MAX_SECRET).unwrap_or(0) + 1));
    let read = File::from(file).take(MAX_SECRET + 1).read_to_end(&mut bytes);
    read.map_err(|source| SecretError::Io { path: path.clone(), source })?;
    if bytes.len() as u64 > MAX_SECRET {
        return Err(SecretError::TooLarge { path, cap: MAX_SECRET });
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| SecretError::NotText { path })?;
    Ok(SecretValue::of(&Json::String(text.strip_suffix('\n').unwrap_or(text).to_owned())))
}

/// That only root, or whoever runs the program, could have written or read it.
fn check(path: &Path, stat: &Stat) -> Result<(), SecretError> {
    if stat.st_uid != 0 && stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(SecretError::Owner { path: path.to_owned(), owner: stat.st_uid });
    }
    if stat.st_mode & OTHERS != 0 {
        return Err(SecretError::Access { path: path.to_owned(), mode: stat.st_mode & 0o7777 });
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files to look at")]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
    use std::path::PathBuf;

    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            let folder = Self(tempfile::tempdir().unwrap());
            folder.set_mode("", 0o700);
            folder
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn set_mode(&self, name: &str, mode: u32) {
            fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
        }

        fn put(&self, name: &str, content: &[u8]) {
            fs::write(self.path(name), content).unwrap();
            self.set_mode(name, 0o600);
        }

        fn read(&self, name: &str) -> Result<Json, SecretError> {
            let name: SecretName = name.parse().unwrap();
            Ok(read(self.0.path(), std::slice::from_ref(&name))?[&name].json())
        }
    }

    #[test]
    fn one_newline_at_the_end_is_dropped() {
        let folder = Folder::new();
        for (content, value) in [("hunter2\n", "hunter2"), ("hunter2", "hunter2"), ("a\nb\n\n", "a\nb\n"), ("", "")] {
            folder.put("db", content.as_bytes());
            assert_eq!(folder.read("db").unwrap(), value);
        }
    }

    #[test]
    fn a_bundle_without_secrets_of_the_node_needs_no_folder() {
        assert!(read(Path::new("/no/such/folder"), &[]).unwrap().is_empty());
    }

    #[test]
    fn what_others_could_have_written_or_read_is_refused() {
        let folder = Folder::new();
        folder.put("db", b"hunter2");
        for mode in [0o640, 0o604, 0o620, 0o660, 0o644] {
            folder.set_mode("db", mode);
            let error = folder.read("db").unwrap_err();
            assert!(matches!(error, SecretError::Access { mode: found, .. } if found == mode), "{error}");
            assert!(error.hint().unwrap().starts_with("chmod go= "), "{error}");
        }
        folder.set_mode("db", 0o400);
        folder.read("db").unwrap();
        for mode in [0o750, 0o705, 0o711] {
            folder.set_mode("", mode);
            assert!(matches!(folder.read("db"), Err(SecretError::Access { .. })), "{mode:o}");
        }
        folder.set_mode("", 0o770);
        assert!(matches!(folder.read("db"), Err(SecretError::Folder { .. })));
        folder.set_mode("", 0o700);
        if rustix::process::geteuid().is_root() {
            chown(folder.path("db"), Some(12345), None).unwrap();
            assert!(matches!(folder.read("db"), Err(SecretError::Owner { owner: 12345, .. })));
        }
    }

    #[test]
    fn what_is_no_small_text_file_is_refused() {
        let folder = Folder::new();
        let missing = folder.read("db").unwrap_err();
        assert!(matches!(missing, SecretError::Missing { .. }) && missing.hint().unwrap().contains("db"), "{missing}");
        folder.put("binary", b"\xff\xfe");
        assert!(matches!(folder.read("binary"), Err(SecretError::NotText { .. })));
        folder.put("large", &vec![b'x'; MAX_SECRET as usize + 1]);
        assert!(matches!(folder.read("large"), Err(SecretError::TooLarge { .. })));
        folder.put("largest", &vec![b'x'; MAX_SECRET as usize]);
        folder.read("largest").unwrap();
        symlink(folder.path("largest"), folder.path("link")).unwrap();
        assert!(matches!(folder.read("link"), Err(SecretError::NotAFile { .. })));
        fs::create_dir(folder.path("folder")).unwrap();
        folder.set_mode("folder", 0o700);
        assert!(matches!(folder.read("folder"), Err(SecretError::NotAFile { .. })));
        rustix::fs::mknodat(rustix::fs::CWD, folder.path("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert!(matches!(folder.read("pipe"), Err(SecretError::NotAFile { .. })));
        let absent = read(Path::new("/no/such/folder"), &["db".parse().unwrap()]).unwrap_err();
        assert!(matches!(absent, SecretError::Missing { .. }), "{absent}");
    }
}
