//! Why a file is not a bundle that this program takes.
//!
//! Whatever text came from the file is escaped and cut before it gets here, so every message may go to a terminal.

use std::io;

use crate::model::digest::{AssetDigest, ComponentDigest};
use crate::model::key::escape;

use super::catalog::CatalogError;

/// Why a bundle was not opened, or a part of it not read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The operating system refused.
    #[error("cannot {action}")]
    Io {
        /// What was tried, as in "read the bundle".
        action: &'static str,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A directory, device, pipe or socket.
    #[error("the bundle is not a regular file")]
    NotAFile,
    /// The file is larger than any bundle.
    #[error("the bundle has {size} bytes, more than the {cap} that one may have")]
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// [`super::limits::MAX_BUNDLE`].
        cap: u64,
    },
    /// The archive breaks the format.
    #[error("the archive breaks the bundle format at byte {offset}")]
    Archive {
        /// Where, from the start of the file.
        offset: u64,
        /// How.
        #[source]
        source: ArchiveError,
    },
    /// A document in the archive breaks the format.
    #[error("`{document}` breaks the bundle format")]
    Document {
        /// `oci-layout`, `index.json` or `manifest`.
        document: &'static str,
        /// How.
        #[source]
        source: DocumentError,
    },
    /// Blobs and what the manifest says of them do not agree.
    #[error("the bundle does not hold what its manifest says")]
    Reference(#[source] ReferenceError),
    /// The catalog is refused.
    #[error("the catalog is refused")]
    Catalog(#[source] CatalogError),
    /// A component was asked for that the bundle does not hold.
    #[error("the bundle holds no component `{0}`")]
    NoSuchComponent(ComponentDigest),
    /// An asset was asked for that the bundle does not hold.
    #[error("the bundle holds no asset `{0}`")]
    NoSuchAsset(AssetDigest),
}

impl BundleError {
    /// Whether the fault is the machine's, not the bundle's.
    pub fn is_io(&self) -> bool {
        matches!(self, Self::Io { .. })
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Archive { source: ArchiveError::Compressed { with }, .. } => {
                Some(format!("a bundle is a plain tar: decompress it first (it looks like {with})"))
            }
            Self::Archive { source: ArchiveError::Text, .. } => {
                Some("if it is a manifest, `runtime compile MANIFEST -o BUNDLE` makes a bundle of it".to_owned())
            }
            Self::Catalog(source) => source.hint(),
            Self::Archive { .. } | Self::Document { .. } | Self::Reference(_) => {
                Some("the file was damaged or changed: fetch it again, or compile the manifest again".to_owned())
            }
            _ => None,
        }
    }
}

/// How an archive breaks the format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// The file ends where something should be.
    #[error("the file ends too early: {wanted} is missing")]
    Truncated {
        /// What should be there.
        wanted: &'static str,
    },
    /// A compressed file.
    #[error("this is compressed data ({with})")]
    Compressed {
        /// The compression.
        with: &'static str,
    },
    /// Text, such as a manifest.
    #[error("this is text, and no tar archive")]
    Text,
    /// No tar header.
    #[error("this is not a tar archive")]
    NotTar,
    /// A hard or symbolic link.
    #[error("member `{name}` is a link")]
    Link {
        /// The member's name.
        name: String,
    },
    /// A directory.
    #[error("member `{name}` is a directory")]
    Directory {
        /// The member's name.
        name: String,
    },
    /// A PAX extended header.
    #[error("member `{name}` is a PAX extended header")]
    Pax {
        /// The member's name.
        name: String,
    },
    /// A GNU long name or long link name.
    #[error("member `{name}` is a GNU long name")]
    GnuLongName {
        /// The member's name.
        name: String,
    },
    /// Another kind of member than a regular file.
    #[error("member `{name}` has the type {code:#04x}, which is no regular file")]
    Kind {
        /// The member's name.
        name: String,
        /// The type flag.
        code: u8,
    },
    /// A name that no member may have.
    #[error("`{name}` is not a member of a bundle")]
    Name {
        /// The name.
        name: String,
    },
    /// A header whose bytes are not those that this name and size give.
    #[error("the header of `{name}` is not in the one form that a bundle has")]
    Header {
        /// The member's name.
        name: String,
    },
    /// The same name twice.
    #[error("member `{name}` occurs twice")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// Not in byte order of names.
    #[error("member `{name}` is out of order, after `{after}`")]
    Unsorted {
        /// The member's name.
        name: String,
        /// The one before it.
        after: String,
    },
    /// Larger than such a member may be.
    #[error("member `{name}` has {size} bytes, more than the {cap} that it may have")]
    TooLarge {
        /// The member's name.
        name: String,
        /// Its size in bytes.
        size: u64,
        /// What it may have.
        cap: u64,
    },
    /// More members than a bundle may have.
    #[error("the archive has more than {cap} members")]
    TooMany {
        /// [`super::limits::MAX_MEMBERS`].
        cap: usize,
    },
    /// What fills a member's last block is not zero.
    #[error("the padding of `{name}` is not zero")]
    Padding {
        /// The member's name.
        name: String,
    },
    /// Bytes after the end of the archive.
    #[error("{count} bytes follow the end of the archive")]
    Trailing {
        /// How many.
        count: u64,
    },
    /// The second of the two blocks that end an archive is not zero.
    #[error("the end of the archive is not two blocks of zeros")]
    End,
}

/// How a document breaks the format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Not there.
    #[error("it is missing")]
    Missing,
    /// Larger than it may be.
    #[error("it has {size} bytes, more than the {cap} that it may have")]
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// What it may have.
        cap: u64,
    },
    /// Not the JSON that is expected there.
    #[error("{reason}")]
    Syntax {
        /// What the parser says, escaped.
        reason: String,
    },
    /// A field with a value that a bundle never has.
    #[error("`{field}` must be `{wanted}`")]
    Field {
        /// The field.
        field: &'static str,
        /// The one value that it may have.
        wanted: &'static str,
    },
    /// Layers out of order or twice.
    #[error("layer {position} is out of order or occurs twice")]
    LayerOrder {
        /// From 1.
        position: usize,
    },
    /// Too many layers of one kind.
    #[error("it names {count} {kind}, more than the {cap} that it may")]
    TooMany {
        /// `components` or `assets`.
        kind: &'static str,
        /// How many.
        count: usize,
        /// How many it may name.
        cap: usize,
    },
    /// The same content in another form than the canonical one.
    #[error("it is not in canonical form: it differs from that at byte {offset}")]
    NotCanonical {
        /// Where, from the start of the document.
        offset: usize,
    },
}

/// How blobs and references disagree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// A reference without its blob.
    #[error("the {kind} `{digest}` is missing")]
    Missing {
        /// `manifest`, `catalog`, `component` or `asset`.
        kind: &'static str,
        /// Its digest.
        digest: String,
    },
    /// A blob without a reference.
    #[error("nothing refers to the blob `{digest}`")]
    Extra {
        /// Its digest, by its name.
        digest: String,
    },
    /// The reference gives another size.
    #[error("the {kind} `{digest}` has {found} bytes, where its reference says {wanted}")]
    Size {
        /// As above.
        kind: &'static str,
        /// Its digest.
        digest: String,
        /// By the reference.
        wanted: u64,
        /// By the archive.
        found: u64,
    },
    /// Larger than it may be.
    #[error("the {kind} `{digest}` has {size} bytes, more than the {cap} that it may have")]
    TooLarge {
        /// As above.
        kind: &'static str,
        /// Its digest.
        digest: String,
        /// Its size in bytes.
        size: u64,
        /// What it may have.
        cap: u64,
    },
    /// The content has another digest than its name.
    #[error("the content of the {kind} `{digest}` has another digest")]
    Digest {
        /// As above.
        kind: &'static str,
        /// Its digest, by its name.
        digest: String,
    },
    /// Not a WebAssembly component.
    #[error("the component `{digest}` does not start as a WebAssembly component does")]
    NotComponent {
        /// Its digest.
        digest: String,
    },
    /// A secret that one of catalog and layer has, and the other not.
    #[error("the secret `{slot}` is in the {found_in} but not in the {missing_in}")]
    Secret {
        /// Its slot.
        slot: String,
        /// What has it.
        found_in: &'static str,
        /// What has not.
        missing_in: &'static str,
    },
    /// The layer of secrets is named as something else too.
    #[error("the layer of secrets `{digest}` is a component or an asset too")]
    SecretsElsewhere {
        /// Its digest.
        digest: String,
    },
    /// The catalog and the manifest name different things.
    #[error("the {kind} `{digest}` is in the {found_in} but not in the {missing_in}")]
    Disagree {
        /// `component` or `asset`.
        kind: &'static str,
        /// Its digest.
        digest: String,
        /// `catalog` or `manifest`.
        found_in: &'static str,
        /// The other.
        missing_in: &'static str,
    },
}

/// Text from a file, safe to show: escaped, and cut to 240 characters.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(bytes).chars().take(240).collect();
    escape(&text)
}
