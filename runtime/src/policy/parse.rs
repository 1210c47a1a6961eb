//! From a policy's text to a [`Policy`].
//!
//! Nothing is skipped: a word that is not known is an error with its place, since the owner meant something by it.

mod objects;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::str::FromStr;

use hcl_edit::Span;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Attribute, Block, Body, Structure};
use host_functions::files::policy::{NEVER, PathPattern};
use host_functions::objects::Domain;

use super::decide::lies_in;
use super::error::Problem;
use super::executable;
use super::{Deny, FileRow, LimitRow, ModuleRow, ObjectRows, Policy, ProviderRow, SecretRow, units};
use crate::model::digest::ComponentDigest;
use crate::model::ids::TypeName;
use crate::model::key::escape;

/// Words that later versions may know. To ignore one would let more happen than its author wants.
const LATER: [&str; 1] = ["signer"];

/// What a row for a module may hold.
const INTERFACES: [&str; 7] = ["files", "packages", "systemd", "accounts", "processes", "facts", "limits"];

/// The lists of names of `deny`, beside paths.
const DENIED: [(&str, Domain); 5] = [
    ("packages", Domain::Package),
    ("units", Domain::Unit),
    ("users", Domain::User),
    ("groups", Domain::Group),
    ("programs", Domain::Process),
];

/// What a row for a secret says.
const SECRET_HINT: &str = "`owners` are names of manifests, `modules` the resource types that may use it";

/// The rows of a policy.
const ROWS: [&str; 6] = ["module", "secret", "provider", "health", "builtins", "deny"];

/// Reads a policy. `reserved` are the names of the modules that are built into the program; rows for others must pin a digest.
///
/// # Errors
/// Everything that is wrong, in the order of the text.
pub fn parse(text: &str, reserved: &[TypeName]) -> Result<Policy, Vec<Problem>> {
    let mut parser = Parser { text, reserved, problems: Vec::new() };
    let mut policy = Policy { health: Some(Vec::new()), ..Policy::default() };
    match parser.body() {
        Some(body) => parser.policy(&body, &mut policy),
        None => return Err(parser.problems),
    }
    parser.problems.extend(executable::problems(&policy, reserved));
    if parser.problems.is_empty() {
        return Ok(policy);
    }
    parser.problems.sort_by_key(|problem| (problem.line, problem.column));
    Err(parser.problems)
}

struct Parser<'a> {
    text: &'a str,
    reserved: &'a [TypeName],
    problems: Vec<Problem>,
}

impl Parser<'_> {
    fn body(&mut self) -> Option<Body> {
        match hcl_edit::parser::parse_body(self.text) {
            Ok(body) => Some(body),
            Err(error) => {
                let (line, column) = (error.location().line(), error.location().column());
                self.problems.push(Problem { line, column, message: escape(error.message()), hint: None });
                None
            }
        }
    }

    fn policy(&mut self, body: &Body, policy: &mut Policy) {
        for structure in body {
            match structure {
                Structure::Block(block) => self.row(block, policy),
                Structure::Attribute(attribute) => {
                    self.unknown(attribute.key.span(), "row", &attribute.key, &ROWS);
                }
            }
        }
    }

    fn row(&mut self, block: &Block, policy: &mut Policy) {
        match block.ident.as_str() {
            "module" => self.module(block, &mut policy.modules),
            "secret" => policy.secrets.extend(self.secret(block)),
            "provider" => self.provider(block, &mut policy.providers),
            "health" => {
                let commands = self.health(block);
                policy.health.get_or_insert_default().extend(commands);
            }
            "builtins" => self.builtins(block, &mut policy.builtins),
            "deny" => self.deny(block, &mut policy.deny),
            other => self.unknown(block.ident.span(), "row", other, &ROWS),
        }
    }

    fn module(&mut self, block: &Block, modules: &mut Vec<ModuleRow>) {
        let Some(name) = self.module_name(block) else { return };
        let line = self.line(block.ident.span());
        let (files, limits) = (FileRow::default(), LimitRow::default());
        let objects = ObjectRows::default();
        let mut row = ModuleRow { name, digest: None, files, objects, accounts: None, facts: None, limits, line };
        for structure in &block.body {
            match structure {
                Structure::Attribute(attribute) if attribute.has_key("digest") => {
                    row.digest = self.text(attribute).and_then(|(text, span)| self.parsed(&text, span));
                }
                Structure::Attribute(attribute) => {
                    self.unknown(attribute.key.span(), "attribute of `module`", &attribute.key, &["digest"]);
                }
                Structure::Block(inner) => self.interface(inner, &mut row),
            }
        }
        self.check_digest(block, &row);
        modules.push(row);
    }

    fn interface(&mut self, block: &Block, row: &mut ModuleRow) {
        match block.ident.as_str() {
            "files" => self.files(block, &mut row.files),
            "packages" => self.packages(block, &mut row.objects),
            "systemd" => self.systemd(block, &mut row.objects),
            "accounts" => self.accounts(block, &mut row.accounts, &mut row.objects),
            "processes" => self.processes(block, &mut row.objects),
            "facts" => self.everything_or_nothing(block, &["read"], &mut row.facts),
            "limits" => self.limits(block, &mut row.limits),
            other => self.unknown(block.ident.span(), "interface", other, &INTERFACES),
        }
    }

    fn module_name(&mut self, block: &Block) -> Option<TypeName> {
        let [label] = block.labels.as_slice() else {
            let hint = "write `module \"NAME\" { … }`";
            self.problem(block.ident.span(), "a `module` row has one name", Some(hint));
            return None;
        };
        self.parsed(label.as_str(), label.span())
    }

    fn check_digest(&mut self, block: &Block, row: &ModuleRow) {
        if !block.body.has_attribute("digest") && !self.reserved.contains(&row.name) {
            let message = format!("`{}` is not built in, so its row must name a `digest`", row.name);
            self.problem(block.ident.span(), &message, Some("`runtime module inspect FILE` prints the digest"));
        }
    }

    fn files(&mut self, block: &Block, files: &mut FileRow) {
        self.no_labels(block);
        for attribute in self.attributes(block, "attribute of `files`", &["read", "write", "deny", "setuid", "chown", "links"]) {
            match attribute.key.as_str() {
                "read" => files.read.get_or_insert_default().extend(self.allowed_paths(attribute)),
                "write" => files.write.get_or_insert_default().extend(self.allowed_paths(attribute)),
                "deny" => files.deny.extend(self.paths(attribute).into_iter().map(|(pattern, _)| pattern)),
                "setuid" => self.word(attribute, &mut files.setuid),
                "chown" => self.word(attribute, &mut files.chown),
                _ => self.word(attribute, &mut files.links),
            }
        }
    }

    /// `read = ["*"]`, or `read = []` for nothing.
    fn everything_or_nothing(&mut self, block: &Block, known: &[&str], into: &mut Option<bool>) {
        self.no_labels(block);
        let kind = format!("attribute of `{}`", block.ident.as_str());
        for attribute in self.attributes(block, &kind, known).into_iter().filter(|attribute| attribute.has_key("read")) {
            let texts = self.texts(attribute);
            if texts.iter().any(|(text, _)| text != "*") {
                self.problem(attribute.value.span(), "this can be `[\"*\"]` for all, or `[]` for nothing", None);
            }
            let everything = !texts.is_empty() && *into != Some(false);
            *into = Some(everything);
        }
    }

    fn limits(&mut self, block: &Block, limits: &mut LimitRow) {
        self.no_labels(block);
        for attribute in self.attributes(block, "limit", &["memory", "deadline"]) {
            let Some((text, span)) = self.text(attribute) else { continue };
            let twice = match attribute.key.as_str() {
                "memory" => self.amount(units::memory(&text), span).and_then(|bytes| limits.memory.replace(bytes)).is_some(),
                _ => self.amount(units::deadline(&text), span).and_then(|time| limits.deadline.replace(time)).is_some(),
            };
            if twice {
                self.problem(attribute.key.span(), "this limit is given twice", None);
            }
        }
    }

    fn builtins(&mut self, block: &Block, builtins: &mut BTreeMap<ComponentDigest, usize>) {
        self.no_labels(block);
        for attribute in self.attributes(block, "attribute of `builtins`", &["digests"]) {
            self.lines(attribute, builtins);
        }
    }

    fn secret(&mut self, block: &Block) -> Option<SecretRow> {
        let [label] = block.labels.as_slice() else {
            let hint = "write `secret \"NAME\" { … }`";
            self.problem(block.ident.span(), "a `secret` row has one name", Some(hint));
            return None;
        };
        let name = self.parsed(label.as_str(), label.span());
        let (mut owners, mut modules) = (BTreeSet::new(), BTreeSet::new());
        for attribute in self.attributes(block, "attribute of `secret`", &["owners", "modules"]) {
            match attribute.key.as_str() {
                "owners" => owners.extend(self.names(attribute)),
                _ => modules.extend(self.names(attribute)),
            }
        }
        for (empty, word) in [(owners.is_empty(), "owners"), (modules.is_empty(), "modules")] {
            if empty {
                self.problem(block.ident.span(), &format!("`secret` must name `{word}`"), Some(SECRET_HINT));
            }
        }
        Some(SecretRow { name: name?, owners, modules, line: self.line(block.ident.span()) })
    }

    fn provider(&mut self, block: &Block, providers: &mut BTreeMap<TypeName, ProviderRow>) {
        let span = block.ident.span();
        let [label] = block.labels.as_slice() else {
            return self.problem(span, "a `provider` row has one name", Some("write `provider \"TYPE\" { … }`"));
        };
        let attributes = self.attributes(block, "attribute of `provider`", &["use", "forbid"]);
        if attributes.is_empty() {
            self.problem(span.clone(), "`provider` must say `use` or `forbid`", Some("write `use = \"NAME\"`"));
        }
        let Some(type_name) = self.parsed::<TypeName>(label.as_str(), label.span()) else { return };
        let mut row = providers.remove(&type_name).unwrap_or_default();
        for attribute in attributes {
            if attribute.has_key("forbid") {
                self.lines(attribute, &mut row.forbid);
            } else if let Some((text, span)) = self.text(attribute) {
                let line = self.line(span.clone());
                let Some(name) = self.parsed(&text, span.clone()) else { continue };
                match &row.use_ {
                    Some((_, first)) => {
                        let message = format!("this type has a provider to use already, in line {first}");
                        self.problem(span, &message, None);
                    }
                    None => row.use_ = Some((name, line)),
                }
            }
        }
        if let Some((name, _)) = row.use_.as_ref().filter(|(name, _)| row.forbid.contains_key(name)) {
            self.problem(span, &format!("`{name}` is to be used and forbidden"), None);
        }
        providers.insert(type_name, row);
    }

    fn names<T: FromStr>(&mut self, attribute: &Attribute) -> Vec<T>
    where
        T::Err: std::error::Error,
    {
        let texts = self.texts(attribute);
        texts.into_iter().filter_map(|(text, span)| self.parsed(&text, span)).collect()
    }

    fn deny(&mut self, block: &Block, deny: &mut Deny) {
        self.no_labels(block);
        let known: Vec<&str> = ["files", "modules", "digests"].into_iter().chain(DENIED.map(|(list, _)| list)).collect();
        for attribute in self.attributes(block, "attribute of `deny`", &known) {
            if let Some((_, domain)) = DENIED.iter().find(|(list, _)| attribute.has_key(list)) {
                let names = self.names(attribute);
                deny.objects.entry(*domain).or_default().extend(names);
                continue;
            }
            match attribute.key.as_str() {
                "files" => deny.files.extend(self.paths(attribute).into_iter().map(|(pattern, _)| pattern)),
                "modules" => self.lines(attribute, &mut deny.modules),
                _ => self.lines(attribute, &mut deny.digests),
            }
        }
    }

    /// The members of a list, each with its line.
    fn lines<T: FromStr + Ord>(&mut self, attribute: &Attribute, into: &mut BTreeMap<T, usize>)
    where
        T::Err: std::error::Error,
    {
        for (text, span) in self.texts(attribute) {
            if let Some(value) = self.parsed(&text, span.clone()) {
                into.insert(value, self.line(span));
            }
        }
    }

    fn allowed_paths(&mut self, attribute: &Attribute) -> Vec<PathPattern> {
        let paths = self.paths(attribute);
        for (pattern, span) in &paths {
            if NEVER.iter().any(|folder| lies_in(&pattern.literal_folder(), folder)) {
                self.problem(span.clone(), "nothing in `/proc`, `/sys` and `/dev` can be granted", None);
            }
        }
        paths.into_iter().map(|(pattern, _)| pattern).collect()
    }

    fn paths(&mut self, attribute: &Attribute) -> Vec<(PathPattern, Option<Range<usize>>)> {
        let texts = self.texts(attribute);
        texts.into_iter().filter_map(|(text, span)| Some((self.parsed(&text, span.clone())?, span))).collect()
    }

    /// The attributes of a block, of which `known` are the only ones; everything else in it is a problem.
    fn attributes<'b>(&mut self, block: &'b Block, kind: &str, known: &[&str]) -> Vec<&'b Attribute> {
        let mut attributes = Vec::new();
        for structure in &block.body {
            match structure {
                Structure::Attribute(attribute) if known.contains(&attribute.key.as_str()) => attributes.push(attribute),
                Structure::Attribute(attribute) => self.unknown(attribute.key.span(), kind, &attribute.key, known),
                Structure::Block(inner) => self.unknown(inner.ident.span(), kind, &inner.ident, known),
            }
        }
        attributes
    }

    fn no_labels(&mut self, block: &Block) {
        if block.is_labeled() {
            self.problem(block.ident.span(), &format!("a `{}` block has no name", block.ident.as_str()), None);
        }
    }

    fn word(&mut self, attribute: &Attribute, into: &mut Option<bool>) {
        let Some(value) = attribute.value.as_bool() else {
            return self.problem(attribute.value.span(), &format!("`{}` must be true or false", attribute.key.as_str()), None);
        };
        if into.replace(value).is_some() {
            self.problem(attribute.key.span(), &format!("`{}` is given twice", attribute.key.as_str()), None);
        }
    }

    fn texts(&mut self, attribute: &Attribute) -> Vec<(String, Option<Range<usize>>)> {
        let Some(array) = attribute.value.as_array() else {
            let message = format!("`{}` must be a list of strings", attribute.key.as_str());
            self.problem(attribute.value.span(), &message, Some("write `[\"…\"]`"));
            return Vec::new();
        };
        array.iter().filter_map(|item| self.plain_text(item)).collect()
    }

    fn text(&mut self, attribute: &Attribute) -> Option<(String, Option<Range<usize>>)> {
        self.plain_text(&attribute.value)
    }

    fn plain_text(&mut self, expression: &Expression) -> Option<(String, Option<Range<usize>>)> {
        if let Some(text) = expression.as_str() {
            return Some((text.to_owned(), expression.span()));
        }
        self.problem(expression.span(), "a plain string is wanted here: a policy is not evaluated", None);
        None
    }

    fn parsed<T: FromStr>(&mut self, text: &str, span: Option<Range<usize>>) -> Option<T>
    where
        T::Err: std::error::Error,
    {
        text.parse().map_err(|error: T::Err| self.problem(span, &error.to_string(), None)).ok()
    }

    fn amount<T>(&mut self, amount: Result<T, String>, span: Option<Range<usize>>) -> Option<T> {
        amount.map_err(|message| self.problem(span, &message, None)).ok()
    }

    fn unknown(&mut self, span: Option<Range<usize>>, kind: &str, found: &str, known: &[&str]) {
        let shown: String = found.chars().take(80).collect();
        let known: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
        let hint = format!("known here: {}", known.join(", "));
        if LATER.contains(&found) {
            let message = format!("`{shown}` is not supported by this version; to ignore it would not be safe");
            return self.problem(span, &message, Some(&hint));
        }
        self.problem(span, &format!("unknown {kind} `{shown}`"), Some(&hint));
    }

    fn problem(&mut self, span: Option<Range<usize>>, message: &str, hint: Option<&str>) {
        let (line, column) = self.place(span);
        self.problems.push(Problem { line, column, message: escape(message), hint: hint.map(str::to_owned) });
    }

    fn line(&self, span: Option<Range<usize>>) -> usize {
        self.place(span).0
    }

    fn place(&self, span: Option<Range<usize>>) -> (usize, usize) {
        let before = &self.text[..span.map_or(0, |span| span.start)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}
