//! Which init system runs on the node: a property of the running machine, which no file of its image tells.

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};

use super::Root;

/// Directories that an init system makes when it starts the machine: sd_booted(3), and OpenRC's own. Data about the world, not a list of what
/// is supported.
const MARKS: [(&str, &str); 2] = [("systemd", "run/systemd/system"), ("openrc", "run/openrc")];

/// The name of the init system that runs beneath `root`; none if it cannot be told, as in most containers and in images.
pub(super) fn find(root: &Root) -> Option<&'static str> {
    let is_there = |path: &str| {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat2(root.fd(), path, flags, Mode::empty(), ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS).is_ok()
    };
    MARKS.iter().find(|(_, path)| is_there(path)).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_init_system_is_told_by_what_it_makes_when_it_starts() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        assert_eq!(find(&root), None, "an image has none");
        std::fs::create_dir_all(folder.path().join("run/openrc")).unwrap();
        assert_eq!(find(&root), Some("openrc"));
        std::fs::create_dir_all(folder.path().join("run/systemd")).unwrap();
        std::fs::write(folder.path().join("run/systemd/system"), "").unwrap();
        assert_eq!(find(&root), Some("openrc"), "a file is not the directory");
    }
}
