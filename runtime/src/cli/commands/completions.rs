//! `runtime completions`.

use clap_complete::generate;
use serde_json::json;

use crate::cli::args::{Arguments, CompletionsArgs};
use crate::cli::output::Answer;

pub(super) fn run(args: &CompletionsArgs) -> Answer {
    let mut script = Vec::new();
    generate(args.shell, &mut Arguments::described(), "runtime", &mut script);
    let text = String::from_utf8_lossy(&script).into_owned();
    super::data(text.clone(), json!({ "script": text }))
}

#[cfg(test)]
mod tests {
    use clap_complete::Shell;

    use super::*;

    #[test]
    fn every_shell_completes_the_commands() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell, Shell::Elvish] {
            let text = run(&CompletionsArgs { shell }).text;
            assert!(text.contains("detailed-exitcode") && text.contains("recover"), "{shell}");
        }
    }
}
