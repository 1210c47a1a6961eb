//! Reading: what an object is, the digest of its content, and its content.

use std::time::Instant;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::object::{ContentName, Kind, Object, Observation, Seen};
use super::place::Place;
use super::{CHUNK, MAX_READ};
use crate::assets::AssetName;
use crate::call::{Detail, HostCall};
use crate::context::{HostContext, check_deadline};
use crate::digest::Digest;
use crate::error::CallError;
use crate::node::identity::{Fingerprint, Identity};

/// How much of a file is read at least at a time, in bytes.
const LEAST: usize = 4096;

/// How often a file that changes while it is read is read again.
const MAX_TRIES: u32 = 3;

impl HostContext {
    /// `object.observe`, already authorised.
    pub(super) fn observe_object(
        &mut self,
        call: &HostCall,
        object: &Object,
        detail: Detail,
    ) -> Result<Option<Observation>, CallError> {
        let Some(place) = self.locate(call, &object.path)?.existing() else {
            object.seen.set(Seen::Nothing);
            return Ok(None);
        };
        for _ in 0..MAX_TRIES {
            let Some((handle, stat)) = place.handle()? else {
                object.seen.set(Seen::Nothing);
                return Ok(None);
            };
            self.guard(call, &stat)?;
            let kind = Kind::of(&stat)?;
            let digest = match kind {
                Kind::File if detail.digest => match digest_of(&place, &stat, self.deadline())? {
                    Some(digest) => Some(digest),
                    None => continue,
                },
                _ => None,
            };
            let target = match kind {
                Kind::Symlink => {
                    let target =
                        rustix::fs::readlinkat(&handle, "", Vec::new()).map_err(|errno| place.failed("reading link", errno))?;
                    Some(target.into_bytes())
                }
                _ => None,
            };
            object.seen.set(Seen::from(Some(&stat)));
            let digest = digest.map(|digest| self.content_name(digest));
            let observation = observation(kind, &stat, target, digest);
            let conceals = kind == Kind::File && self.rights().conceals_content();
            return Ok(Some(if conceals { Observation { size: 0, ..observation } } else { observation }));
        }
        Err(CallError::Busy(format!("`{}` changes while it is read", place.shown)))
    }

    /// What the guest is told of content with this digest. Where it may be a sensitive value, that is only whether it is one of the
    /// resource's own assets.
    fn content_name(&self, found: Digest) -> ContentName {
        let plain = AssetName::Plain(found);
        if !self.rights().conceals_content() {
            return ContentName::Asset(plain);
        }
        let is_found = |slot: &&str| {
            let bytes = self.assets().secret(slot);
            bytes.is_some_and(|bytes| Digest(Sha256::digest(bytes.as_slice()).into()) == found)
        };
        if let Some(slot) = self.rights().secrets().find(is_found) {
            return ContentName::Asset(AssetName::Secret(slot.to_owned()));
        }
        if self.rights().assets.contains_key(&plain) { ContentName::Asset(plain) } else { ContentName::Hidden }
    }

    /// `object.read`, already authorised.
    pub(super) fn read_object(
        &mut self,
        call: &HostCall,
        object: &Object,
        offset: u64,
        length: u32,
    ) -> Result<Vec<u8>, CallError> {
        let place = self.locate(call, &object.path)?.existing().ok_or(CallError::NotFound)?;
        let (_handle, stat) = place.handle()?.ok_or(CallError::NotFound)?;
        self.guard(call, &stat)?;
        let kind = Kind::of(&stat)?;
        if kind != Kind::File {
            return Err(CallError::WrongKind(format!("`{}` is {}, and only a file can be read", place.shown, kind.a())));
        }
        let file =
            open_file(&place, &stat)?.ok_or_else(|| CallError::Busy(format!("`{}` was replaced just now", place.shown)))?;
        read_at(&place, &file, offset, length.min(MAX_READ) as usize)
    }
}

#[allow(clippy::useless_conversion, reason = "the number of links is narrower on some machines")]
fn observation(kind: Kind, stat: &Stat, target: Option<Vec<u8>>, digest: Option<ContentName>) -> Observation {
    Observation {
        kind,
        owner: stat.st_uid,
        group: stat.st_gid,
        mode: stat.st_mode & 0o7777,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        links: stat.st_nlink.into(),
        target,
        digest,
    }
}

/// The digest of the regular file that `stat` is of; none if it was replaced or changed meanwhile.
fn digest_of(place: &Place, stat: &Stat, deadline: Instant) -> Result<Option<Digest>, CallError> {
    let Some(file) = open_file(place, stat)? else { return Ok(None) };
    let mut hash = Sha256::new();
    // Most files are small, and to clear more than they need takes longer than to hash them. It may have grown meanwhile, or not say its size.
    let mut buffer = vec![0; usize::try_from(stat.st_size).unwrap_or(CHUNK).clamp(LEAST, CHUNK)];
    loop {
        check_deadline(deadline)?;
        match rustix::io::read(&file, &mut buffer) {
            Ok(0) => break,
            Ok(count) => hash.update(&buffer[..count]),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(place.failed("reading", errno)),
        }
    }
    let after = rustix::fs::fstat(&file).map_err(|errno| place.failed("reading", errno))?;
    let same = Fingerprint::of(&after) == Fingerprint::of(stat);
    Ok(same.then(|| Digest(hash.finalize().into())))
}

/// Opens the regular file that `stat` is of, for reading; none if something else is there by now.
pub(super) fn open_file(place: &Place, stat: &Stat) -> Result<Option<OwnedFd>, CallError> {
    // Should it be a pipe or a device by now, opening does not wait for the other end and takes no terminal.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let open = |more| rustix::fs::openat(&place.parent, &place.name, flags | more, Mode::empty());
    // Reading leaves no trace where that may be asked for: for the file's owner and for root.
    let opened = match open(OFlags::NOATIME) {
        Err(Errno::PERM) => open(OFlags::empty()),
        opened => opened,
    };
    match opened {
        Ok(file) => {
            let now = Identity::of_fd(&file).map_err(|errno| place.failed("reading", errno))?;
            Ok((now == Identity::of(stat)).then_some(file))
        }
        Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => Ok(None),
        Err(errno) => Err(place.failed("opening", errno)),
    }
}

fn read_at(place: &Place, file: &OwnedFd, offset: u64, length: usize) -> Result<Vec<u8>, CallError> {
    // No file is longer than this, so nothing is there.
    if offset.checked_add(length as u64).is_none_or(|end| end > i64::MAX as u64) {
        return Ok(Vec::new());
    }
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match rustix::io::pread(file, &mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(place.failed("reading", errno)),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
