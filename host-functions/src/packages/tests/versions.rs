//! Our order of versions against the managers' own, over many pairs. Run in a machine, like the steps.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::{Manager, manager, shell};

const PAIRS: usize = 600;

/// A number that looks random and is the same in each run.
struct Source(u64);

impl Source {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    fn version(&mut self, manager: Manager) -> String {
        if manager == Manager::Apk { self.apk_version() } else { self.other_version(manager) }
    }

    fn apk_version(&mut self) -> String {
        let mut text = self.number().to_owned();
        for _ in 0..self.below(3) {
            text = format!("{text}.{}", self.number());
        }
        text += self.one(&["", "", "a", "b"]);
        for _ in 0..self.below(2) {
            let suffix = self.one(&["alpha", "beta", "pre", "rc", "cvs", "svn", "git", "hg", "p"]);
            text = format!("{text}_{suffix}{}", self.one(&["", "1", "2", "10"]));
        }
        text + self.one(&["", "-r0", "-r1", "-r10"])
    }

    fn other_version(&mut self, manager: Manager) -> String {
        let separators: &[&str] = match manager {
            Manager::Apt => &[".", "+", "~", ""],
            Manager::Dnf | Manager::Zypper => &[".", "~", "^", "_", "+", ""],
            _ => &[".", "_", "+", ""],
        };
        let mut text = format!("{}{}", self.one(&["", "", "0:", "1:", "2:"]), self.number());
        for _ in 0..self.below(5) {
            text += self.one(separators);
            let number = self.number();
            text += self.one(&[number, number, "a", "b", "rc", "alpha"]);
        }
        format!("{text}-{}", self.number())
    }

    fn number(&mut self) -> &'static str {
        self.one(&["0", "1", "2", "10", "01", "00", "9", "20"])
    }
}

/// What the manager's own tool says of each pair: `<`, `=` or `>`.
fn theirs(manager: Manager, pairs: &[(String, String)]) -> Vec<Ordering> {
    let mut script = String::new();
    for (left, right) in pairs {
        let line = match manager {
            Manager::Apt => format!(
                "if dpkg --compare-versions '{left}' lt '{right}'; then echo '<'; elif dpkg --compare-versions '{left}' eq '{right}'; \
                 then echo '='; else echo '>'; fi"
            ),
            Manager::Dnf | Manager::Zypper => format!("print(rpm.vercmp('{left}', '{right}') .. ' ')"),
            Manager::Pacman => format!("vercmp '{left}' '{right}'"),
            Manager::Apk => format!("apk version -t '{left}' '{right}'"),
        };
        writeln!(script, "{line}").unwrap();
    }
    let told = if matches!(manager, Manager::Dnf | Manager::Zypper) {
        std::fs::write("/tmp/versions.lua", script).unwrap();
        shell("rpm --eval '%{lua:dofile(\"/tmp/versions.lua\")}'")
    } else {
        std::fs::write("/tmp/versions.sh", script).unwrap();
        shell("sh /tmp/versions.sh")
    };
    let order = |word: &str| match word {
        "<" | "-1" => Ordering::Less,
        "=" | "0" => Ordering::Equal,
        ">" | "1" => Ordering::Greater,
        other => panic!("no order: {other}"),
    };
    told.split_whitespace().map(order).collect()
}

#[test]
#[ignore = "run in a machine, by another test"]
fn versions_have_the_managers_own_order() {
    let (manager, mut source) = (manager(), Source(7));
    let pairs: Vec<_> = (0..PAIRS).map(|_| (source.version(manager), source.version(manager))).collect();
    let theirs = theirs(manager, &pairs);
    assert_eq!(theirs.len(), PAIRS);
    for ((left, right), theirs) in pairs.iter().zip(theirs) {
        let ours = crate::packages::Manager::from(manager).compare(left, right);
        assert_eq!(ours, theirs, "{left} and {right}");
    }
}
