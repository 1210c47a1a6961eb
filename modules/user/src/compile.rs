//! From attributes to the desired state.

use runtime_sdk::{
    AccountName, Asset, AssetRef, AssetSource, Compiled, DefinitionError, DefinitionResult, Ensure as _, Footprint, Parameters,
    Presence, TestedState,
};
use serde_json::json;

use crate::attributes::Given;
use crate::desired::{Desired, Identity};
use crate::home::Home;
use crate::primary::PrimaryGroup;
use crate::validate;

/// The one asset slot, and the attribute that it is of.
const PASSWORD: &str = "password_hash";

/// The attributes that decide about claims and effects, read and checked.
pub struct GivenIdentity {
    name: AccountName,
    ensure: Presence,
    group: Option<PrimaryGroup>,
    groups: Option<Vec<AccountName>>,
    home: Option<Home>,
    manage_home: bool,
}

impl GivenIdentity {
    /// What the declaration touches.
    pub fn footprint(&self) -> Footprint {
        let identity = Identity {
            name: &self.name,
            ensure: self.ensure,
            group: self.group.as_ref(),
            groups: self.groups.as_deref().unwrap_or_default(),
            home: self.home.as_ref(),
            manage_home: self.manage_home,
        };
        identity.footprint()
    }
}

/// Reads what decides about claims and effects.
pub fn identity(given: &Parameters) -> DefinitionResult<GivenIdentity> {
    let mut groups = Given::groups(given)?;
    if let Some(groups) = &mut groups {
        groups.sort();
        groups.dedup();
    }
    Ok(GivenIdentity {
        name: Given::name(given)?,
        ensure: Given::ensure(given)?,
        group: Given::group(given)?,
        groups,
        home: Given::home(given)?,
        manage_home: Given::manage_home(given)?,
    })
}

/// The desired state of a declaration.
pub fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
    let GivenIdentity { name, ensure, group, groups, home, manage_home } = identity(given)?;
    if ensure == Presence::Absent {
        // Their values count for nothing; the others have defaults, which mean the same as leaving them out.
        for name in validate::MEANINGLESS.into_iter().filter(|name| !matches!(*name, "membership" | "system")) {
            if given.has(name)? {
                return Err(validate::meaningless_attribute(name).into());
            }
        }
    }
    let has_password = given.has(PASSWORD)?;
    let desired = Desired {
        name,
        ensure,
        uid: Given::uid(given)?,
        group,
        groups,
        membership: Given::membership(given)?,
        comment: Given::comment(given)?,
        home,
        manage_home,
        shell: Given::shell(given)?,
        expires: Given::expires(given)?,
        locked: Given::locked(given)?,
        password_hash: has_password.then(Asset::pending),
        system: Given::system(given)?,
    };
    validate::check(&desired)?;
    let compiled = Compiled::new(desired);
    Ok(if has_password { compiled.asset(PASSWORD, AssetSource::Parameter(PASSWORD.into()), PASSWORD) } else { compiled })
}

/// Puts the name of the hash in.
pub fn assign_asset(desired: &mut Desired, slot: &str, asset: AssetRef) -> DefinitionResult<()> {
    match (slot, &mut desired.password_hash) {
        (PASSWORD, Some(hash)) => {
            hash.assign(asset);
            Ok(())
        }
        _ => Err(DefinitionError::Other(format!("no asset was asked for under the slot `{slot}`"))),
    }
}

/// The desired state as tests of manifests see it.
pub fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
    let Desired {
        name,
        ensure,
        uid,
        group,
        groups,
        membership,
        comment,
        home,
        manage_home,
        shell,
        expires,
        locked,
        password_hash: _,
        system,
    } = desired;
    TestedState::new(&json!({
        "name": name, "ensure": ensure.word(), "uid": uid, "group": group, "groups": groups, "membership": membership,
        "comment": comment, "home": home, "manage_home": manage_home, "shell": shell, "expires": expires, "locked": locked,
        "system": system,
    }))
}

#[cfg(test)]
mod tests {
    use crate::User;
    use runtime_sdk::testing::{self, Given};
    use runtime_sdk::{AssetSource, Definition as _, DefinitionError, Diagnostic, Effect, json};
    use serde_json::json;

    fn user() -> Given {
        Given::new().set("name", "web")
    }

    fn desired(given: &Given) -> String {
        json::canonical(&testing::compile::<User>(given, testing::any_digest).unwrap()).unwrap()
    }

    fn refusal(given: &Given) -> Diagnostic {
        match testing::compile::<User>(given, testing::any_digest).expect_err("the declaration is refused") {
            DefinitionError::Invalid(diagnostic) => diagnostic,
            other => panic!("{other:?}"),
        }
    }

    fn whole() -> Given {
        user()
            .set("uid", 812)
            .set("system", true)
            .set("group", "www")
            .set("groups", json!(["ssl", "adm", "ssl"]))
            .set("membership", "exact")
            .set("comment", "Web server")
            .set("home", "/srv/web")
            .set("manage_home", true)
            .set("shell", "/bin/false")
            .set("expires", "2030-06-30")
            .set("locked", true)
    }

    #[test]
    fn a_name_alone_is_a_user_with_nothing_managed() {
        let expected = r#"{"ensure":"present","manage_home":false,"membership":"minimum","name":"web","system":false}"#;
        assert_eq!(desired(&user()), expected);
    }

    #[test]
    fn all_of_a_user() {
        let expected = concat!(
            r#"{"comment":"Web server","ensure":"present","expires":"2030-06-30","group":"www","groups":["adm","ssl"],"#,
            r#""home":"/srv/web","locked":true,"manage_home":true,"membership":"exact","name":"web","shell":"/bin/false","#,
            r#""system":true,"uid":812}"#
        );
        assert_eq!(desired(&whole()), expected);
    }

    #[test]
    fn the_parts_of_the_definition_agree() {
        let absent = user().set("ensure", "absent");
        let with_home = absent.clone().set("home", "/home/web").set("manage_home", true);
        let by_id = user().set("gid", 100).set("groups", json!([])).set("expires", "never");
        for given in [user(), whole(), absent, with_home, by_id, user().sensitive("password_hash", "$6$a$0123456789")] {
            testing::agree::<User>(&given);
        }
    }

    #[test]
    fn the_hash_is_never_read() {
        let compiled = User::compile(&user().sensitive("password_hash", "s").parameters()).unwrap();
        assert_eq!(compiled.assets[0].source, AssetSource::Parameter("password_hash".into()));
    }

    #[test]
    fn what_is_touched_follows_from_identity_alone() {
        let footprint = |given: Given| testing::footprint::<User>(&given).unwrap();
        let deferred = user().deferred("uid").deferred("comment").deferred("shell").deferred("locked").deferred("password_hash");
        assert_eq!(footprint(deferred).effects, [Effect::user("web", &["read", "create", "modify"])]);
        let all = footprint(whole());
        let expected = [
            Effect::user("web", &["read", "create", "modify"]),
            Effect::group("www", &["join"]),
            Effect::group("adm", &["join"]),
            Effect::group("ssl", &["join"]),
            Effect::write_path("/srv/web"),
        ];
        assert_eq!(all.effects, expected);
        let claims: Vec<_> = all.claims.iter().map(|claim| (claim.key.as_slice(), claim.qualifier.as_str())).collect();
        assert_eq!(claims, [(&b"adm"[..], "member:web"), (b"ssl", "member:web")]);
        assert_eq!(all.affected_paths, [b"/srv/web".to_vec()]);
        let gone = footprint(user().set("ensure", "absent").set("home", "/srv/web").set("manage_home", true));
        assert_eq!(gone.effects[1..], [Effect::write_path("/srv/web"), Effect::write_path("/srv/web/**")]);
    }

    #[test]
    fn what_is_wrong_is_refused_at_its_attribute() {
        let absent = || user().set("ensure", "absent");
        let refused = [
            (user().set("name", "-r"), "name"),
            (user().set("uid", 0), "uid"),
            (user().set("group", "a:b"), "group"),
            (user().set("groups", json!(["a,b"])), "groups"),
            (user().set("membership", "exact"), "membership"),
            (user().set("comment", "a:b"), "comment"),
            (user().set("comment", "a\nb"), "comment"),
            (user().set("home", "srv"), "home"),
            (user().set("manage_home", true), "manage_home"),
            (user().set("manage_home", true).set("home", "/"), "manage_home"),
            (user().set("shell", "sh"), "shell"),
            (user().set("expires", "tomorrow"), "expires"),
            (absent().set("uid", 7), "uid"),
            (absent().set("groups", json!([])), "groups"),
            (absent().set("home", "/home/web"), "home"),
            (absent().sensitive("password_hash", "x"), "password_hash"),
        ];
        for (given, attribute) in refused {
            assert_eq!(refusal(&given).attribute.as_deref(), Some(attribute));
        }
    }
}
