//! Tracing to stderr, for `-v`.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::time::uptime;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::context::Speech;

/// Begins to write what our own crates trace. What libraries trace is theirs to debug.
pub(super) fn start(speech: Speech) {
    let level = match speech.verbosity {
        0 => return,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let ours =
        Targets::new().with_target("runtime", level).with_target("host_functions", level).with_target("component_build", level);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(speech.stderr_colour)
        .with_timer(uptime())
        .with_target(false);
    // A second call, as tests in one process may make, changes nothing.
    let _ = tracing_subscriber::registry().with(ours).with(lines).try_init();
}
