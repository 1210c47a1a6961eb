//! The manual as Markdown: docs/reference is rendered from here and a test compares.

use std::fmt::Write as _;

use super::args::Arguments;
use super::exit::Exit;

/// The width of help in the manual, in characters.
const WIDTH: usize = 100;

/// Every command that is not hidden, with the words that are typed for it, the program itself first.
pub(super) fn pages(program: clap::Command) -> Vec<(Vec<String>, clap::Command)> {
    let mut built = program;
    built.build();
    let mut found = Vec::new();
    collect(vec![built.get_name().to_owned()], &built, &mut found);
    found
}

fn collect(words: Vec<String>, command: &clap::Command, found: &mut Vec<(Vec<String>, clap::Command)>) {
    found.push((words.clone(), command.clone()));
    for child in command.get_subcommands().filter(|child| !child.is_hide_set() && child.get_name() != "help") {
        let words = words.iter().cloned().chain([child.get_name().to_owned()]).collect();
        collect(words, child, found);
    }
}

/// docs/reference/cli.md: the long help of every command.
pub fn commands() -> String {
    let mut text = "# Commands\n\nRendered from `runtime COMMAND --help`.\n".to_owned();
    for (words, command) in pages(Arguments::described()) {
        let help = command.term_width(WIDTH).render_long_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(text, "\n## `{}`\n\n```text\n{}\n```\n", words.join(" "), help.join("\n").trim_end());
    }
    text
}

/// docs/reference/exit-codes.md: the table of exit codes.
pub fn exit_codes() -> String {
    let mut text =
        "# Exit codes\n\nRendered from the program's own table. More than one may hold; the first in this table is the code.\n\n\
                    | code | word in records | meaning |\n|---|---|---|\n"
            .to_owned();
    for exit in Exit::ALL {
        let _ = writeln!(text, "| {} | `{}` | {} |", exit.code(), exit.word(), exit.meaning());
    }
    text += "\nA resource that its own `control` skips counts as converged; the summary always shows how many there were.\n";
    text
}
