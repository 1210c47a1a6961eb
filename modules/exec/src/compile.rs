//! From attributes to the desired state.

use runtime_sdk::{Compiled, DefinitionResult, Diagnostic, Footprint, Parameters, TestedState};
use serde_json::json;

use crate::attributes::Given;
use crate::desired::{self, Desired};
use crate::validate;

/// What the declaration touches.
pub fn footprint(given: &Parameters) -> DefinitionResult<Footprint> {
    Ok(desired::footprint(Given::creates(given)?.as_ref().map(|path| path.0.as_str())))
}

/// The desired state of a declaration.
pub fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
    let is_shell = given.has("shell")?;
    if given.has("command")? == is_shell {
        return Err(one_of(is_shell).into());
    }
    let command = match is_shell {
        true => Given::shell(given)?.into_iter().collect(),
        false => Given::command(given)?.unwrap_or_default(),
    };
    if given.has("try_sleep")? && !given.has("tries")? {
        return Err(Diagnostic::at("try_sleep", "`try_sleep` has no effect on a command that is tried once")
            .hint("say with `tries` how often it is tried, or leave it out")
            .into());
    }
    let mut returns = Given::returns(given)?;
    if let Some(codes) = &mut returns {
        codes.sort_unstable();
        codes.dedup();
    }
    let desired = Desired {
        command,
        shell: is_shell,
        creates: Given::creates(given)?.map(|path| path.0),
        only_if: Given::only_if(given)?,
        unless: Given::unless(given)?,
        refresh_only: Given::refresh_only(given)?,
        always: Given::always(given)?,
        returns,
        environment: Given::environment(given)?,
        directory: Given::directory(given)?.map(|path| path.0),
        user: Given::user(given)?,
        group: Given::group(given)?,
        umask: Given::umask(given)?,
        stdin: Given::stdin(given)?,
        tries: Given::tries(given)?,
        try_sleep: Given::try_sleep(given)?,
        timeout: Given::timeout(given)?,
        sensitive: Given::sensitive(given)?,
        show_output: Given::show_output(given)?,
    };
    validate::check(&desired)?;
    Ok(Compiled::new(desired))
}

fn one_of(both: bool) -> Diagnostic {
    let message = if both { "`shell` cannot be given with `command`" } else { "`command` is missing" };
    Diagnostic::at(if both { "shell" } else { "command" }, message)
        .hint("give `command`, a list of the program and its arguments, or `shell`, a text for `/bin/sh -c`")
}

/// The desired state as tests of manifests see it.
pub fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
    let (command, shell) = match desired.shell {
        true => (None, desired.command.first()),
        false => (Some(&desired.command), None),
    };
    TestedState::new(&json!({
        "command": command, "shell": shell, "creates": desired.creates, "only_if": desired.only_if, "unless": desired.unless,
        "refresh_only": desired.refresh_only, "always": desired.always, "returns": desired.returns,
        "environment": desired.environment, "directory": desired.directory, "user": desired.user, "group": desired.group,
        "umask": desired.umask, "stdin": desired.stdin, "tries": desired.tries, "try_sleep": desired.try_sleep,
        "timeout": desired.timeout, "sensitive": desired.sensitive, "show_output": desired.show_output,
    }))
}

#[cfg(test)]
mod tests {
    use crate::{Desired, Exec};
    use runtime_sdk::testing::{self, Given};
    use runtime_sdk::{Definition as _, DefinitionError, Diagnostic, Effect};
    use serde_json::json;

    fn exec() -> Given {
        Given::new().set("command", json!(["/usr/bin/make", "all"])).set("creates", "/srv/made")
    }

    fn refusal(given: &Given) -> Diagnostic {
        match Exec::compile(&given.parameters()).expect_err("the declaration is refused") {
            DefinitionError::Invalid(diagnostic) => diagnostic,
            other => panic!("{other:?}"),
        }
    }

    fn compiled(given: &Given) -> Desired {
        testing::compile::<Exec>(given, testing::any_digest).unwrap()
    }

    #[test]
    fn the_parts_of_the_definition_agree() {
        testing::agree::<Exec>(&exec());
        let full = exec()
            .set("only_if", json!(["/bin/true"]))
            .set("unless", json!(["/bin/false"]))
            .set("returns", json!([3, 0, 3]))
            .set("env", json!({"A": "b"}))
            .set("cwd", "/srv")
            .set("user", "web")
            .set("group", 33)
            .set("umask", "77")
            .set("stdin", "yes")
            .set("tries", 3)
            .set("try_sleep", 5)
            .set("timeout", 60)
            .set("sensitive", true)
            .set("show_output", "never");
        testing::agree::<Exec>(&full);
        assert_eq!(compiled(&full).codes(), [0, 3]);
        testing::agree::<Exec>(&Given::new().set("shell", "a | b > c").set("refresh_only", true));
        testing::agree::<Exec>(&Given::new().set("shell", "date").set("always", true));
    }

    #[test]
    fn only_the_path_that_it_makes_decides_what_it_touches() {
        let footprint = testing::footprint::<Exec>(&exec().deferred("command")).unwrap();
        assert_eq!(footprint.effects[0].key, b"*");
        assert_eq!(footprint.effects[1], Effect::read_path("/srv/made"));
        assert_eq!(footprint.affected_paths, [b"/srv/made".to_vec()]);
        assert!(footprint.claims.is_empty());
    }

    #[test]
    fn an_argument_may_be_sensitive_on_its_own() {
        let given = exec().set("command", json!(["/bin/login", {"$secret": "exec.a/command/1"}]));
        assert_eq!(crate::word::line(&compiled(&given).command), "/bin/login (sensitive)");
        let refused = exec().set("command", json!([{"$secret": "exec.a/command/0"}]));
        assert_eq!(refusal(&refused).attribute.as_deref(), Some("command"));
    }

    #[test]
    fn when_it_runs_must_be_said_and_once() {
        let bare = || Given::new().set("command", json!(["/bin/true"]));
        let diagnostic = refusal(&bare());
        assert_eq!(diagnostic.message, "nothing says when the command runs");
        assert!(diagnostic.hint.unwrap().contains("always = true"));
        assert_eq!(refusal(&exec().set("always", true)).attribute.as_deref(), Some("always"));
        assert_eq!(refusal(&bare().set("always", true).set("refresh_only", true)).attribute.as_deref(), Some("always"));
        assert!(Exec::compile(&exec().set("refresh_only", true).parameters()).is_ok(), "a guard counts for a refresh too");
    }

    #[test]
    fn bad_declarations_are_refused_at_their_attribute() {
        let refused = [
            (Given::new().set("creates", "/a"), "command"),
            (exec().set("shell", "true"), "shell"),
            (exec().set("command", json!([])), "command"),
            (exec().set("command", json!(["make"])), "command"),
            (exec().set("command", json!(["/bin/../make"])), "command"),
            (exec().set("command", json!(["/bin/x", "\0"])), "command"),
            (exec().set("unless", json!(["test", "-e"])), "unless"),
            (exec().set("only_if", json!([])), "only_if"),
            (exec().set("creates", "made"), "creates"),
            (exec().set("returns", json!([])), "returns"),
            (exec().set("returns", json!([256])), "returns"),
            (exec().set("environment", json!({"A=": "b"})), "environment"),
            (exec().set("environment", json!({"": "b"})), "environment"),
            (exec().set("directory", "srv"), "directory"),
            (exec().set("user", -1), "user"),
            (exec().set("umask", "9"), "umask"),
            (exec().set("tries", 0), "tries"),
            (exec().set("timeout", 0), "timeout"),
            (exec().set("try_sleep", 5), "try_sleep"),
            (exec().set("tries", 1000).set("timeout", 1000), "tries"),
            (Given::new().set("shell", "").set("always", true), "shell"),
        ];
        for (given, attribute) in refused {
            assert_eq!(refusal(&given).attribute.as_deref(), Some(attribute));
        }
    }
}
