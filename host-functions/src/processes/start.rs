//! From a command that is allowed to an order for the helper: sensitive values, ids, time.

use std::time::Duration;

use rustix::io::Errno;
use zeroize::Zeroizing;

use super::command::{Command, MAX_OUTPUT, Text};
use super::native::{Identity, Leftovers, Manner, Order, Report, RunError, Runner, starting};
use crate::context::HostContext;
use crate::error::{CallError, MAX_ERROR_TEXT};
use crate::node::{Node, Root};
use crate::text::{cut, escape};

/// Where programs are looked for by those that the host runs on its own account.
const OWN_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Bits that new files do not get when nothing says otherwise.
const USUAL_UMASK: u32 = 0o022;

impl HostContext {
    /// `query`, already authorised.
    pub(super) fn query_program(&mut self, command: &Command) -> Result<Report, CallError> {
        let confined = self.order(command, Manner::Confined)?;
        let failed = match self.node().runner().run(&confined) {
            Ok(report) => return Ok(report),
            Err(RunError::Confine { doing, why }) => format!("{}: {}", escape(&doing), escape(&why)),
            Err(error) => return Err(call_error(error, command)),
        };
        if !self.rights().grant.objects.unconfined_queries {
            return Err(CallError::Unsupported(cut(
                format!(
                    "a program cannot be kept from changing this node ({failed}), so none is run to learn something; the node's owner can accept that \
                     such programs run as any other, with `processes {{ unconfined_queries = true }}` in the policy row of this module"
                ),
                MAX_ERROR_TEXT,
            )));
        }
        tracing::warn!(resource = self.rights().resource, "a query runs unconfined, as policy accepts: {failed}");
        let free = Order { manner: Manner::NoNewRights, ..confined };
        self.node().runner().run(&free).map_err(|error| call_error(error, command))
    }

    /// `run`, already authorised.
    pub(super) fn run_program(&mut self, command: &Command) -> Result<Report, CallError> {
        let mut order = self.order(command, Manner::Free)?;
        let group = self.control_group().cloned();
        if let Some(group) = &group {
            group.make().map_err(|error| CallError::Other(text(&error)))?;
            order.control_group = Some(group.folder());
        }
        let before = self.let_change_through();
        self.note_change();
        let result = self.node().runner().run(&order);
        if let Err(RunError::Start { .. }) = &result {
            self.take_back_change(before);
        }
        let ended = group.map_or(Ok(()), |group| group.end());
        let report = result.map_err(|error| call_error(error, command))?;
        ended.map_err(|error| CallError::Other(text(&error)))?;
        Ok(report)
    }

    fn order(&self, command: &Command, manner: Manner) -> Result<Order, CallError> {
        let utf8 = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| CallError::invalid("a path is not UTF-8"));
        let root = self.node().root();
        let resolved = |text: &Text| self.resolved(text);
        let environment = command.environment.iter().map(|(name, value)| Ok((name.clone(), resolved(value)?)));
        Ok(Order {
            program: utf8(command.program.as_bytes())?,
            arguments: command.arguments.iter().map(resolved).collect::<Result<_, CallError>>()?,
            environment: environment.collect::<Result<_, CallError>>()?,
            directory: command.directory.as_ref().map_or(Ok("/".to_owned()), |path| utf8(path.as_bytes()))?,
            root: if root.is_system() { None } else { Some(root.real_path()?) },
            identity: self.identity(command)?,
            umask: command.umask.unwrap_or(USUAL_UMASK),
            stdin: command.stdin.as_ref().map(resolved).transpose()?.unwrap_or_default(),
            output_limit: command.output_limit,
            timeout: command.timeout.unwrap_or(Duration::MAX).min(self.remaining()),
            manner,
            leftovers: Leftovers::End,
            control_group: None,
        })
    }

    /// A text for a program; a sensitive one is in no other place than the order.
    fn resolved(&self, text: &Text) -> Result<Zeroizing<Vec<u8>>, CallError> {
        match text {
            Text::Plain(text) => Ok(Zeroizing::new(text.clone().into_bytes())),
            Text::Secret(slot) => self
                .assets()
                .secret(slot)
                .ok_or_else(|| CallError::Other(format!("there is no value for the slot `{}`", escape(&cut(slot.clone(), 200))))),
        }
    }

    /// Whom the program runs as; none is the run's own user and groups.
    fn identity(&self, command: &Command) -> Result<Option<Identity>, CallError> {
        let (Command { user: Some(_), .. } | Command { group: Some(_), .. }) = command else { return Ok(None) };
        let (own_user, _) = self.node().run_as();
        let user = command.user.unwrap_or(own_user);
        let found = self.node().accounts().memberships(self.node().root(), user)?;
        let (group, mut groups) = match (command.group, found) {
            (Some(group), found) => (group, found.map(|found| found.groups).unwrap_or_default()),
            (None, Some(found)) => (found.group, found.groups),
            (None, None) => {
                return Err(CallError::invalid(format!("user {user} has no account, so its group must be given too")));
            }
        };
        if !groups.contains(&group) {
            groups.insert(0, group);
        }
        Ok(Some(Identity { user, group, groups }))
    }
}

/// Runs a health check that a manifest declares, on behalf of no module: with the rights of the run.
///
/// # Errors
/// If it does not start, or cannot be ended.
pub fn check_health(node: &Node, command: &[String], timeout: Duration) -> Result<Report, RunError> {
    node.runner().run(&own_order(node.root(), command, timeout, Manner::Free)?)
}

/// Runs a program of the node's owner that can change nothing, on behalf of no module.
///
/// # Errors
/// If it does not start, cannot be confined, or cannot be ended.
pub(crate) fn ask(root: &Root, runner: &Runner, program: String, timeout: Duration) -> Result<Report, RunError> {
    runner.run(&own_order(root, &[program], timeout, Manner::Confined)?)
}

/// An order of the host's own, in an environment with a `PATH` alone.
fn own_order(root: &Root, command: &[String], timeout: Duration, manner: Manner) -> Result<Order, RunError> {
    let bytes = |text: &String| Zeroizing::new(text.clone().into_bytes());
    let lost = |error: CallError| RunError::Helper { doing: "finding the root of the node".to_owned(), why: error.to_string() };
    Ok(Order {
        program: command.first().cloned().unwrap_or_default(),
        arguments: command.iter().skip(1).map(bytes).collect(),
        environment: vec![("PATH".to_owned(), bytes(&OWN_PATH.to_owned()))],
        directory: "/".to_owned(),
        root: if root.is_system() { None } else { Some(root.real_path().map_err(lost)?) },
        identity: None,
        umask: USUAL_UMASK,
        stdin: Zeroizing::default(),
        output_limit: MAX_OUTPUT,
        timeout,
        manner,
        leftovers: Leftovers::End,
        control_group: None,
    })
}

fn text(error: &dyn std::error::Error) -> String {
    let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    cut(escape(&format!("{error}{source}")), MAX_ERROR_TEXT)
}

/// That something is not there means the program; of whatever else is not there, such as its working directory, the words say what it is.
fn call_error(error: RunError, command: &Command) -> CallError {
    match error {
        RunError::Start { doing, source } => {
            let is_program = doing == starting(&String::from_utf8_lossy(command.program.as_bytes()));
            let doing = escape(&doing);
            match source.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::NOENT) if !is_program => {
                    CallError::WrongKind(cut(format!("{doing}: nothing is there"), MAX_ERROR_TEXT))
                }
                Some(errno) => CallError::system(errno, &doing),
                None => CallError::Other(text(&source)),
            }
        }
        error => CallError::Other(text(&error)),
    }
}
