//! What resources that have had their turn give to those that wait for them.
//!
//! Values may be sensitive: they are in memory for the length of a run, and nothing here can be printed.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value as Json;

use crate::language::value::{Marks, Value};
use crate::model::catalog::Resource;
use crate::model::description::Output;
use crate::model::ids::ResourceId;
use crate::model::report::{Action, Outcome, Phase, ResourceReport};

/// What can be read of a resource that has ended well.
pub enum Available {
    /// Its outputs: an object.
    Known(Json),
    /// A plan, in which it would change: nobody knows what it will put out.
    WouldChange,
    /// It was left alone, and no earlier run recorded outputs.
    Skipped,
    /// It was as desired, its module put nothing out, and no earlier run recorded outputs.
    Silent,
}

/// The outputs of one run, as they become known. Cheap to clone: clones share what they hold.
#[derive(Clone, Default)]
pub struct Outputs(Arc<RwLock<BTreeMap<ResourceId, Arc<Available>>>>);

impl Outputs {
    /// Notes what can be read of a resource from now on.
    pub fn note(&self, id: ResourceId, available: Available) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::new(available));
    }

    /// The value of an output.
    ///
    /// # Errors
    /// If it is not known.
    pub(super) fn read(&self, id: &ResourceId, output: &Output) -> Result<Value, Unread> {
        let available = self.0.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        let unread = |why| Unread { resource: id.clone(), output: output.name.clone(), why };
        let json = match available.as_deref() {
            None => return Err(unread(Why::NotYet)),
            Some(Available::WouldChange) => return Err(unread(Why::WouldChange)),
            Some(Available::Skipped) => return Err(unread(Why::Skipped)),
            Some(Available::Silent) => return Err(unread(Why::Silent)),
            Some(Available::Known(outputs)) => outputs.get(&output.name).ok_or_else(|| unread(Why::NotRecorded))?,
        };
        // What this run put out has been checked; what is on record may be another version's.
        if !output.output_type.accepts(json) {
            return Err(unread(Why::OtherType));
        }
        let value = Value::from_json(json).map_err(|_| unread(Why::OtherType))?;
        Ok(if output.sensitive { value.marked(&Marks::sensitive()) } else { value })
    }
}

/// An output that cannot be read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unread {
    resource: ResourceId,
    output: String,
    why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    NotYet,
    WouldChange,
    Skipped,
    Silent,
    NotRecorded,
    OtherType,
}

impl Unread {
    /// What to say to whoever evaluates.
    pub(super) fn words(&self) -> String {
        format!("`{}.{}` is not known", self.resource, self.output)
    }

    /// The report of `resource`, which cannot do without it at its turn.
    pub(super) fn report(&self, resource: &Resource) -> Box<ResourceReport> {
        let Self { resource: read, output, why } = self;
        let name = format!("`{read}.{output}`");
        let ended = |outcome, reason: String| {
            let report = ResourceReport::untouched(resource.id.clone());
            Box::new(ResourceReport { outcome, action: Action::Skip, reason: Some(reason), ..report })
        };
        let failed = |outcome, message: String, hint: &str| {
            super::failed(resource, outcome, Phase::Resolve, message, Some(hint.to_owned()))
        };
        let again = "what its module puts out is on record once it has changed the object";
        match why {
            Why::WouldChange => ended(Outcome::CannotPlan, format!("waits for {name}, which this plan would change")),
            Why::Skipped => {
                let reason = format!("it reads {name}, but `{read}` is skipped, and no earlier run recorded its outputs");
                ended(Outcome::Unmet, reason)
            }
            Why::NotYet => {
                failed(Outcome::Refused, format!("it reads {name}, which does not go before it"), "compile the manifest again")
            }
            Why::Silent => failed(
                Outcome::Failed,
                format!("it reads {name}, but `{read}` was as desired already, and no earlier run recorded its outputs"),
                again,
            ),
            Why::NotRecorded => failed(
                Outcome::Failed,
                format!("it reads {name}, which is not among the outputs that an earlier run recorded of `{read}`"),
                "a sensitive output is never recorded; another version of the module may have recorded fewer",
            ),
            Why::OtherType => failed(
                Outcome::Failed,
                format!("it reads {name}, and what an earlier run recorded of that is not of its type"),
                "another version of the module recorded it",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::description::AttributeType;

    #[test]
    fn an_output_is_read_where_it_is_known_and_of_its_type() {
        let output = |name: &str, sensitive| Output {
            name: name.into(),
            output_type: AttributeType::String,
            sensitive,
            doc: String::new(),
        };
        let id = |name: &str| format!("exec.{name}").parse::<ResourceId>().unwrap();
        let outputs = Outputs::default();
        outputs.note(id("a"), Available::Known(json!({"id": "x", "token": "t", "size": 1})));
        outputs.note(id("b"), Available::Silent);
        let read = |name: &str, output: &Output| outputs.clone().read(&id(name), output);
        assert_eq!(read("a", &output("id", false)), Ok(Value::text("x").unwrap()));
        assert!(read("a", &output("token", true)).unwrap().marks().is_sensitive());
        assert_eq!(read("a", &output("size", false)).unwrap_err().why, Why::OtherType);
        assert_eq!(read("a", &output("more", false)).unwrap_err().why, Why::NotRecorded);
        assert_eq!(read("b", &output("id", false)).unwrap_err().why, Why::Silent);
        let early = read("c", &output("id", false)).unwrap_err();
        assert!(early.why == Why::NotYet && early.words().contains("`exec.c.id`"));
    }
}
