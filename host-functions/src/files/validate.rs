//! A program looks at a staged file before it is put in place.

use super::path::NodePath;
use crate::bindings::runtime::host::processes as wit;
use crate::call::HostCall;
use crate::context::HostContext;
use crate::error::CallError;
use crate::processes::{Command, Text};

/// What stands for the staged file in an argument.
const STAGED: &str = "{}";

impl HostContext {
    /// `staged.validate`, already authorised.
    pub(super) fn validate_staged(
        &mut self,
        call: &HostCall,
        path: &NodePath,
        command: Command,
    ) -> Result<wit::Finished, CallError> {
        // The path may lead elsewhere by now; what it leads to is authorised like any other.
        drop(self.locate(call, path)?.needed()?);
        let staged = staged_path(path, self.staging_name()?)?;
        let command = with_staged(command, &staged, self.rights().conceals_content())?;
        self.query_finished(&command)
    }
}

/// The path of what is staged under `name` beside `path`.
fn staged_path(path: &NodePath, name: &str) -> Result<String, CallError> {
    let folder = path.split().map_or(&b"/"[..], |(folder, _)| folder);
    let folder =
        std::str::from_utf8(folder).map_err(|_| CallError::invalid("a path that is not UTF-8 cannot be given to a program"))?;
    Ok(format!("{}/{name}", folder.trim_end_matches('/')))
}

/// `command` with the path of the staged file in its arguments.
fn with_staged(mut command: Command, staged: &str, conceal: bool) -> Result<Command, CallError> {
    let mut named = false;
    for argument in &mut command.arguments {
        if let Text::Plain(text) = argument
            && text.contains(STAGED)
        {
            *text = text.replace(STAGED, staged);
            named = true;
        }
    }
    command.withhold |= conceal;
    if named { Ok(command) } else { Err(CallError::invalid("no argument has `{}`, which stands for the staged file")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> NodePath {
        NodePath::parse(text.into()).unwrap()
    }

    #[test]
    fn the_staged_file_is_named_wherever_it_stands() {
        assert_eq!(staged_path(&path("/etc/sudoers"), ".runtime-0a").unwrap(), "/etc/.runtime-0a");
        assert_eq!(staged_path(&path("/sudoers"), ".runtime-0a").unwrap(), "/.runtime-0a");
        let command = |texts: &[&str]| {
            let texts = texts.iter().map(|text| Text::Plain((*text).into())).collect();
            with_staged(Command::new(path("/bin/x"), texts), "/etc/.runtime-0a", true)
        };
        let given = command(&["-c", "{}", "--file={}"]).unwrap();
        assert_eq!(given.arguments[1..], [Text::Plain("/etc/.runtime-0a".into()), Text::Plain("--file=/etc/.runtime-0a".into())]);
        assert!(given.withhold, "what it says may repeat sensitive content");
        assert!(command(&["-c"]).is_err());
    }
}
