//! What becomes of a symbolic link that is at the path, where a file or a folder is wanted.

use runtime_sdk::{Diagnostic, Value, path};

/// What to do about a symbolic link at the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, runtime_sdk::AttributeType)]
pub enum Links {
    /// It is an error.
    #[default]
    Refuse,
    /// The file or folder takes its place.
    Replace,
    /// What it leads to is managed, if that is declared.
    Follow,
}

/// As the default that `describe` tells.
impl From<Links> for Value {
    fn from(links: Links) -> Self {
        serde_json::json!(links)
    }
}

impl Links {
    /// Whether it is what is meant when nothing is said.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The most places that a link may be declared to lead to.
const MAX_PLACES: usize = 16;

/// Refuses places that a link at `own` could not lead to, and a list that has no meaning with `links`.
pub fn check(links: Links, leads_to: &[String], own: &str) -> Result<(), Diagnostic> {
    let refusal = |what: &str, hint: &str| Err(Diagnostic::at("leads_to", what).hint(hint));
    match (links, leads_to) {
        (Links::Follow, []) => {
            return refusal(
                "`leads_to` is missing",
                "list where the link may lead: what is changed there is held like the path itself",
            );
        }
        (Links::Refuse | Links::Replace, [_, ..]) => {
            return refusal(
                "`leads_to` has no meaning without following links",
                "set `links = \"follow\"`, or leave `leads_to` out",
            );
        }
        _ => {}
    }
    if leads_to.len() > MAX_PLACES {
        return refusal("`leads_to` has more than 16 paths", "list where the link really may lead");
    }
    for (index, place) in leads_to.iter().enumerate() {
        path::check(place).map_err(|error| error.at("leads_to"))?;
        if place == "/" || place == own || leads_to[..index].contains(place) {
            return refusal("`leads_to` has the root, the path itself, or a path twice", "list each place once");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_link_may_lead_is_declared_with_following_and_only_then() {
        let list = |places: &[&str]| places.iter().map(|place| (*place).to_owned()).collect::<Vec<_>>();
        check(Links::Refuse, &[], "/a").unwrap();
        check(Links::Replace, &[], "/a").unwrap();
        check(Links::Follow, &list(&["/b", "/c"]), "/a").unwrap();
        let many: Vec<String> = (0..17).map(|number| format!("/{number}")).collect();
        for (links, places) in [
            (Links::Follow, list(&[])),
            (Links::Refuse, list(&["/b"])),
            (Links::Replace, list(&["/b"])),
            (Links::Follow, list(&["/"])),
            (Links::Follow, list(&["/a"])),
            (Links::Follow, list(&["/b", "/b"])),
            (Links::Follow, list(&["b"])),
            (Links::Follow, list(&["/b/../c"])),
            (Links::Follow, many),
        ] {
            assert_eq!(check(links, &places, "/a").unwrap_err().attribute.as_deref(), Some("leads_to"), "{places:?}");
        }
    }
}
