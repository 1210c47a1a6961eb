//! Extended attributes, access lists and security labels: what a file has that is replaced, its successor gets.
//!
//! Deliberately absent: setting any of them to something else, and those that speak of the bytes of the old file.

use rustix::fd::BorrowedFd;
use rustix::fs::XattrFlags;
use rustix::io::Errno;

use super::place::Place;
use super::proc_link::ProcLink;
use crate::error::CallError;
use crate::text::escape_bytes;

/// The most that the kernel gives, of names together and of one value.
const MAX_BYTES: usize = 64 * 1024;

/// Names of those that would be false of other bytes, or that belong to the file system beneath.
const NEVER: [&[u8]; 3] = [b"security.ima", b"security.evm", b"trusted.overlay."];

/// Lets a program do what only root may: it is given by whoever may give set-ID bits.
pub(super) const CAPABILITY: &[u8] = b"security.capability";

/// Whoever may do what beyond the permission bits, which stand in here too.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

/// What is beside content, owner, group and mode of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Extended(Vec<(Vec<u8>, Vec<u8>)>);

impl Extended {
    /// Reads it of the object that `handle` holds, which need not be open for reading.
    pub(super) fn of(place: &Place, handle: BorrowedFd<'_>) -> Result<Self, CallError> {
        let failed = |errno| place.failed("reading the extended attributes of", errno);
        let link = ProcLink::to(place, handle)?;
        let mut names = vec![0; MAX_BYTES];
        let length = match rustix::fs::listxattr(link.path(), names.as_mut_slice()) {
            Ok(length) => length,
            Err(Errno::OPNOTSUPP) => return Ok(Self::default()),
            Err(errno) => return Err(failed(errno)),
        };
        let mut found = Vec::new();
        for name in names[..length].split(|byte| *byte == 0).filter(|name| is_carried(name)) {
            let mut value = vec![0; MAX_BYTES];
            match rustix::fs::getxattr(link.path(), name, value.as_mut_slice()) {
                Ok(length) => {
                    value.truncate(length);
                    found.push((name.to_vec(), value));
                }
                // It was removed meanwhile.
                Err(Errno::NODATA) => {}
                Err(errno) => return Err(failed(errno)),
            }
        }
        Ok(Self(found))
    }

    /// Whether it lets a program do what only root may.
    pub(super) fn raises_rights(&self) -> bool {
        self.0.iter().any(|(name, _)| name == CAPABILITY)
    }

    /// Gives it to a new file, which has an owner already and gets its mode afterwards: an access list decides about both.
    pub(super) fn give(&self, place: &Place, file: BorrowedFd<'_>) -> Result<(), CallError> {
        if !self.0.iter().any(|(name, _)| name == ACCESS_LIST) {
            remove_access_list(place, file)?;
        }
        for (name, value) in &self.0 {
            rustix::fs::fsetxattr(file, name.as_slice(), value, XattrFlags::empty()).map_err(|errno| {
                let doing = format!("keeping the extended attribute `{}` of", escape_bytes(name));
                place.failed(&doing, errno)
            })?;
        }
        Ok(())
    }
}

fn is_carried(name: &[u8]) -> bool {
    !name.is_empty() && !NEVER.iter().any(|never| name.starts_with(never))
}

/// A folder may give one to whatever is made in it.
fn remove_access_list(place: &Place, file: BorrowedFd<'_>) -> Result<(), CallError> {
    match rustix::fs::fremovexattr(file, ACCESS_LIST) {
        Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(()),
        Err(errno) => Err(place.failed("taking the access list of the folder from the new file at", errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_speaks_of_the_old_bytes_is_not_carried_over() {
        for name in [&b"user.note"[..], b"security.selinux", b"security.capability", ACCESS_LIST, b"trusted.mine"] {
            assert!(is_carried(name), "{name:?}");
        }
        for name in [&b"security.ima"[..], b"security.evm", b"trusted.overlay.opaque", b""] {
            assert!(!is_carried(name), "{name:?}");
        }
    }
}
