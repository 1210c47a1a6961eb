//! `runtime recover`.

use serde_json::{Value as Json, json};

use crate::cli::args::RecoverArgs;
use crate::cli::context::{self, Environment};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::Answer;
use crate::model::report::RunMode;
use crate::report::line;
use crate::run::{self, Recovery, Unresolved};

pub(super) fn run(args: &RecoverArgs, environment: &Environment) -> Result<Answer, CliError> {
    let request = context::node_request(args.bundle.as_deref(), &args.node, RunMode::Apply, None, environment)?;
    let recovery = run::recover(&request);
    let recovery = match &args.bundle {
        Some(bundle) => recovery.map_err(CliError::with_bundle(bundle))?,
        None => recovery?,
    };
    Ok(answer(&recovery))
}

fn answer(recovery: &Recovery) -> Answer {
    let mut lines: Vec<String> = recovery.recovered.iter().map(|id| format!("{id}: recovered")).collect();
    for (id, open) in &recovery.unresolved {
        lines.push(format!("{id}: unresolved: {}", line(&open.reason)));
        lines.extend(open.hint.iter().map(|hint| format!("  hint: {}", line(hint))));
    }
    lines.push(format!("recover: {} recovered, {} unresolved", recovery.recovered.len(), recovery.unresolved.len()));
    let unresolved = |(id, open): (_, &Unresolved)| json!({ "id": id, "reason": open.reason, "hint": open.hint });
    let unresolved: Vec<Json> = recovery.unresolved.iter().map(unresolved).collect();
    let exit = if unresolved.is_empty() { Exit::Done } else { Exit::Unresolved };
    let data = json!({ "recovered": recovery.recovered, "unresolved": unresolved });
    Answer { exit, ..super::data(lines.join("\n") + "\n", data) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_is_left_open_is_told_with_what_to_do() {
        let open = Unresolved { reason: "it cannot\u{1b} say".to_owned(), hint: Some("look at it".to_owned()) };
        let unresolved = BTreeMap::from([("file.b".parse().unwrap(), open)]);
        let left = answer(&Recovery { recovered: vec!["file.a".parse().unwrap()], unresolved });
        insta::assert_snapshot!(left.text, @r#"
        file.a: recovered
        file.b: unresolved: it cannot\u{1b} say
          hint: look at it
        recover: 1 recovered, 1 unresolved
        "#);
        assert_eq!(left.exit, Exit::Unresolved);
        let none = answer(&Recovery { recovered: Vec::new(), unresolved: BTreeMap::new() });
        assert_eq!((none.text.as_str(), none.exit), ("recover: 0 recovered, 0 unresolved\n", Exit::Done));
    }
}
