//! `cpu.*`, of the machine that runs, whatever the root.

use serde_json::{Value as Json, json};

use super::machine;
use crate::node::Root;
use crate::text::escape;

/// A thousand processors say less than this.
const MAX: u64 = 8 * 1024 * 1024;

pub(super) fn gather(_root: &Root) -> Option<Json> {
    machine::read("/proc/cpuinfo", MAX).map(|content| parse(&content))
}

fn parse(content: &str) -> Json {
    let pairs = || content.lines().filter_map(|line| line.split_once(':')).map(|(key, value)| (key.trim(), value.trim()));
    let first = |wanted: &str| pairs().find(|(key, value)| *key == wanted && !value.is_empty()).map(|(_, value)| escape(value));
    let count = pairs().filter(|(key, _)| *key == "processor").count();
    json!({ "count": count.max(1), "model": first("model name"), "vendor": first("vendor_id") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted_and_named() {
        let content = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: A CPU\n\nprocessor\t: 1\nmodel name\t: A CPU\n";
        assert_eq!(parse(content), json!({ "count": 2, "model": "A CPU", "vendor": "GenuineIntel" }));
        let arm = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\n";
        assert_eq!(parse(arm), json!({ "count": 1, "model": null, "vendor": null }));
        assert_eq!(parse("")["count"], 1);
    }
}
