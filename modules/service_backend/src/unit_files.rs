//! Where systemd reads the definitions of units, and which files there are definitions (systemd.unit(5)). Pure.

use crate::name::KINDS;

/// The folders that systemd reads units from.
pub const UNIT_FOLDERS: [&str; 5] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// Whether a path is that of a unit's file, or of one that adds to it.
pub fn is_unit_file(path: &[u8]) -> bool {
    let Ok(path) = std::str::from_utf8(path) else { return false };
    let beneath = |folder: &&str| path.strip_prefix(*folder).and_then(|rest| rest.strip_prefix('/'));
    let Some(rest) = UNIT_FOLDERS.iter().find_map(beneath) else { return false };
    match rest.split_once('/') {
        None => KINDS.iter().any(|kind| rest.ends_with(kind)),
        Some((folder, file)) => folder.ends_with(".d") && file.ends_with(".conf") && !file.contains('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_drop_ins_define_a_unit() {
        for path in [
            "/etc/systemd/system/web.service",
            "/usr/lib/systemd/system/web@.service",
            "/run/systemd/system/web.socket",
            "/etc/systemd/system/web.service.d/limits.conf",
            "/etc/systemd/system/service.d/all.conf",
        ] {
            assert!(is_unit_file(path.as_bytes()), "{path}");
        }
        for path in [
            "/etc/systemd/system.conf",
            "/etc/systemd/system",
            "/etc/systemd/system/web.service.d",
            "/etc/systemd/system/multi-user.target.wants/web.service",
            "/etc/systemd/system/README",
            "/etc/systemd/user/web.service",
            "/srv/etc/systemd/system/web.service",
        ] {
            assert!(!is_unit_file(path.as_bytes()), "{path}");
        }
        assert!(!is_unit_file(b"/etc/systemd/system/\xff.service"));
    }
}
