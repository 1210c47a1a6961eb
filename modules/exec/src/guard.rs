//! Whether the command is needed: what its guards say.

use runtime_sdk::files::{Detail, Object};
use runtime_sdk::node::unchanged;
use runtime_sdk::processes::{self, Finished, Status};
use runtime_sdk::{Diagnostic, HostCall as _, HostError, NodeResult};

use crate::desired::Desired;
use crate::program::{self, Ids};
use crate::word::Word;

/// What the guards say together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// The command is not needed.
    Not,
    /// It cannot be told; the reason.
    Unknown(String),
    /// It is needed.
    Run {
        /// Why.
        reason: String,
        /// Why that may be wrong by the time it runs.
        incomplete: Option<String>,
    },
}

/// What one guard says.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answer {
    /// It ended with code 0.
    Holds,
    /// It ended otherwise, in words.
    DoesNot(String),
    /// Its program, or its working directory, is not there; in words.
    Missing(String),
    /// The node cannot run it as a query, in the host's words.
    Unsupported(String),
}

/// Asks the guards. `creates` goes first, since it costs least, and `only_if` last.
pub fn need(desired: &Desired, ids: Ids) -> NodeResult<Need> {
    if let Some(path) = &desired.creates
        && is_there(path)?
    {
        return Ok(Need::Not);
    }
    let unless = desired.unless.as_ref().map(|words| ask("unless", words, desired, ids)).transpose()?;
    if let Some(decided) = by_unless(unless.as_ref()) {
        return Ok(decided);
    }
    let only_if = desired.only_if.as_ref().map(|words| ask("only_if", words, desired, ids)).transpose()?;
    Ok(decide(desired, unless, only_if))
}

/// What `unless` decides alone, so that `only_if` need not be asked.
fn by_unless(unless: Option<&Answer>) -> Option<Need> {
    match unless {
        Some(Answer::Holds) => Some(Need::Not),
        Some(Answer::Unsupported(why)) => Some(Need::Unknown(why.clone())),
        Some(Answer::DoesNot(_) | Answer::Missing(_)) | None => None,
    }
}

fn decide(desired: &Desired, unless: Option<Answer>, only_if: Option<Answer>) -> Need {
    let mut reasons = Vec::new();
    if let Some(path) = &desired.creates {
        reasons.push(format!("nothing is at `{path}`"));
    }
    let mut incomplete = None;
    match unless {
        Some(Answer::DoesNot(how)) => reasons.push(format!("`unless` does not hold: {how}")),
        Some(Answer::Missing(what)) => {
            reasons.push(format!("`unless` does not hold: {what}"));
            incomplete = Some(format!("`unless` cannot be asked yet: {what}"));
        }
        Some(Answer::Holds | Answer::Unsupported(_)) | None => {}
    }
    match only_if {
        Some(Answer::DoesNot(_)) => return Need::Not,
        Some(Answer::Missing(what)) => {
            return Need::Unknown(format!("nobody knows what `only_if` would say: {what}"));
        }
        Some(Answer::Unsupported(why)) => return Need::Unknown(why),
        Some(Answer::Holds) => reasons.push("`only_if` holds".to_owned()),
        None => {}
    }
    if reasons.is_empty() {
        reasons.push("it runs in every run".to_owned());
    }
    Need::Run { reason: reasons.join(", and "), incomplete }
}

/// Whether anything is at `path`.
pub fn is_there(path: &str) -> NodeResult<bool> {
    let handle = Object::open(path.as_bytes()).before_change("look at the path in `creates`")?;
    Ok(handle.observe(Detail::empty()).before_change("look at the path in `creates`")?.is_some())
}

/// Whether `unless` holds now; that its program is missing or cannot be run says that it does not.
pub fn holds(words: &[Word], desired: &Desired, ids: Ids) -> NodeResult<bool> {
    Ok(ask("unless", words, desired, ids)? == Answer::Holds)
}

fn ask(attribute: &str, words: &[Word], desired: &Desired, ids: Ids) -> NodeResult<Answer> {
    match processes::query(&program::guard(words, desired, ids)) {
        Ok(finished) => answer(attribute, &finished),
        Err(error @ (HostError::NotFound | HostError::WrongKind(_))) => {
            let program = words.first().and_then(Word::plain).unwrap_or_default();
            Ok(Answer::Missing(program::not_started(program, &error)))
        }
        Err(HostError::Unsupported(why)) => Ok(Answer::Unsupported(why)),
        Err(error) => Err(error).before_change(&format!("run the guard `{attribute}`")),
    }
}

fn answer(attribute: &str, finished: &Finished) -> NodeResult<Answer> {
    match finished.status {
        Status::Exited(0) => Ok(Answer::Holds),
        Status::Exited(_) => Ok(Answer::DoesNot(finished.status.words())),
        Status::Killed(_) | Status::TimedOut => Err(unchanged(Diagnostic::at(
            attribute,
            format!("the guard `{attribute}` gave no answer: {}", finished.status.words()),
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exec;
    use runtime_sdk::testing::{self, Given};
    use serde_json::json;

    fn desired() -> Desired {
        let given =
            Given::new().set("shell", "x").set("creates", "/a").set("unless", json!(["/u"])).set("only_if", json!(["/o"]));
        testing::compile::<Exec>(&given, testing::any_digest).unwrap()
    }

    fn no() -> Answer {
        Answer::DoesNot("it ended with code 1".into())
    }

    #[test]
    fn a_command_is_needed_if_every_guard_says_so() {
        let reason = |unless, only_if| match decide(&desired(), unless, only_if) {
            Need::Run { reason, incomplete: None } => reason,
            other => panic!("{other:?}"),
        };
        let all = "nothing is at `/a`, and `unless` does not hold: it ended with code 1, and `only_if` holds";
        assert_eq!(reason(Some(no()), Some(Answer::Holds)), all);
        assert_eq!(reason(None, None), "nothing is at `/a`");
        assert_eq!(by_unless(Some(&Answer::Holds)), Some(Need::Not));
        assert_eq!(decide(&desired(), Some(no()), Some(no())), Need::Not);
        let bare = Desired { creates: None, ..desired() };
        assert_eq!(decide(&bare, None, None), Need::Run { reason: "it runs in every run".into(), incomplete: None });
    }

    #[test]
    fn what_cannot_be_known_is_said() {
        let missing = || Answer::Missing("`/o` is not there".into());
        let unknown = "nobody knows what `only_if` would say: `/o` is not there";
        assert_eq!(decide(&desired(), Some(no()), Some(missing())), Need::Unknown(unknown.into()));
        let unsupported = Answer::Unsupported("no".into());
        assert_eq!(by_unless(Some(&unsupported)), Some(Need::Unknown("no".into())));
        assert_eq!(decide(&desired(), None, Some(unsupported)), Need::Unknown("no".into()));
        assert!(matches!(decide(&desired(), Some(missing()), None), Need::Run { incomplete: Some(_), .. }));
    }
}
