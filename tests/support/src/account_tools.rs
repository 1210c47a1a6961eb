//! The account tools of this machine beneath another root, so that users and groups are really made there.
//!
//! A root of its own is all that they change: the runs under test enter it by chroot. Programs come with the libraries that they name.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tools of the shadow suite that are called.
const TOOLS: [&str; 8] = ["useradd", "usermod", "userdel", "groupadd", "groupmod", "groupdel", "gpasswd", "chpasswd"];

/// Where a tool may be.
const FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/bin"];

const LOGIN_DEFS: &str = "UID_MIN 1000\nUID_MAX 60000\nSYS_UID_MIN 100\nSYS_UID_MAX 999\nGID_MIN 1000\nGID_MAX 60000\nSYS_GID_MIN 100\n\
                          SYS_GID_MAX 999\nUSERGROUPS_ENAB yes\nENCRYPT_METHOD SHA512\nUMASK 022\nHOME_MODE 0700\n";

/// Puts the tools and the files that they work on beneath `root`, which has `/etc/passwd` and `/etc/group` already.
///
/// # Panics
/// If this machine has no such tools (Debian's package `passwd`), or they cannot be copied.
pub fn install(root: &Path) {
    let mut files = BTreeSet::new();
    for tool in TOOLS {
        let found = FOLDERS.iter().map(|folder| Path::new(folder).join(tool)).find(|path| path.exists());
        let path = found.unwrap_or_else(|| panic!("this test needs `{tool}`: install the package `passwd` (shadow)"));
        files.extend(libraries(&path));
        files.insert(path);
    }
    for file in files {
        copy(&file, &beneath(root, &file));
    }
    write(root, "/etc/login.defs", LOGIN_DEFS, 0o644);
    write(root, "/etc/default/useradd", "CREATE_MAIL_SPOOL=no\n", 0o644);
    write(root, "/etc/skel/.profile", "# from the skeleton\n", 0o644);
    for (from, to, end) in [("passwd", "shadow", ":*:19000:0:99999:7:::\n"), ("group", "gshadow", ":*::\n")] {
        let names = fs::read_to_string(root.join("etc").join(from)).expect("the root has account files");
        let lines = names.lines().filter_map(|line| Some(format!("{}{end}", line.split_once(':')?.0)));
        write(root, &format!("/etc/{to}"), &lines.collect::<String>(), 0o600);
    }
}

/// The libraries that a program names, and what loads them.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let output = Command::new("ldd").arg(program).output().expect("`ldd` can be started");
    let text = String::from_utf8(output.stdout).expect("`ldd` prints paths");
    text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}

fn beneath(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").expect("the path is absolute"))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().expect("it has a folder")).expect("a folder can be made");
    fs::copy(from, to).unwrap_or_else(|error| panic!("{} cannot be copied: {error}", from.display()));
}

fn write(root: &Path, path: &str, content: &str, mode: u32) {
    let path = beneath(root, Path::new(path));
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder can be made");
    fs::write(&path, content).expect("a file can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode can be set");
}
