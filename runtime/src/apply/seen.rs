//! What the host saw of an attempt, in the terms of verdicts and reports.

use host_functions::assets::AssetName;
use host_functions::files::diff;

use super::verdict::{self, Denial, Seen, Verdict};
use crate::engine::{Attempt, ContentChange};
use crate::model::report::Phase;

/// What the host saw so far.
pub(super) fn of(attempt: &mut Attempt) -> Seen {
    let host = attempt.host();
    let denial = host.denied_change().or_else(|| host.denials().0.last());
    let denial = denial.map(|denial| Denial { message: denial.to_string(), hint: denial.hint() });
    Seen { changed: host.let_change_through(), denial }
}

/// A module that tried to change the node while it was asked to look makes its whole answer worthless (I6).
pub(super) fn wrote_in_check(module: &str, attempt: &mut Attempt) -> Option<Verdict> {
    attempt.host().denied_change()?;
    let seen = of(attempt);
    let denial = seen.denial.clone().expect("a denied change is a denial");
    let message = format!("the module tried to change the node in a check, so what it says is not believed: {}", denial.message);
    Some(verdict::refused(module, Phase::Check, message, None, &seen))
}

/// The difference of a file's content as text, or a sentence on why there is none.
pub(super) fn text_diff(attempt: &mut Attempt, change: &ContentChange) -> Option<String> {
    let asset: AssetName = change.asset.to_string().parse().ok()?;
    diff::text_diff(attempt.host(), &change.path.0, &asset).ok().map(|diff| diff.to_string())
}
