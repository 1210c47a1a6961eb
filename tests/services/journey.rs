//! A whole server: its package from a repository, its user, its unit and configuration, the service; and a restart that survives a lost run.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use testkit::machine::repositories::{self, Manager};

use crate::on::{On, says};

/// The example of the documentation: `mini_httpd` is a small web server of Debian's.
const EXAMPLE: &str = include_str!("../../docs/examples/web/site.hcl");

/// A command between the configuration and the service, which waits while there is `/var/hold`.
const PAUSE: &str = r#"
resource "exec" "pause" {
  command = ["/bin/sleep", "600"]
  only_if = ["/usr/bin/test", "-e", "/var/hold"]
  meta {
    require = [file.conf]
    before  = [service.web]
  }
}
"#;

/// The example with this port.
fn site(port: u16) -> String {
    let site = EXAMPLE.replace("default = 8080", &format!("default = {port}"));
    assert!(site.contains(&port.to_string()), "the example has another port");
    site + PAUSE
}

impl On {
    /// A repository with the one package, which the root brings along.
    fn with_repository() -> Self {
        let on = Self::systemd();
        on.machine.shell(
            "mkdir -p /srv/repository/apt && cp /srv/packages/*.deb /srv/repository/apt/ && cd /srv/repository/apt && \
             apt-ftparchive packages . > Packages && echo 'deb [trusted=yes] file:/srv/repository/apt ./' > /etc/apt/sources.list && \
             apt-get update -qq",
        );
        on
    }

    /// What the server says, and how often it was started since the machine was.
    fn served(&self, port: u16) -> (String, usize) {
        let ask = format!("exec 3<> /dev/tcp/127.0.0.1/{port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && tail -n 1 <&3");
        let page = self.machine.run(&["bash", "-c", &ask]).success().stdout;
        let log = self.machine.shell("journalctl -q -u web -o cat | grep -c '^Started ' || true");
        (page, log.trim().parse().expect("a number"))
    }

    /// An apply that runs beside the test.
    fn applying(&self) -> Child {
        let mut command = self.machine.command(&["runtime", "apply", "/root/site/site.wasm.tar"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a machine takes commands")
    }

    fn wait_until(&self, what: &str, holds: impl Fn(&On) -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !holds(self) {
            assert!(Instant::now() < end, "waited in vain until {what}");
            sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn a_server_is_installed_configured_started_and_restarted_once_when_its_configuration_changes() {
    let on = On::with_repository();
    let installed = on.converges(&site(8080));
    says(&installed, "apt");
    assert_eq!(on.served(8080), ("it works\n".to_owned(), 1));
    assert_eq!(on.states("web"), "active enabled");
    assert_eq!(on.machine.shell("ps -o user= -C mini_httpd").trim(), "web");
    let _ = on.site("apply").success();

    on.converges(&site(8081));
    assert_eq!(on.served(8081), ("it works\n".to_owned(), 2), "restarted once");
    let _ = on.site("apply").success();
    assert_eq!(on.served(8081).1, 2);
}

#[test]
fn a_run_that_is_killed_between_the_configuration_and_the_restart_loses_no_restart() {
    let on = On::with_repository();
    on.converges(&site(8080));
    on.machine.shell("touch /var/hold");
    on.compile(&site(8081));
    let mut lost = on.applying();
    on.wait_until("the configuration is written and the run waits", |on| {
        on.machine.read("/etc/web.conf").contains("port=8081")
            && on.machine.run(&["pgrep", "-fx", "/bin/sleep 600"]).code == Some(0)
    });
    on.machine.shell("pkill -KILL -x runtime");
    let _ = lost.wait().expect("a child can be waited for");
    assert_eq!(on.served(8080), ("it works\n".to_owned(), 1), "it still runs as it was");
    on.wait_until("what the lost run started is gone", |on| on.machine.run(&["pgrep", "-fx", "/bin/sleep 600"]).code == Some(1));

    on.machine.shell("rm /var/hold");
    let _ = on.run(&["plan", "/root/site/site.wasm.tar"]).exits_with(5);
    let _ = on.site("apply").exits_with(2);
    assert_eq!(on.served(8081), ("it works\n".to_owned(), 2), "restarted, and once");
    let _ = on.site("apply").success();
    assert_eq!(on.served(8081).1, 2, "and never again");
}

#[test]
fn the_same_manifest_on_a_system_like_fedora_plans_with_dnf() {
    let on = On::without_init();
    repositories::make_of(&on.machine, Manager::Dnf, "mini-httpd 1.0");
    on.machine.shell("rm -f /etc/os-release");
    on.machine.write("/etc/os-release", "ID=fedora\nVERSION_ID=42\n");
    on.compile(&site(8080));
    let plan = on.run(&["plan", "/root/site/site.wasm.tar", "--color", "never"]).exits_with(3);
    let line = plan.stdout.lines().find(|line| line.contains("package.web")).unwrap_or_default().to_owned();
    assert!(line.contains("dnf"), "{plan}");
    says(&plan, "systemd needs systemd as the init system");
}
