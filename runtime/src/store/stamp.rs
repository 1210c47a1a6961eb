//! Stamps: whether sensitive values are those of an earlier run, without any of them, nor a digest that could be guessed, on record.
//!
//! A stamp is a keyed digest (HMAC-SHA256). Its key is random, lies beside the database in a file of its own that its owner alone can read, and
//! is nowhere else; without it nobody can try values. A copy of the database alone tells nothing.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::error::StoreError;
use super::folder::{self, failed};
use crate::model::ids::SecretSlot;
use crate::model::secret::SecretValue;

/// The file of the key.
const FILE_NAME: &str = "stamp-key";

const KEY_BYTES: usize = 32;

/// The key of the stamps of one state folder. Its `Debug` shows nothing.
pub struct StampKey(Zeroizing<[u8; KEY_BYTES]>);

impl StampKey {
    /// The key in the state folder `folder`; none if there is none, as before the first secret. Nothing is written.
    ///
    /// # Errors
    /// If it is damaged, others could have written or read it, or it cannot be read.
    pub fn find(folder: &Path) -> Result<Option<Self>, StoreError> {
        match folder::existing(folder)? {
            Some(folder) => read(&folder),
            None => Ok(None),
        }
    }

    /// The key in the state folder `folder`, made if there is none. For whoever holds the folder's lock.
    ///
    /// # Errors
    /// As [`Self::find`], and if it cannot be written.
    pub fn find_or_make(folder: &Path) -> Result<Self, StoreError> {
        let folder = folder::create_private(folder)?;
        match read(&folder)? {
            Some(key) => Ok(key),
            None => make(&folder),
        }
    }

    /// The stamp of these values.
    ///
    /// # Panics
    /// Never: any key is long enough.
    pub fn stamp<'s>(&self, values: impl Iterator<Item = (&'s SecretSlot, Option<SecretValue>)>) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_slice()).expect("HMAC takes keys of any length");
        for (slot, value) in values {
            let text = value.as_ref().map_or("", SecretValue::text);
            // With their lengths, so that no two lists of values are one text.
            for part in [slot.as_str(), text] {
                mac.update(&(part.len() as u64).to_be_bytes());
                mac.update(part.as_bytes());
            }
        }
        hex::encode(mac.finalize().into_bytes())
    }
}

impl std::fmt::Debug for StampKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StampKey(not shown)")
    }
}

fn read(folder: &Path) -> Result<Option<StampKey>, StoreError> {
    let path = folder.join(FILE_NAME);
    let Some(stat) = folder::own_file(folder, &path)? else { return Ok(None) };
    if stat.st_mode & 0o077 != 0 {
        return Err(StoreError::Unsafe { folder: folder.into(), path, problem: "can be read by other users".into() });
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(&path, flags, Mode::empty()).map_err(|errno| failed("open", &path, errno))?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(KEY_BYTES + 1));
    File::from(opened).take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|error| failed("read", &path, error))?;
    let key = <[u8; KEY_BYTES]>::try_from(bytes.as_slice());
    let key = key.map_err(|_| StoreError::Damaged { path, detail: format!("it has not the {KEY_BYTES} bytes of a key") })?;
    Ok(Some(StampKey(Zeroizing::new(key))))
}

fn make(folder: &Path) -> Result<StampKey, StoreError> {
    let (path, beside) = (folder.join(FILE_NAME), folder.join("stamp-key.new"));
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    getrandom::fill(key.as_mut_slice()).map_err(|error| failed("make a key for", &path, std::io::Error::other(error)))?;
    // What a lost run left there is no key yet.
    match rustix::fs::unlink(&beside) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(failed("remove", &beside, errno)),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(&beside, flags, Mode::RUSR | Mode::WUSR).map_err(|errno| failed("create", &beside, errno))?;
    let mut file = File::from(opened);
    file.write_all(key.as_slice()).and_then(|()| file.sync_all()).map_err(|error| failed("write", &beside, error))?;
    rustix::fs::rename(&beside, &path).map_err(|errno| failed("put in place", &path, errno))?;
    folder::sync(folder)?;
    Ok(StampKey(key))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files to look at")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::json;

    use super::*;

    fn stamp(key: &StampKey, values: &[(&str, &str)]) -> String {
        let values: Vec<(SecretSlot, SecretValue)> =
            values.iter().map(|(slot, value)| (slot.parse().unwrap(), SecretValue::of(&json!(value)))).collect();
        key.stamp(values.iter().map(|(slot, value)| (slot, Some(value.clone()))))
    }

    #[test]
    fn a_key_is_made_once_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        assert!(StampKey::find(&state).unwrap().is_none());
        assert!(!state.exists(), "finding writes nothing");
        let key = StampKey::find_or_make(&state).unwrap();
        let again = StampKey::find(&state).unwrap().unwrap();
        let values = [("file.a/content", "hunter2")];
        assert_eq!(stamp(&key, &values), stamp(&again, &values));
        let path = state.join(FILE_NAME);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
        let other = StampKey::find_or_make(&folder.path().join("other")).unwrap();
        assert_ne!(stamp(&key, &values), stamp(&other, &values), "another node, another key");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(StampKey::find(&state), Err(StoreError::Unsafe { .. })));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "short").unwrap();
        assert!(matches!(StampKey::find_or_make(&state), Err(StoreError::Damaged { .. })));
    }

    #[test]
    fn a_stamp_tells_values_and_slots_apart() {
        let folder = tempfile::tempdir().unwrap();
        let key = StampKey::find_or_make(folder.path()).unwrap();
        let one = stamp(&key, &[("file.a/x", "bc")]);
        assert_ne!(one, stamp(&key, &[("file.a/x", "bd")]));
        assert_ne!(one, stamp(&key, &[("file.a/xb", "c")]));
        assert_ne!(one, stamp(&key, &[("file.a/x", "bc"), ("file.a/y", "bc")]));
    }
}
