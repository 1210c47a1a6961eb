//! The whole of it on real files: a manifest becomes a bundle, a plan and a converged folder.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::command::{self, built_folder, expect};
use crate::{Failure, setup};

/// The manifest that is shown.
const MANIFEST: &str = "docs/examples/motd/site.hcl";

/// What tells a resource which system it is on.
const OS_RELEASE: &str = "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"A scratch root\"\n";

/// Sets up, builds, and shows it in an empty scratch folder.
pub(crate) fn run() -> Result<(), Failure> {
    setup::wasm()?;
    command::run(&["cargo", "build", "--package", "runtime"])?;
    let built = built_folder()?;
    let scratch = empty_scratch_folder(&built)?;
    show(&built.join("runtime"), &scratch)?;
    eprintln!("\nxtask: the second run changed nothing; what the first made is in {}", scratch.display());
    Ok(())
}

/// Compiles the manifest, plans and applies it into a scratch root, and applies it again: that must change nothing.
fn show(runtime: &Path, scratch: &Path) -> Result<(), Failure> {
    let text = |path: &Path| path.display().to_string();
    let (runtime, bundle, root) = (text(runtime), text(&scratch.join("site.bundle.wasm.tar")), text(&scratch.join("root")));
    let runtime = runtime.as_str();
    command::run(&[runtime, "compile", MANIFEST, "-o", &bundle])?;
    command::run(&[runtime, "plan", &bundle, "--root", &root])?;
    command::run(&[runtime, "apply", &bundle, "--root", &root])?;
    expect(&[runtime, "apply", &bundle, "--root", &root, "--detailed-exitcode"], 0)
}

/// A folder with a root in it, as a node that has nothing yet.
fn empty_scratch_folder(built: &Path) -> Result<PathBuf, Failure> {
    let scratch = built.join("demo");
    let failed = |error| format!("`{}` cannot be made anew: {error}", scratch.display());
    match std::fs::remove_dir_all(&scratch) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    for folder in ["root/etc", "root/srv"] {
        std::fs::create_dir_all(scratch.join(folder)).map_err(failed)?;
    }
    std::fs::write(scratch.join("root/etc/os-release"), OS_RELEASE).map_err(failed)?;
    Ok(scratch)
}
