//! Bytes into a staged file, in chunks, checked as they pass.

use std::io::{ErrorKind, Read as _};
use std::time::Instant;

use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::CHUNK;
use super::place::Place;
use crate::assets::{AssetName, AssetSource};
use crate::call::Content;
use crate::context::check_deadline;
use crate::digest::Digest;
use crate::error::CallError;

/// Writes `content` to `file`. What was written of an asset is compared with its digest at the end.
pub(super) fn copy_content(
    place: &Place,
    file: BorrowedFd<'_>,
    content: &Content,
    assets: &dyn AssetSource,
    deadline: Instant,
) -> Result<(), CallError> {
    match content {
        Content::Inline(bytes) => bytes.chunks(CHUNK).try_for_each(|chunk| {
            check_deadline(deadline)?;
            write_all(place, file, chunk)
        }),
        Content::Asset(AssetName::Plain(digest)) => copy_asset(place, file, digest, assets, deadline),
        Content::Asset(asset @ AssetName::Secret(slot)) => {
            let bytes = assets.secret(slot).ok_or_else(|| CallError::Other(format!("there is no value for {asset}")))?;
            bytes.chunks(CHUNK).try_for_each(|chunk| {
                check_deadline(deadline)?;
                write_all(place, file, chunk)
            })
        }
    }
}

fn copy_asset(
    place: &Place,
    file: BorrowedFd<'_>,
    digest: &Digest,
    assets: &dyn AssetSource,
    deadline: Instant,
) -> Result<(), CallError> {
    let failed = |error: std::io::Error| CallError::Other(format!("reading asset {digest}: {}", error.kind()));
    let mut source = assets.open(digest).map_err(failed)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        check_deadline(deadline)?;
        match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                hash.update(&buffer[..count]);
                write_all(place, file, &buffer[..count])?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    if Digest(hash.finalize().into()) == *digest {
        Ok(())
    } else {
        Err(CallError::Other(format!("asset {digest} has other bytes than its digest says, so nothing was put in place")))
    }
}

fn write_all(place: &Place, file: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), CallError> {
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(0) => return Err(CallError::NoSpace),
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(place.failed("writing the new content of", errno)),
        }
    }
    Ok(())
}
