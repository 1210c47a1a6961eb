//! Running the command: in its turn, on a refresh, and what is made of how it ended.

use runtime_sdk::node::unchanged;
use runtime_sdk::processes::{self, Finished, Status};
use runtime_sdk::{
    Action, Change, Diagnostic, EffectClass, Failure, HostError, LifecycleError, Needed, NodeResult, Outcome, Plan, Progress,
    Reading, Verified, log,
};
use serde_json::{Value, json};

use crate::desired::{Desired, ShowOutput};
use crate::guard::{self, Need};
use crate::program::{self, Ids};
use crate::word;

/// The longest output that a failure quotes, in bytes.
const LAST_WORDS: usize = 1_000;

/// What `check` found to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// None as long as nobody has the name of its user or group.
    ids: Option<Ids>,
}

/// What `verify` needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    ids: Ids,
}

/// Whether the command is to run in its turn.
pub fn check(desired: &Desired) -> NodeResult<Plan<Work>> {
    let Some(ids) = Ids::find(desired)? else { return nobody_yet(desired) };
    let need = guard::need(desired, ids)?;
    if desired.refresh_only {
        return Ok(Plan::InSync(Reading { refreshable: need != Need::Not, ..Reading::default() }));
    }
    Ok(match need {
        Need::Not => Plan::InSync(Reading::default()),
        Need::Unknown(why) => Plan::CannotPlan(why),
        Need::Run { reason, incomplete } => Plan::NeedsApply(Needed {
            incomplete_preview: incomplete,
            handles_refresh: true,
            ..Needed::new(Action::Update, vec![change(desired, reason)?], Work { ids: Some(ids) })
        }),
    })
}

/// In a plan another resource may be about to make the user. In its turn the command then fails before it begins.
fn nobody_yet(desired: &Desired) -> NodeResult<Plan<Work>> {
    if desired.refresh_only {
        return Ok(Plan::InSync(Reading { refreshable: true, ..Reading::default() }));
    }
    let reason = "nobody has the name of its user or group on the node yet, and has to be made before".to_owned();
    let mut needed = Needed::new(Action::Update, vec![change(desired, reason)?], Work { ids: None });
    needed.handles_refresh = true;
    needed.incomplete_preview = Some("whether the command is needed can be told once its user and group are there".to_owned());
    Ok(Plan::NeedsApply(needed))
}

fn change(desired: &Desired, reason: String) -> NodeResult<Change> {
    let (attribute, line) = match desired.shell {
        true => ("shell", desired.command.first().and_then(word::Word::plain).unwrap_or("(sensitive)").to_owned()),
        false => ("command", word::line(&desired.command)),
    };
    Change::new(attribute, None, Some(Value::String(line)), reason)
}

/// Runs the command in its turn. That also does what a refresh would do.
pub fn apply(desired: &Desired, work: &Work) -> NodeResult<(Outcome, Applied)> {
    let ids = match work.ids {
        Some(ids) => ids,
        None => Ids::of(desired)?,
    };
    let finished = run(desired, ids)?;
    Ok((Outcome { handled_refresh: true, ..outcome(desired, &finished)? }, Applied { ids }))
}

/// Runs the command because a subscription changed, unless a guard says that it is not needed.
pub fn refresh(desired: &Desired) -> NodeResult<Outcome> {
    let ids = Ids::of(desired)?;
    match guard::need(desired, ids)? {
        Need::Run { .. } => outcome(desired, &run(desired, ids)?),
        Need::Not => Ok(Outcome { executed: false, ..Outcome::changed() }),
        Need::Unknown(why) => Err(unchanged(Diagnostic::new(format!("it cannot be told whether the command is needed: {why}")))),
    }
}

/// Whether what the command was to bring about is there. The command is not run again for that.
pub fn verify(desired: &Desired, applied: &Applied) -> NodeResult<Verified> {
    if let Some(path) = &desired.creates
        && !guard::is_there(path)?
    {
        let reason = format!("the command has run, and nothing is at `{path}`");
        return Ok(Verified::NotConverged(vec![Change::new("creates", None, Some(json!(path)), reason)?]));
    }
    if let Some(words) = &desired.unless
        && !guard::holds(words, desired, applied.ids)?
    {
        let reason = "the command has run, and its guard `unless` still does not hold";
        return Ok(Verified::NotConverged(vec![Change::new("unless", None, None, reason)?]));
    }
    Ok(Verified::Converged(None))
}

/// An interrupted command goes on as it began: its guards decide again, one that runs in every run runs again, and one that only a refresh runs waits
/// for the refresh that is still owed. The host has ended what was left of it.
#[expect(clippy::unnecessary_wraps, reason = "as the lifecycle has it")]
pub fn recover() -> NodeResult<()> {
    log::info("an interrupted command was ended; whether it runs again is decided as usual");
    Ok(())
}

/// Runs the command until it succeeds, as often as it may be tried.
fn run(desired: &Desired, ids: Ids) -> NodeResult<Finished> {
    let command = program::command(desired, ids);
    let mut tries = 1;
    loop {
        let finished = processes::run(&command).map_err(|error| did_not_run(&command.program, &error, tries))?;
        if finished.left_processes {
            log::warning("the command left processes running, which were ended: a daemon is for a service to start");
        }
        match finished.status {
            Status::Exited(code) if desired.codes().contains(&code) => return Ok(finished),
            Status::Exited(_) | Status::Killed(_) if tries < desired.tries => {
                log::info(&format!("try {tries} of {}: {}", desired.tries, finished.status.words()));
            }
            _ => return Err(failed(desired, &finished, tries)),
        }
        tries += 1;
        processes::pause(u64::from(desired.try_sleep) * 1000).map_err(|error| did_not_run(&command.program, &error, tries))?;
    }
}

/// The failure of a call that started nothing. What earlier tries did nobody knows.
fn did_not_run(program: &str, error: &HostError, tries: u32) -> LifecycleError {
    let began = matches!(error, HostError::Deadline | HostError::Other(_));
    let effect_class = if tries == 1 && !began { EffectClass::BeforeChange } else { EffectClass::UnknownOutcome };
    let diagnostic = Diagnostic::new(format!("cannot run the command: {}", program::not_started(program, error)));
    let failure = Failure { effect_class, diagnostic };
    match error {
        HostError::Denied(_) => LifecycleError::Denied(failure),
        _ => LifecycleError::Failed(failure),
    }
}

fn failed(desired: &Desired, finished: &Finished, tries: u32) -> LifecycleError {
    let often = if tries > 1 { format!(", tried {tries} times") } else { String::new() };
    let codes = desired.codes().iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    let wanted =
        if matches!(finished.status, Status::Exited(_)) { format!(", and it succeeds with {codes}") } else { String::new() };
    let diagnostic = Diagnostic::new(format!("the command failed{often}: {}{wanted}", finished.status.words()));
    let diagnostic = match said(desired, finished) {
        Some(words) => diagnostic.hint(words),
        None => diagnostic,
    };
    LifecycleError::Failed(Failure { effect_class: EffectClass::UnknownOutcome, diagnostic })
}

/// What a failed command said, as far as it may be shown.
fn said(desired: &Desired, finished: &Finished) -> Option<String> {
    if finished.withheld {
        return Some("its output is sensitive, so it is not shown".to_owned());
    }
    let words = finished.last_words(LAST_WORDS).filter(|_| desired.show_output != ShowOutput::Never)?;
    Some(format!("it said: {words}"))
}

fn outcome(desired: &Desired, finished: &Finished) -> NodeResult<Outcome> {
    let mut progress = Progress::new();
    // It ran, so a failure from here on comes after a change.
    progress.whole("run the command", Ok(()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\n').to_owned();
    let code = if let Status::Exited(code) = finished.status { code } else { 0 };
    let shown = [&finished.stdout, &finished.stderr].map(|bytes| text(bytes)).into_iter().filter(|text| !text.is_empty());
    let shown = shown.collect::<Vec<_>>().join("\n");
    let output = (desired.show_output == ShowOutput::Always && !shown.is_empty()).then_some(shown);
    let outcome = Outcome { executed: true, output, ..Outcome::changed() };
    outcome.outputs(&json!({ "stdout": text(&finished.stdout), "exit_code": code }), &progress)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exec;
    use runtime_sdk::testing::{self, Given};

    fn desired(given: Given) -> Desired {
        testing::compile::<Exec>(&given.set("always", true), testing::any_digest).unwrap()
    }

    fn finished(status: Status) -> Finished {
        Finished {
            status,
            stdout: b"out\n".to_vec(),
            stderr: b"no\n".to_vec(),
            cut: false,
            withheld: false,
            left_processes: false,
        }
    }

    fn told(given: Given, finished: &Finished) -> (String, Option<String>) {
        let LifecycleError::Failed(failure) = failed(&desired(given), finished, 1) else { panic!("another error") };
        assert_eq!(failure.effect_class, EffectClass::UnknownOutcome);
        (failure.diagnostic.message, failure.diagnostic.hint)
    }

    fn shell() -> Given {
        Given::new().set("shell", "x")
    }

    #[test]
    fn a_failure_says_how_it_ended_and_what_it_said() {
        let (message, hint) = told(shell().set("returns", json!([0, 3])), &finished(Status::Exited(1)));
        assert_eq!(message, "the command failed: it ended with code 1, and it succeeds with 0, 3");
        assert_eq!(hint.as_deref(), Some("it said: no"));
        assert_eq!(told(shell(), &finished(Status::TimedOut)).0, "the command failed: its time was over");
        assert_eq!(told(shell().set("show_output", "never"), &finished(Status::Killed(9))).1, None);
        let withheld = Finished { withheld: true, stdout: vec![], stderr: vec![], ..finished(Status::Exited(1)) };
        assert_eq!(told(shell(), &withheld).1.as_deref(), Some("its output is sensitive, so it is not shown"));
    }

    #[test]
    fn what_never_began_changed_nothing() {
        let class = |error: HostError, tries| match did_not_run("/bin/x", &error, tries) {
            LifecycleError::Failed(failure) | LifecycleError::Denied(failure) => failure.effect_class,
            other => panic!("{other:?}"),
        };
        assert_eq!(class(HostError::WrongKind(String::new()), 1), EffectClass::BeforeChange);
        assert_eq!(class(HostError::NotFound, 1), EffectClass::BeforeChange);
        assert_eq!(class(HostError::Denied(String::new()), 1), EffectClass::BeforeChange);
        assert_eq!(class(HostError::NotFound, 2), EffectClass::UnknownOutcome, "an earlier try ran");
        assert_eq!(class(HostError::Other(String::new()), 1), EffectClass::UnknownOutcome);
    }

    #[test]
    fn what_is_missing_is_named() {
        let told = |error: HostError| match did_not_run("/bin/x", &error, 1) {
            LifecycleError::Failed(failure) => failure.diagnostic.message,
            other => panic!("{other:?}"),
        };
        let program = "cannot run the command: `/bin/x` is not there, or the interpreter that its first line names is not";
        assert_eq!(told(HostError::NotFound), program);
        let folder = "entering the directory `/srv/x`: nothing is there";
        assert_eq!(told(HostError::WrongKind(folder.into())), format!("cannot run the command: {folder}"));
    }

    #[test]
    fn outputs_are_text_without_the_last_newlines() {
        let outcome = outcome(&desired(shell().set("show_output", "always")), &finished(Status::Exited(0))).unwrap();
        assert_eq!(outcome.outputs.as_deref(), Some(r#"{"exit_code":0,"stdout":"out"}"#));
        assert_eq!(outcome.output.as_deref(), Some("out\nno"));
        assert!(outcome.executed);
    }
}
