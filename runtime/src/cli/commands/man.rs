//! `runtime man`.

use serde_json::json;

use super::files;
use crate::cli::args::{Arguments, ManArgs};
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::report::line;

pub(super) fn run(args: &ManArgs) -> Result<Answer, CliError> {
    files::make_folder(&args.folder)?;
    clap_mangen::generate_to(Arguments::described(), &args.folder)
        .map_err(|source| CliError::Write { path: args.folder.clone(), source })?;
    let folder = line(&args.folder.display().to_string());
    Ok(super::remark(format!("wrote the man pages to `{folder}`\n"), json!({ "folder": folder })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_for_each_command_and_none_for_hidden_ones() {
        let folder = tempfile::tempdir().unwrap();
        let pages = folder.path().join("man1");
        let answer = run(&ManArgs { folder: pages.clone() }).unwrap();
        assert_eq!(answer.data["folder"], pages.to_str().unwrap());
        for page in ["runtime.1", "runtime-apply.1", "runtime-module-new.1"] {
            let text = std::fs::read_to_string(pages.join(page)).unwrap();
            assert!(text.contains(".TH"), "{page}");
        }
        assert!(!pages.join("runtime-man.1").exists());
    }
}
