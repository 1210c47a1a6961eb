//! Where inputs start from: what the source tree has of the format, so that nothing has to be copied.

use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The contents of all files with this ending beneath a folder of the workspace, in the order of their paths.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    walk(&workspace().join(folder), ending, &mut paths);
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

/// The blocks of HCL in the pages of a folder of the workspace.
pub(crate) fn blocks(folder: &str) -> Vec<Vec<u8>> {
    let pages = files(folder, "md");
    let pages = pages.iter().map(|page| String::from_utf8_lossy(page));
    pages
        .flat_map(|page| {
            page.split("```hcl\n")
                .skip(1)
                .filter_map(|rest| rest.split_once("```"))
                .map(|(block, _)| block.as_bytes().to_vec())
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The cases that are kept of a target.
pub(crate) fn kept(target: &str) -> Vec<Vec<u8>> {
    files(&format!("tests/fuzz/cases/{target}"), "")
}

fn walk(folder: &Path, ending: &str, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, ending, paths);
        } else if ending.is_empty() || path.extension().is_some_and(|found| found == ending) {
            paths.push(path);
        }
    }
}
