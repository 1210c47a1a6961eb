//! What a resource holds and touches, in its one normal form.

use std::collections::BTreeSet;

use host_functions::effects::{PATH, PATH_ACTIONS};
use host_functions::objects::{Domain, is_exclusive};

use crate::model::catalog::{Claim, Effect};
use crate::model::ids::TypeName;
use crate::model::key::Key;

/// How many claims, effects or affected paths one resource may have.
const MAX_ITEMS: usize = 4_096;

/// Claims, effects and affected paths, each sorted and without duplicates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Footprint {
    /// Those that the module named, and one for each effect that is not read-only.
    pub claims: Vec<Claim>,
    /// What may be touched.
    pub effects: Vec<Effect>,
    /// Paths that change with the resource.
    pub affected_paths: Vec<Key>,
}

impl Footprint {
    /// The normal form of what the module of `type_name` said.
    ///
    /// # Errors
    /// In words, if a domain, key or action has no meaning or there are too many.
    pub(super) fn normalise(
        type_name: &TypeName,
        claims: Vec<Claim>,
        effects: Vec<Effect>,
        affected_paths: Vec<Key>,
    ) -> Result<Self, String> {
        if claims.len().max(effects.len()).max(affected_paths.len()) > MAX_ITEMS {
            return Err(format!("more than {MAX_ITEMS} claims, effects or affected paths"));
        }
        affected_paths.iter().try_for_each(|path| check_path(path, true))?;
        let effects = effects.into_iter().map(normal_effect).collect::<Result<BTreeSet<_>, _>>()?;
        let own = claims.into_iter().map(|claim| normal_claim(type_name, claim));
        let derived = effects.iter().filter(|effect| is_claimed(effect)).map(|effect| Ok(claim_of(effect)));
        Ok(Self {
            claims: own.chain(derived).collect::<Result<BTreeSet<_>, String>>()?.into_iter().collect(),
            affected_paths: affected_paths.into_iter().collect::<BTreeSet<_>>().into_iter().collect(),
            effects: effects.into_iter().collect(),
        })
    }
}

/// Whether to have the effect is to hold the object.
fn is_claimed(effect: &Effect) -> bool {
    let changes = effect.actions.iter().any(|action| is_exclusive(action));
    changes && Domain::from_word(&effect.domain).is_none_or(Domain::is_claimed)
}

fn claim_of(effect: &Effect) -> Claim {
    Claim { domain: effect.domain.clone(), key: effect.key.clone(), qualifier: String::new() }
}

fn normal_effect(mut effect: Effect) -> Result<Effect, String> {
    let domain = Domain::from_word(&effect.domain);
    let actions = match domain {
        Some(domain) => domain.verbs(),
        None if effect.domain == PATH => &PATH_ACTIONS,
        None => return Err(format!("an effect in the domain `{}`, which this host has no functions for", effect.domain)),
    };
    if let Some(action) = effect.actions.iter().find(|action| !actions.contains(&action.as_str())) {
        return Err(format!("an effect with the action `{action}`, which the domain `{}` does not have", effect.domain));
    }
    // A package has versions to narrow the actions to; nothing else has.
    let narrowed = effect.qualifier.as_ref().is_some_and(|qualifier| qualifier.is_empty() || qualifier.len() > 256);
    if effect.actions.is_empty() || narrowed || (effect.qualifier.is_some() && domain != Some(Domain::Package)) {
        return Err(format!("an effect in the domain `{}` without an action, or with a qualifier", effect.domain));
    }
    check_key(domain, &effect.key)?;
    effect.actions.sort();
    effect.actions.dedup();
    Ok(effect)
}

fn normal_claim(type_name: &TypeName, mut claim: Claim) -> Result<Claim, String> {
    let domain = Domain::from_word(&claim.domain);
    if domain.is_some_and(|domain| !domain.is_claimed()) {
        return Err(format!("a claim in the domain `{}`, whose objects nobody can hold", claim.domain));
    }
    if domain.is_some() || claim.domain == PATH {
        check_key(domain, &claim.key)?;
        return Ok(claim);
    }
    if claim.domain.parse::<TypeName>().is_err() || claim.key.0.is_empty() || claim.key.0.len() > 4_096 {
        return Err("a claim whose domain is not lower-case letters, digits and `_`, or whose key is empty or too long".into());
    }
    claim.domain = format!("{type_name}/{}", claim.domain);
    Ok(claim)
}

/// Whether `key` can name an object of `domain`; of none, a path.
fn check_key(domain: Option<Domain>, key: &Key) -> Result<(), String> {
    match domain {
        None => check_path(key, true),
        Some(domain) if domain.is_name(&key.0) => Ok(()),
        Some(domain) => Err(format!("`{key}`, which cannot be the name of a {}", domain.word())),
    }
}

/// Whether `key` is an absolute path in normal form; with `tree`, `/**` may end it.
fn check_path(key: &Key, tree: bool) -> Result<(), String> {
    let bytes = if tree { key.0.strip_suffix(b"/**").unwrap_or(&key.0) } else { &key.0 };
    let whole = bytes.is_empty() && key.0 == b"/**" || bytes == b"/";
    let parts_ok = || bytes[1..].split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b"." | b"..") && part.len() <= 255);
    let ok = whole || (bytes.len() <= 4_096 && bytes.starts_with(b"/") && !bytes.contains(&0) && parts_ok());
    if ok { Ok(()) } else { Err(format!("the path `{key}`, which is not absolute and in normal form")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(key: &str, actions: &[&str]) -> Effect {
        let actions = actions.iter().map(ToString::to_string).collect();
        Effect { domain: "path".into(), key: key.into(), actions, qualifier: None }
    }

    fn normalise(effects: Vec<Effect>, claims: Vec<Claim>) -> Result<Footprint, String> {
        Footprint::normalise(&"thing".parse().unwrap(), claims, effects, vec![])
    }

    #[test]
    fn a_claim_follows_from_each_effect_that_is_not_read_only() {
        let footprint = normalise(vec![effect("/b", &["write", "read"]), effect("/a", &["read"])], vec![]).unwrap();
        assert_eq!(footprint.effects, [effect("/a", &["read"]), effect("/b", &["read", "write"])]);
        assert_eq!(footprint.claims, [Claim { domain: "path".into(), key: "/b".into(), qualifier: String::new() }]);
    }

    #[test]
    fn a_folder_on_the_way_is_held_by_nobody() {
        let footprint = normalise(vec![effect("/srv", &["read", "make-directory"])], vec![]).unwrap();
        assert_eq!(footprint.effects, [effect("/srv", &["make-directory", "read"])]);
        assert_eq!(footprint.claims, []);
    }

    #[test]
    fn own_domains_are_prefixed_and_host_domains_are_not_taken() {
        let claim = |domain: &str| Claim { domain: domain.into(), key: "k".into(), qualifier: String::new() };
        assert_eq!(normalise(vec![], vec![claim("port")]).unwrap().claims[0].domain, "thing/port");
        assert_eq!(normalise(vec![], vec![claim("package")]).unwrap().claims[0].domain, "package", "it is the host's");
        assert!(normalise(vec![], vec![claim("process")]).is_err(), "nobody holds a program");
        assert!(normalise(vec![], vec![claim("a/b")]).is_err());
    }

    #[test]
    fn effects_on_other_objects_have_their_own_actions_and_names() {
        let of = |domain: &str, key: &str, action: &str, qualifier: Option<&str>| {
            let effect = Effect { domain: domain.into(), ..effect(key, &[action]) };
            normalise(vec![Effect { qualifier: qualifier.map(Into::into), ..effect }], vec![])
        };
        let claims = |footprint: Footprint| footprint.claims.into_iter().map(|claim| claim.domain).collect::<Vec<_>>();
        assert_eq!(claims(of("package", "nginx", "install", Some("1.0-1")).unwrap()), ["package"]);
        assert_eq!(claims(of("unit", "nginx.service", "read", None).unwrap()), [""; 0]);
        assert_eq!(claims(of("process", "/bin/true", "run", None).unwrap()), [""; 0], "nobody holds a program");
        for (domain, key, action, qualifier) in [
            ("package", "nginx", "start", None),
            ("package", "-y", "install", None),
            ("package", "nginx", "install", Some("")),
            ("unit", "nginx.service", "start", Some("1.0")),
            ("process", "true", "run", None),
            ("socket", "a", "read", None),
        ] {
            assert!(of(domain, key, action, qualifier).is_err(), "{domain} {key} {action}");
        }
    }

    #[test]
    fn malformed_paths_and_actions_are_refused() {
        for bad in ["", "a", "/a/", "/a//b", "/a/../b", "/a/./b", "/a\0", "/a/**/**x/../"] {
            assert!(normalise(vec![effect(bad, &["write"])], vec![]).is_err(), "{bad}");
        }
        for good in ["/", "/a", "/a/**", "/**"] {
            assert!(normalise(vec![effect(good, &["write"])], vec![]).is_ok(), "{good}");
        }
        assert!(normalise(vec![effect("/a", &["execute"])], vec![]).is_err());
        assert!(normalise(vec![effect("/a", &[])], vec![]).is_err());
    }
}
