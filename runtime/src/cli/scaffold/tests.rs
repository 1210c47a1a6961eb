use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files_of(name: &str) -> BTreeMap<&'static str, String> {
    files(&name.parse().unwrap()).into_iter().collect()
}

/// Every file below `folder`, by path in it.
fn listing(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found
}

#[test]
fn the_whole_contract_and_sdk_are_in_it() {
    let files = files_of("greeting");
    let folders = [
        ("wit/", "wit"),
        ("vendor/runtime-sdk/src/", "modules/sdk/src"),
        ("vendor/runtime-sdk/derive/src/", "modules/sdk/derive/src"),
    ];
    for (prefix, folder) in folders {
        let given: BTreeSet<String> = files.keys().filter_map(|path| path.strip_prefix(prefix)).map(str::to_owned).collect();
        assert_eq!(given, listing(&repository().join(folder)), "a file of `{folder}` is missing in `embedded.rs`");
    }
}

#[test]
fn the_sdk_has_the_dependencies_that_it_has_here() {
    let ours = std::fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let files = files_of("greeting");
    for crate_folder in ["", "derive/"] {
        let manifest = std::fs::read_to_string(repository().join(format!("modules/sdk/{crate_folder}Cargo.toml"))).unwrap();
        let given = &files[format!("vendor/runtime-sdk/{crate_folder}Cargo.toml").as_str()];
        let section = |text: &str| text.split("[dependencies]\n").nth(1).unwrap().split("\n[").next().unwrap().trim().to_owned();
        let wanted: Vec<String> = section(&manifest)
            .lines()
            .map(|line| line.strip_suffix(".workspace = true").unwrap())
            .map(|name| ours.lines().find(|line| line.starts_with(&format!("{name} = "))).unwrap().to_owned())
            // The derive macros lie beside the SDK's sources, here and there.
            .map(|line| line.replace("path = \"modules/sdk/", "path = \""))
            .collect();
        assert_eq!(section(given).lines().collect::<Vec<_>>(), wanted);
    }
    let talc = ours.lines().find(|line| line.starts_with("talc = ")).unwrap().replace(" }", ", optional = true }");
    let given = &files["vendor/runtime-sdk/Cargo.toml"];
    let of_guests = "[target.'cfg(target_family = \"wasm\")'.dependencies]\n";
    assert_eq!(given.split(of_guests).nth(1).unwrap().trim(), talc);
    assert!(given.contains("\ndefault = [\"allocator\"]\n") && given.contains("\nallocator = [\"dep:talc\"]\n"));
}

#[test]
fn names_are_filled_in() {
    let files = files_of("nginx_vhost");
    assert!(files["src/lib.rs"].contains("pub struct NginxVhost;"), "{}", files["src/lib.rs"]);
    assert!(files["src/lib.rs"].contains("const TYPE: &'static str = \"nginx_vhost\";"));
    assert!(files["Cargo.toml"].contains("name = \"nginx_vhost\""));
    let marked: Vec<_> = files.iter().filter(|(_, text)| text.contains(NAME_MARK) || text.contains(STRUCT_MARK)).collect();
    assert_eq!(marked, []);
}

#[test]
fn a_folder_with_anything_in_it_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let name: TypeName = "greeting".parse().unwrap();
    let target = folder.path().join("a/b");
    let count = write(&name, &target).unwrap();
    assert_eq!(listing(&target).len(), count);
    let error = write(&name, &target).unwrap_err();
    assert_eq!(error.exit(), Exit::Usage);
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    assert!(matches!(write(&name, &file), Err(ScaffoldError::NotEmpty { .. })));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}
