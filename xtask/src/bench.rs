//! What runs cost, measured on this computer.

use crate::command::{self, built_folder, require_root};
use crate::tools::{FOR_BENCHES, require};
use crate::{Failure, setup};

/// Builds the program as it is released, and the program that measures it, and starts that one with `arguments`.
pub(crate) fn run(arguments: &[&str]) -> Result<(), Failure> {
    require_root("the benches make machines of their own", "bench")?;
    setup::wasm()?;
    require(FOR_BENCHES)?;
    // Each by itself: built together they would share the features of what both depend on, and the program would not be the one that is released.
    for package in ["runtime", "bench"] {
        command::run(&["cargo", "build", "--release", "--package", package])?;
    }
    let built = built_folder()?.with_file_name("release");
    let path = |name: &str| built.join(name).display().to_string();
    let mut measure = vec![path("bench"), "--runtime".into(), path("runtime"), "--scratch".into(), path("bench-scratch")];
    measure.extend(arguments.iter().map(|&argument| argument.to_owned()));
    command::run(&measure)
}
