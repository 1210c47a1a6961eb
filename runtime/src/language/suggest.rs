//! Suggestions for names that do not exist.

/// Below this likeness a name is not suggested.
const LIKENESS: f64 = 0.75;

/// Names longer than this are not compared: nobody mistypes them, and comparing costs the square.
const MAX_COMPARED: usize = 64;

/// The most names that a hint lists.
const MAX_LISTED: usize = 24;

/// A hint that names the most similar of `candidates`, if one is similar enough. Ties go to the first.
pub fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    closest(name, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// The most similar of `candidates`, if one is similar enough.
pub fn closest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if name.len() > MAX_COMPARED {
        return None;
    }
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates.into_iter().filter(|candidate| candidate.len() <= MAX_COMPARED) {
        let likeness = strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase());
        if likeness >= LIKENESS && best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// A hint that lists what there is, for when nothing is similar.
pub fn one_of<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str> + Clone) -> Option<String> {
    did_you_mean(name, candidates.clone()).or_else(|| {
        let all = candidates.clone().into_iter().count();
        let names: Vec<String> = candidates.into_iter().take(MAX_LISTED).map(|candidate| format!("`{candidate}`")).collect();
        let more = if all > MAX_LISTED { format!(" and {} more", all - MAX_LISTED) } else { String::new() };
        (!names.is_empty()).then(|| format!("known here: {}{more}", names.join(", ")))
    })
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
}
