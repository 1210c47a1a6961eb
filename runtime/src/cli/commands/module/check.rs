//! `runtime module check`, and the other process that it starts: this program once more, with another environment.

use std::process::{Command, Stdio};

use serde_json::json;

use super::subject;
use crate::cli::args::ModuleCheckArgs;
use crate::cli::commands::data;
use crate::cli::context::{self, Environment};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::{Answer, Output};
use crate::cli::render::conformance::{self, Retry};
use crate::conformance::{Elsewhere, Report, Transcript};
use crate::run::{self, CheckRequest};

/// A clock that is hours away, and a language in which numbers are written otherwise: nothing of it may show in an answer.
const OTHER_ENVIRONMENT: [(&str, &str); 3] = [("TZ", "Pacific/Kiritimati"), ("LC_ALL", "de_DE.UTF-8"), ("HOME", "/nonexistent")];

pub(in crate::cli) fn run(args: &ModuleCheckArgs, environment: &Environment, output: &Output) -> Result<Answer, CliError> {
    let request = request(args, environment)?;
    if args.transcript {
        let transcript = run::transcribe_module(&request)?;
        let text = serde_json::to_string(&transcript).expect("texts in maps have a JSON form");
        return Ok(data(text, json!(transcript)));
    }
    let twin = Twin { args, environment, cache: request.cache.clone() };
    let mut report = run::check_module(&request, Some(&twin))?;
    if !args.rules.is_empty() {
        report.rules.retain(|rule| args.rules.contains(&rule.rule));
    }
    let retry = Retry { subject: &args.subject, declarations: &args.declarations };
    for rule in &report.rules {
        output.record("rule", || conformance::record(rule, &retry));
    }
    let text = conformance::render(&report, &retry, &output.palette());
    Ok(Answer { exit: exit(&report), ..data(text, conformance::summary(&report)) })
}

fn exit(report: &Report) -> Exit {
    match (report.count("failed"), report.count("not-tried")) {
        (1.., _) => Exit::Failed,
        (0, 1..) => Exit::NotConverged,
        (0, 0) => Exit::Done,
    }
}

fn request(args: &ModuleCheckArgs, environment: &Environment) -> Result<CheckRequest, CliError> {
    let own = subject::builtin(&args.subject).map(|builtin| run::read_samples("samples.hcl", builtin.samples.to_owned()));
    Ok(CheckRequest {
        component: subject::component(&args.subject)?.into_owned(),
        samples: own.transpose()?.unwrap_or_default(),
        declarations: args.declarations.clone(),
        cache: context::cache(args.cache_dir.as_deref(), environment),
    })
}

/// This program in another process.
struct Twin<'a> {
    args: &'a ModuleCheckArgs,
    environment: &'a Environment,
    cache: Option<std::path::PathBuf>,
}

impl Elsewhere for Twin<'_> {
    fn transcript(&self) -> Result<Transcript, String> {
        let output = self.command()?.output().map_err(|error| format!("this program cannot be started: {error}"))?;
        if !output.status.success() {
            return Err(format!("it ended with {}", output.status));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| format!("its answer cannot be read: {error}"))
    }
}

impl Twin<'_> {
    #[expect(
        clippy::disallowed_methods,
        reason = "starts this very program, to compare what a component answers in another process"
    )]
    fn command(&self) -> Result<Command, String> {
        let program = self.environment.program.as_ref().ok_or("this program's own file is not known")?;
        let mut command = Command::new(program);
        command
            .args(["module", "check", "--transcript"])
            .args(self.cache.iter().flat_map(|cache| ["--cache-dir".as_ref(), cache.as_os_str()]));
        for declaration in &self.args.declarations {
            command.arg("--declaration").arg(declaration);
        }
        command.arg("--").arg(&self.args.subject);
        command.env_clear().envs(OTHER_ENVIRONMENT).stdin(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }
}
