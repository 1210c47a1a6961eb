//! The one comparison of desired and observed, for plans and for verification. Pure.

use runtime_sdk::files::Kind;
use runtime_sdk::node::unchanged;
use runtime_sdk::{Action, Bytes, Change, Diagnostic, Ensure as _, LifecycleError, NodeResult, Value};
use serde_json::json;

use crate::desired::{Desired, Ensure};
use crate::state::{Object, State, wanted_kind, word};
use runtime_sdk::Principal;

/// What differs; nothing if the node is as desired.
///
/// # Errors
/// If an object of another kind is there and may not be replaced.
pub fn changes(desired: &Desired, state: &State) -> NodeResult<Vec<Change>> {
    let mut changes = differing(desired, state)?;
    if let Some(at) = &state.at {
        changes.iter_mut().for_each(|change| change.reason += &format!("; it is at `{at}`, where the link at the path leads"));
    }
    Ok(changes)
}

fn differing(desired: &Desired, state: &State) -> NodeResult<Vec<Change>> {
    let wanted = wanted_kind(desired.ensure);
    match &state.object {
        None if wanted.is_none() => Ok(Vec::new()),
        None => all_of_it(desired, state, None, "nothing is there yet"),
        Some(object) if Some(object.kind) == wanted => attributes(desired, state, object),
        Some(object) if wanted.is_none() => Ok(vec![ensure(desired, Some(object.kind), "it is not to be there")?]),
        Some(object) if desired.may_replace(object.kind == Kind::Symlink) => {
            let reason = format!("a {} is in its place", word(object.kind));
            all_of_it(desired, state, Some(object.kind), &reason)
        }
        Some(object) => Err(wrong_kind(object.kind, desired.ensure)),
    }
}

/// What applying will do. Asked only where there are changes.
pub fn action(desired: &Desired, state: &State) -> Action {
    let wanted = wanted_kind(desired.ensure);
    match &state.object {
        _ if wanted.is_none() => Action::Delete,
        None => Action::Create,
        Some(object) if Some(object.kind) == wanted => Action::Update,
        Some(_) => Action::Replace,
    }
}

fn wrong_kind(found: Kind, wanted: Ensure) -> LifecycleError {
    let message = format!("a {} is at the path, where a {} is wanted", word(found), wanted.word());
    let hint = match found {
        Kind::Directory => "set `force = true` to replace it with all that it holds, or move it away",
        Kind::Symlink => {
            "set `links = \"replace\"` to put it in the link's place, or `links = \"follow\"` to manage what it leads to"
        }
        _ => "set `force = true` to replace it, or move it away",
    };
    unchanged(Diagnostic::at("ensure", message).hint(hint))
}

/// The change of what is at the path.
fn ensure(desired: &Desired, found: Option<Kind>, reason: &str) -> NodeResult<Change> {
    let before = found.map_or(Ensure::Absent.word(), word);
    Change::new("ensure", Some(json!(before)), Some(json!(desired.ensure.word())), reason)
}

/// The changes of a new object: itself, and each managed attribute.
fn all_of_it(desired: &Desired, state: &State, found: Option<Kind>, reason: &str) -> NodeResult<Vec<Change>> {
    let mut changes = vec![ensure(desired, found, reason)?];
    changes.extend(state.missing.iter().map(|folder| parent(folder)).collect::<NodeResult<Vec<_>>>()?);
    changes.extend(differences(desired, state, None)?);
    Ok(changes)
}

/// One folder that is made on the way.
fn parent(folder: &str) -> NodeResult<Change> {
    let reason = "nothing is there, and it is made on the way unless another resource makes it first";
    Change::new("parents", None, Some(json!(folder)), reason)
}

/// The changes of an object of the right kind.
fn attributes(desired: &Desired, state: &State, object: &Object) -> NodeResult<Vec<Change>> {
    differences(desired, state, Some(object))
}

/// Each managed attribute that differs from `object`, or every one if there is none.
fn differences(desired: &Desired, state: &State, object: Option<&Object>) -> NodeResult<Vec<Change>> {
    let changes = [
        content(desired, state.at.as_deref().unwrap_or(&desired.path), object)?,
        owner("owner", desired.owner.as_ref(), state.owner, object.map(|object| object.owner))?,
        owner("group", desired.group.as_ref(), state.group, object.map(|object| object.group))?,
        mode(desired, object)?,
        target(desired, object)?,
    ];
    Ok(changes.into_iter().flatten().collect())
}

const NEW: &str = "set as it is made";

fn content(desired: &Desired, path: &str, object: Option<&Object>) -> NodeResult<Option<Change>> {
    let Some(name) = desired.content_name() else { return Ok(None) };
    let before = object.and_then(|object| object.digest.as_deref());
    if object.is_some() && before.is_none() {
        return Err(unchanged(Diagnostic::at("content", "the host gave no digest of the file")));
    }
    if before == Some(name) {
        return Ok(None);
    }
    let reason = match object {
        Some(_) if desired.backup > 0 && desired.is_sensitive() => {
            "the content differs, and what is replaced may be sensitive and is not kept"
        }
        Some(_) if desired.backup > 0 => "the content differs, and what is replaced is kept",
        Some(_) => "the content differs",
        None => NEW,
    };
    let change = Change::new("content", before.map(Value::from), Some(Value::from(name)), reason)?;
    Ok(Some(change.content(path.as_bytes(), name)))
}

/// An owner or a group: compared as numbers, shown as declared. One that is not there yet differs from whatever is.
fn owner(attribute: &str, declared: Option<&Principal>, wanted: Option<u32>, found: Option<u32>) -> NodeResult<Option<Change>> {
    let Some(declared) = declared else { return Ok(None) };
    let Some(wanted) = wanted else {
        let reason = "nobody has this name on the node yet, and has to be made before";
        return Change::new(attribute, found.map(Value::from), Some(json!(declared)), reason).map(Some);
    };
    let reason = match found {
        Some(found) if found == wanted => return Ok(None),
        Some(found) => match declared {
            Principal::Id(_) => format!("its {attribute} has the id {found}"),
            Principal::Name(_) => format!("its {attribute} has the id {found}, and on this node the name means {wanted}"),
        },
        None => NEW.to_owned(),
    };
    Change::new(attribute, found.map(Value::from), Some(json!(declared)), reason).map(Some)
}

fn mode(desired: &Desired, object: Option<&Object>) -> NodeResult<Option<Change>> {
    let Some(wanted) = desired.mode else { return Ok(None) };
    let found = object.and_then(|object| object.mode);
    if found == Some(wanted) {
        return Ok(None);
    }
    let reason = match found {
        Some(found) => permission_reason(found.bits(), wanted.bits()),
        None => NEW,
    };
    Change::new("mode", found.map(|mode| json!(mode)), Some(json!(wanted)), reason).map(Some)
}

/// What the difference means to somebody who has to decide whether it matters.
fn permission_reason(found: u32, wanted: u32) -> &'static str {
    match (found & !wanted != 0, wanted & !found != 0) {
        (true, false) => "it allows more than it should",
        (false, true) => "it allows less than it should",
        _ => "its permissions differ",
    }
}

fn target(desired: &Desired, object: Option<&Object>) -> NodeResult<Option<Change>> {
    let Some(wanted) = &desired.target else { return Ok(None) };
    let found = object.and_then(|object| object.target.as_ref());
    if found.is_some_and(|Bytes(found)| found == wanted.as_bytes()) {
        return Ok(None);
    }
    let reason = if found.is_some() { "it points elsewhere" } else { NEW };
    Change::new("target", found.map(|bytes| json!(bytes)), Some(json!(wanted)), reason).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::Links;
    use crate::mode::Mode;
    use crate::testing::{desired, digest, object, state};
    use runtime_sdk::EffectClass;

    fn names(desired: &Desired, state: &State) -> Vec<String> {
        changes(desired, state).unwrap().into_iter().map(|change| change.attribute).collect()
    }

    fn only(desired: &Desired, state: &State) -> (Option<String>, Option<String>, String) {
        let mut changes = changes(desired, state).unwrap();
        assert_eq!(changes.len(), 1, "{changes:?}");
        let change = changes.remove(0);
        (change.before, change.after, change.reason)
    }

    fn text(value: &str) -> Option<String> {
        Some(value.to_owned())
    }

    #[test]
    fn what_is_omitted_is_left_alone() {
        let odd = Object { owner: 7, group: 8, mode: Mode::from_bits(0), digest: text("sha256:x"), ..object(Kind::File) };
        assert_eq!(names(&desired(Ensure::File), &state(Some(odd))), Vec::<String>::new());
        let directory = Object { mode: Mode::from_bits(0), ..object(Kind::Directory) };
        assert_eq!(names(&desired(Ensure::Directory), &state(Some(directory))), Vec::<String>::new());
        assert_eq!(names(&desired(Ensure::Absent), &state(None)), Vec::<String>::new());
    }

    #[test]
    fn nothing_there_makes_all_of_it() {
        let wanted = Desired { mode: Mode::from_bits(0o640), ..desired(Ensure::File).with_content("a") };
        assert_eq!(names(&wanted, &state(None)), ["ensure", "content", "mode"]);
        assert_eq!(action(&wanted, &state(None)), Action::Create);
        assert_eq!(
            only(&desired(Ensure::File), &state(None)),
            (text(r#""absent""#), text(r#""file""#), "nothing is there yet".into())
        );
    }

    #[test]
    fn each_folder_that_is_made_on_the_way_is_a_change() {
        let wanted = Desired { parents: true, ..desired(Ensure::File) };
        let found = State { missing: vec!["/srv".into(), "/srv/site".into()], ..state(None) };
        let changes = changes(&wanted, &found).unwrap();
        let told: Vec<_> = changes.iter().map(|change| (change.attribute.as_str(), change.after.as_deref())).collect();
        let made = |folder| ("parents", Some(folder));
        assert_eq!(told, [("ensure", Some(r#""file""#)), made(r#""/srv""#), made(r#""/srv/site""#)]);
        assert_eq!(names(&wanted, &state(Some(object(Kind::File)))), Vec::<String>::new(), "they are not managed further");
    }

    #[test]
    fn content_is_compared_by_digest_and_names_both() {
        let wanted = desired(Ensure::File).with_content("a");
        let same = Object { digest: Some(digest("a")), ..object(Kind::File) };
        assert_eq!(names(&wanted, &state(Some(same))), Vec::<String>::new());
        let other = state(Some(Object { digest: Some(digest("b")), ..object(Kind::File) }));
        let change = changes(&wanted, &other).unwrap().remove(0);
        assert_eq!((change.before, change.after), (Some(json!(digest("b")).to_string()), Some(json!(digest("a")).to_string())));
        let content = change.content.unwrap();
        assert_eq!((content.path, content.asset), (b"/srv/it".to_vec(), digest("a")));
        assert_eq!((change.reason.as_str(), action(&wanted, &other)), ("the content differs", Action::Update));
        let kept = Desired { backup: 1, ..wanted };
        assert_eq!(changes(&kept, &other).unwrap()[0].reason, "the content differs, and what is replaced is kept");
    }

    #[test]
    fn a_missing_digest_is_an_error_and_not_a_difference() {
        let wanted = desired(Ensure::File).with_content("a");
        assert!(changes(&wanted, &state(Some(object(Kind::File)))).is_err());
    }

    #[test]
    fn modes_are_compared_as_numbers_with_a_reason() {
        let wanted = Desired { mode: "644".parse().ok(), ..desired(Ensure::File) };
        let with = |bits| state(Some(Object { mode: Mode::from_bits(bits), ..object(Kind::File) }));
        assert_eq!(names(&wanted, &with(0o644)), Vec::<String>::new());
        let reason = |bits| only(&wanted, &with(bits)).2;
        assert_eq!(reason(0o666), "it allows more than it should");
        assert_eq!(reason(0o600), "it allows less than it should");
        assert_eq!(reason(0o700), "its permissions differ");
        assert_eq!(only(&wanted, &with(0o600)).0, text(r#""0600""#));
    }

    #[test]
    fn owners_are_compared_by_id_and_shown_as_declared() {
        let wanted = Desired { owner: Some(Principal::Name("web".into())), ..desired(Ensure::File) };
        let with = |found| State { owner: Some(33), ..state(Some(Object { owner: found, ..object(Kind::File) })) };
        assert_eq!(names(&wanted, &with(33)), Vec::<String>::new());
        let (before, after, reason) = only(&wanted, &with(7));
        assert_eq!((before, after), (text("7"), text(r#""web""#)));
        assert_eq!(reason, "its owner has the id 7, and on this node the name means 33");
        let unknown = State { owner: None, ..with(7) };
        assert_eq!(only(&wanted, &unknown).2, "nobody has this name on the node yet, and has to be made before");
        let by_id = Desired { owner: Some(Principal::Id(33)), ..desired(Ensure::File) };
        assert_eq!(only(&by_id, &with(7)).2, "its owner has the id 7");
    }

    #[test]
    fn links_are_compared_by_their_bytes() {
        let wanted = Desired { target: text("b"), ..desired(Ensure::Symlink) };
        let with = |target: &[u8]| state(Some(Object { target: Some(Bytes(target.to_vec())), ..object(Kind::Symlink) }));
        assert_eq!(names(&wanted, &with(b"b")), Vec::<String>::new());
        assert_eq!(only(&wanted, &with(b"./b")), (text(r#""./b""#), text(r#""b""#), "it points elsewhere".into()));
        assert_eq!(only(&wanted, &with(b"\xff")).0, text(r#"{"$bytes":"/w=="}"#));
    }

    #[test]
    fn another_kind_is_an_error_that_says_what_to_do() {
        for ensure in [Ensure::File, Ensure::Directory, Ensure::Symlink] {
            for kind in [Kind::File, Kind::Directory, Kind::Symlink, Kind::Fifo, Kind::Socket, Kind::BlockDevice] {
                if wanted_kind(ensure) == Some(kind) {
                    continue;
                }
                let error = changes(&desired(ensure), &state(Some(object(kind)))).unwrap_err();
                let LifecycleError::Failed(failure) = error else { panic!("{error:?}") };
                assert_eq!(failure.effect_class, EffectClass::BeforeChange);
                let word = if kind == Kind::Symlink { "set `links = " } else { "set `force = true`" };
                assert!(failure.diagnostic.hint.unwrap().starts_with(word));
            }
        }
    }

    #[test]
    fn with_force_another_kind_is_replaced() {
        let wanted = Desired { force: true, mode: Mode::from_bits(0o644), ..desired(Ensure::File) };
        let found = state(Some(object(Kind::Directory)));
        assert_eq!(names(&wanted, &found), ["ensure", "mode"], "also what would be equal: the new object has to get it");
        assert_eq!(changes(&wanted, &found).unwrap()[0].reason, "a directory is in its place");
        assert_eq!(action(&wanted, &found), Action::Replace);
    }

    #[test]
    fn a_link_alone_is_replaced_where_that_is_said_of_links() {
        for ensure in [Ensure::File, Ensure::Directory] {
            let wanted = Desired { links: Links::Replace, ..desired(ensure) };
            let found = state(Some(object(Kind::Symlink)));
            assert_eq!(changes(&wanted, &found).unwrap()[0].reason, "a symlink is in its place");
            assert_eq!(action(&wanted, &found), Action::Replace);
            assert!(changes(&wanted, &state(Some(object(Kind::Socket)))).is_err(), "of other kinds nothing was said");
            let followed = Desired { links: Links::Follow, leads_to: vec!["/run/it".into()], ..desired(ensure) };
            assert!(changes(&followed, &found).is_err(), "what a link leads to is no link");
        }
    }

    #[test]
    fn what_a_link_leads_to_is_compared_and_told_as_that() {
        let wanted =
            Desired { links: Links::Follow, leads_to: vec!["/run/it".into()], ..desired(Ensure::File).with_content("a") };
        let other = Object { digest: Some(digest("b")), ..object(Kind::File) };
        let change = changes(&wanted, &State { at: Some("/run/it".into()), ..state(Some(other)) }).unwrap().remove(0);
        assert_eq!(change.reason, "the content differs; it is at `/run/it`, where the link at the path leads");
        assert_eq!(change.content.unwrap().path, b"/run/it");
    }

    #[test]
    fn absence_deletes_whatever_is_there() {
        let found = state(Some(object(Kind::Socket)));
        let wanted = desired(Ensure::Absent);
        assert_eq!(only(&wanted, &found), (text(r#""socket""#), text(r#""absent""#), "it is not to be there".into()));
        assert_eq!(action(&wanted, &found), Action::Delete);
    }
}
