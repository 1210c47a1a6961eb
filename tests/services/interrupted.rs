//! A run that is killed at each entry of the journal, with what the next run makes of it.

use testkit::Ledger;

use crate::lost;
use crate::on::{On, unit};

fn site(content: &str) -> String {
    let definition = unit(
        "ExecStartPre=/bin/sh -c 'echo started >> /var/starts'\\nEnvironmentFile=/etc/demo.conf\\nExecStart=/bin/sleep infinity",
    );
    format!(
        "resource \"file\" \"unit\" {{\n  path = \"/etc/systemd/system/demo.service\"\n  content = \"{}\"\n}}\n\
         resource \"file\" \"conf\" {{\n  path = \"/etc/demo.conf\"\n  content = \"A={content}\\n\"\n}}\n\
         resource \"service\" \"demo\" {{\n  name = \"demo\"\n  ensure = \"running\"\n  enabled = true\n\
         \x20 meta {{ subscribe = [file.conf, file.unit] }}\n}}\n",
        definition.replace('\n', "\\n")
    )
}

/// A machine whose service runs with another configuration than the compiled manifest says.
fn about_to_restart() -> On {
    let on = On::with_program(lost::program());
    on.converges(&site("one"));
    on.compile(&site("two"));
    on
}

fn starts(on: &On) -> usize {
    on.machine.read("/var/starts").lines().count()
}

#[test]
fn whenever_it_is_killed_the_next_run_restarts_it() {
    let whole = about_to_restart();
    let moments = lost::apply_until(&whole.machine, 0);
    assert_eq!(starts(&whole), 2);
    assert!(moments.iter().any(|moment| moment.ends_with("service.demo")), "{moments:?}");
    for (index, moment) in moments.iter().enumerate() {
        let on = about_to_restart();
        let _ = lost::apply_until(&on.machine, index + 1);
        let _ = on.run(&["apply", lost::BUNDLE]).success();
        // Only who dies after the restart and before that is on record restarts again: it cannot be known.
        let at_most = if moment == "before done service.demo" { 3 } else { 2 };
        assert!((2..=at_most).contains(&starts(&on)), "{moment}: {} times", starts(&on));
        let ledger = Ledger::read(&on.machine.path("/var/lib/runtime"));
        ledger.assert_settled();
        assert!(
            !ledger.obligations.iter().any(|line| line.ends_with("owed") || line.ends_with("pending")),
            "{moment}: {ledger:?}"
        );
        assert_eq!(on.states("demo"), "active enabled", "{moment}");
        let _ = on.site("apply").success();
    }
}

#[test]
fn whenever_its_first_run_is_killed_the_next_one_starts_it_once() {
    let fresh = || {
        let on = On::with_program(lost::program());
        on.compile(&site("one"));
        on
    };
    let whole = fresh();
    let moments = lost::apply_until(&whole.machine, 0);
    for (index, moment) in moments.iter().enumerate() {
        let on = fresh();
        let _ = lost::apply_until(&on.machine, index + 1);
        let _ = on.run(&["apply", lost::BUNDLE]).success();
        let at_most = if moment == "before done service.demo" { 2 } else { 1 };
        assert!((1..=at_most).contains(&starts(&on)), "{moment}: {} times", starts(&on));
        Ledger::read(&on.machine.path("/var/lib/runtime")).assert_settled();
        assert_eq!(on.states("demo"), "active enabled", "{moment}");
        let _ = on.site("apply").success();
    }
}
