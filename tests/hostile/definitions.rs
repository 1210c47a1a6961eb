//! Guests that misbehave while a manifest is compiled: nothing is linked there but the declaration, and there is no bundle.

use testkit::scene::{error_code, tell};

use crate::stage::{manifest, scene};

/// Compiles, which must fail, and gives what is told.
#[track_caller]
fn refused(behaviour: &str) -> String {
    let scene = scene();
    let before = scene.exact();
    let error = scene.try_compile("site", &manifest(behaviour)).expect_err(behaviour);
    let told = tell(&error);
    assert_eq!(error_code(&error), 65, "{behaviour}: {told}");
    assert!(!scene.bundle("site").exists(), "{behaviour}: there is no bundle");
    assert_eq!(scene.exact(), before, "{behaviour}");
    assert!(told.contains("site.hcl"), "{behaviour}: it says where: {told}");
    told
}

#[track_caller]
fn assert_refused(behaviour: &str, words: &[&str]) {
    let told = refused(behaviour);
    for word in words {
        assert!(told.contains(word), "{behaviour}: {word:?} is missing: {told}");
    }
}

#[test]
fn everything_impure_is_named() {
    let imports = [
        ("read-clock", "wasi:clocks/monotonic-clock"),
        ("read-random", "wasi:random/random"),
        ("read-environment", "wasi:cli/environment"),
        ("read-fact", "runtime:host/facts"),
        ("find-user", "runtime:host/accounts"),
        ("observe", "runtime:host/files"),
        ("write", "runtime:host/files"),
        ("read-asset", "runtime:host/assets"),
        ("flood-log", "runtime:host/log"),
    ];
    for place in ["identity", "compile", "validate", "relationships"] {
        for (act, import) in imports {
            let hint = "pass what it needs as an attribute, or read facts in the manifest";
            assert_refused(&format!("{act}@{place}"), &[&format!("`{place}`"), import, "not there in a definition", hint]);
        }
    }
}

#[test]
fn one_that_takes_all_there_is_ends_at_its_limit() {
    assert_refused("spin@compile", &["`compile`", "deadline of 10000 ms"]);
    for place in ["identity", "compile", "validate", "relationships"] {
        assert_refused(&format!("allocate@{place}"), &[&format!("`{place}`"), "memory limit"]);
        // A guest keeps part of its stack in its own memory, and which end it reaches first is up to its compiler.
        assert_refused(&format!("recurse@{place}"), &[&format!("`{place}`")]);
        assert_refused(&format!("trap@{place}"), &[&format!("`{place}`"), "it trapped"]);
    }
}

#[test]
fn answers_are_held_to_the_contract() {
    assert_refused("bad-json@compile", &["breaks the contract", "not JSON"]);
    assert_refused("loose-json@compile", &["breaks the contract", "not canonical"]);
    for place in ["identity", "compile", "validate", "relationships"] {
        for act in ["huge-string", "huge-list"] {
            let told = refused(&format!("{act}@{place}"));
            assert!(told.len() < 10_000, "{act}@{place}: {} bytes", told.len());
        }
    }
    assert_refused("claim-other@validate", &["other claims or effects in `validate` than in `identity`"]);
    assert_refused("read-unflagged@identity", &["`note`", "not flagged as identity"]);
    assert_refused("no-timeout@validate", &["timeout of 0 ms"]);
    assert_refused("endless-timeout@validate", &["timeout of 18446744073709551615 ms"]);
    assert_refused("name-asset@validate", &["which it did not ask for"]);
    assert_refused("name-secret@validate", &["names the asset secret:file.apart/content", "which it did not ask for"]);
    assert_refused("name-secret@compile", &[]);
    refused("read-unknown@compile");
}

#[test]
fn it_cannot_order_others() {
    let scene = scene();
    let others = ["b", "c"].map(|name| format!("resource \"file\" \"{name}\" {{\n  path = \"/srv/{name}\"\n}}\n")).concat();
    let error = scene.try_compile("site", &(manifest("order-others@relationships") + &others)).unwrap_err();
    let told = tell(&error);
    assert!(
        told.contains("breaks the contract") && told.contains("`file.b` before `file.apart`, neither of which is `hostile.it`"),
        "{told}"
    );
}

#[test]
fn orders_that_it_may_not_derive_are_refused_by_name() {
    assert_refused("order-itself@relationships", &["breaks the contract", "`hostile.it` before itself"]);
    assert_refused("order-nobody@relationships", &["`file.nobody` goes before `hostile.it`", "there is no `file.nobody`"]);
    let action =
        ["`file.apart` goes before `hostile.it` for the action `hostile.tidy`", "not among the prerequisites", "site.hcl:2"];
    assert_refused("smuggle-action@relationships", &action);
    let pushed = "`hostile.it` goes before `file.apart` for the action `hostile.tidy`";
    assert_refused("push-action@relationships", &[pushed, "the prerequisites of `file.apart`"]);
}

#[test]
fn words_of_the_guest_cannot_mislead() {
    for place in ["identity", "compile", "validate", "relationships"] {
        let told = refused(&format!("control-characters@{place}"));
        let misleads = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!(!told.contains(misleads), "{place}: {told:?}");
        assert!(!told.lines().any(|line| line.starts_with("error: none")), "{place}: {told}");
    }
}
