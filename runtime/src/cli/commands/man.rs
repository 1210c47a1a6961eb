//! `runtime man`.

use clap_mangen::Man;
use serde_json::json;

use super::files;
use crate::cli::args::{Arguments, ManArgs};
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::cli::reference::pages;
use crate::report::line;

pub(super) fn run(args: &ManArgs) -> Result<Answer, CliError> {
    files::make_folder(&args.folder)?;
    let mut names = Vec::new();
    for (words, command) in pages(Arguments::described()) {
        let name = format!("{}.1", words.join("-"));
        let path = args.folder.join(&name);
        let mut page = Vec::new();
        let title = words.join("-");
        let written = Man::new(command.name(title.clone()).bin_name(words.join(" "))).title(title).render(&mut page);
        written.map_err(|source| CliError::Write { path: path.clone(), source })?;
        files::write(&path, &page)?;
        names.push(name);
    }
    let folder = line(&args.folder.display().to_string());
    Ok(super::remark(format!("wrote {} man pages to `{folder}`\n", names.len()), json!({ "folder": folder, "pages": names })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_for_each_command_and_none_for_hidden_ones() {
        let folder = tempfile::tempdir().unwrap();
        let pages = run(&ManArgs { folder: folder.path().join("man1") }).unwrap().data["pages"].clone();
        for page in ["runtime.1", "runtime-apply.1", "runtime-module-new.1"] {
            assert!(pages.as_array().unwrap().contains(&json!(page)), "{pages}");
            let text = std::fs::read_to_string(folder.path().join("man1").join(page)).unwrap();
            assert!(text.contains(".TH"), "{page}");
        }
        assert!(!pages.as_array().unwrap().contains(&json!("runtime-man.1")));
    }
}
