//! A run that is killed at each entry of the journal, with what the next run makes of it.

use testkit::Ledger;
use testkit::machine::repositories::Manager;

use crate::lost;
use crate::on::On;

const SITE: &str = "resource \"package\" \"needs\" {\n  name = \"needs\"\n}\n\
                    resource \"package\" \"other\" {\n  name = \"other\"\n  hold = true\n}\n";

fn fresh() -> On {
    let on = On::with_program(Manager::Apt, Some(lost::program()));
    on.compile(SITE, &[]);
    on
}

#[test]
fn whenever_it_is_killed_the_next_run_installs_what_is_missing() {
    let moments = lost::apply_until(&fresh().machine, 0);
    assert!(moments.iter().any(|moment| moment.ends_with("package.needs")), "{moments:?}");
    for (index, moment) in moments.iter().enumerate() {
        let on = fresh();
        let _ = lost::apply_until(&on.machine, index + 1);
        let _ = on.site("apply", &[]).success();
        let installed = on.machine.shell("dpkg-query -W -f '${Package} ${db:Status-Abbrev}\\n' demo needs other");
        assert_eq!(installed, "demo ii \nneeds ii \nother hi \n", "{moment}");
        Ledger::read(&on.machine.path("/var/lib/runtime")).assert_settled();
        let _ = on.site("apply", &["--detailed-exitcode"]).success();
    }
}
