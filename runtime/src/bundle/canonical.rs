//! Holds the bytes of a catalog against its canonical form, piece by piece: the form of a large catalog as a whole would take several times its
//! size.

use serde::Serialize;

use crate::model::canonical;
use crate::model::catalog::Catalog;

/// Why bytes are not the canonical form.
#[derive(Debug)]
pub(super) enum Difference {
    /// From here on they are others.
    At(usize),
    /// A piece has no JSON form.
    Json(serde_json::Error),
}

/// That `bytes` are the canonical form of `catalog`, which was read from them.
///
/// # Errors
/// With the first difference.
pub(super) fn check(bytes: &[u8], catalog: &Catalog) -> Result<(), Difference> {
    // Every member is named, in the order of their names, so that a new one cannot be forgotten.
    let Catalog {
        assets,
        audience,
        catalog_version,
        edges,
        language_version,
        modules,
        node_secrets,
        owner,
        providers,
        resources,
        secrets,
        serial,
        target_facts,
    } = catalog;
    let mut held = Held { bytes, at: 0 };
    held.text(r#"{"assets":{"#)?;
    held.each(assets.iter(), |held, (digest, asset)| {
        held.piece(digest)?;
        held.text(":")?;
        held.piece(asset)
    })?;
    held.text("}")?;
    held.member("audience", audience)?;
    held.member("catalog_version", catalog_version)?;
    held.list("edges", edges)?;
    held.member("language_version", language_version)?;
    held.member("modules", modules)?;
    held.member("node_secrets", node_secrets)?;
    held.member("owner", owner)?;
    if !providers.is_empty() {
        held.member("providers", providers)?;
    }
    held.list("resources", resources)?;
    held.list("secrets", secrets)?;
    held.member("serial", serial)?;
    held.member("target_facts", target_facts)?;
    held.text("}")?;
    if held.at == bytes.len() { Ok(()) } else { Err(Difference::At(held.at)) }
}

/// Bytes, up to where they were found to be right.
struct Held<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Held<'_> {
    fn text(&mut self, wanted: &str) -> Result<(), Difference> {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(wanted.as_bytes()) {
            self.at += wanted.len();
            return Ok(());
        }
        let same = rest.iter().zip(wanted.as_bytes()).take_while(|(found, wanted)| found == wanted).count();
        Err(Difference::At(self.at + same))
    }

    fn piece<T: Serialize>(&mut self, value: &T) -> Result<(), Difference> {
        self.text(&canonical::text_of_read(value).map_err(Difference::Json)?)
    }

    /// A member that is not the first.
    fn member<T: Serialize>(&mut self, name: &str, value: &T) -> Result<(), Difference> {
        self.text(&format!(",\"{name}\":"))?;
        self.piece(value)
    }

    /// A member that is a list, item by item.
    fn list<T: Serialize>(&mut self, name: &str, items: &[T]) -> Result<(), Difference> {
        self.text(&format!(",\"{name}\":["))?;
        self.each(items.iter(), |held, item| held.piece(item))?;
        self.text("]")
    }

    fn each<I: Iterator>(
        &mut self,
        items: I,
        mut one: impl FnMut(&mut Self, I::Item) -> Result<(), Difference>,
    ) -> Result<(), Difference> {
        for (place, item) in items.enumerate() {
            if place > 0 {
                self.text(",")?;
            }
            one(self, item)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::samples;

    #[test]
    fn it_is_the_form_that_serde_jcs_gives_and_every_other_byte_is_found() {
        let catalog = samples::catalog_of(&samples::component(b"x"), &samples::assets(&[b"one", b"two"]));
        assert!(catalog.resources.len() + catalog.assets.len() > 2, "lists have more than one item");
        let bytes = serde_jcs::to_vec(&catalog).unwrap();
        check(&bytes, &catalog).unwrap();
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert!(matches!(check(&other, &catalog), Err(Difference::At(found)) if found == at), "{at}");
            assert!(matches!(check(&bytes[..at], &catalog), Err(Difference::At(found)) if found == at), "{at}");
        }
        assert!(matches!(check(&[&bytes[..], b" "].concat(), &catalog), Err(Difference::At(found)) if found == bytes.len()));
    }
}
