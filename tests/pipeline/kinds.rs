//! Whatever kind of object is there, and whatever is wanted: the right act, or an error that says what is in the way and changes nothing.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use runtime::model::report::{Action, Outcome};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use testkit::Scene;
use testkit::scene::{assert_all, of};

const FOUND: [&str; 9] = ["nothing", "file", "empty", "full", "symlink", "pipe", "socket", "device", "block"];

const WANTED: [&str; 4] = ["file", "directory", "symlink", "absent"];

fn make(found: &str, path: &Path) {
    let node = |kind, device| mknodat(CWD, path, kind, Mode::from_raw_mode(0o600), device).unwrap();
    match found {
        "nothing" => {}
        "file" => fs::write(path, "kept").unwrap(),
        "empty" => fs::create_dir(path).unwrap(),
        "full" => {
            fs::create_dir(path).unwrap();
            fs::write(path.join("inside"), "kept").unwrap();
        }
        "symlink" => symlink("target", path).unwrap(),
        "pipe" => node(FileType::Fifo, 0),
        "socket" => drop(UnixListener::bind(path).unwrap()),
        "device" => node(FileType::CharacterDevice, makedev(1, 3)),
        _ => node(FileType::BlockDevice, makedev(7, 250)),
    }
}

/// What is there, in the words of this test.
fn kind_of(path: &Path) -> &'static str {
    let Ok(metadata) = fs::symlink_metadata(path) else { return "nothing" };
    let kind = metadata.file_type();
    match () {
        () if kind.is_file() => "file",
        () if kind.is_dir() && fs::read_dir(path).unwrap().next().is_none() => "empty",
        () if kind.is_dir() => "full",
        () if kind.is_symlink() => "symlink",
        () if kind.is_fifo() => "pipe",
        () if kind.is_socket() => "socket",
        () if kind.is_char_device() => "device",
        () => "block",
    }
}

/// What is to come of it: what is there in the end, and what the resource did, or the beginning of its error.
fn expected(found: &'static str, wanted: &str, force: bool) -> (&'static str, Result<Action, String>) {
    let is_wanted = match wanted {
        "directory" => matches!(found, "empty" | "full"),
        "absent" => found == "nothing",
        kind => found == kind,
    };
    let becomes = match wanted {
        "directory" => "empty",
        "absent" => "nothing",
        "file" => "file",
        _ => "symlink",
    };
    match (found, wanted) {
        _ if is_wanted => (found, Ok(Action::Unchanged)),
        ("nothing", _) => (becomes, Ok(Action::Create)),
        ("full", "absent") if !force => (found, Err("the directory is not empty".into())),
        (_, "absent") => (becomes, Ok(Action::Delete)),
        _ if force => (becomes, Ok(Action::Replace)),
        _ => {
            let there = match found {
                "empty" | "full" => "directory",
                "pipe" => "named pipe",
                "device" => "character device",
                "block" => "block device",
                kind => kind,
            };
            (found, Err(format!("a {there} is at the path, where a {wanted} is wanted")))
        }
    }
}

#[test]
fn every_kind_becomes_what_is_wanted_or_stays_with_an_error() {
    let scene = Scene::new();
    let mut manifest = String::new();
    let mut cases = Vec::new();
    for found in FOUND {
        for wanted in WANTED {
            for force in [false, true] {
                let name = format!("{found}_{wanted}_{force}");
                make(found, &scene.node(&format!("/srv/{name}")));
                let target = if wanted == "symlink" { "  target = \"target\"\n" } else { "" };
                manifest += &format!(
                    "resource \"file\" \"{name}\" {{\n  path = \"/srv/{name}\"\n  ensure = \"{wanted}\"\n  force = {force}\n{target}}}\n"
                );
                cases.push((name, expected(found, wanted, force)));
            }
        }
    }
    scene.compile("site", &manifest);
    let first = scene.apply("site");
    for (name, (there, did)) in &cases {
        let resource = of(&first, &format!("file.{name}"));
        match did {
            Ok(action) => {
                let outcome = if *action == Action::Unchanged { Outcome::Unchanged } else { Outcome::Changed };
                assert_eq!((resource.outcome, resource.action), (outcome, *action), "{name}: {resource:?}");
            }
            Err(message) => assert_eq!(&resource.failure.as_ref().unwrap().message, message, "{name}"),
        }
        assert_eq!(kind_of(&scene.node(&format!("/srv/{name}"))), *there, "{name}");
    }
    let before = scene.exact();
    let second = scene.apply("site");
    for (name, (_, did)) in &cases {
        let outcome = if did.is_ok() { Outcome::Unchanged } else { Outcome::Failed };
        assert_eq!(of(&second, &format!("file.{name}")).outcome, outcome, "{name}");
    }
    assert_eq!(scene.exact(), before);
    scene.ledger().assert_settled();
}

#[test]
fn set_id_and_sticky_bits_are_what_is_declared_also_with_another_owner() {
    let scene = Scene::new();
    scene.write("root/srv/tool", "old");
    fs::set_permissions(scene.node("/srv/tool"), fs::Permissions::from_mode(0o4755)).unwrap();
    scene.write("root/srv/kept", "old");
    chown(scene.node("/srv/kept"), Some(7), Some(7)).unwrap();
    fs::set_permissions(scene.node("/srv/kept"), fs::Permissions::from_mode(0o2755)).unwrap();
    let file = |name: &str, more: &str| format!("resource \"file\" \"{name}\" {{\n  path = \"/srv/{name}\"\n{more}}}\n");
    let site = [
        file("tool", "  content = \"new\"\n  mode = \"u=rwxs,g=rxs,o=rx\"\n  owner = \"web\"\n"),
        file("kept", "  owner = \"web\"\n"),
        file("shared", "  ensure = \"directory\"\n  mode = \"1777\"\n"),
        file("team", "  ensure = \"directory\"\n  mode = \"2770\"\n  group = \"web\"\n"),
        file("plain", "  mode = \"0755\"\n"),
    ];
    scene.compile("site", &site.concat());
    assert_all(&scene.apply("site"), Outcome::Changed);
    let of = |name: &str| {
        let metadata = fs::metadata(scene.node(&format!("/srv/{name}"))).unwrap();
        (metadata.mode() & 0o7777, metadata.uid(), metadata.gid())
    };
    assert_eq!(of("tool"), (0o6755, 33, 0));
    assert_eq!(of("kept"), (0o2755, 33, 7), "a new owner clears the bits, and a mode that is not declared stays");
    assert_eq!((of("shared"), of("team"), of("plain")), ((0o1777, 0, 0), (0o2770, 0, 33), (0o755, 0, 0)));
    assert_all(&scene.apply("site"), Outcome::Unchanged);
    fs::set_permissions(scene.node("/srv/plain"), fs::Permissions::from_mode(0o4755)).unwrap();
    let report = scene.apply("site");
    let changes = &testkit::scene::of(&report, "file.plain").changes;
    assert_eq!(changes[0].reason, "it allows more than it should");
    assert_eq!(of("plain").0, 0o755);
}
