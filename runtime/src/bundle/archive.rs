//! The tar archive of a bundle: one form for each content.
//!
//! A member's header follows from its name and size alone, so checking a header is building it again and comparing all 512
//! bytes. Nothing is ever unpacked by name: members are spans of the one open file.

use tar::{EntryType, Header};

use crate::model::digest::Digest;

use super::error::{ArchiveError, BundleError, shown};
use super::limits::{MAX_ASSET, MAX_INDEX, MAX_MEMBERS};
use super::oci::LAYOUT;
use super::source::ReadAt;

/// The unit of a tar archive.
pub(super) const BLOCK: u64 = 512;

const ZEROS: [u8; BLOCK as usize] = [0; BLOCK as usize];
const BLOBS: &str = "blobs/sha256/";
const INDEX_NAME: &str = "index.json";
const LAYOUT_NAME: &str = "oci-layout";

/// Marks digests of blobs of which the kind is not yet known.
pub(super) enum Blob {}

/// The digest of a blob.
pub(super) type BlobDigest = Digest<Blob>;

/// A name that a member may have; in the order of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemberName {
    /// `blobs/sha256/HEX`.
    Blob(BlobDigest),
    /// `index.json`.
    Index,
    /// `oci-layout`.
    Layout,
}

impl MemberName {
    /// The name as it stands in the archive.
    pub(super) fn text(self) -> String {
        match self {
            Self::Blob(digest) => format!("{BLOBS}{}", digest.hex()),
            Self::Index => INDEX_NAME.to_owned(),
            Self::Layout => LAYOUT_NAME.to_owned(),
        }
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        match std::str::from_utf8(bytes).ok()? {
            INDEX_NAME => Some(Self::Index),
            LAYOUT_NAME => Some(Self::Layout),
            other => BlobDigest::from_hex(other.strip_prefix(BLOBS)?).ok().map(Self::Blob),
        }
    }

    fn cap(self) -> u64 {
        match self {
            Self::Blob(_) => MAX_ASSET,
            Self::Index => MAX_INDEX,
            Self::Layout => LAYOUT.len() as u64,
        }
    }
}

/// Where bytes lie in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// From the start of the file.
    pub(super) offset: u64,
    /// In bytes.
    pub(super) size: u64,
}

/// A member of the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    /// Its name.
    pub(super) name: MemberName,
    /// Its content.
    pub(super) span: Span,
}

/// The header that a member of this name and size has.
pub(super) fn header(name: MemberName, size: u64) -> [u8; BLOCK as usize] {
    let mut header = Header::new_ustar();
    let text = name.text();
    // The longest name is 77 bytes of the 100 that the field has.
    if let Some(fields) = header.as_ustar_mut() {
        fields.name[..text.len()].copy_from_slice(text.as_bytes());
        fields.dev_major = *b"0000000\0";
        fields.dev_minor = *b"0000000\0";
    }
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(size);
    header.set_cksum();
    *header.as_bytes()
}

/// Whether bytes start as a bundle does: with a blob. For messages; whether it is one, only reading it tells.
pub fn looks_like_one(bytes: &[u8]) -> bool {
    bytes.starts_with(BLOBS.as_bytes())
}

/// How many zero bytes follow content of `size` bytes to fill its last block.
pub(super) fn padding(size: u64) -> u64 {
    size.next_multiple_of(BLOCK) - size
}

/// Walks the archive from its first to its last byte.
///
/// # Errors
/// On the first byte that is not as it must be. The content of members is not looked at.
pub(super) fn scan(source: &dyn ReadAt) -> Result<Vec<Member>, BundleError> {
    let mut scan = Scan { source, offset: 0, members: Vec::new() };
    scan.refuse_text()?;
    loop {
        let block = scan.block("the end of the archive")?;
        if block == ZEROS {
            return scan.end();
        }
        scan.member(&block)?;
    }
}

struct Scan<'a> {
    source: &'a dyn ReadAt,
    offset: u64,
    members: Vec<Member>,
}

impl Scan<'_> {
    fn refuse<T>(&self, source: ArchiveError) -> Result<T, BundleError> {
        Err(BundleError::Archive { offset: self.offset, source })
    }

    /// How many bytes are left.
    fn left(&self) -> u64 {
        self.source.len() - self.offset
    }

    /// Refuses what a person wrote, by a name of its own: nothing of it is damaged. No header of a member is such text, for zeros fill it up.
    fn refuse_text(&self) -> Result<(), BundleError> {
        let mut block = [0; BLOCK as usize];
        let start = &mut block[..self.left().min(BLOCK) as usize];
        read_at(self.source, start, 0)?;
        if is_text(start) && !looks_like_one(start) { self.refuse(ArchiveError::Text) } else { Ok(()) }
    }

    /// The block at the present offset, which stays.
    fn block(&self, wanted: &'static str) -> Result<[u8; BLOCK as usize], BundleError> {
        if self.left() < BLOCK {
            return self.refuse(ArchiveError::Truncated { wanted });
        }
        let mut block = [0; BLOCK as usize];
        read_at(self.source, &mut block, self.offset)?;
        Ok(block)
    }

    fn member(&mut self, block: &[u8; BLOCK as usize]) -> Result<(), BundleError> {
        let (name, size) = self.parse_header(block)?;
        if self.members.len() == MAX_MEMBERS {
            return self.refuse(ArchiveError::TooMany { cap: MAX_MEMBERS });
        }
        self.check_order(name)?;
        self.offset += BLOCK;
        let padding = padding(size);
        if self.left() < size + padding {
            return self.refuse(ArchiveError::Truncated { wanted: "the content of a member" });
        }
        self.members.push(Member { name, span: Span { offset: self.offset, size } });
        self.offset += size;
        let mut fill = [0; BLOCK as usize];
        let fill = &mut fill[..padding as usize];
        read_at(self.source, fill, self.offset)?;
        if *fill != ZEROS[..fill.len()] {
            return self.refuse(ArchiveError::Padding { name: name.text() });
        }
        self.offset += padding;
        Ok(())
    }

    fn parse_header(&self, block: &[u8; BLOCK as usize]) -> Result<(MemberName, u64), BundleError> {
        let header = Header::from_byte_slice(block);
        if header.as_ustar().is_none() && header.as_gnu().is_none() {
            return self.refuse(not_tar(block));
        }
        let raw = header.as_old().name;
        let raw = raw.split(|byte| *byte == 0).next().unwrap_or_default();
        if let Some(error) = wrong_kind(header.entry_type(), raw) {
            return self.refuse(error);
        }
        let Some(name) = MemberName::parse(raw) else {
            return self.refuse(ArchiveError::Name { name: shown(raw) });
        };
        let Ok(size) = header.entry_size() else {
            return self.refuse(ArchiveError::Header { name: name.text() });
        };
        if size > name.cap() {
            return self.refuse(ArchiveError::TooLarge { name: name.text(), size, cap: name.cap() });
        }
        if self::header(name, size) != *block {
            return self.refuse(ArchiveError::Header { name: name.text() });
        }
        Ok((name, size))
    }

    fn check_order(&self, name: MemberName) -> Result<(), BundleError> {
        let Some(last) = self.members.last() else {
            return Ok(());
        };
        match last.name.cmp(&name) {
            std::cmp::Ordering::Less => Ok(()),
            std::cmp::Ordering::Equal => self.refuse(ArchiveError::Duplicate { name: name.text() }),
            std::cmp::Ordering::Greater => self.refuse(ArchiveError::Unsorted { name: name.text(), after: last.name.text() }),
        }
    }

    /// The present block is zero: a second must follow, and then nothing.
    fn end(mut self) -> Result<Vec<Member>, BundleError> {
        self.offset += BLOCK;
        if self.block("the end of the archive")? != ZEROS {
            return self.refuse(ArchiveError::End);
        }
        self.offset += BLOCK;
        match self.left() {
            0 => Ok(self.members),
            count => self.refuse(ArchiveError::Trailing { count }),
        }
    }
}

/// Reads from the file, which has been found long enough.
pub(super) fn read_at(source: &dyn ReadAt, buffer: &mut [u8], offset: u64) -> Result<(), BundleError> {
    source.read_exact_at(buffer, offset).map_err(|source| BundleError::Io { action: "read the bundle", source })
}

fn wrong_kind(kind: EntryType, name: &[u8]) -> Option<ArchiveError> {
    let name = shown(name);
    match kind {
        EntryType::Regular => None,
        EntryType::Link | EntryType::Symlink => Some(ArchiveError::Link { name }),
        EntryType::Directory => Some(ArchiveError::Directory { name }),
        EntryType::XHeader | EntryType::XGlobalHeader => Some(ArchiveError::Pax { name }),
        EntryType::GNULongName | EntryType::GNULongLink => Some(ArchiveError::GnuLongName { name }),
        other => Some(ArchiveError::Kind { name, code: other.as_byte() }),
    }
}

/// Whether it is the start of a text: of UTF-8 without control characters. The last character may be cut.
fn is_text(start: &[u8]) -> bool {
    let whole = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default(),
        Err(_) => return false,
    };
    !whole.is_empty() && !whole.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

fn not_tar(block: &[u8]) -> ArchiveError {
    const SIGNATURES: [(&[u8], &str); 4] =
        [(b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"\xfd7zXZ\0", "xz"), (b"BZh", "bzip2")];
    SIGNATURES
        .iter()
        .find(|(magic, _)| block.starts_with(magic))
        .map_or(ArchiveError::NotTar, |(_, with)| ArchiveError::Compressed { with })
}
