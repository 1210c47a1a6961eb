//! The half that meets the node.

use runtime_sdk::files::{Attributes, Content, Detail, Object};
use runtime_sdk::{Action, Asset, Change, Context, HostCall, NodeResult, Outcome, Progress, StateType};
use serde::Serialize;

use crate::{Desired, Keeper, SLOTS};

/// The digest of the file of each slot; none where nothing is.
#[derive(Debug, Serialize)]
pub struct State([Option<String>; 3]);

fn look(path: &str) -> NodeResult<(Object, Option<String>)> {
    let handle = Object::open(path.as_bytes()).before_change("look at the path")?;
    let seen = handle.observe(Detail::DIGEST).before_change("look at the path")?;
    Ok((handle, seen.and_then(|seen| seen.digest)))
}

/// The slots whose files are not as desired, with the names of the assets.
fn wrong<'d>(desired: &'d Desired, state: &State) -> Vec<(&'static str, &'d str)> {
    let wanted = |(slot, found): (&'static str, &Option<String>)| {
        let name = desired.asset(slot).and_then(Asset::name)?;
        (found.as_deref() != Some(name)).then_some((slot, name))
    };
    SLOTS.into_iter().zip(&state.0).filter_map(wanted).collect()
}

impl StateType for Keeper {
    type State = State;

    fn read(desired: &Desired, _context: &Context) -> NodeResult<State> {
        let found = |slot| look(&desired.file(slot)).map(|(_, digest)| digest);
        Ok(State([found(SLOTS[0])?, found(SLOTS[1])?, found(SLOTS[2])?]))
    }

    fn expected_changes(desired: &Desired, state: &State) -> NodeResult<Vec<Change>> {
        let change = |(slot, name): (&str, &str)| {
            let change = Change::new(slot, None, None, "the content differs")?;
            Ok(change.content(desired.file(slot).as_bytes(), name))
        };
        wrong(desired, state).into_iter().map(change).collect()
    }

    fn action(_desired: &Desired, state: &State) -> Action {
        if state.0.iter().any(Option::is_some) { Action::Update } else { Action::Create }
    }

    fn apply(desired: &Desired, state: &State, _context: &Context) -> NodeResult<Outcome> {
        let mut progress = Progress::new();
        for (slot, name) in wrong(desired, state) {
            let (handle, _) = look(&desired.file(slot))?;
            let attributes = Attributes { owner: None, group: None, mode: Some(0o644) };
            let staged = progress.harmless("stage the file", handle.stage(&Content::Asset(name.to_owned()), attributes))?;
            progress.whole("put the file in place", staged.commit())?;
        }
        Ok(Outcome::changed())
    }
}
