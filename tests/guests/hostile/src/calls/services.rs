//! Calls of `systemd` and `openrc`.

use runtime_sdk::bindings::runtime::host::systemd;
use runtime_sdk::openrc;

use super::with::With;
use super::{Answer, done, seen};

pub fn call(function: &str, with: &With<'_>) -> Option<Answer> {
    match function.split_once('#')? {
        ("systemd", function) => systemd_call(function, with),
        ("openrc", function) => openrc_call(function, with),
        _ => None,
    }
}

fn systemd_call(function: &str, with: &With<'_>) -> Option<Answer> {
    let unit = || with.text(if with.is("template") { "demo@.service" } else { "demo.service" });
    match function {
        "identity" => seen(systemd::identity(&unit())),
        "status" => seen(systemd::status(&unit())),
        "settled" => {
            let for_ever = if with.is("for-ever") { u32::MAX } else { 1 };
            seen(systemd::settled(&unit(), for_ever, for_ever))
        }
        "start" => done(systemd::start(&unit())),
        "stop" => done(systemd::stop(&unit())),
        "restart" => done(systemd::restart(&unit())),
        "reload" => done(systemd::reload(&unit())),
        "reload-or-restart" => done(systemd::reload_or_restart(&unit())),
        "reset-failed" => done(systemd::reset_failed(&unit())),
        "enable" => done(systemd::enable(&unit())),
        "disable" => done(systemd::disable(&unit())),
        "mask" => done(systemd::mask(&unit())),
        "unmask" => done(systemd::unmask(&unit())),
        "daemon-reload" => done(systemd::daemon_reload()),
        _ => None,
    }
}

fn openrc_call(function: &str, with: &With<'_>) -> Option<Answer> {
    let name = || with.text("demo");
    let runlevel = || if with.is("runlevel") { "../../secret" } else { "default" };
    match function {
        "status" => seen(openrc::status(&name())),
        "start" => done(openrc::start(&name())),
        "stop" => done(openrc::stop(&name())),
        "restart" => done(openrc::restart(&name())),
        "reload" => done(openrc::reload(&name())),
        "zap" => done(openrc::zap(&name())),
        "add" => done(openrc::add(&name(), runlevel())),
        "remove" => done(openrc::remove(&name(), runlevel())),
        _ => None,
    }
}
