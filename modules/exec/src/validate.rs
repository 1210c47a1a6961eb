//! What a desired state must be, and what it means. The node calls this with what a bundle holds: nothing is taken for granted.

use std::time::Duration;

use runtime_sdk::{DefinitionResult, Diagnostic, Principal, Semantics, path};

use crate::desired::{Desired, footprint};
use crate::word::Word;

/// What guards, and looking, may take beside the command.
const BESIDE: Duration = Duration::from_secs(120);

/// The longest that all may take.
const MOST: Duration = Duration::from_secs(24 * 60 * 60);

/// Checks a complete desired state and says what it means.
pub fn validate(desired: &Desired) -> DefinitionResult<Semantics> {
    check(desired)?;
    let mut semantics = Semantics::new(footprint(desired.creates.as_deref()), longest(desired)).capability("processes.run");
    if desired.only_if.is_some() || desired.unless.is_some() {
        semantics = semantics.capability("processes.query");
    }
    if desired.creates.is_some() {
        semantics = semantics.capability("files.read");
    }
    if [&desired.user, &desired.group].into_iter().any(|account| matches!(account, Some(Principal::Name(_)))) {
        semantics = semantics.capability("accounts.read");
    }
    semantics.accepts_refresh = true;
    semantics.only_refreshed = desired.refresh_only;
    Ok(semantics)
}

/// Checks everything.
pub fn check(desired: &Desired) -> DefinitionResult<()> {
    check_command(desired)?;
    for (attribute, guard) in [("only_if", &desired.only_if), ("unless", &desired.unless)] {
        if let Some(guard) = guard {
            check_program(attribute, guard)?;
        }
    }
    for (attribute, path) in [("creates", &desired.creates), ("directory", &desired.directory)] {
        if let Some(path) = path {
            path::check(path).map_err(|error| error.at(attribute))?;
        }
    }
    check_when(desired)?;
    check_environment(desired)?;
    check_accounts(desired)?;
    check_numbers(desired)
}

fn check_command(desired: &Desired) -> DefinitionResult<()> {
    if !desired.shell {
        return check_program("command", &desired.command);
    }
    match desired.command.as_slice() {
        [word] if word.plain().is_none_or(|text| !text.trim().is_empty() && !text.contains('\0')) => Ok(()),
        _ => Err(Diagnostic::at("shell", "`shell` is empty, or has a NUL character in it").into()),
    }
}

fn check_program(attribute: &str, words: &[Word]) -> DefinitionResult<()> {
    let program = words.first().and_then(Word::plain);
    let Some(program) = program else {
        return Err(Diagnostic::at(attribute, format!("`{attribute}` has no program, or a sensitive one"))
            .hint("its first item is the absolute path of a program, and the rest are its arguments")
            .into());
    };
    path::check(program).map_err(|error| error.at(attribute))?;
    if program == "/" || words.iter().filter_map(Word::plain).any(|word| word.contains('\0')) {
        return Err(
            Diagnostic::at(attribute, format!("`{attribute}` is no program, or an argument has a NUL character in it")).into()
        );
    }
    Ok(())
}

/// That it is said when the command runs, and in one way.
fn check_when(desired: &Desired) -> DefinitionResult<()> {
    let has_guard = desired.creates.is_some() || desired.only_if.is_some() || desired.unless.is_some();
    match (desired.always, has_guard || desired.refresh_only) {
        (true, true) => Err(Diagnostic::at("always", "`always` cannot be true with a guard or with `refresh_only`")
            .hint("leave `always` out, or the others")
            .into()),
        (false, false) => Err(Diagnostic::new("nothing says when the command runs")
            .hint(
                "give a guard (`creates`, `unless` or `only_if`), or `refresh_only = true`; or say `always = true` for every run",
            )
            .into()),
        _ => Ok(()),
    }
}

fn check_environment(desired: &Desired) -> DefinitionResult<()> {
    let bad_name = |name: &String| name.is_empty() || name.contains(['=', '\0']);
    let bad_value = |word: &Word| word.plain().is_some_and(|text| text.contains('\0'));
    if desired.variables().any(|(name, value)| bad_name(name) || bad_value(value)) {
        return Err(Diagnostic::at(
            "environment",
            "a name is empty or has `=` in it, or a name or value has a NUL character in it",
        )
        .into());
    }
    Ok(())
}

fn check_accounts(desired: &Desired) -> DefinitionResult<()> {
    for (attribute, account) in [("user", &desired.user), ("group", &desired.group)] {
        if account.as_ref().is_some_and(|account| !account.is_valid()) {
            return Err(Principal::refusal(attribute).into());
        }
    }
    Ok(())
}

fn check_numbers(desired: &Desired) -> DefinitionResult<()> {
    let codes = desired.codes();
    if codes.is_empty() || !codes.is_sorted_by(|left, right| left < right) {
        return Err(Diagnostic::at("returns", "`returns` has no code, or not in order")
            .hint("list the codes with which it succeeds")
            .into());
    }
    for (attribute, number) in [("tries", desired.tries), ("timeout", desired.timeout)] {
        if number == 0 {
            return Err(Diagnostic::at(attribute, format!("`{attribute}` is 0")).hint("use a number from 1").into());
        }
    }
    if longest(desired) > MOST {
        return Err(Diagnostic::at("tries", "all tries together may take longer than 24 hours")
            .hint("lower `tries`, `try_sleep` or `timeout`")
            .into());
    }
    Ok(())
}

/// The longest that it can take.
fn longest(desired: &Desired) -> Duration {
    let (tries, sleep, timeout) = (u64::from(desired.tries), u64::from(desired.try_sleep), u64::from(desired.timeout));
    let seconds = tries.saturating_mul(timeout).saturating_add(tries.saturating_sub(1).saturating_mul(sleep));
    Duration::from_secs(seconds).saturating_add(BESIDE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exec;
    use runtime_sdk::{Definition as _, json};

    const STATE: &str = concat!(
        r#"{"always":true,"command":["/bin/true"],"refresh_only":false,"returns":[0],"sensitive":false,"#,
        r#""shell":false,"show_output":"on_failure","timeout":300,"tries":2,"try_sleep":10}"#
    );

    fn validate(text: &str) -> Option<Semantics> {
        let desired: Desired = json::parse_canonical(text).ok()?;
        Exec::validate(&desired).ok()
    }

    #[test]
    fn a_state_says_what_it_means() {
        let semantics = validate(STATE).unwrap();
        assert_eq!(semantics.capabilities, ["processes.run"]);
        assert_eq!(semantics.timeout_ms, (2 * 300 + 10 + 120) * 1000);
        assert!(!semantics.only_refreshed);
        let refreshed =
            STATE.replace("\"always\":true", "\"always\":false").replace("\"refresh_only\":false", "\"refresh_only\":true");
        assert!(validate(&refreshed).unwrap().only_refreshed);
        assert!(semantics.accepts_refresh && !semantics.sensitive && semantics.assets.is_empty() && semantics.claims.is_empty());
    }

    #[test]
    fn whatever_compile_cannot_give_is_refused() {
        for (from, to) in [
            ("[\"/bin/true\"]", "[]"),
            ("[\"/bin/true\"]", "[\"true\"]"),
            ("\"returns\":[0]", "\"returns\":[1,0]"),
            ("\"returns\":[0]", "\"returns\":[0,0]"),
            ("\"always\":true", "\"always\":false"),
            ("\"tries\":2", "\"tries\":0"),
            ("\"on_failure\"", "\"sometimes\""),
            ("\"timeout\":300", "\"timeout\":86400"),
            ("\"try_sleep\":10", "\"try_sleep\":10,\"umask\":\"22\""),
            ("\"try_sleep\":10", "\"try_sleep\":10,\"user\":\"0\""),
            ("\"try_sleep\":10", "\"extra\":1,\"try_sleep\":10"),
        ] {
            assert!(STATE.contains(from));
            assert!(validate(&STATE.replace(from, to)).is_none(), "{to}");
        }
    }
}
