//! Users and groups on a real Alpine, whose account tools are busybox's.

use std::path::Path;

use testkit::machine::{Finished, Machine, Setup, System};
use testkit::warm::warm;

struct Alpine(Machine);

impl Alpine {
    fn new() -> Self {
        let program = Path::new(env!("CARGO_BIN_EXE_runtime"));
        let machine = Setup::new(System::Alpine).with_program(program).enter();
        warm(&machine, program);
        machine.shell("mkdir -p /root/site");
        Self(machine)
    }

    #[track_caller]
    fn compile(&self, manifest: &str) {
        self.0.write("/root/site/site.hcl", manifest);
        let _ = self.0.run(&["runtime", "compile", "/root/site/site.hcl", "-o", "/root/site/site.wasm.tar"]).success();
    }

    #[track_caller]
    fn site(&self, command: &str) -> Finished {
        self.0.run(&["runtime", command, "/root/site/site.wasm.tar", "--color", "never", "--detailed-exitcode"])
    }
}

#[test]
fn an_account_lives_with_busybox() {
    let alpine = Alpine::new();
    alpine.compile(
        "resource \"group\" \"www\" {\n  name = \"www\"\n  gid  = 813\n}\n\
         resource \"user\" \"web\" {\n  name = \"web\"\n  uid = 812\n  group = \"www\"\n  groups = [\"adm\"]\n  home = \"/srv/web\"\n\
         \x20 manage_home = true\n  shell = \"/bin/sh\"\n  comment = \"The server\"\n}\n",
    );
    let _ = alpine.site("plan").exits_with(2);
    assert_eq!(alpine.0.run(&["id", "web"]).code, Some(1), "a plan makes nobody");
    let _ = alpine.site("apply").exits_with(2);
    // busybox lists a user in its primary group too.
    assert_eq!(alpine.0.shell("id -u web; id -gn web; id -Gn web | tr ' ' '\\n' | sort -u"), "812\nwww\nadm\nwww\n");
    assert_eq!(alpine.0.shell("grep ^web: /etc/passwd"), "web:x:812:813:The server:/srv/web:/bin/sh\n");
    assert_eq!(alpine.0.shell("stat -c '%U %G' /srv/web"), "web www\n");
    let _ = alpine.site("plan").success();

    alpine.0.shell("delgroup web adm");
    let drifted = alpine.site("plan").exits_with(2);
    assert!(drifted.to_string().contains("groups"), "{drifted}");
    let _ = alpine.site("apply").exits_with(2);
    assert_eq!(alpine.0.shell("id -Gn web | tr ' ' '\\n' | sort -u"), "adm\nwww\n");

    alpine.compile(
        "resource \"user\" \"web\" {\n  name = \"web\"\n  ensure = \"absent\"\n}\n\
         resource \"group\" \"www\" {\n  name = \"www\"\n  ensure = \"absent\"\n}\n",
    );
    let _ = alpine.site("apply").exits_with(2);
    assert_eq!(alpine.0.shell("grep -c -e ^web: -e ^www: /etc/passwd /etc/group || true"), "/etc/passwd:0\n/etc/group:0\n");
    let _ = alpine.site("plan").success();
}
