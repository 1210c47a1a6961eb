//! From attributes to the desired state.

use runtime_sdk::{Asset, AssetRef, Compiled, DefinitionError, DefinitionResult, Parameters, TestedState};
use serde_json::json;

use crate::attributes::Given;
use crate::desired::{Desired, Ensure, Identity};
use crate::links::Links;
use crate::source::{self, Origin};
use crate::validate;
use crate::validation::Validation;

/// The one asset slot.
const CONTENT: &str = "content";

/// The attributes that decide about claims and effects, read and checked.
pub struct GivenIdentity {
    path: String,
    ensure: Ensure,
    force: bool,
    links: Links,
    leads_to: Vec<String>,
    parents: bool,
    backup: u32,
    validate: Option<Validation>,
}

impl GivenIdentity {
    /// What the declaration touches.
    pub fn footprint(&self) -> runtime_sdk::Footprint {
        let validate = self.validate.as_ref().map(Validation::program);
        let Self { path, ensure, force, leads_to, parents, backup, .. } = self;
        Identity { path, ensure: *ensure, force: *force, leads_to, parents: *parents, backup: *backup, validate }.footprint()
    }
}

/// Reads what decides about claims and effects.
pub fn identity(given: &Parameters) -> DefinitionResult<GivenIdentity> {
    Ok(GivenIdentity {
        path: Given::path(given)?.0,
        ensure: Given::ensure(given)?,
        force: Given::force(given)?,
        links: Given::links(given)?,
        leads_to: Given::leads_to(given)?.unwrap_or_default().into_iter().map(|place| place.0).collect(),
        parents: Given::parents(given)?,
        backup: validate::checked_backup(Given::backup(given)?)?,
        validate: Given::validate(given)?,
    })
}

/// The desired state of a declaration.
pub fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
    let GivenIdentity { path, ensure, force, links, leads_to, parents, backup, validate } = identity(given)?;
    refuse_meaningless(given, ensure)?;
    let origin = source::origin(given)?;
    let desired = Desired {
        path,
        ensure,
        force,
        links,
        leads_to,
        parents,
        content: origin.as_ref().map(|_| Asset::pending()),
        owner: Given::owner(given)?,
        group: Given::group(given)?,
        mode: Given::mode(given)?,
        backup,
        validate,
        target: Given::target(given)?.map(|target| target.0),
    };
    validate::check(&desired)?;
    let compiled = Compiled::new(desired);
    Ok(match origin {
        Some(Origin { source, checksum, attribute }) => {
            let asked = compiled.asset(CONTENT, source, attribute);
            if checksum.is_some() { asked.checksum(checksum).checksum_error(source::CHECKSUM_ERROR) } else { asked }
        }
        None => compiled,
    })
}

/// Refuses attributes that could not take effect. Only `has` is asked, so their values count for nothing; of those that have a default, which does no harm, the
/// value is looked at later.
fn refuse_meaningless(given: &Parameters, ensure: Ensure) -> DefinitionResult<()> {
    for name in validate::meaningless(ensure).iter().filter(|name| !matches!(**name, "links" | "parents" | "backup")) {
        if given.has(name)? {
            return Err(validate::meaningless_attribute(name, ensure).into());
        }
    }
    Ok(())
}

/// Puts the name of the content in.
pub fn assign_asset(desired: &mut Desired, slot: &str, asset: AssetRef) -> DefinitionResult<()> {
    match (slot, &mut desired.content) {
        (CONTENT, Some(content)) => {
            content.assign(asset);
            Ok(())
        }
        _ => Err(DefinitionError::Other(format!("no asset was asked for under the slot `{slot}`"))),
    }
}

/// The desired state as tests of manifests see it.
pub fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
    let Desired { path, ensure, force, links, leads_to, parents, content: _, owner, group, mode, backup, validate, target } =
        desired;
    let leads_to = (!leads_to.is_empty()).then_some(leads_to);
    let attributes = json!({
        "path": path, "ensure": ensure, "force": force, "links": links, "leads_to": leads_to, "parents": parents, "owner": owner,
        "group": group, "mode": mode, "backup": backup, "validate": validate, "target": target,
    });
    Ok(TestedState::new(&attributes)?.content(desired.content_name()))
}

#[cfg(test)]
mod tests {
    use super::{CONTENT, DefinitionError};
    use crate::{File, mode};
    use runtime_sdk::testing::{self, Given};
    use runtime_sdk::{AssetSource, Definition as _, Diagnostic, Effect, Value, json};
    use serde_json::json;

    fn file() -> Given {
        Given::new().set("path", "/etc/motd")
    }

    fn refusal(given: &Given) -> Diagnostic {
        match File::compile(&given.parameters()).expect_err("the declaration is refused") {
            DefinitionError::Invalid(diagnostic) => diagnostic,
            other => panic!("{other:?}"),
        }
    }

    fn desired(given: &Given) -> String {
        json::canonical(&testing::compile::<File>(given, testing::any_digest).unwrap()).unwrap()
    }

    #[test]
    fn a_path_alone_is_a_file_with_nothing_managed() {
        assert_eq!(desired(&file()), r#"{"ensure":"file","force":false,"path":"/etc/motd"}"#);
    }

    #[test]
    fn all_of_a_file() {
        let given = file().set("content", "x").set("owner", "root").set("group", "0").set("mode", "u=rw,go=r").set("force", true);
        let digest = testing::any_digest("content");
        let expected = format!(
            r#"{{"content":"{digest}","ensure":"file","force":true,"group":0,"mode":"0644","owner":"root","path":"/etc/motd"}}"#
        );
        assert_eq!(desired(&given), expected);
    }

    #[test]
    fn the_parts_of_the_definition_agree() {
        let link = Given::new().set("path", "/a").set("ensure", "symlink").set("target", "b").set("owner", 7);
        let tree = Given::new().set("path", "/a/b").set("ensure", "absent");
        let directory = Given::new().set("path", "/").set("ensure", "directory").set("mode", "0755");
        let source = file().set("source", "files/motd").set("owner", "1000").set("mode", "644");
        for given in [link, tree, directory, source, file(), file().set("ensure", "present").set("content", "x")] {
            testing::agree::<File>(&given);
            testing::agree::<File>(&given.set("force", true));
        }
    }

    #[test]
    fn an_alias_compiles_and_exports_as_the_word_it_means() {
        let given = file().set("ensure", "present");
        assert_eq!(desired(&given), desired(&file()));
        assert_eq!(File::resolve_export("ensure", &given.parameters()).unwrap(), json!("file"));
    }

    #[test]
    fn an_export_reads_only_its_own_attribute() {
        let given = file().set("mode", "644").deferred("content").deferred("owner");
        assert_eq!(File::resolve_export("mode", &given.parameters()).unwrap(), json!("0644"));
        assert_eq!(File::resolve_export("group", &given.parameters()).unwrap(), Value::Null);
        assert!(matches!(File::resolve_export("owner", &given.parameters()), Err(DefinitionError::Parameter)));
        assert!(matches!(File::resolve_export("content", &given.parameters()), Err(DefinitionError::Unsupported(_))));
    }

    #[test]
    fn content_is_never_read() {
        let compiled = File::compile(&file().set("content", json!({"$secret": "0"})).parameters()).unwrap();
        assert_eq!(compiled.assets[0].source, AssetSource::Parameter("content".into()));
        assert_eq!((compiled.assets[0].slot.as_str(), compiled.assets[0].attribute.as_str()), ("content", "content"));
        let compiled = File::compile(&file().set("source", "files/motd").parameters()).unwrap();
        assert_eq!(compiled.assets[0].source, AssetSource::Local("files/motd".into()));
        assert_eq!(compiled.assets[0].attribute, "source");
    }

    #[test]
    fn an_address_is_asked_for_with_its_checksum_and_what_to_say_of_other_bytes() {
        let given = file().set("source", "https://example.org/motd").set("checksum", testing::any_digest("motd"));
        let compiled = File::compile(&given.parameters()).unwrap();
        let [asset] = compiled.assets.as_slice() else { panic!("one asset") };
        assert_eq!((asset.slot.as_str(), asset.attribute.as_str()), (CONTENT, "source"));
        assert_eq!(asset.source, AssetSource::Url("https://example.org/motd".into()));
        assert_eq!(asset.checksum, Some(testing::any_digest("motd")));
        assert_eq!(asset.checksum_error.as_deref(), Some("the bytes of `source` do not have the digest in `checksum`"));
        testing::agree::<File>(&given);
    }

    #[test]
    fn reading_the_path_does_not_read_the_content() {
        let given = file().set("content", "x").deferred("mode");
        assert_eq!(testing::export::<File>("path", &given).unwrap(), json!("/etc/motd"));
        assert_eq!(given.asked(), ["path"]);
    }

    #[test]
    fn effects_follow_from_identity_alone() {
        let effects = |given: Given| testing::footprint::<File>(&given).unwrap().effects;
        let own = || Effect::write_path("/etc/motd");
        let beneath = || Effect::write_path("/etc/motd/**");
        assert_eq!(effects(file()), [own()]);
        assert_eq!(effects(file().deferred("content").deferred("mode")), [own()]);
        assert_eq!(effects(file().set("force", true)), [own(), beneath()]);
        assert_eq!(effects(file().set("force", true).set("ensure", "absent")), [own(), beneath()]);
        assert_eq!(effects(file().set("force", true).set("ensure", "directory")), [own()], "what it holds may be others'");
    }

    #[test]
    fn each_version_that_is_kept_is_held_by_its_name() {
        let footprint = testing::footprint::<File>(&file().set("backup", 2)).unwrap();
        let keys: Vec<_> = footprint.effects.iter().map(|effect| String::from_utf8_lossy(&effect.key).into_owned()).collect();
        assert_eq!(keys, ["/etc/motd", "/etc/motd.~0~", "/etc/motd.~1~", "/etc/motd.~2~"]);
        assert!(footprint.effects[1..].iter().all(|effect| effect.actions == ["write"]));
        testing::agree::<File>(&file().set("content", "x").set("backup", 100));
        assert_eq!(testing::footprint::<File>(&file().set("backup", 0)).unwrap().effects, [Effect::write_path("/etc/motd")]);
    }

    #[test]
    fn where_a_link_may_lead_is_held_like_the_path() {
        let given = file().set("links", "follow").set("leads_to", json!(["/run/motd"])).set("backup", 1).set("force", true);
        let footprint = testing::footprint::<File>(&given).unwrap();
        let keys: Vec<_> = footprint.effects.iter().map(|effect| String::from_utf8_lossy(&effect.key).into_owned()).collect();
        let of = |path: &str| ["", ".~0~", ".~1~", "/**"].map(|more| format!("{path}{more}"));
        assert_eq!(keys, [of("/etc/motd"), of("/run/motd")].concat());
        assert_eq!(footprint.affected_paths, [b"/etc/motd".to_vec(), b"/run/motd".to_vec()]);
        testing::agree::<File>(&given);
        let desired = desired(&file().set("links", "replace"));
        assert_eq!(desired, r#"{"ensure":"file","force":false,"links":"replace","path":"/etc/motd"}"#);
    }

    #[test]
    fn parents_are_named_to_be_made_and_held_by_nobody() {
        let given = Given::new().set("path", "/srv/site/pages/index").set("parents", true);
        let footprint = testing::footprint::<File>(&given).unwrap();
        let made = ["/srv/site/pages", "/srv/site", "/srv"].map(Effect::make_directory);
        assert_eq!(footprint.effects[0], Effect::write_path("/srv/site/pages/index"));
        assert_eq!(footprint.effects[1..], made);
        assert_eq!(footprint.affected_paths, [b"/srv/site/pages/index".to_vec()]);
        testing::agree::<File>(&given);
        let at_the_top = Given::new().set("path", "/index").set("parents", true);
        assert_eq!(testing::footprint::<File>(&at_the_top).unwrap().effects, [Effect::write_path("/index")]);
    }

    #[test]
    fn bad_declarations_are_refused_at_their_attribute() {
        let refused = [
            (Given::new(), "path"),
            (Given::new().set("path", "etc/motd"), "path"),
            (Given::new().set("path", "/"), "path"),
            (file().set("ensure", "gone"), "ensure"),
            (file().set("mode", "9"), "mode"),
            (file().set("owner", -1), "owner"),
            (file().set("group", "a:b"), "group"),
            (file().set("content", "x").set("source", "y"), "source"),
            (file().set("target", "/x"), "target"),
            (file().set("content", "x").set("checksum", testing::any_digest("x")), "checksum"),
            (file().set("ensure", "directory").set("checksum", testing::any_digest("x")), "checksum"),
            (file().set("source", "http://example.org/x").set("checksum", testing::any_digest("x")), "source"),
            (file().set("source", "https://example.org/x"), "source"),
            (file().set("ensure", "symlink"), "target"),
            (file().set("ensure", "symlink").set("target", ""), "target"),
            (file().set("ensure", "symlink").set("target", "x").set("mode", "0644"), "mode"),
            (file().set("ensure", "directory").set("content", "x"), "content"),
            (file().set("ensure", "absent").set("owner", "root"), "owner"),
            (file().set("ensure", "absent").set("parents", true), "parents"),
            (file().set("ensure", "directory").set("backup", 1), "backup"),
            (file().set("links", "ignore"), "links"),
            (file().set("ensure", "symlink").set("target", "x").set("links", "follow"), "links"),
            (file().set("ensure", "absent").set("links", "replace"), "links"),
            (file().set("links", "follow"), "leads_to"),
            (file().set("leads_to", json!(["/x"])), "leads_to"),
            (file().set("links", "follow").set("leads_to", json!(["x"])), "leads_to"),
            (file().set("backup", 101), "backup"),
            (file().set("backup", -1), "backup"),
            (Given::new().set("path", format!("/{}", "n".repeat(252))).set("backup", 1), "backup"),
            (file().set("owner", json!({"$secret": "0"})), "owner"),
        ];
        for (given, attribute) in refused {
            assert_eq!(refusal(&given).attribute.as_deref(), Some(attribute));
        }
    }

    #[test]
    fn messages_say_what_to_do() {
        let diagnostic = refusal(&file().set("ensure", "directory").set("content", "x"));
        assert_eq!(diagnostic.message, "`content` has no meaning when `ensure` is `directory`");
        assert_eq!(diagnostic.hint.as_deref(), Some("leave `content` out, or change `ensure`"));
        let diagnostic = refusal(&file().set("mode", "u+x"));
        assert_eq!(diagnostic.message, "a symbolic mode can only set with `=`, not add or remove");
        assert_eq!(diagnostic.hint.as_deref(), Some(mode::HINT));
    }

    #[test]
    fn a_value_that_waits_is_left_to_the_host() {
        let given = file().deferred("content");
        assert!(matches!(File::compile(&given.parameters()), Err(DefinitionError::Parameter)));
    }

    #[test]
    fn only_the_slot_that_was_asked_for_can_be_assigned() {
        let mut desired = testing::compile::<File>(&file(), testing::any_digest).unwrap();
        assert!(File::assign_asset(&mut desired, "content", testing::any_digest("content")).is_err());
        let mut desired = testing::compile::<File>(&file().set("content", "x"), testing::any_digest).unwrap();
        assert!(File::assign_asset(&mut desired, "other", testing::any_digest("content")).is_err());
    }

    #[test]
    fn the_test_view_shows_canonical_values_and_the_content() {
        let desired = testing::compile::<File>(&file().set("content", "x").set("mode", "644"), testing::any_digest).unwrap();
        let view = File::test_view(&desired).unwrap();
        assert_eq!(view.content, Some(testing::any_digest("content")));
        let expected = concat!(
            r#"{"backup":0,"ensure":"file","force":false,"group":null,"leads_to":null,"links":"refuse","mode":"0644","owner":null,"#,
            r#""parents":false,"path":"/etc/motd","#,
            r#""target":null,"validate":null}"#
        );
        assert_eq!(view.attributes, expected);
    }
}
