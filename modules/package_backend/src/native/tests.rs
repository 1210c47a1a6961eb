//! What all providers of this kind do alike, by one that offers everything.

use runtime_sdk::testing::Given;

use super::*;
use crate::Ensure;

struct Whole;

impl Native for Whole {
    const NAME: &'static str = "whole";
    const SUMMARY: &'static str = "Packages by whatever is there.";
    const MANAGER: Manager = Manager::Apt;
    const SYSTEMS: &'static [&'static str] = &["one", "other"];
    const ARCHITECTURES: &'static [(&'static str, &'static str)] = &[("x86_64", "amd64"), ("noarch", "all")];
    const OFFERS: Offers = Offers { recommends: true, files: Some(".deb") };

    fn refuse(desired: &Desired) -> Result<(), Diagnostic> {
        if desired.name == "refused" { Err(Diagnostic::at("name", "it is refused")) } else { Ok(()) }
    }
}

type It = Provider<Whole>;

fn desired(name: &str) -> Desired {
    Desired { architecture: Some("x86_64".into()), ..Desired::plain(name, Ensure::Present) }
}

fn validated(options: &Options, desired: &Desired) -> bool {
    It::validate(options, &desired.footprint(), Some(desired)).is_ok()
}

#[test]
fn without_options_nothing_is_asked_for() {
    let compiled = It::compile(&Given::new().parameters()).unwrap();
    assert!(compiled.assets.is_empty());
    assert_eq!(compiled.desired, Options { index_max_age: None, recommends: None, source: None });
    assert!(validated(&compiled.desired, &desired("demo")));
    assert!(!validated(&compiled.desired, &desired("refused")), "what the manager cannot do is refused before anything is done");
    assert!(It::validate(&compiled.desired, &Footprint::empty(), None).is_ok(), "the desired state may wait for the node");
}

#[test]
fn an_index_is_not_fetched_for_each_package() {
    let compile = |age: u64| It::compile(&Given::new().set("index_max_age", age).parameters());
    assert_eq!(compile(60).unwrap().desired.index_max_age, Some(60));
    assert!(compile(59).is_err());
    let forged = Options { index_max_age: Some(1), ..compile(60).unwrap().desired };
    assert!(!validated(&forged, &desired("demo")), "a bundle is held to it too");
}

#[test]
fn a_package_file_is_named_by_its_digest_and_an_address_needs_one() {
    let compile = |given: Given| It::compile(&given.parameters());
    let digest = format!("sha256:{}", "ab".repeat(32));
    let address = || Given::new().set("source", "https://example.com/demo");
    assert!(compile(address()).is_err());
    assert!(compile(Given::new().set("checksum", digest.clone())).is_err(), "of nothing");
    assert!(compile(Given::new().set("source", "demo.deb")).unwrap().assets[0].checksum.is_none());
    let mut compiled = compile(address().set("checksum", digest.clone())).unwrap();
    assert_eq!(compiled.assets[0].checksum.as_ref(), Some(&digest));
    let slot = compiled.assets[0].slot.clone();
    assert!(!validated(&compiled.desired, &desired("demo")), "it has no name yet");
    It::assign_asset(&mut compiled.desired, &slot, digest.clone()).unwrap();
    let semantics = It::validate(&compiled.desired, &Footprint::empty(), None).unwrap();
    assert_eq!(semantics.assets, std::slice::from_ref(&digest));
    assert!(It::assign_asset(&mut compiled.desired, "other", digest).is_err());
}

#[test]
fn each_manager_has_names_of_its_own_for_architectures() {
    assert_eq!(It::native(&desired("demo")).architecture.as_deref(), Some("amd64"));
    assert_eq!(It::architecture("noarch"), "all");
    assert_eq!(It::architecture("riscv64"), "riscv64", "what has no other name stays");
    assert_eq!(It::native(&Desired::plain("demo", Ensure::Present)).architecture, None);
}

#[test]
fn the_manager_is_told_what_the_options_say() {
    let options = It::compile(&Given::new().set("index_max_age", 90).set("recommends", false).parameters()).unwrap().desired;
    let Working { manager, index_max_age, recommends, source } = It::working(&options);
    assert_eq!((manager, index_max_age, recommends, source), (Manager::Apt, Some(90), Some(false), None));
    let systems: Vec<String> = It::systems().into_iter().map(|system| system.id).collect();
    assert_eq!(systems, ["one", "other"]);
}
