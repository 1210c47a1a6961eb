//! A report as JSON, in the parts in which it is streamed.

use serde_json::{Value as Json, json};

use crate::model::report::{Report, ResourceReport};

/// One resource, as it ended. docs/formats/report.md lists its fields.
pub fn resource_record(resource: &ResourceReport) -> Json {
    to_json(resource)
}

/// The whole report but for its resources, which went before, and the summary.
pub fn conclusion(report: &Report) -> Json {
    // A report of many resources is large: it is not made JSON only to be thrown away.
    let rest = Report {
        report_version: report.report_version,
        run: report.run.clone(),
        mode: report.mode,
        owner: report.owner.clone(),
        serial: report.serial,
        bundle: report.bundle,
        modules: report.modules.clone(),
        started: report.started.clone(),
        ended: report.ended.clone(),
        notes: report.notes.clone(),
        resources: Vec::new(),
    };
    let mut parts = to_json(&rest);
    if let Some(map) = parts.as_object_mut() {
        map.remove("resources");
        map.insert("summary".to_owned(), json!(report.summary()));
    }
    parts
}

/// Reports are structs of text, numbers and maps with text keys: serde has no error to give for them.
fn to_json(part: &impl serde::Serialize) -> Json {
    serde_json::to_value(part).unwrap_or_else(|error| json!({ "unserializable": error.to_string() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn the_conclusion_has_the_summary_and_no_resources() {
        let parts = conclusion(&samples::report(vec![samples::skipped(), samples::mode_update()]));
        assert_eq!(parts.get("resources"), None);
        assert_eq!(parts["summary"]["skipped"], 1);
        assert_eq!(parts["summary"]["would_change"], 1);
        assert_eq!(parts["report_version"], 2);
    }

    #[test]
    fn a_resource_record_reads_back() {
        let resource = samples::created_with_diff();
        let read: ResourceReport = serde_json::from_value(resource_record(&resource)).unwrap();
        assert_eq!(read, resource);
    }
}
