//! One resource of a report for people.

use std::time::Duration;

use anstyle::Style;

use super::amounts::{duration, size};
use super::palette::{Palette, paint};
use super::safe::{block, line};
use super::text::View;
use super::values::value;
use crate::model::digest::ComponentDigest;
use crate::model::health::{HealthReport, HealthStatus};
use crate::model::report::{Action, Change, EffectClass, Failure, Outcome, Refresh, RefreshEnding, ResourceReport};

/// The lines of one resource. `module` is the component of its type.
pub(super) fn render(resource: &ResourceReport, module: Option<&ComponentDigest>, view: &View) -> Vec<String> {
    let palette = &view.palette;
    let mut lines = vec![title(resource, module, palette)];
    if resource.drift {
        lines.push(labelled(palette.warning, "drift:", "the last run left it as declared, and it was changed since"));
    }
    for change in &resource.changes {
        lines.extend(change_lines(change, palette));
    }
    if let Some(reason) = &resource.incomplete_preview {
        lines.push(labelled(palette.strong, "note:", &format!("there may be more to change: {reason}")));
    }
    for action in &resource.prerequisites {
        lines.push(labelled(palette.strong, "first:", &format!("the shared action `{action}`")));
    }
    if let Some(refresh) = &resource.refresh {
        lines.push(labelled(palette.strong, "refresh:", &refresh_words(refresh)));
    }
    if let Some(reason) = &resource.reason {
        lines.push(labelled(palette.strong, "reason:", reason));
    }
    if let Some(health) = &resource.health {
        lines.push(labelled(palette.strong, "health:", &health_words(health)));
    }
    if let Some(failure) = &resource.failure {
        lines.extend(failure_lines(failure, palette));
    }
    if view.measures {
        lines.extend(used(resource).map(|words| labelled(palette.dim, "used:", &words)));
    }
    for message in resource.log.iter().flat_map(|message| block(message)) {
        lines.push(labelled(palette.dim, "log:", &message));
    }
    lines
}

/// What the attempt took, of what it was allowed; none where there was none.
fn used(resource: &ResourceReport) -> Option<String> {
    let took = duration(Duration::from_micros(resource.duration_us));
    let Some(limits) = resource.limits else {
        return (resource.duration_us > 0).then_some(took);
    };
    let deadline = duration(Duration::from_millis(limits.deadline_ms));
    let memory = format!("{} of {}", size(limits.memory_used_bytes), size(limits.memory_bytes));
    Some(format!("{took} of {deadline}, {memory}"))
}

fn labelled(style: Style, label: &str, text: &str) -> String {
    format!("    {} {}", paint(style, label), line(text))
}

fn title(resource: &ResourceReport, module: Option<&ComponentDigest>, palette: &Palette) -> String {
    let (symbol, style) = symbol(resource, palette);
    let type_name = &resource.id.type_name;
    let module = module.map_or_else(|| type_name.to_string(), |digest| format!("{type_name} {}", digest.short()));
    let provider = resource.provider.as_ref().map_or_else(String::new, |name| format!(", provider {name}"));
    let id = paint(palette.strong, &line(&resource.id.to_string()));
    format!(
        "{} {id}: {} {}",
        paint(style, &format!("{symbol:>3}")),
        words(resource),
        paint(palette.dim, &format!("[{module}{provider}]"))
    )
}

fn refresh_words(refresh: &Refresh) -> String {
    let because_of: Vec<String> = refresh.because_of.iter().map(|id| format!("`{id}`")).collect();
    let because_of = because_of.join(", ");
    match refresh.ending {
        RefreshEnding::Would => format!("because of {because_of}"),
        RefreshEnding::Refreshed => format!("done, because of {because_of}"),
        RefreshEnding::Handled => format!("not needed beside the change, though because of {because_of} it is owed"),
        RefreshEnding::Suppressed => format!("there is nothing to refresh, though because of {because_of} it was owed"),
        RefreshEnding::Owed => format!("still owed, because of {because_of}"),
    }
}

fn symbol(resource: &ResourceReport, palette: &Palette) -> (&'static str, Style) {
    match resource.outcome {
        Outcome::Changed | Outcome::WouldChange => match resource.action {
            Action::Create => ("+", palette.create),
            Action::Update => ("~", palette.update),
            Action::Replace => ("-/+", palette.delete),
            Action::Delete => ("-", palette.delete),
            Action::Unchanged | Action::Skip if resource.refresh.is_some() => ("~", palette.update),
            Action::Unchanged | Action::Skip => ("=", palette.dim),
        },
        Outcome::Unchanged => ("=", palette.dim),
        Outcome::Failed | Outcome::Refused | Outcome::Unresolved => ("!", palette.error),
        Outcome::Skipped => (">", palette.dim),
        Outcome::Unmet | Outcome::NoProvider | Outcome::CannotPlan | Outcome::NotReached => ("?", palette.warning),
    }
}

pub(super) fn words(resource: &ResourceReport) -> String {
    let verb = match resource.action {
        Action::Create => ("create", "created"),
        Action::Update => ("update", "updated"),
        Action::Replace => ("replace", "replaced"),
        Action::Delete => ("delete", "deleted"),
        Action::Unchanged | Action::Skip if resource.refresh.is_some() => ("refresh", "refreshed"),
        Action::Unchanged | Action::Skip => ("change", "changed"),
    };
    match resource.outcome {
        Outcome::Changed => verb.1.to_owned(),
        Outcome::WouldChange => format!("would {}", verb.0),
        Outcome::Failed => match &resource.failure {
            Some(failure) => format!("failed in {}", failure.phase.word()),
            None => "failed".to_owned(),
        },
        Outcome::Unchanged => "unchanged".to_owned(),
        Outcome::Refused => "refused".to_owned(),
        Outcome::Skipped => "skipped".to_owned(),
        Outcome::Unmet => "unmet".to_owned(),
        Outcome::NoProvider => "no provider".to_owned(),
        Outcome::CannotPlan => "cannot plan".to_owned(),
        Outcome::Unresolved => "unresolved".to_owned(),
        Outcome::NotReached => "not reached".to_owned(),
    }
}

fn health_words(health: &HealthReport) -> String {
    let tries = if health.tries > 1 { format!(" after {} tries", health.tries) } else { String::new() };
    let message = health.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
    match health.status {
        HealthStatus::Pending => "would be checked".to_owned(),
        status => format!("{}{tries}{message}", status.word()),
    }
}

fn change_lines(change: &Change, palette: &Palette) -> Vec<String> {
    let shown = |side: &Option<_>| side.as_ref().map_or_else(|| "(none)".to_owned(), value);
    let attribute = line(&change.attribute);
    let mut head = format!("    {attribute}: {} -> {}", shown(&change.before), shown(&change.after));
    if change.before.is_none() && change.after.is_none() {
        head = format!("    {attribute}:");
    }
    if !change.reason.is_empty() {
        head += &paint(palette.dim, &format!(" ({})", line(&change.reason)));
    }
    let mut lines = vec![head];
    for text in change.diff.iter().flat_map(|diff| block(diff)) {
        lines.push(format!("      {}", paint(diff_style(&text, palette), &text)));
    }
    lines
}

fn diff_style(text: &str, palette: &Palette) -> Style {
    match text.as_bytes().first() {
        Some(b'+') => palette.create,
        Some(b'-') => palette.delete,
        Some(b'@') => palette.hint,
        _ => Style::new(),
    }
}

fn failure_lines(failure: &Failure, palette: &Palette) -> Vec<String> {
    let mut message = block(&failure.message).into_iter();
    let mut lines = vec![labelled(palette.error, "error:", &message.next().unwrap_or_default())];
    lines.extend(message.map(|text| format!("      {text}")));
    let mut place = format!("module `{}`, phase `{}`", failure.module, failure.phase.word());
    if let Some(attribute) = &failure.attribute {
        place += &format!(", attribute `{attribute}`");
    }
    if let Some(limit) = &failure.limit {
        place += &format!(", limit {limit}");
    }
    lines.push(labelled(palette.strong, "where:", &place));
    lines.push(labelled(palette.strong, "left:", left_behind(failure.effect)));
    lines.extend(failure.hint.iter().map(|hint| labelled(palette.hint, "hint:", hint)));
    lines
}

fn left_behind(effect: EffectClass) -> &'static str {
    match effect {
        EffectClass::BeforeChange => "nothing had changed yet",
        EffectClass::PartialChange => "part of it has changed, the rest has not",
        EffectClass::UnknownOutcome => "it is not known whether it has changed",
        EffectClass::PartialChangeUnknown => "part of it has changed, the rest is not known",
    }
}

#[cfg(test)]
mod tests;
