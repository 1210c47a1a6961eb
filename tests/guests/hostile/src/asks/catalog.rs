//! Calls of `catalog-view`.

use std::hint::black_box;
use std::mem::ManuallyDrop;

use runtime_sdk::{CatalogView, Peer, ResourceId};

use super::parameters::{Answer, of_kind, subject};

/// Makes a call on the handle of that number; none if there is no such attack.
pub fn call(function: &str, kind: &str, handle: Option<u32>) -> Option<Answer> {
    let catalog = on(of_kind(kind, handle)?);
    match kind {
        "closed" => drop(ManuallyDrop::into_inner(on(catalog.handle()))),
        "endless" => loop {
            black_box(ask(function, &catalog, "own"));
        },
        "hoard" => {
            let mut kept = Vec::new();
            loop {
                kept.push(ask(function, &catalog, "own")?);
                black_box(&kept);
            }
        }
        _ => {}
    }
    let peers = ask(function, &catalog, kind)?;
    let case = if peers.is_empty() { "none" } else { "ok" };
    // Desired states of other types are none of this type's business.
    let of_others = peers.iter().filter(|peer| peer.id.type_name != "hostile").filter_map(|peer| peer.desired.as_deref());
    Some((case, format!("{}, {} resources", of_others.collect::<String>(), peers.len())))
}

#[expect(unsafe_code, reason = "a handle can only be forged by going behind the bindings")]
fn on(number: u32) -> ManuallyDrop<CatalogView> {
    // SAFETY: none is claimed: the host must refuse a number that it did not give out, or has taken back.
    ManuallyDrop::new(unsafe { CatalogView::from_handle(number) })
}

fn ask(function: &str, catalog: &CatalogView, kind: &str) -> Option<Vec<Peer>> {
    let text = |honest| String::from_utf8(subject(kind, honest)?).ok();
    let path = |honest| match kind {
        "relative" => Some(b"srv/x/0/it".to_vec()),
        "trailing-slash" => Some(b"/srv/x/0/".to_vec()),
        "double-slash" => Some(b"//srv//x/0/it".to_vec()),
        "not-utf8" => Some(b"/srv/\xff\xfe".to_vec()),
        _ => subject(kind, honest),
    };
    Some(match function {
        "catalog-view#[method]catalog-view.of-type" => catalog.of_type(&text("hostile")?),
        "catalog-view#[method]catalog-view.all" => catalog.all(),
        "catalog-view#[method]catalog-view.find" => {
            let id = ResourceId { type_name: text("file")?, name: text("apart")? };
            catalog.find(&id).into_iter().collect()
        }
        "catalog-view#[method]catalog-view.above" => catalog.above(&path("/srv/x/0/it")?),
        "catalog-view#[method]catalog-view.within" => catalog.within(&path("/srv/x")?),
        _ => return None,
    })
}
