//! The resources of a catalog as definitions see them when they derive orders, found without going through all of them.

use std::collections::BTreeMap;
use std::ops::Deref;

use super::Peer;

/// A fixed snapshot of a catalog, by address. It is asked about once for each resource, so what it is asked for is indexed.
#[derive(Debug)]
pub struct Peers {
    list: Vec<Peer>,
    /// By affected path: the places in the list of those that change it, in order.
    by_path: BTreeMap<Vec<u8>, Vec<usize>>,
}

impl Peers {
    /// These resources, in any order.
    pub fn new(mut list: Vec<Peer>) -> Self {
        list.sort_by(|left, right| left.id.cmp(&right.id));
        let mut by_path: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
        for (place, path) in
            list.iter().enumerate().flat_map(|(place, peer)| peer.affected_paths.iter().map(move |path| (place, path)))
        {
            by_path.entry(path.0.clone()).or_default().push(place);
        }
        Self { list, by_path }
    }

    /// Those that change a folder above `path`, by address.
    pub(super) fn above(&self, path: &[u8]) -> Vec<&Peer> {
        self.at(folders_above(path).filter_map(|folder| self.by_path.get(folder)))
    }

    /// Those that change `path` or something beneath it, by address.
    pub(super) fn within(&self, path: &[u8]) -> Vec<&Peer> {
        if !path.starts_with(b"/") {
            return Vec::new();
        }
        let folder = path.strip_suffix(b"/").unwrap_or(path);
        // `0` comes right after `/`.
        let (first, end) = ([folder, b"/"].concat(), [folder, b"0"].concat());
        let beneath = self.by_path.range(first..end).map(|(_, places)| places);
        self.at(self.by_path.get(path).into_iter().chain(beneath))
    }

    /// Those at these places, each once.
    fn at<'p>(&'p self, places: impl Iterator<Item = &'p Vec<usize>>) -> Vec<&'p Peer> {
        let mut places: Vec<usize> = places.flatten().copied().collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().map(|place| &self.list[place]).collect()
    }
}

impl Deref for Peers {
    type Target = [Peer];

    fn deref(&self) -> &[Peer] {
        &self.list
    }
}

/// The folders above a path that is absolute and in normal form.
fn folders_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = path.iter().enumerate().filter(|(at, byte)| **byte == b'/' && at + 1 < path.len());
    ends.map(|(at, _)| if at == 0 { &b"/"[..] } else { &path[..at] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_above_what_lies_in_it_at_any_distance() {
        let above =
            |path: &'static str| folders_above(path.as_bytes()).map(|folder| str::from_utf8(folder).unwrap()).collect::<Vec<_>>();
        assert_eq!(above("/a/bc/d"), ["/", "/a", "/a/bc"]);
        assert_eq!(above("/a"), ["/"]);
        for none in ["/", "", "a"] {
            assert!(above(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn each_is_found_once_and_by_address() {
        let peer = |name: &str, paths: &[&str]| Peer {
            id: format!("file.{name}").parse().unwrap(),
            desired: None,
            claims: vec![],
            effects: vec![],
            affected_paths: paths.iter().map(|path| (*path).into()).collect(),
        };
        let peers =
            Peers::new(vec![peer("c", &["/"]), peer("b", &["/a", "/a/b"]), peer("a", &["/a/b"]), peer("d", &["/ab", "/a/b/c"])]);
        let names = |found: Vec<&Peer>| found.into_iter().map(|peer| peer.id.name.as_str().to_owned()).collect::<Vec<_>>();
        assert_eq!(names(peers.above(b"/a/b/c")), ["a", "b", "c"]);
        assert_eq!(names(peers.within(b"/a")), ["a", "b", "d"]);
        assert_eq!(names(peers.within(b"/a/b/c")), ["d"]);
        assert_eq!(names(peers.within(b"/")), ["a", "b", "c", "d"]);
        for none in ["/a/b/c/d", "", "a", "a/b"] {
            assert_eq!(names(peers.within(none.as_bytes())), [""; 0], "{none}");
            assert_eq!(names(peers.above(none.as_bytes())).is_empty(), !none.starts_with('/'), "{none}");
        }
    }
}
