//! What the reader of a run that did not end well wants to know first: which resource it was, why, and what to do.

use super::resource::words;
use super::safe::block;
use crate::model::report::{Outcome, Report, ResourceReport};

/// Why a run did not end well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// What went wrong, on one line; not escaped.
    pub message: String,
    /// What to do about it; not escaped.
    pub hint: Option<String>,
}

/// The worst that happened to a resource of `report`, and of several that are as bad the first in catalog order: what others wait for
/// goes first. None if nothing did.
pub fn cause(report: &Report) -> Option<Cause> {
    let ranked = report.resources.iter().filter_map(|resource| Some((rank(resource.outcome)?, resource)));
    let (worst, first) = ranked.clone().min_by_key(|(rank, _)| *rank)?;
    let more = ranked.filter(|(rank, _)| *rank == worst).count() - 1;
    let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
    let message = format!("`{}` {}: {}{more}", first.id, how(first), why(first));
    let failure_hint = first.failure.as_ref().and_then(|failure| failure.hint.clone());
    let hint = failure_hint.or_else(|| (first.outcome == Outcome::Unresolved).then(|| "run `runtime recover`".to_owned()));
    Some(Cause { message, hint })
}

/// How bad an outcome is, the worst first; none if it is well.
fn rank(outcome: Outcome) -> Option<u8> {
    match outcome {
        Outcome::Unresolved => Some(0),
        Outcome::Failed | Outcome::Refused => Some(1),
        Outcome::NoProvider | Outcome::CannotPlan => Some(2),
        Outcome::Unmet | Outcome::NotReached => Some(3),
        Outcome::Unchanged | Outcome::Changed | Outcome::WouldChange | Outcome::Skipped => None,
    }
}

fn how(resource: &ResourceReport) -> String {
    let verb = match resource.outcome {
        Outcome::Refused | Outcome::NotReached => "was ",
        Outcome::NoProvider => "has ",
        Outcome::Unresolved | Outcome::Unmet => "is ",
        _ => "",
    };
    format!("{verb}{}", words(resource))
}

fn why(resource: &ResourceReport) -> String {
    let message = resource.failure.as_ref().and_then(|failure| block(&failure.message).into_iter().next());
    message.or_else(|| resource.reason.clone()).unwrap_or_else(|| "it does not say why".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn told(resources: Vec<ResourceReport>) -> Option<String> {
        cause(&samples::applied(resources)).map(|cause| format!("{} [{}]", cause.message, cause.hint.unwrap_or_default()))
    }

    #[test]
    fn the_worst_comes_first_and_then_what_others_wait_for() {
        assert_eq!(told(vec![samples::unchanged(), samples::skipped(), samples::drifted()]), None);
        let failures = vec![samples::unmet(), samples::failed(), samples::refused()];
        insta::assert_snapshot!(
            told(failures).unwrap(),
            @"`file.slow` failed in apply: it ran past its deadline of 30000 ms (and 1 more) [raise `meta { timeout }` if the work is really that long]"
        );
        insta::assert_snapshot!(
            told(vec![samples::failed(), samples::unresolved()]).unwrap(),
            @"`file.open` is unresolved: run 00112233445566778899aabbccddeeff was interrupted while it changed it [run `runtime recover`]"
        );
        let left = vec![samples::unmet(), samples::because("package.web", Outcome::NoProvider, "no provider serves `alpine`")];
        insta::assert_snapshot!(told(left).unwrap(), @"`package.web` has no provider: no provider serves `alpine` []");
    }

    #[test]
    fn a_message_of_many_lines_is_one_line() {
        let mut failed = samples::failed();
        failed.failure.as_mut().unwrap().message = "first\nsecond".to_owned();
        failed.failure.as_mut().unwrap().hint = None;
        assert_eq!(told(vec![failed]).unwrap(), "`file.slow` failed in apply: first []");
    }
}
