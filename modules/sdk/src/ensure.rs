//! The vocabulary of `ensure`, and the one resolver that `footprint`, `compile` and `resolve_export` share.

use crate::definition::DefinitionResult;
use crate::{Diagnostic, EnsureVocabulary, Parameters};

/// The words of a type's `ensure`.
#[derive(Debug)]
pub struct Vocabulary<E: 'static> {
    /// Each value with its canonical word and the word's meaning.
    pub words: &'static [(E, &'static str, &'static str)],
    /// Accepted words that mean a canonical one.
    pub aliases: &'static [(&'static str, E)],
    /// The value when `ensure` is left out; none leaves it unmanaged.
    pub default: Option<E>,
    /// Whether `null` may be written for leaving it out.
    pub nullable: bool,
}

/// An enum of the values that `ensure` takes.
pub trait Ensure: Copy + PartialEq + 'static {
    /// All of them, in words.
    const VOCABULARY: Vocabulary<Self>;

    /// The canonical word.
    fn word(self) -> &'static str {
        let words = Self::VOCABULARY.words;
        words.iter().find(|(value, ..)| *value == self).map(|(_, word, _)| *word).expect("each value of `ensure` has a word")
    }

    /// The value of a word, canonical or alias.
    fn from_word(word: &str) -> Option<Self> {
        let canonical = Self::VOCABULARY.words.iter().find(|(_, name, _)| *name == word).map(|(value, ..)| *value);
        canonical.or_else(|| Self::VOCABULARY.aliases.iter().find(|(alias, _)| *alias == word).map(|(_, value)| *value))
    }

    /// The value that a declaration gives, or the default. None only where the vocabulary has no default.
    fn resolve(given: &Parameters) -> DefinitionResult<Option<Self>> {
        let Some(word) = given.string("ensure")? else { return Ok(Self::VOCABULARY.default) };
        match Self::from_word(&word) {
            Some(value) => Ok(Some(value)),
            None => Err(Diagnostic::at("ensure", "`ensure` has no such value").hint(expected::<Self>()).into()),
        }
    }

    /// The vocabulary as `describe` gives it.
    fn vocabulary() -> EnsureVocabulary {
        let Vocabulary { words, aliases, default, nullable: _ } = Self::VOCABULARY;
        EnsureVocabulary {
            values: words.iter().map(|(_, word, doc)| ((*word).to_owned(), (*doc).to_owned())).collect(),
            aliases: aliases.iter().map(|(alias, value)| ((*alias).to_owned(), value.word().to_owned())).collect(),
            default_value: default.map(|value| value.word().to_owned()),
        }
    }
}

fn expected<E: Ensure>() -> String {
    let words: Vec<String> = E::VOCABULARY.words.iter().map(|(_, word, _)| format!("`{word}`")).collect();
    format!("use one of {}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DefinitionError;
    use crate::testing::Given;

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Light {
        On,
        Off,
    }

    impl Ensure for Light {
        const VOCABULARY: Vocabulary<Self> = Vocabulary {
            words: &[(Self::On, "on", "It shines."), (Self::Off, "off", "It does not.")],
            aliases: &[("lit", Self::On)],
            default: Some(Self::Off),
            nullable: true,
        };
    }

    fn resolve(given: &Given) -> DefinitionResult<Option<Light>> {
        Light::resolve(&given.parameters())
    }

    #[test]
    fn words_aliases_and_default_resolve_alike() {
        assert_eq!(resolve(&Given::new().set("ensure", "on")).unwrap(), Some(Light::On));
        assert_eq!(resolve(&Given::new().set("ensure", "lit")).unwrap(), Some(Light::On));
        assert_eq!(resolve(&Given::new()).unwrap(), Some(Light::Off));
    }

    #[test]
    fn an_unknown_word_is_answered_with_the_known_ones() {
        let DefinitionError::Invalid(diagnostic) = resolve(&Given::new().set("ensure", "dim")).unwrap_err() else { panic!() };
        assert_eq!(diagnostic.attribute.as_deref(), Some("ensure"));
        assert_eq!(diagnostic.hint.as_deref(), Some("use one of `on`, `off`"));
    }

    #[test]
    fn the_vocabulary_names_canonical_words() {
        let vocabulary = Light::vocabulary();
        assert_eq!(vocabulary.aliases, vec![("lit".to_owned(), "on".to_owned())]);
        assert_eq!(vocabulary.default_value.as_deref(), Some("off"));
        assert_eq!(vocabulary.values[0], ("on".to_owned(), "It shines.".to_owned()));
    }
}
