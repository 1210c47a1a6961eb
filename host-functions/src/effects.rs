//! What a resource says that it may touch. The host holds it to this, and derives a claim from each effect that is not read-only.

use crate::files::path::is_beneath;
use crate::grant::Access;
use crate::objects::{ANY, Domain, is_exclusive};

/// The domain of effects on files: keys are absolute paths.
pub const PATH: &str = "path";

/// To make a plain directory where nothing is. Many resources may need one folder on their way, so it makes no claim.
pub const MAKE_DIRECTORY: &str = "make-directory";

/// What may be done with a path.
pub const PATH_ACTIONS: [&str; 3] = ["read", "write", MAKE_DIRECTORY];

/// Something that a resource may touch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Effect {
    /// `path`, or another domain of objects.
    pub domain: String,
    /// Which object. For `path`: an absolute path, or one that ends in `/**` for all beneath it.
    pub key: Vec<u8>,
    /// What may be done. For `path` those of [`PATH_ACTIONS`]; none includes another.
    pub actions: Vec<String>,
    /// Narrows the actions where the domain has something to narrow. Has no meaning for `path`.
    pub qualifier: Option<String>,
}

impl Effect {
    /// Domain and key of the claim that follows from this effect; none if it only reads.
    pub fn claim(&self) -> Option<(&str, &[u8])> {
        let exclusive = self.actions.iter().any(|action| is_exclusive(action));
        let claimed = Domain::from_word(&self.domain).is_none_or(Domain::is_claimed);
        (exclusive && claimed).then_some((self.domain.as_str(), self.key.as_slice()))
    }

    /// Whether it lets the resource do this with `path`.
    pub fn permits(&self, access: Access, path: &[u8]) -> bool {
        self.is_for(access) && self.has(path)
    }

    /// Whether it lets the resource make a plain directory at `path`, where nothing is.
    pub fn permits_making(&self, path: &[u8]) -> bool {
        self.makes_directories() && self.has(path)
    }

    /// Whether it lets the resource do this with everything beneath the directory `path`.
    pub fn permits_beneath(&self, access: Access, path: &[u8]) -> bool {
        self.is_for(access) && self.tree().is_some_and(|tree| tree == path || is_beneath(path, tree))
    }

    /// Whether it lets the resource do this with the object `name`. Whatever it lets it do, it lets it read what is there.
    pub fn permits_object(&self, domain: Domain, verb: &str, name: &str) -> bool {
        let is_named = self.key == name.as_bytes() || (domain == Domain::Process && self.key == ANY.as_bytes());
        let has_verb = verb == "read" || self.actions.iter().any(|action| action == verb);
        self.domain == domain.word() && is_named && has_verb
    }

    /// The path that it lets the resource change or make, if it is one and no tree.
    pub fn written_path(&self) -> Option<&[u8]> {
        let writes = self.is_for(Access::Write) || self.makes_directories();
        (writes && self.tree().is_none()).then_some(&self.key[..])
    }

    fn has(&self, path: &[u8]) -> bool {
        self.key == path || self.tree().is_some_and(|tree| is_beneath(path, tree))
    }

    fn makes_directories(&self) -> bool {
        self.domain == PATH && self.actions.iter().any(|action| action == MAKE_DIRECTORY)
    }

    fn is_for(&self, access: Access) -> bool {
        self.domain == PATH && self.actions.iter().any(|action| action == access.word())
    }

    /// The directory, if the key is everything beneath one.
    fn tree(&self) -> Option<&[u8]> {
        let folder = self.key.strip_suffix(b"/**")?;
        Some(if folder.is_empty() { b"/" } else { folder })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(key: &str, actions: &[&str]) -> Effect {
        let actions = actions.iter().map(|action| (*action).to_owned()).collect();
        Effect { domain: PATH.into(), key: key.into(), actions, qualifier: None }
    }

    #[test]
    fn a_path_is_itself_and_a_tree_is_what_is_beneath() {
        let file = effect("/etc/motd", &["read", "write"]);
        assert!(file.permits(Access::Write, b"/etc/motd"));
        assert!(!file.permits(Access::Write, b"/etc/motd/x"));
        assert!(!file.permits_beneath(Access::Write, b"/etc/motd"));
        let tree = effect("/srv/**", &["write"]);
        assert!(tree.permits(Access::Write, b"/srv/a/b"));
        assert!(!tree.permits(Access::Write, b"/srv"));
        assert!(!tree.permits(Access::Write, b"/srvx"));
        assert!(!tree.permits(Access::Read, b"/srv/a"), "writing does not include reading");
        assert!(tree.permits_beneath(Access::Write, b"/srv") && tree.permits_beneath(Access::Write, b"/srv/a"));
        assert!(effect("/**", &["read"]).permits(Access::Read, b"/x"));
    }

    #[test]
    fn to_make_a_folder_on_the_way_is_neither_to_write_nor_to_hold_it() {
        let parent = effect("/srv", &["read", MAKE_DIRECTORY]);
        assert!(parent.permits_making(b"/srv") && parent.permits(Access::Read, b"/srv"));
        assert!(!parent.permits(Access::Write, b"/srv") && !parent.permits_making(b"/srv/a"));
        assert_eq!((parent.claim(), parent.written_path()), (None, Some(&b"/srv"[..])), "something may be staged beside it");
        assert!(!effect("/srv", &["read", "write"]).permits_making(b"/srv"));
    }

    #[test]
    fn an_object_is_its_name_and_reading_needs_no_word_of_its_own() {
        let of = |domain: Domain, key: &str, action: &str| Effect { domain: domain.word().into(), ..effect(key, &[action]) };
        let nginx = of(Domain::Package, "nginx", "install");
        assert!(nginx.permits_object(Domain::Package, "install", "nginx"));
        assert!(nginx.permits_object(Domain::Package, "read", "nginx"));
        assert!(!nginx.permits_object(Domain::Package, "remove", "nginx"));
        assert!(!nginx.permits_object(Domain::Package, "install", "nginx-full"));
        assert!(!nginx.permits_object(Domain::Unit, "install", "nginx"));
        assert_eq!(nginx.claim(), Some(("package", &b"nginx"[..])));
        assert!(of(Domain::Process, "*", "run").permits_object(Domain::Process, "run", "/bin/true"));
        assert!(!of(Domain::Package, "*", "install").permits_object(Domain::Package, "install", "nginx"));
        assert_eq!(of(Domain::Process, "/bin/true", "run").claim(), None, "a program is nobody's");
        assert_eq!(of(Domain::User, "web", "read").claim(), None);
        assert_eq!(of(Domain::Group, "web", "join").claim(), None, "many may be in one group");
    }

    #[test]
    fn whatever_is_not_read_only_is_claimed() {
        assert_eq!(effect("/a", &["read"]).claim(), None);
        assert_eq!(effect("/a", &["read", "write"]).claim(), Some(("path", &b"/a"[..])));
        assert_eq!(effect("/a", &["frobnicate"]).claim(), Some(("path", &b"/a"[..])), "an unknown action may change");
        assert_eq!(effect("/a", &[]).claim(), None);
    }
}
