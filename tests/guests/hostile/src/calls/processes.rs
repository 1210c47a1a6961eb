//! Calls of `processes`.

use runtime_sdk::bindings::runtime::host::processes::{self, Command, Text};

use super::with::With;
use super::{Answer, done, seen};

pub fn call(function: &str, with: &With<'_>) -> Option<Answer> {
    match function {
        "processes#query" => seen(processes::query(&command(with))),
        "processes#run" => seen(processes::run(&command(with))),
        "processes#pause" => done(processes::pause(if with.is("for-ever") { u64::MAX } else { 1 })),
        _ => None,
    }
}

/// A program, by the path of the resource, with one thing wrong.
pub fn command(with: &With<'_>) -> Command {
    let plain = |text: &str| Text::Plain(text.into());
    let mut arguments = if with.is("no-placeholder") { Vec::new() } else { vec![plain("{}")] };
    if with.is("arguments") {
        arguments = vec![plain("x"); 5_000];
    }
    if with.is("nul-argument") {
        arguments.push(plain("x\0y"));
    }
    if with.is("text") {
        arguments.push(plain(&"x".repeat(3 << 20)));
    }
    if with.is("foreign-secret") {
        arguments.push(Text::Secret("file.apart/content".into()));
    }
    let named = |name: &str| (name.to_owned(), plain("x"));
    let environment = if with.is("environment") {
        vec![named("A=B")]
    } else if with.is("environment-twice") {
        vec![named("A"), named("A")]
    } else {
        Vec::new()
    };
    Command {
        program: with.text(if with.is("shell") { "/bin/sh" } else { with.desired.path.as_str() }),
        arguments,
        environment,
        directory: with.is("directory").then(|| format!("{}/../secret", with.folder())),
        user: None,
        group: None,
        umask: with.is("umask").then_some(0o1_000),
        stdin: None,
        output_limit: if with.is("output") { u32::MAX } else { 4_096 },
        timeout_ms: None,
        withhold: false,
    }
}
