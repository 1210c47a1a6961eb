//! `memory.*`, of the machine that runs. How much is free is no fact: it is another at every moment.

use serde_json::{Value as Json, json};

use super::machine;
use crate::node::Root;

pub(super) fn gather(_root: &Root) -> Option<Json> {
    machine::read("/proc/meminfo", super::MAX_FILE).map(|content| parse(&content))
}

fn parse(content: &str) -> Json {
    let bytes = |wanted: &str| {
        let mut lines = content.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = lines.find(|(key, _)| *key == wanted)?;
        value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
    };
    json!({ "total_bytes": bytes("MemTotal"), "swap_bytes": bytes("SwapTotal") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_in_bytes() {
        let content = "MemTotal:        8167848 kB\nMemFree:          166104 kB\nSwapTotal:             0 kB\n";
        assert_eq!(parse(content), json!({ "total_bytes": 8_363_876_352_u64, "swap_bytes": 0 }));
        assert_eq!(parse("MemTotal: lots\n"), json!({ "total_bytes": null, "swap_bytes": null }));
    }
}
