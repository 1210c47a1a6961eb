//! Suggestions for names that do not exist.

/// Below this likeness a name is not suggested.
const LIKENESS: f64 = 0.75;

/// Names longer than this are not compared: nobody mistypes them, and comparing costs the square.
const MAX_COMPARED: usize = 64;

/// The most names that a hint lists.
const MAX_LISTED: usize = 24;

/// A hint that names the most similar of `candidates`, if one is similar enough. Ties go to the first.
pub fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    closest(name, candidates).map(proposed)
}

/// The most similar of `candidates`, if one is similar enough.
pub fn closest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    most_like(candidates, |candidate| likeness(name, candidate))
}

/// A hint that lists what there is, for when nothing is similar.
pub fn one_of<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str> + Clone) -> Option<String> {
    did_you_mean(name, candidates.clone()).or_else(|| listed(candidates))
}

/// As [`one_of`], for addresses of resources and for objects: `TYPE.NAME`, `DOMAIN:KEY`, with what stands between the two.
pub fn one_of_addresses<'c>(
    address: &str,
    separator: char,
    candidates: impl IntoIterator<Item = &'c str> + Clone,
) -> Option<String> {
    let closest = most_like(candidates.clone(), |candidate| likeness_of_addresses(address, candidate, separator));
    closest.map(proposed).or_else(|| listed(candidates))
}

fn proposed(candidate: &str) -> String {
    format!("did you mean `{candidate}`?")
}

fn listed<'c>(candidates: impl IntoIterator<Item = &'c str> + Clone) -> Option<String> {
    let all = candidates.clone().into_iter().count();
    let names: Vec<String> = candidates.into_iter().take(MAX_LISTED).map(|candidate| format!("`{candidate}`")).collect();
    let more = if all > MAX_LISTED { format!(" and {} more", all - MAX_LISTED) } else { String::new() };
    (!names.is_empty()).then(|| format!("known here: {}{more}", names.join(", ")))
}

fn most_like<'c>(candidates: impl IntoIterator<Item = &'c str>, likeness: impl Fn(&str) -> f64) -> Option<&'c str> {
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let likeness = likeness(candidate);
        if likeness >= LIKENESS && best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// How alike two names are, from 0 to 1. A common beginning makes them more alike than a common end.
fn likeness(left: &str, right: &str) -> f64 {
    if left.len().max(right.len()) > MAX_COMPARED {
        return 0.0;
    }
    strsim::jaro_winkler(&left.to_lowercase(), &right.to_lowercase())
}

/// As little as the less alike of their two parts. Many addresses have the type or domain in common, and many paths the folders: that makes
/// nothing alike that follows.
fn likeness_of_addresses(left: &str, right: &str, separator: char) -> f64 {
    let (Some((left, of_left)), Some((right, of_right))) = (left.split_once(separator), right.split_once(separator)) else {
        return likeness(left, right);
    };
    let common = common_folders(of_left, of_right);
    likeness(left, right).min(likeness(&of_left[common..], &of_right[common..]))
}

/// How many bytes the folders take in which both paths lie; none, where they are no paths.
fn common_folders(left: &str, right: &str) -> usize {
    let same = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    left.as_bytes()[..same].iter().rposition(|byte| *byte == b'/').map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        assert_eq!(did_you_mean("nmae", ["path", "name"]), Some("did you mean `name`?".into()));
        assert_eq!(did_you_mean("Content", ["content"]), Some("did you mean `content`?".into()));
        assert_eq!(did_you_mean("zzz", ["path", "name"]), None);
        assert_eq!(did_you_mean(&"a".repeat(1000), ["a"]), None);
        assert_eq!(one_of("zzz", ["path", "mode"]), Some("known here: `path`, `mode`".into()));
        assert!(one_of("zzz", ["a"; 30]).is_some_and(|hint| hint.ends_with("`a` and 6 more")), "what is left out is counted");
    }

    fn object(wanted: &str, held: &[&str]) -> Option<String> {
        one_of_addresses(wanted, ':', held.iter().copied())
    }

    fn resource(wanted: &str, declared: &[&str]) -> Option<String> {
        one_of_addresses(wanted, '.', declared.iter().copied())
    }

    #[test]
    fn an_address_that_was_mistyped_is_suggested_wherever_the_slip_is() {
        let held = ["path:/srv/site/index.html", "path:/srv/note", "unit:nginx.service"];
        for slip in ["path:/srv/notes", "path:/svr/note", "pth:/srv/note", "path:/Srv/Note", "path:srv/note"] {
            assert_eq!(object(slip, &held), Some("did you mean `path:/srv/note`?".into()), "{slip}");
        }
        assert_eq!(object("unit:ngnix.service", &held), Some("did you mean `unit:nginx.service`?".into()));
        for slip in ["file.mot", "fil.motd", "file.motdd"] {
            assert_eq!(resource(slip, &["file.later", "file.motd"]), Some("did you mean `file.motd`?".into()), "{slip}");
        }
        let deep = format!("path:/{}", "folder/".repeat(20));
        assert!(object(&format!("{deep}notes"), &[&format!("{deep}note")]).is_some_and(|hint| hint.starts_with("did you mean")));
        assert_eq!(object("path:/ä/ö", &["path:/ä/ü"]), Some("known here: `path:/ä/ü`".into()), "cut between letters");
    }

    #[test]
    fn what_is_alike_in_type_domain_or_folder_alone_is_not_suggested() {
        for (wanted, held) in [
            ("path:/srv/note", "path:/etc/later"),
            ("path:/srv/site/shop", "path:/srv/site/docs"),
            ("unit:nginx.service", "path:/srv"),
            ("user:web", "group:web"),
        ] {
            assert_eq!(object(wanted, &[held]), Some(format!("known here: `{held}`")), "{wanted}");
        }
        for (wanted, declared) in [("file.motd", "file.later"), ("fil.motd", "file.later"), ("file.home", "file.current")] {
            assert_eq!(resource(wanted, &[declared]), Some(format!("known here: `{declared}`")), "{wanted}");
        }
        assert_eq!(resource("file.motd", &[]), None);
    }
}
