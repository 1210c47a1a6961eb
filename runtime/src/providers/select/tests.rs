//! Every case of the rule, one line each.

use host_functions::facts::Facts;

use super::*;
use crate::model::provider::System;

/// `NAME: ID, ID… [if CONDITION]`, where an ID may be `ID@VERSION|VERSION`.
fn provider(text: &str) -> ProviderDescription {
    let (name, rest) = text.split_once(": ").unwrap();
    let (systems, conditions) = rest.split_once(" if ").unwrap_or((rest, ""));
    let system = |text: &str| {
        let (id, versions) = text.split_once('@').unwrap_or((text, ""));
        System { id: id.into(), versions: versions.split('|').filter(|v| !v.is_empty()).map(Into::into).collect() }
    };
    ProviderDescription {
        type_name: "package".parse().unwrap(),
        name: name.parse().unwrap(),
        schema_version: 1,
        summary: String::new(),
        systems: systems.split(", ").map(system).collect(),
        conditions: conditions.split(' ').filter(|c| !c.is_empty()).map(|c| c.parse().unwrap()).collect(),
        options: vec![],
        capabilities: vec![],
    }
}

/// `ID[@VERSION] [like ID ID…] [init NAME]`.
fn node(text: &str) -> NodeIdentity {
    let (text, init) = text.split_once(" init ").map_or((text, None), |(text, init)| (text, Some(init)));
    let (id, like) = text.split_once(" like ").unwrap_or((text, ""));
    let (id, version) = id.split_once('@').map_or((id, None), |(id, version)| (id, Some(version)));
    NodeIdentity {
        id: id.into(),
        id_like: like.split(' ').filter(|id| !id.is_empty()).map(Into::into).collect(),
        version_id: version.map(Into::into),
        conditions: init.into_iter().map(|name| Condition::Init(name.into())).collect(),
    }
}

fn with(providers: &[&str], on: &str, statement: &Statement, type_name: &str) -> String {
    let providers: Vec<ProviderDescription> = providers.iter().map(|text| provider(text)).collect();
    match select(&type_name.parse().unwrap(), &candidates_of(&providers), &node(on), statement) {
        Ok(name) => name.to_string(),
        Err(error) => error.to_string(),
    }
}

const PACKAGE: [&str; 5] = ["apt: debian", "dnf: fedora, rhel", "apk: alpine", "pacman: arch", "zypper: suse, opensuse"];
const SERVICE: [&str; 2] = ["systemd: * if init:systemd", "openrc: * if init:openrc"];

fn package(on: &str) -> String {
    with(&PACKAGE, on, &Statement::default(), "package")
}

fn service(on: &str) -> String {
    with(&SERVICE, on, &Statement::default(), "service")
}

#[test]
fn the_identifier_decides_then_what_it_is_like_closest_first() {
    assert_eq!(package("debian@12"), "apt");
    assert_eq!(package("ubuntu@24.04 like debian"), "apt");
    assert_eq!(package("linuxmint@22 like ubuntu debian"), "apt");
    assert_eq!(package("fedora@42"), "dnf");
    assert_eq!(package("rocky@9.4 like rhel centos fedora"), "dnf", "several of its entries name one provider");
    assert_eq!(package("alpine@3.20"), "apk");
    assert_eq!(package("arch"), "pacman", "a rolling release has no version");
    assert_eq!(package("opensuse-leap@15.6 like suse opensuse"), "zypper");
    assert_eq!(package("odd like fedora debian"), "dnf", "the first entry that is known decides");
    assert_eq!(package("debian like fedora"), "apt", "what it is goes before what it is like");
}

#[test]
fn without_a_provider_the_reason_is_that_of_the_system() {
    assert_eq!(package("nixos"), "no Package provider supports ID=nixos, ID_LIKE unset");
    assert_eq!(package("linux"), "no Package provider supports ID=linux, ID_LIKE unset");
    assert_eq!(package("void like nothing known"), "no Package provider supports ID=void, ID_LIKE=nothing known");
    assert_eq!(with(&[], "debian", &Statement::default(), "package"), "no Package provider supports ID=debian, ID_LIKE unset");
}

#[test]
fn a_condition_excludes_and_is_named_instead_of_the_system() {
    assert_eq!(service("debian@12 init systemd"), "systemd");
    assert_eq!(service("alpine@3.20 init openrc"), "openrc");
    assert_eq!(
        with(&SERVICE[..1], "alpine", &Statement::default(), "service"),
        "no Service provider on this host: systemd needs systemd as the init system"
    );
    assert_eq!(
        service("debian"),
        "no Service provider on this host: openrc needs openrc as the init system; systemd needs systemd as the init system"
    );
    // A provider that is excluded leaves the level to others, and a level without any to the next.
    let two = ["a: debian if init:systemd", "b: debian"];
    assert_eq!(with(&two, "debian", &Statement::default(), "service"), "b");
    let next = ["a: ubuntu if init:systemd", "b: debian"];
    assert_eq!(with(&next, "ubuntu like debian", &Statement::default(), "service"), "b");
}

#[test]
fn two_at_one_level_are_an_error_and_no_order_decides() {
    let two = ["a: debian", "b: debian", "c: *"];
    let ambiguous = |level: &str| format!("the providers `a` and `b` all support {level}, and nothing says which is meant");
    assert_eq!(with(&two, "debian", &Statement::default(), "package"), ambiguous("ID=debian"));
    assert_eq!(with(&two, "ubuntu like debian", &Statement::default(), "package"), ambiguous("ID_LIKE=debian"));
    assert_eq!(with(&two, "arch", &Statement::default(), "package"), "c", "whoever names the system goes before one for any");
    assert_eq!(with(&["a: *", "b: *"], "arch", &Statement::default(), "package"), ambiguous("any system"));
    let at_two_levels = ["a: ubuntu", "b: debian"];
    assert_eq!(with(&at_two_levels, "ubuntu like debian", &Statement::default(), "package"), "a");
}

#[test]
fn a_version_may_narrow_and_is_never_required() {
    let narrow = ["old: debian@11|12", "new: debian@13"];
    let on = |on: &str| with(&narrow, on, &Statement::default(), "package");
    assert_eq!((on("debian@12"), on("debian@13")), ("old".into(), "new".into()));
    let told = "no Package provider on this host: new supports VERSION_ID 13, not 99; old supports VERSION_ID 11, 12, not 99";
    assert_eq!(on("debian@99"), told);
    assert_eq!(with(&narrow[..1], "debian", &Statement::default(), "package"), "old", "a system without a version");
}

#[test]
fn the_nodes_owner_may_name_a_provider_and_forbid_others() {
    let used = |name: &str| Statement { used: Some(name.parse().unwrap()), ..Statement::default() };
    let forbidden = |name: &str| Statement { forbidden: BTreeSet::from([name.parse().unwrap()]), ..Statement::default() };
    assert_eq!(with(&PACKAGE, "nixos", &used("apt"), "package"), "apt", "identification is wrong there");
    assert_eq!(with(&["a: debian", "b: debian"], "debian", &used("b"), "package"), "b");
    assert_eq!(
        with(&PACKAGE, "debian", &used("snap"), "package"),
        "no Package provider on this host: snap is wanted, and is not at hand"
    );
    assert_eq!(
        with(&SERVICE, "debian", &used("systemd"), "service"),
        "no Service provider on this host: systemd needs systemd as the init system"
    );
    assert_eq!(
        with(&PACKAGE, "debian", &forbidden("apt"), "package"),
        "no Package provider on this host: apt is forbidden by policy"
    );
    assert_eq!(with(&["a: debian", "b: debian"], "debian", &forbidden("a"), "package"), "b");
}

#[test]
fn a_manifest_may_name_a_provider_within_what_the_nodes_owner_allows() {
    let forced = |name: &str| Statement { forced: Some(name.parse().unwrap()), ..Statement::default() };
    assert_eq!(with(&PACKAGE, "debian", &forced("dnf"), "package"), "dnf");
    assert_eq!(
        with(&SERVICE, "debian", &forced("systemd"), "service"),
        "no Service provider on this host: systemd needs systemd as the init system"
    );
    let statement = Statement { forbidden: BTreeSet::from(["dnf".parse().unwrap()]), ..forced("dnf") };
    assert_eq!(
        with(&PACKAGE, "debian", &statement, "package"),
        "the manifest wants the provider `dnf`, which the policy of this node forbids"
    );
    let statement = Statement { used: Some("apt".parse().unwrap()), ..forced("dnf") };
    assert_eq!(
        with(&PACKAGE, "debian", &statement, "package"),
        "the manifest wants the provider `dnf`, and the policy of this node uses `apt`"
    );
}

#[test]
fn a_node_is_identified_by_its_os_release_alone() {
    let facts = serde_json::json!({"os": {"id": "ubuntu", "id_like": ["debian"], "version_id": "24.04"}});
    assert_eq!(NodeIdentity::new(&Facts::given(facts.clone()), Some("systemd")), node("ubuntu@24.04 like debian init systemd"));
    let facts = serde_json::json!({"os": {"id": "arch", "id_like": []}});
    assert_eq!(NodeIdentity::new(&Facts::given(facts.clone()), None), node("arch"));
    assert_eq!(NodeIdentity::new(&Facts::given(serde_json::json!({})), None), node("linux"), "os-release(5) gives the default");
}
