//! The pure half.

use std::time::Duration;

use runtime_sdk::{
    Attribute, Capability, Compiled, Definition, DefinitionError, DefinitionResult, Diagnostic, Effect, Footprint, Parameters,
    Semantics, TestedState, Value, json,
};

use crate::{Bell, Desired, RELOAD};

fn path(given: &Parameters) -> DefinitionResult<String> {
    given.required("path")
}

fn footprint(path: &str) -> DefinitionResult<Footprint> {
    if !path.starts_with('/') {
        return Err(Diagnostic::at("path", "the path is not absolute").into());
    }
    let footprint = Footprint::empty().effect(Effect::write_path(path)).effect(Effect::write_path(format!("{path}.rings")));
    let look = |suffix: &str| Effect {
        domain: "path".into(),
        key: format!("{path}.{suffix}").into_bytes(),
        actions: vec!["read".into()],
        qualifier: None,
    };
    Ok(["jam", "cracked", "reload", "moved"].into_iter().fold(footprint, |footprint, suffix| footprint.effect(look(suffix))))
}

impl Definition for Bell {
    const TYPE: &'static str = "bell";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "Hangs a bell, and rings it.";

    type Given = ();
    type Desired = Desired;

    fn attributes() -> Vec<Attribute> {
        vec![
            Attribute::string("path").required().identity().exported().doc("The file that is the bell."),
            Attribute::boolean("hung").nullable().doc("Whether it hangs; it does unless told otherwise."),
            Attribute::string("note").nullable().doc("What is written on it."),
        ]
    }

    fn capabilities() -> Vec<Capability> {
        vec![
            Capability::new("files", "read", "/**", "to look at the bell"),
            Capability::new("files", "write", "/**", "to hang and ring it"),
        ]
    }

    fn footprint(given: &Parameters) -> DefinitionResult<Footprint> {
        footprint(&path(given)?)
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
        let hung = given.read("hung")?.unwrap_or(true);
        let note = given.string("note")?.unwrap_or_default();
        Ok(Compiled { desired: Desired { path: path(given)?, hung, note }, assets: Vec::new() })
    }

    fn validate(desired: &Desired) -> DefinitionResult<Semantics> {
        let mut semantics = Semantics::new(footprint(&desired.path)?, Duration::from_secs(60));
        semantics = semantics.capability("files.read").capability("files.write");
        semantics.accepts_refresh = true;
        semantics.prerequisites = vec![RELOAD.into()];
        Ok(semantics)
    }

    fn resolve_export(attribute: &str, given: &Parameters) -> DefinitionResult<Value> {
        match attribute {
            "path" => Ok(path(given)?.into()),
            _ => Err(DefinitionError::Unsupported(format!("`{attribute}` is not exported"))),
        }
    }

    fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
        Ok(TestedState { attributes: json::canonical(desired)?, content: None })
    }
}

#[cfg(test)]
mod tests {
    use runtime_sdk::testing::{self, Given};

    use super::*;

    #[test]
    fn the_parts_of_the_definition_agree() {
        testing::check_description::<Bell>();
        let semantics = testing::agree::<Bell>(&Given::new().set("path", "/srv/bell").set("note", "do not ring"));
        assert!(semantics.accepts_refresh);
        assert_eq!(semantics.prerequisites, [RELOAD]);
    }
}
