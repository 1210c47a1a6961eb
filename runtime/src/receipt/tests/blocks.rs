//! Child blocks of resources that wait for the node.

use testkit::guests;

use super::*;
use crate::model::catalog::DeferredBlock;
use crate::model::expression::Expression;

/// A sampler at `/srv/it` whose content is a fact, with one `vhost` that is known.
fn waiting() -> Catalog {
    let module = ENGINE.load(guests::SAMPLER).unwrap();
    let literal = |text: &str| expression(json!(["literal", "site.hcl:1:1+1", text]));
    let vhost = DeferredBlock {
        name: "vhost".into(),
        label: Some("www".into()),
        attributes: BTreeMap::from([("root".to_owned(), literal("/srv/www"))]),
    };
    let attributes = BTreeMap::from([
        ("path".to_owned(), literal("/srv/it")),
        ("content".to_owned(), expression(json!(["fact", "site.hcl:1:1+1", "hostname"]))),
    ]);
    let state = State::Deferred { attributes, sources: BTreeMap::new(), blocks: vec![vhost] };
    let id = "sampler.it".parse().unwrap();
    let footprint = on_large_stack(|| module.footprint(&id, Rc::new(Held)).unwrap());
    let component = ComponentDigest::of(guests::SAMPLER);
    Catalog {
        modules: BTreeMap::from([("sampler".parse().unwrap(), Named { component, schema_version: 1 })]),
        resources: vec![Resource {
            id,
            source: Source { file: "site.hcl".into(), line: 1, column: 1 },
            claims: footprint.claims,
            effects: footprint.effects,
            affected_paths: footprint.affected_paths,
            timeout_ms: None,
            control: None,
            health: None,
            state,
            backends: None,
        }],
        ..sample()
    }
}

/// What the sampler's `identity` reads of it.
struct Held;

impl Parameters for Held {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Ok(self.read(name)?.is_some())
    }

    fn read(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        Ok(Some(json!(if name == "root" { "/srv/www" } else { "/srv/it" })))
    }

    fn children(&self, block: &str) -> Result<Vec<Child>, ParameterError> {
        let child = || Child { label: Some("www".into()), given: Rc::new(Held) };
        Ok((block == "vhost").then(child).into_iter().collect())
    }
}

fn expression(json: Json) -> Expression {
    serde_json::from_value(json).unwrap()
}

fn policy() -> Policy {
    let digest = ComponentDigest::of(guests::SAMPLER);
    let files = "files {\n read = [\"/srv/**\"]\n write = [\"/srv/**\"]\n }";
    policy::parse(&format!("module \"sampler\" {{\n digest = \"{digest}\"\n {files}\n}}"), &[]).unwrap()
}

#[track_caller]
fn refused(change: impl FnOnce(&mut Vec<DeferredBlock>)) -> String {
    let mut catalog = waiting();
    let State::Deferred { blocks, .. } = &mut catalog.resources[0].state else { panic!("it waits") };
    change(blocks);
    let error = admit_with(&catalog, guests::SAMPLER, &policy()).err().expect("the change must be found");
    assert!(!error.is_refusal());
    error.to_string()
}

#[test]
fn blocks_that_the_type_has_are_admitted() {
    admit_with(&waiting(), guests::SAMPLER, &policy()).unwrap();
}

#[test]
fn blocks_and_attributes_within_that_the_type_does_not_have_are_refused_by_name() {
    let unknown = refused(|blocks| blocks[0].name = "host".into());
    assert_eq!(unknown, "`host` of `sampler.it` cannot be settled on a node: its type has no such block");
    let attribute = refused(|blocks| {
        let value = blocks[0].attributes["root"].clone();
        blocks[0].attributes.insert("content".into(), value);
    });
    assert_eq!(attribute, "`vhost.content` of `sampler.it` cannot be settled on a node: its type has no such attribute");
    let meaningless = refused(|blocks| {
        let unbound = expression(json!(["iterator", "site.hcl:1:1+1", "x"]));
        blocks[0].attributes.insert("page".into(), unbound);
    });
    assert!(meaningless.contains("`vhost.page`") && meaningless.contains("`x` is not bound"), "{meaningless}");
}

#[test]
fn blocks_are_as_often_there_as_their_kind_allows_with_the_labels_that_it_wants() {
    let nameless = refused(|blocks| blocks[0].label = None);
    assert!(nameless.ends_with("a label is missing, or is one too many"), "{nameless}");
    let block = |name: &str, label: Option<&str>| DeferredBlock {
        name: name.into(),
        label: label.map(str::to_owned),
        attributes: BTreeMap::new(),
    };
    let labelled = refused(|blocks| blocks.push(block("rule", Some("a"))));
    assert!(labelled.ends_with("a label is missing, or is one too many"), "{labelled}");
    let doubled = refused(|blocks| blocks.push(block("vhost", Some("www"))));
    assert_eq!(doubled, "`vhost` of `sampler.it` cannot be settled on a node: it is there twice");
    let second = refused(|blocks| blocks.extend([block("retry", None), block("retry", None)]));
    assert_eq!(second, "`retry` of `sampler.it` cannot be settled on a node: it is there twice");
    let mut repeated = waiting();
    let State::Deferred { blocks, .. } = &mut repeated.resources[0].state else { panic!("it waits") };
    blocks.extend([block("rule", None), block("rule", None)]);
    admit_with(&repeated, guests::SAMPLER, &policy()).unwrap();
}

#[test]
fn labels_and_identity_attributes_are_held_to_the_claims() {
    let label = refused(|blocks| blocks[0].label = Some("api".into()));
    assert_eq!(label, "the catalog has other claims for `sampler.it` than its module");
    let root = refused(|blocks| drop(blocks[0].attributes.remove("root")));
    assert_eq!(root, "the catalog has other claims for `sampler.it` than its module");
    let more = refused(|blocks| {
        let second = DeferredBlock { label: Some("api".into()), ..blocks[0].clone() };
        blocks.push(second);
    });
    assert_eq!(more, "the catalog has other claims for `sampler.it` than its module");
}
