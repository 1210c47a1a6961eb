//! The guide's commands, run in order in an empty folder as its first paragraph says.

use std::path::Path;
use std::process::Command;

/// A fenced block of the guide: what stands behind the opening fence, and the lines within.
struct Block<'g> {
    info: &'g str,
    lines: Vec<&'g str>,
}

fn blocks(guide: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for line in guide.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some(Block { info, lines: Vec::new() }),
            (Some(_), Some(info)) => {
                assert_eq!(info, "", "a block of the guide has no end before another begins");
                found.extend(open.take());
            }
            (Some(block), None) => block.lines.push(line),
            (None, None) => {}
        }
    }
    found
}

/// A command and the exit code that its comment promises.
fn command(line: &str) -> (&str, i32) {
    match line.split_once("# exit ") {
        Some((command, code)) => (command.trim(), code.trim().parse().expect("a number behind `# exit`")),
        None => (line, 0),
    }
}

#[test]
fn every_command_of_the_guide_ends_as_it_says() {
    let guide = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_runtime")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut run = 0;
    for block in blocks(&guide) {
        if let Some(name) = block.info.strip_prefix("hcl file=") {
            std::fs::write(folder.path().join(name), block.lines.join("\n") + "\n").unwrap();
        } else if block.info == "console" {
            // Shown, not run.
        } else {
            assert_eq!(
                block.info, "sh",
                "a block of the guide is a file, commands, or one that is only shown: {:?}",
                block.lines
            );
            for (line, wanted) in block.lines.iter().filter(|line| !line.is_empty()).map(|line| command(line)) {
                let mut shell = Command::new("sh");
                shell.args(["-c", line]).current_dir(folder.path()).env_clear().env("PATH", &path).env("HOME", folder.path());
                let output = shell.output().unwrap();
                let told = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), Some(wanted), "`{line}`: {told}");
                run += 1;
            }
        }
    }
    assert!(run > 15, "the guide has commands: {run}");
    let owner = std::fs::read_to_string(folder.path().join("node/srv/notes/owner")).unwrap();
    assert_eq!(owner, "Kept by the storage team.\n");
}
