//! How often a run has the manager read the node: once, and again after a change.

use testkit::machine::Finished;
use testkit::machine::repositories::Manager;

use crate::on::On;

const THREE: &str = "resource \"package\" \"demo\" {\n  name = \"demo\"\n}\n\
                     resource \"package\" \"needs\" {\n  name = \"needs\"\n}\n\
                     resource \"package\" \"other\" {\n  name = \"other\"\n}\n";

/// How often what is installed was read, and what is offered, as `-vv` tells it.
fn reads(finished: &Finished) -> (usize, usize) {
    let ended = || finished.stderr.lines().filter(|line| line.contains("a package manager's program ended"));
    let times = |program: &str| ended().filter(|line| line.contains(&format!("program=\"{program}\""))).count();
    (times("dpkg-query"), times("apt-cache"))
}

#[test]
fn a_run_reads_packages_and_offers_once_and_again_only_after_a_change() {
    let on = On::new(Manager::Apt);
    let run = |command: &str| reads(&on.site(command, &["-vv", "--parallelism", "1"]).success());
    on.compile(THREE, &[]);
    assert_eq!(run("plan"), (1, 1), "nothing is installed, and each is to have a version");
    run("apply");
    assert_eq!((run("plan"), run("apply")), ((1, 0), (1, 0)), "everything is installed, at whatever version");
    on.compile(&THREE.replace("\"\n}", "\"\n  ensure = \"latest\"\n}"), &[]);
    assert_eq!((run("plan"), run("apply")), ((1, 1), (1, 1)));

    on.compile(THREE, &[]);
    on.machine.shell("apt-get remove -qq -y other");
    // The check of all three; before and after the transaction; and what verifies it, which asks nobody that has read before.
    assert_eq!(run("apply"), (4, 1));
}
