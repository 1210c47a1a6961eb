//! Bringing the desired state about: first the steps, as data, then the host calls.

use runtime_sdk::files::{self, Attributes, Content, Detail, Kind, Staged};
use runtime_sdk::node::unchanged;
use runtime_sdk::processes::{Command, Finished, Status};
use runtime_sdk::{Diagnostic, HostCall as _, HostError, InterruptedOperation, NodeResult, Outcome, Progress};

use crate::desired::{Desired, Ensure};
use crate::state::{self, Found, State, wanted_kind};
use crate::validation::Validation;

/// One change at the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Remove what is there; `recursive` with all that it holds.
    Remove { recursive: bool },
    /// Put a complete file in place, with its attributes; in place of anything but a directory.
    Write,
    /// Make a directory, with its attributes.
    MakeDirectory,
    /// Make a symbolic link, in place of a link or file that is there.
    MakeSymlink,
    /// Set owner, group and mode of what is there.
    SetAttributes,
}

/// The steps from `state` to the desired state.
fn steps(desired: &Desired, state: &State) -> Vec<Step> {
    let found = state.object.as_ref().map(|object| object.kind);
    match (wanted_kind(desired.ensure), found) {
        (None, None) => Vec::new(),
        (None, Some(kind)) => vec![Step::Remove { recursive: desired.force && kind == Kind::Directory }],
        (Some(wanted), Some(kind)) if wanted == kind => vec![correction(desired, state)],
        // What the host puts in place by one rename, without a moment in which nothing is there.
        (Some(Kind::Symlink), Some(Kind::File)) => vec![Step::MakeSymlink],
        (Some(Kind::File), Some(kind)) if kind != Kind::Directory => vec![Step::Write],
        (Some(_), Some(kind)) => vec![Step::Remove { recursive: kind == Kind::Directory }, creation(desired.ensure)],
        (Some(_), None) => vec![creation(desired.ensure)],
    }
}

fn creation(ensure: Ensure) -> Step {
    match ensure {
        Ensure::Directory => Step::MakeDirectory,
        Ensure::Symlink => Step::MakeSymlink,
        Ensure::File | Ensure::Absent => Step::Write,
    }
}

/// The step that corrects an object of the right kind.
fn correction(desired: &Desired, state: &State) -> Step {
    let Some(object) = &state.object else { return creation(desired.ensure) };
    let has_content = desired.content_name().is_none_or(|name| object.digest.as_deref() == Some(name));
    let target = object.target.as_ref().map(|bytes| bytes.0.as_slice());
    let has_target = desired.target.as_ref().is_none_or(|wanted| target == Some(wanted.as_bytes()));
    if has_content && has_target { Step::SetAttributes } else { creation(desired.ensure) }
}

/// Every managed attribute, also those that are right: a new owner clears set-id bits, which the mode then puts back.
fn attributes(desired: &Desired, state: &State) -> Attributes {
    Attributes { owner: state.owner, group: state.group, mode: desired.mode.map(|mode| mode.bits()) }
}

/// Brings the desired state about, provided that the object is still what `checked` says.
pub fn apply(desired: &Desired, checked: &State) -> NodeResult<Outcome> {
    state::need_accounts(desired, checked)?;
    let Found { handle, object, at } = state::open(desired)?;
    if object != checked.object || at != checked.at {
        return Err(unchanged(
            Diagnostic::at("path", "the object was changed by something else after it was checked").hint("run it again"),
        ));
    }
    let attributes = attributes(desired, checked);
    let mut progress = Progress::new();
    make_parents(&checked.missing, &mut progress)?;
    for step in steps(desired, checked) {
        perform(step, &handle, desired, &attributes, &mut progress)?;
    }
    Ok(Outcome::changed())
}

/// Makes the folders on the way that were missing. A run that is lost in between leaves those that it made, and the next goes on from there.
fn make_parents(missing: &[String], progress: &mut Progress) -> NodeResult<()> {
    for folder in missing {
        let handle = progress.harmless("look at a folder on the way", files::Object::open(folder.as_bytes()))?;
        match handle.make_directory(Attributes { owner: None, group: None, mode: None }) {
            // Another resource that needs it was faster.
            Err(HostError::AlreadyExists) => {}
            result => progress.stepwise("make a folder on the way", result)?,
        }
    }
    Ok(())
}

fn perform(
    step: Step,
    handle: &files::Object,
    desired: &Desired,
    attributes: &Attributes,
    progress: &mut Progress,
) -> NodeResult<()> {
    match step {
        Step::Remove { recursive } => remove(handle, recursive, progress),
        Step::Write => write(handle, desired, attributes, progress),
        Step::MakeDirectory => {
            let result = in_parent(handle.make_directory(*attributes), progress)?;
            progress.stepwise("make the directory", result)
        }
        Step::MakeSymlink => {
            let target = desired.target.as_deref().unwrap_or_default();
            let result = in_parent(handle.make_symlink(target.as_bytes(), *attributes), progress)?;
            progress.stepwise("make the symbolic link", result)
        }
        Step::SetAttributes => progress.stepwise("set owner, group and mode", handle.set_attributes(*attributes)),
    }
}

/// A complete new file, put in place at once.
fn write(handle: &files::Object, desired: &Desired, attributes: &Attributes, progress: &mut Progress) -> NodeResult<()> {
    let content = match desired.content_name() {
        Some(name) => Content::Asset(name.to_owned()),
        None => Content::Inline(Vec::new()),
    };
    let result = in_parent(handle.stage(&content, *attributes), progress)?;
    let staged = progress.harmless("write the new file beside its place", result)?;
    if let Some(validation) = &desired.validate {
        validate(&staged, validation, progress)?;
    }
    let committed = if desired.backup > 0 { staged.commit_keeping() } else { staged.commit() };
    progress.whole("put the new file in its place", committed)
}

/// Has the declared program look at the new file. Where it refuses, the file goes with the handle.
fn validate(staged: &Staged, validation: &Validation, progress: &Progress) -> NodeResult<()> {
    let command = Command::new(validation.program());
    let command = validation.arguments().fold(command, |command, word| command.argument(word));
    let command = command.variable("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    let finished = progress.harmless("run `validate` on the new file", staged.validate(&command))?;
    if matches!(finished.status, Status::Exited(0)) { Ok(()) } else { Err(progress.failed(invalid(&finished))) }
}

fn invalid(finished: &Finished) -> Diagnostic {
    let message = format!("`validate` refuses the new file, and what was there stays: {}", finished.status.words());
    let diagnostic = Diagnostic::at("validate", message);
    match finished.last_words(1_000) {
        _ if finished.withheld => diagnostic.hint("what it said may be sensitive, so it is not shown"),
        Some(words) => diagnostic.hint(format!("it said: {words}")),
        None => diagnostic,
    }
}

/// Removes what is there, and looks again so that the handle expects nothing there.
fn remove(handle: &files::Object, recursive: bool, progress: &mut Progress) -> NodeResult<()> {
    match handle.remove(recursive) {
        Err(HostError::NotEmpty) => Err(progress.failed(not_empty())),
        result if recursive => progress.stepwise("remove the directory with all that it holds", result),
        result => progress.whole("remove what is there", result),
    }?;
    progress.harmless("look at the path again", handle.observe(Detail::empty())).map(drop)
}

/// A call that makes something in a directory: `not-found` can only mean the directory.
fn in_parent<T>(result: Result<T, HostError>, progress: &Progress) -> NodeResult<Result<T, HostError>> {
    match result {
        Err(HostError::NotFound) => Err(progress.failed(no_parent())),
        other => Ok(other),
    }
}

fn no_parent() -> Diagnostic {
    Diagnostic::at("path", "the directory that is to hold it does not exist")
        .hint("declare that directory too: it then goes first; or set `parents = true`")
}

fn not_empty() -> Diagnostic {
    Diagnostic::at("force", "the directory is not empty").hint("set `force = true` to remove it with all that it holds")
}

/// Removes what an interrupted operation left beside the path, or where a link there may lead. What it did at the path is whole or not there at all, so
/// checking and applying again is safe.
pub fn recover(desired: &Desired, operation: &InterruptedOperation) -> NodeResult<()> {
    for place in desired.places() {
        let result = files::discard_staged(place.as_bytes(), &operation.staging_name);
        let was_there = result.before_change("remove what was staged")?;
        if was_there {
            runtime_sdk::log::info("removed a file that an interrupted operation had staged");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::Mode;
    use crate::state::Object;
    use crate::testing::{desired, digest, object, state};
    use runtime_sdk::Principal;
    use runtime_sdk::{Bytes, EffectClass, LifecycleError};

    fn from(ensure: Ensure, force: bool, kind: Option<Kind>) -> Vec<Step> {
        steps(&Desired { force, ..desired(ensure) }, &state(kind.map(object)))
    }

    #[test]
    fn nothing_there_is_one_step() {
        assert_eq!(from(Ensure::File, false, None), [Step::Write]);
        assert_eq!(from(Ensure::Directory, false, None), [Step::MakeDirectory]);
        assert_eq!(from(Ensure::Symlink, false, None), [Step::MakeSymlink]);
        assert_eq!(from(Ensure::Absent, false, None), []);
    }

    #[test]
    fn only_a_directory_is_removed_with_what_it_holds_and_only_with_force() {
        let one = |force, kind| from(Ensure::Absent, force, Some(kind));
        assert_eq!(one(false, Kind::Directory), [Step::Remove { recursive: false }]);
        assert_eq!(one(true, Kind::Directory), [Step::Remove { recursive: true }]);
        assert_eq!(one(true, Kind::File), [Step::Remove { recursive: false }]);
        assert_eq!(one(true, Kind::Symlink), [Step::Remove { recursive: false }]);
    }

    #[test]
    fn another_kind_goes_first_unless_one_rename_replaces_it() {
        let forced = |ensure, kind| from(ensure, true, Some(kind));
        assert_eq!(forced(Ensure::File, Kind::Directory), [Step::Remove { recursive: true }, Step::Write]);
        assert_eq!(forced(Ensure::Symlink, Kind::Socket), [Step::Remove { recursive: false }, Step::MakeSymlink]);
        assert_eq!(forced(Ensure::Directory, Kind::File), [Step::Remove { recursive: false }, Step::MakeDirectory]);
        assert_eq!(forced(Ensure::Symlink, Kind::Directory), [Step::Remove { recursive: true }, Step::MakeSymlink]);
        assert_eq!(forced(Ensure::Symlink, Kind::File), [Step::MakeSymlink]);
        assert_eq!(forced(Ensure::File, Kind::Symlink), [Step::Write]);
        assert_eq!(forced(Ensure::File, Kind::Fifo), [Step::Write]);
    }

    #[test]
    fn a_file_is_written_anew_only_for_its_content() {
        let wanted = Desired { mode: Mode::from_bits(0o600), ..desired(Ensure::File).with_content("a") };
        let with = |content| state(Some(Object { digest: Some(digest(content)), ..object(Kind::File) }));
        assert_eq!(steps(&wanted, &with("a")), [Step::SetAttributes]);
        assert_eq!(steps(&wanted, &with("b")), [Step::Write]);
        assert_eq!(from(Ensure::File, false, Some(Kind::File)), [Step::SetAttributes]);
        assert_eq!(from(Ensure::Directory, false, Some(Kind::Directory)), [Step::SetAttributes]);
    }

    #[test]
    fn a_link_is_made_anew_only_for_its_target() {
        let wanted = Desired { target: Some("b".into()), ..desired(Ensure::Symlink) };
        let with = |target: &[u8]| state(Some(Object { target: Some(Bytes(target.to_vec())), ..object(Kind::Symlink) }));
        assert_eq!(steps(&wanted, &with(b"b")), [Step::SetAttributes]);
        assert_eq!(steps(&wanted, &with(b"c")), [Step::MakeSymlink]);
    }

    #[test]
    fn all_managed_attributes_are_set_together() {
        let wanted =
            Desired { owner: Some(Principal::Name("web".into())), mode: Mode::from_bits(0o4755), ..desired(Ensure::File) };
        let set = attributes(&wanted, &State { owner: Some(33), ..state(None) });
        assert_eq!((set.owner, set.group, set.mode), (Some(33), None, Some(0o4755)));
    }

    #[test]
    fn a_missing_directory_is_told_from_other_failures() {
        let progress = Progress::new();
        let LifecycleError::Failed(failure) = in_parent::<()>(Err(HostError::NotFound), &progress).unwrap_err() else { panic!() };
        assert_eq!(failure.effect_class, EffectClass::BeforeChange);
        assert_eq!(failure.diagnostic.message, "the directory that is to hold it does not exist");
        assert!(in_parent::<()>(Err(HostError::NoSpace), &progress).unwrap().is_err());
    }
}
