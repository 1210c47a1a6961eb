//! Reading the policy file, which must be its owner's alone to change.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::error::PolicyError;
use super::{Policy, parse};
use crate::builtins;

/// The largest policy file, in bytes.
pub const MAX_POLICY: u64 = 1 << 20;

impl Policy {
    /// Reads the policy at `path`.
    ///
    /// # Errors
    /// If it cannot be read, is not a regular file, does not belong to root or to whoever runs this, can be written or replaced by others, or
    /// is wrong.
    pub fn load(path: &Path) -> Result<Self, PolicyError> {
        let text = read(path)?;
        let reserved = builtins::all().iter().filter_map(|builtin| builtin.name.parse().ok()).collect::<Vec<_>>();
        parse(&text, &reserved).map_err(|problems| PolicyError::Invalid { path: path.to_owned(), problems })
    }
}

#[expect(clippy::disallowed_methods, reason = "reads the policy file, which others cannot write, up to a cap")]
fn read(path: &Path) -> Result<String, PolicyError> {
    let failed = |source| PolicyError::Io { path: path.to_owned(), source };
    // Opening a pipe would wait for its writer, so look first; what was opened is looked at again.
    let before = path.metadata().map_err(failed)?;
    if !before.is_file() {
        return Err(PolicyError::NotAFile { path: path.to_owned() });
    }
    let file = File::open(check_way(path)?).map_err(failed)?;
    check_file(path, &file.metadata().map_err(failed)?)?;
    let mut bytes = Vec::new();
    file.take(MAX_POLICY + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_POLICY {
        return Err(PolicyError::TooLarge { path: path.to_owned(), cap: MAX_POLICY });
    }
    String::from_utf8(bytes).map_err(|_| PolicyError::NotText { path: path.to_owned() })
}

/// The path without links, if nobody else can put another file there.
#[cfg(unix)]
fn check_way(path: &Path) -> Result<std::path::PathBuf, PolicyError> {
    crate::store::folder::check_way(path)
        .map_err(|source| PolicyError::Folder { path: path.to_owned(), source: Box::new(source) })
}

#[cfg(unix)]
fn check_file(path: &Path, metadata: &std::fs::Metadata) -> Result<(), PolicyError> {
    use std::os::unix::fs::MetadataExt as _;
    if !metadata.is_file() {
        return Err(PolicyError::NotAFile { path: path.to_owned() });
    }
    let owner = metadata.uid();
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Err(PolicyError::Owner { path: path.to_owned(), owner });
    }
    let mode = metadata.mode() & 0o7777;
    if mode & 0o022 != 0 {
        return Err(PolicyError::Writable { path: path.to_owned(), mode });
    }
    Ok(())
}

/// Policies are for nodes, which run Linux; elsewhere they are only checked.
#[cfg(not(unix))]
fn check_way(path: &Path) -> Result<std::path::PathBuf, PolicyError> {
    Ok(path.to_owned())
}

#[cfg(not(unix))]
fn check_file(path: &Path, metadata: &std::fs::Metadata) -> Result<(), PolicyError> {
    if metadata.is_file() { Ok(()) } else { Err(PolicyError::NotAFile { path: path.to_owned() }) }
}

#[cfg(all(test, unix))]
#[allow(clippy::disallowed_methods, reason = "tests make files to look at")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn file(text: &[u8], mode: u32) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.hcl");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        (folder, path)
    }

    #[test]
    fn a_file_of_our_own_is_read() {
        let (_folder, path) = file(b"# nothing\n", 0o644);
        assert_eq!(Policy::load(&path).unwrap(), Policy { health: Some(Vec::new()), ..Policy::default() });
    }

    #[test]
    fn a_file_that_others_can_write_is_refused() {
        for mode in [0o664, 0o646, 0o666, 0o620] {
            let (_folder, path) = file(b"", mode);
            let error = Policy::load(&path).unwrap_err();
            assert!(matches!(error, PolicyError::Writable { mode: found, .. } if found == mode), "{error}");
            assert!(error.hint().unwrap().starts_with("chmod go-w /"));
        }
    }

    #[test]
    fn a_file_of_somebody_else_is_refused() {
        if !rustix::process::geteuid().is_root() {
            // Only root can give a file away; as anybody else, root's own files are the other side of the rule.
            assert!(check_file(Path::new("/"), &Path::new("/etc/passwd").metadata().unwrap()).is_ok());
            return;
        }
        let (_folder, path) = file(b"", 0o644);
        std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
        let error = Policy::load(&path).unwrap_err();
        assert!(matches!(error, PolicyError::Owner { owner: 12345, .. }), "{error}");
    }

    #[test]
    fn a_file_that_others_can_replace_is_refused_and_the_folder_named() {
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("open");
        std::fs::create_dir_all(open.join("closed")).unwrap();
        let path = open.join("closed/policy.hcl");
        std::fs::write(&path, "").unwrap();
        let set = |mode| std::fs::set_permissions(&open, std::fs::Permissions::from_mode(mode)).unwrap();
        let link = folder.path().join("link.hcl");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        for mode in [0o777, 0o775] {
            set(mode);
            for given in [&path, &link] {
                let error = Policy::load(given).unwrap_err();
                let PolicyError::Folder { source, .. } = &error else { panic!("{error}") };
                assert!(source.to_string().ends_with(&format!("`{}` can be written by other users", open.display())), "{source}");
                assert!(error.hint().unwrap().starts_with("every folder from `/` down"), "{error:?}");
            }
        }
        // In such a folder others cannot touch what is not theirs.
        set(0o1777);
        assert!(Policy::load(&path).is_ok() && Policy::load(&link).is_ok());
    }

    #[test]
    fn what_is_no_text_file_is_refused() {
        let (folder, path) = file(b"\xff", 0o644);
        assert!(matches!(Policy::load(&path), Err(PolicyError::NotText { .. })));
        assert!(matches!(Policy::load(folder.path()), Err(PolicyError::NotAFile { .. })));
        assert!(matches!(Policy::load(&folder.path().join("missing")), Err(PolicyError::Io { .. })));
        let (_folder, path) = file(&vec![b'\n'; MAX_POLICY as usize + 1], 0o644);
        assert!(matches!(Policy::load(&path), Err(PolicyError::TooLarge { .. })));
    }

    #[test]
    fn wrong_text_is_refused_with_its_places() {
        let (_folder, path) = file(b"\nmodul \"x\" {}\n", 0o600);
        let error = Policy::load(&path).unwrap_err();
        assert_eq!((error.problems().len(), error.problems()[0].line), (1, 2));
        assert!(error.to_string().ends_with("is wrong in 1 place"), "{error}");
    }
}
