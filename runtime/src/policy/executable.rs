//! What a module may write it may not run: it would choose itself what the program is that the policy names.
//!
//! Modules that are built in are left out. The node's owner trusts them with this program, and what they write and run is the manifest's. Links
//! are not looked at here: the file functions hold a path to the grant wherever it leads.

use std::collections::BTreeSet;

use host_functions::files::policy::PathPattern;
use host_functions::grant::{Access, Grant};
use host_functions::objects::{ArgumentsPattern, Domain, NamePattern};

use super::row::pattern;
use super::{ModuleRow, Policy, Problem, Want};
use crate::model::ids::TypeName;
use crate::model::key::escape;

/// What to do about such a row.
const HINT: &str = "take it out of one of the two, or put it into `deny` of the module's `files`";

/// Paths that may be written, and programs that may be run or queried, which may name one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Met<'p> {
    write: &'p PathPattern,
    program: &'p NamePattern,
}

impl Met<'_> {
    /// For people: "to write `/srv/**` and to run `/srv/x`".
    pub(super) fn words(&self) -> String {
        format!("to write `{}` and to run `{}`", escape(self.write.as_str()), escape(self.program.as_str()))
    }
}

/// The rows of a policy that let a module run what it may write, each with the place of the row by which it comes about.
pub(super) fn problems(policy: &Policy, reserved: &[TypeName]) -> Vec<Problem> {
    let rows = policy.modules.iter().enumerate().filter(|(_, row)| !reserved.contains(&row.name));
    let problem = |(index, row): (usize, &ModuleRow)| {
        let is_same = |other: &&ModuleRow| other.name == row.name && other.digest == row.digest;
        let denied = policy.modules.iter().filter(is_same).flat_map(|row| &row.files.deny);
        let deny: Vec<&PathPattern> = denied.chain(&policy.deny.files).collect();
        let before: Vec<&ModuleRow> = policy.modules[..index].iter().filter(is_same).collect();
        let programs_so_far: Vec<&NamePattern> = before.iter().chain([&row]).flat_map(|row| programs(row)).collect();
        let writes_before: Vec<&PathPattern> = before.iter().flat_map(|row| writes(row)).collect();
        let (own_writes, own_programs): (Vec<_>, Vec<_>) = (writes(row).collect(), programs(row).collect());
        let met = first(&own_writes, &programs_so_far, &deny).or_else(|| first(&writes_before, &own_programs, &deny))?;
        let message = format!("`{}` can never be granted {}: both may be one file", row.name, met.words());
        Some(Problem { line: row.line, column: 1, message, hint: Some(HINT.to_owned()) })
    };
    rows.filter_map(problem).collect()
}

/// What a module would come to write and run, in words, if it were granted `missing` beside what `grant` has.
pub(super) fn would_meet(grant: &Grant, missing: &BTreeSet<Want>) -> Option<String> {
    if grant.builtin {
        return None;
    }
    let (mut new_writes, mut new_programs): (Vec<PathPattern>, Vec<NamePattern>) = (Vec::new(), Vec::new());
    for want in missing {
        match want {
            Want::Path { access: Access::Write, path } => new_writes.extend(pattern(&path.0).parse::<PathPattern>().ok()),
            Want::Object { domain: Domain::Process, name, .. } => new_programs.extend(name.parse::<NamePattern>().ok()),
            Want::Path { .. } | Want::Object { .. } | Want::Hold { .. } => {}
        }
    }
    let granted = grant.objects.commands.values().flatten().map(ArgumentsPattern::program);
    let writes: Vec<&PathPattern> = new_writes.iter().chain(&grant.files.write).collect();
    let programs: Vec<&NamePattern> = new_programs.iter().chain(granted).collect();
    let deny: Vec<&PathPattern> = grant.files.deny.iter().collect();
    first(&writes, &programs, &deny).map(|met| met.words())
}

fn writes(row: &ModuleRow) -> impl Iterator<Item = &PathPattern> {
    row.files.write.iter().flatten()
}

fn programs(row: &ModuleRow) -> impl Iterator<Item = &NamePattern> {
    row.objects.commands.values().flatten().map(ArgumentsPattern::program)
}

fn first<'p>(writes: &[&'p PathPattern], programs: &[&'p NamePattern], deny: &[&PathPattern]) -> Option<Met<'p>> {
    writes.iter().find_map(|&write| {
        let program = programs.iter().find(|program| may_meet(write, program, deny)).copied()?;
        Some(Met { write, program })
    })
}

/// Whether one path may be in both sets. Of two patterns with stars only what stands before the first star and after the last one is compared: what
/// that does not tell apart counts as one.
fn may_meet(write: &PathPattern, program: &NamePattern, deny: &[&PathPattern]) -> bool {
    let is_denied = |path: &str| deny.iter().any(|pattern| pattern.matches(path.as_bytes()));
    let (paths, programs) = (write.as_str(), program.as_str());
    if !programs.contains('*') {
        return write.matches(programs.as_bytes()) && !is_denied(programs);
    }
    if !paths.contains('*') {
        return program.matches(paths) && !is_denied(paths);
    }
    let ((start, end), (other_start, other_end)) = (ends(paths), ends(programs));
    let starts_meet = start.starts_with(other_start) || other_start.starts_with(start);
    starts_meet && (end.ends_with(other_end) || other_end.ends_with(end))
}

/// What stands before the first star of a pattern, and after the last one.
fn ends(pattern: &str) -> (&str, &str) {
    let (start, rest) = pattern.split_once('*').unwrap_or((pattern, pattern));
    (start, rest.rsplit_once('*').map_or(rest, |(_, end)| end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::digest::ComponentDigest;
    use crate::model::key::Key;
    use crate::policy::{Decision, ModuleIdentity, parse};

    fn digest() -> ComponentDigest {
        ComponentDigest::of(b"thing")
    }

    fn row(inner: &str) -> String {
        format!("module \"thing\" {{\n digest = \"{}\"\n {inner}\n}}\n", digest())
    }

    fn granting(write: &str, run: &str) -> String {
        row(&format!("files {{ write = [\"{write}\"] }}\n processes {{ run = [[\"{run}\", \"**\"]] }}"))
    }

    fn told(text: &str) -> Vec<String> {
        let told = |problems: Vec<Problem>| problems.iter().map(ToString::to_string).collect();
        parse(text, &["file".parse().unwrap()]).map_or_else(told, |_| Vec::new())
    }

    #[test]
    fn what_may_be_written_may_not_be_run() {
        assert_eq!(
            told(&granting("/srv/**", "/srv/bin/x")),
            ["1:1: `thing` can never be granted to write `/srv/**` and to run `/srv/bin/x`: both may be one file"]
        );
        for (write, run) in [("/srv/x", "*"), ("/srv/*/x", "/srv/*"), ("/srv/**/x", "*/x"), ("/usr/bin/x", "/usr/bin/x")] {
            assert_eq!(told(&granting(write, run)).len(), 1, "{write} {run}");
        }
        for (write, run) in
            [("/etc/nginx/*", "/usr/sbin/nginx"), ("/opt/*/etc", "/opt/*/bin"), ("/srv/*", "/usr/*"), ("/srv", "/srv/*")]
        {
            assert_eq!(told(&granting(write, run)), [""; 0], "{write} {run}");
        }
        let queried = "files { write = [\"/srv/x\"] }\n processes { query = [[\"/srv/x\"]] }";
        assert_eq!(told(&row(queried)).len(), 1, "a query runs it too");
        assert_eq!(
            told(&granting("/srv/**", "/srv/x").replace("thing", "file")),
            [""; 0],
            "a built-in is the owner's own choice"
        );
    }

    #[test]
    fn rows_of_one_module_count_together_and_what_is_denied_does_not_count() {
        let apart = [row("files { write = [\"/srv/**\"] }"), row("processes { run = [[\"/srv/x\"]] }")];
        assert!(told(&apart.concat())[0].starts_with("5:1: "), "{:?}", told(&apart.concat()));
        let others = apart[1].replace(&digest().to_string(), &ComponentDigest::of(b"other").to_string());
        assert_eq!(told(&format!("{}{others}", apart[0])), [""; 0], "another component is another module");
        for deny in [row("files { deny = [\"/srv/x\"] }"), "deny { files = [\"/srv/*\"] }\n".to_owned()] {
            assert_eq!(told(&format!("{}{deny}", apart.concat())), [""; 0], "{deny}");
        }
    }

    #[test]
    fn no_row_is_printed_that_would_grant_both() {
        let name: TypeName = "thing".parse().unwrap();
        let write = Want::Path { access: Access::Write, path: Key::from("/srv/x") };
        let run = |program: &str| Want::Object { domain: Domain::Process, verb: "run", name: program.into() };
        let decide = |text: &str, wants: &[Want]| {
            let wants = wants.iter().cloned().collect();
            let policy = parse(text, &[]).unwrap();
            match policy.decide(&ModuleIdentity { name: &name, digest: digest(), builtin: None, wants: &wants }) {
                Decision::Granted { .. } => panic!("it is not granted"),
                Decision::Refused(refusal) => (refusal.reason, refusal.row),
            }
        };
        let never = "`thing` declares to write `/srv/x` and to run `/srv/x`, which can never be granted together";
        assert_eq!(decide("", &[write.clone(), run("/srv/x")]), (never.into(), None));
        let granted = row("files { write = [\"/srv/x\"] }");
        assert_eq!(decide(&granted, &[write.clone(), run("/srv/x")]), (never.into(), None));
        let (reason, row) = decide(&granted, &[write.clone(), run("*")]);
        assert!(reason.contains("to run `*`") && row.is_none(), "which program it is, is not known: {reason}");
        assert!(decide(&granted, &[write, run("/bin/true")]).1.is_some());
    }
}
