//! Bytes that go along with a catalog. Acquired after the declaration has been found sound, and only from where they may come from.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::Arc;

use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use super::Compiler;
use super::parameters::Given;
use crate::engine::{AssetRequest, AssetSource, Parameters};
use crate::language::diagnostic::Diagnostic;
use crate::manifest::Declaration;
use crate::model::asset::AssetRef;
use crate::model::description::is_secret_slot;
use crate::model::digest::AssetDigest;
use crate::model::expression::Place;
use crate::model::secret;

/// How much of a file is in memory at a time.
const CHUNK: usize = 128 << 10;

/// The assets of a catalog, as they gather.
pub(super) type Assets = BTreeMap<AssetDigest, Asset>;

/// An asset of a catalog.
#[derive(Debug, Clone)]
pub struct Asset {
    /// In bytes.
    pub size: u64,
    /// Where the bytes are.
    pub content: Content,
}

/// Where the bytes of an asset are.
#[derive(Debug, Clone)]
pub enum Content {
    /// Here.
    Bytes(Arc<[u8]>),
    /// In a file beneath the manifest's folder, by its path there.
    Local(String),
}

impl Compiler {
    /// Gets the bytes that a module asks for; none if they cannot be had, which has been told.
    pub(super) fn acquire(
        &self,
        declaration: &Declaration,
        request: &AssetRequest,
        given: &Given,
        assets: &mut Assets,
    ) -> Option<AssetRef> {
        let place = self.blamed(declaration, &request.attribute);
        let text = match &request.source {
            AssetSource::Inline(text) => text.clone(),
            AssetSource::Parameter(name) => match given.read(name).ok()? {
                Some(Json::String(text)) => text,
                Some(told) if is_secret_slot(&told) => return self.secret_asset(declaration, request, given, &told),
                _ => {
                    self.broken(declaration, format!("asks for `{name}` as content, which is not text"));
                    return None;
                }
            },
            AssetSource::Local(path) => return self.acquire_local(path, &place, request.checksum, assets).map(AssetRef::Plain),
            AssetSource::Url(_) => {
                let message = Diagnostic::error(&place, "content from an address cannot be fetched by this version");
                self.evaluation.add(message.hint("fetch it beforehand and name the file".to_owned()));
                return None;
            }
        };
        let digest = AssetDigest::of(text.as_bytes());
        self.check_sum(digest, request.checksum, &place)?;
        let size = text.len() as u64;
        assets.entry(digest).or_insert_with(|| Asset { size, content: Content::Bytes(text.into_bytes().into()) });
        Some(AssetRef::Plain(digest))
    }

    /// The name of sensitive bytes. No digest of them is told, not even where they do not have their checksum.
    fn secret_asset(&self, declaration: &Declaration, request: &AssetRequest, given: &Given, told: &Json) -> Option<AssetRef> {
        let slot = secret::slot_of(told).ok().flatten()?;
        let Some(content) = given.told(&slot).and_then(|value| value.content()) else {
            self.broken(declaration, format!("asks for `{}` as content, which is not text", request.attribute));
            return None;
        };
        if request.checksum.is_some_and(|wanted| AssetDigest::of(&content) != wanted) {
            let place = self.blamed(declaration, &request.attribute);
            self.evaluation.add(Diagnostic::error(&place, "the content does not have the checksum that is given"));
            return None;
        }
        Some(AssetRef::Secret(slot))
    }

    /// Takes a file along that lies beneath the manifest's folder.
    pub(super) fn acquire_local(
        &self,
        path: &str,
        place: &Place,
        checksum: Option<AssetDigest>,
        assets: &mut Assets,
    ) -> Option<AssetDigest> {
        let hashed = self.files.open(path).map_err(|error| error.describe());
        let hashed = hashed.and_then(|content| hash(content).map_err(|error| error.kind().to_string()));
        match hashed {
            Ok((digest, size)) => {
                self.check_sum(digest, checksum, place)?;
                assets.entry(digest).or_insert_with(|| Asset { size, content: Content::Local(path.to_owned()) });
                Some(digest)
            }
            Err(why) => {
                self.evaluation.add(Diagnostic::error(place, format!("the file `{path}` cannot be taken along")).label(why));
                None
            }
        }
    }

    fn check_sum(&self, digest: AssetDigest, wanted: Option<AssetDigest>, place: &Place) -> Option<()> {
        match wanted {
            Some(wanted) if wanted != digest => {
                let message = Diagnostic::error(place, "the content does not have the checksum that is given");
                self.evaluation.add(message.note(format!("it has {digest}")));
                None
            }
            _ => Some(()),
        }
    }

    fn blamed(&self, declaration: &Declaration, attribute: &str) -> Place {
        let spelling = self.declared[&declaration.id].spellings.get(attribute).map_or(attribute, String::as_str);
        self.place_of(&declaration.id, spelling)
    }
}

fn hash(mut content: Box<dyn Read + Send>) -> io::Result<(AssetDigest, u64)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    let mut size = 0;
    loop {
        match content.read(&mut buffer)? {
            0 => return Ok((AssetDigest::from_bytes(hasher.finalize().into()), size)),
            count => {
                hasher.update(&buffer[..count]);
                size += count as u64;
            }
        }
    }
}
