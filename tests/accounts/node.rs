//! A node on which accounts can be made, and what its files say of them.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use testkit::{Scene, account_tools};

/// A hash of `hunter2`, and one of something else.
pub const HASH: &str = "$6$saltsalt$IFnjQHjNWjYTGLbkEPW0nyR9IGUKJqkn/wKzXYl1HNCkdkkh7WqJCuTVQ2P1gUPjn9Oe3ufSqSaNnKdvU.rGV.";
pub const OTHER_HASH: &str = "$6$saltsalt$abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefgh";

/// A scene with account tools, and the groups `adm` and `ssl`.
pub fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("root/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nbob:x:1500:1500:Bob:/home/bob:/bin/sh\n");
    scene.write("root/etc/group", "root:x:0:\nadm:x:4:\nssl:x:110:bob\nbob:x:1500:\n");
    account_tools::install(&scene.path("root"));
    scene
}

/// The line about `name` in an account file.
pub fn line(scene: &Scene, file: &str, name: &str) -> Option<String> {
    let content = scene.read(&format!("/etc/{file}"));
    content.lines().find(|line| line.split(':').next() == Some(name)).map(str::to_owned)
}

/// The fields of a user in the file `passwd`, from its id on.
#[track_caller]
pub fn passwd(scene: &Scene, name: &str) -> Vec<String> {
    let line = line(scene, "passwd", name).unwrap_or_else(|| panic!("no user `{name}`"));
    line.split(':').skip(2).map(str::to_owned).collect()
}

/// The password field of a user.
#[track_caller]
pub fn hash(scene: &Scene, name: &str) -> String {
    let line = line(scene, "shadow", name).unwrap_or_else(|| panic!("no user `{name}`"));
    line.split(':').nth(1).unwrap_or_default().to_owned()
}

/// The members of a group.
#[track_caller]
pub fn members(scene: &Scene, name: &str) -> Vec<String> {
    let line = line(scene, "group", name).unwrap_or_else(|| panic!("no group `{name}`"));
    let members = line.split(':').nth(3).unwrap_or_default();
    members.split(',').filter(|member| !member.is_empty()).map(str::to_owned).collect()
}

/// Runs a tool in the node's root, as somebody would by hand.
#[track_caller]
pub fn by_hand(scene: &Scene, tool: &str, arguments: &[&str]) {
    let root = scene.path("root");
    let mut command = Command::new(tool);
    command.args(arguments).env_clear();
    let enter = move || {
        rustix::process::chroot(&root)?;
        Ok(rustix::process::chdir("/")?)
    };
    // SAFETY: the function makes two system calls with a path that was made before.
    #[allow(unsafe_code, reason = "only a function that runs in the child can change its root")]
    let output = unsafe { command.pre_exec(enter) }.output().expect("the tool can be started");
    assert!(output.status.success(), "{tool} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The account files, without what the tools keep of their last change.
pub fn account_files(scene: &Scene) -> Vec<String> {
    ["passwd", "group", "shadow", "gshadow"].iter().map(|file| scene.read(&format!("/etc/{file}"))).collect()
}

/// The same with the lines of each file sorted: resources that wait for nothing are made in any order.
pub fn sorted_account_files(scene: &Scene) -> Vec<Vec<String>> {
    let sorted = |file: &String| {
        let mut lines: Vec<String> = file.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    account_files(scene).iter().map(sorted).collect()
}
