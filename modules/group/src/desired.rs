//! The desired state: from attributes, what it must be, and what it means.

use std::time::Duration;

use runtime_sdk::{
    AccountId, AccountName, Claim, Compiled, DefinitionResult, Diagnostic, Effect, Ensure as _, Footprint, Parameters, Presence,
    Semantics, TestedState,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::attributes::Given;

/// Account tools wait for each other's locks, and a directory may be slow to answer.
const TIMEOUT: Duration = Duration::from_secs(2 * 60);

/// The desired state. What is none is left as it is on the node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desired {
    /// The name.
    pub name: AccountName,
    /// Whether it is there.
    pub ensure: Presence,
    /// The numeric id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gid: Option<AccountId>,
    /// Whether a new one gets an id of the system's range.
    pub system: bool,
    /// All members, sorted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<AccountName>>,
}

/// What decides about claims and effects.
pub struct Identity {
    name: AccountName,
    ensure: Presence,
    members: Option<Vec<AccountName>>,
}

impl Identity {
    /// The group; with its members also every membership in it, which otherwise belongs to the users.
    pub fn footprint(&self) -> Footprint {
        let actions: &[&str] = match self.ensure {
            Presence::Present => &["read", "create", "modify"],
            Presence::Absent => &["read", "delete"],
        };
        let mut footprint = Footprint::empty().effect(Effect::group(&self.name.0, actions));
        if self.members.is_some() {
            footprint.claims.push(Claim { domain: "group".into(), key: self.name.0.clone().into(), qualifier: "*".into() });
            // Read, so that orders can be derived from what is said of them.
            footprint.effects.extend(self.members.iter().flatten().map(|member| Effect::user(&member.0, &["read"])));
        }
        footprint
    }
}

impl Desired {
    fn identity(&self) -> Identity {
        Identity { name: self.name.clone(), ensure: self.ensure, members: self.members.clone() }
    }
}

/// Reads what decides about claims and effects.
pub fn identity(given: &Parameters) -> DefinitionResult<Identity> {
    Ok(Identity { name: Given::name(given)?, ensure: Given::ensure(given)?, members: members(given)? })
}

/// The members, sorted and each once.
fn members(given: &Parameters) -> DefinitionResult<Option<Vec<AccountName>>> {
    Ok(Given::members(given)?.map(|mut members| {
        members.sort();
        members.dedup();
        members
    }))
}

/// The desired state of a declaration.
pub fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
    let Identity { name, ensure, members } = identity(given)?;
    let system = Given::system(given)?;
    if ensure == Presence::Absent {
        let given = [("gid", given.has("gid")?), ("system", system), ("members", members.is_some())];
        if let Some((name, _)) = given.iter().find(|(_, is_given)| *is_given) {
            return Err(meaningless(name).into());
        }
    }
    Ok(Compiled::new(Desired { name, ensure, gid: Given::gid(given)?, system, members }))
}

fn meaningless(name: &str) -> Diagnostic {
    Diagnostic::at(name, format!("`{name}` has no meaning when `ensure` is `absent`"))
        .hint(format!("leave `{name}` out, or change `ensure`"))
}

/// Checks a complete desired state and says what it means.
pub fn validate(desired: &Desired) -> DefinitionResult<Semantics> {
    let Desired { name, ensure, gid, system, members } = desired;
    if !name.is_valid() {
        return Err(AccountName::refusal("name").into());
    }
    if gid.is_some_and(|gid| !gid.is_valid()) {
        return Err(AccountId::refusal("gid").into());
    }
    if let Some(members) = members {
        if members.iter().any(|member| !member.is_valid()) {
            return Err(AccountName::refusal("members").into());
        }
        if members.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(Diagnostic::at("members", "the members are not sorted, or one is there twice").into());
        }
    }
    let given = [("gid", gid.is_some()), ("system", *system), ("members", members.is_some())];
    if let (Presence::Absent, Some((name, _))) = (ensure, given.iter().find(|(_, is_given)| *is_given)) {
        return Err(meaningless(name).into());
    }
    let semantics = Semantics::new(desired.identity().footprint(), TIMEOUT).capability("accounts.read");
    Ok(match ensure {
        Presence::Present => semantics.capability("accounts.create").capability("accounts.modify"),
        Presence::Absent => semantics.capability("accounts.delete"),
    })
}

/// The desired state as tests of manifests see it.
pub fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
    let Desired { name, ensure, gid, system, members } = desired;
    TestedState::new(&json!({ "name": name, "ensure": ensure.word(), "gid": gid, "system": system, "members": members }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Group;
    use runtime_sdk::testing::{self, Given as Declaration};
    use runtime_sdk::{Definition as _, DefinitionError, json as canonical};

    fn group() -> Declaration {
        Declaration::new().set("name", "web")
    }

    fn desired(given: &Declaration) -> String {
        canonical::canonical(&testing::compile::<Group>(given, testing::any_digest).unwrap()).unwrap()
    }

    fn refusal(given: &Declaration) -> Diagnostic {
        match testing::compile::<Group>(given, testing::any_digest).expect_err("the declaration is refused") {
            DefinitionError::Invalid(diagnostic) => diagnostic,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_name_alone_is_a_group_with_nothing_managed() {
        assert_eq!(desired(&group()), r#"{"ensure":"present","name":"web","system":false}"#);
    }

    #[test]
    fn members_are_a_set() {
        let given = group().set("gid", 812).set("members", json!(["b", "a", "b"]));
        assert_eq!(desired(&given), r#"{"ensure":"present","gid":812,"members":["a","b"],"name":"web","system":false}"#);
        assert!(desired(&group().set("members", json!([]))).contains(r#""members":[]"#), "none is not unmanaged");
    }

    #[test]
    fn the_parts_of_the_definition_agree() {
        let absent = group().set("ensure", "absent");
        let all = group().set("gid", 812).set("system", true).set("members", json!(["a"]));
        for given in [group(), absent, all, group().set("members", json!([]))] {
            testing::agree::<Group>(&given);
        }
    }

    #[test]
    fn what_is_wrong_is_refused_at_its_attribute() {
        let refused = [
            (group().set("name", "-r"), "name"),
            (group().set("gid", 0), "gid"),
            (group().set("gid", -1), "gid"),
            (group().set("members", json!(["a:b"])), "members"),
            (group().set("ensure", "absent").set("gid", 7), "gid"),
            (group().set("ensure", "absent").set("members", json!([])), "members"),
            (group().set("ensure", "absent").set("system", true), "system"),
            (group().set("ensure", "gone"), "ensure"),
        ];
        for (given, attribute) in refused {
            assert_eq!(refusal(&given).attribute.as_deref(), Some(attribute));
        }
    }

    #[test]
    fn a_group_and_its_members_are_claimed_apart() {
        let footprint = |given: Declaration| testing::footprint::<Group>(&given).unwrap();
        assert!(footprint(group()).claims.is_empty(), "the host derives the one of the group");
        let whole = footprint(group().set("members", json!(["a"])));
        assert_eq!(whole.claims[0].qualifier, "*", "every membership");
        assert_eq!(whole.effects[1], Effect::user("a", &["read"]));
        let deferred = group().deferred("gid");
        assert_eq!(footprint(deferred).effects, [Effect::group("web", &["read", "create", "modify"])]);
    }

    #[test]
    fn whatever_compile_cannot_give_is_refused() {
        let refused = [
            r#"{"ensure":"present","name":"web"}"#,
            r#"{"ensure":"present","name":"a:b","system":false}"#,
            r#"{"ensure":"present","gid":0,"name":"web","system":false}"#,
            r#"{"ensure":"present","gid":4294967295,"name":"web","system":false}"#,
            r#"{"ensure":"present","members":["b","a"],"name":"web","system":false}"#,
            r#"{"ensure":"present","members":["a","a"],"name":"web","system":false}"#,
            r#"{"ensure":"present","members":["-a"],"name":"web","system":false}"#,
            r#"{"ensure":"absent","gid":7,"name":"web","system":false}"#,
            r#"{"ensure":"absent","name":"web","system":true}"#,
            r#"{"ensure":"present","extra":1,"name":"web","system":false}"#,
        ];
        for text in refused {
            let accepted = canonical::parse_canonical::<Desired>(text).ok().and_then(|desired| Group::validate(&desired).ok());
            assert_eq!(accepted, None, "{text}");
        }
    }
}
