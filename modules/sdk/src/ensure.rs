//! The vocabulary of `ensure`, and the one resolver that `footprint`, `compile` and `resolve_export` share.
//!
//! The resolver reads `ensure` and nothing else, takes the words of the vocabulary, lets the type make them canonical, and holds the
//! result against the vocabulary again. Whatever asks gets the same answer.

use serde_json::Value;

use crate::definition::DefinitionResult;
use crate::{DefinitionError, Diagnostic, EnsureVocabulary, Parameters};

/// The words of a type's `ensure`.
#[derive(Debug)]
pub struct Vocabulary<E: 'static> {
    /// Each value that is accepted with its word and the word's meaning.
    pub words: &'static [(E, &'static str, &'static str)],
    /// Other words for such a value.
    pub aliases: &'static [(&'static str, E)],
    /// The value when `ensure` is left out; none leaves it unmanaged.
    pub default: Option<E>,
    /// Whether `null` may be written for leaving it out.
    pub nullable: bool,
}

/// An enum of the values that `ensure` takes.
///
/// Derive it: the words are the variants in snake case (or `#[ensure(word = "…")]`), their meanings the doc comments. The enum gets
/// `Serialize` and `Deserialize` with the same words.
///
/// ```
/// # use runtime_sdk::Ensure;
/// /// Without a default, leaving `ensure` out leaves the activity alone.
/// #[derive(Debug, Clone, Copy, PartialEq, Eq, Ensure)]
/// #[ensure(nullable)]
/// enum Activity {
///     /// The service runs.
///     #[ensure(alias = "started")]
///     Running,
///     /// The service does not run.
///     Stopped,
/// }
/// ```
///
/// `#[ensure(default = Running)]` above the enum gives the default, `nullable` lets `null` stand for leaving it out, and
/// `normalize = function` names the function for [`normalize`](Self::normalize).
pub trait Ensure: Copy + PartialEq + 'static {
    /// All of them, in words.
    const VOCABULARY: Vocabulary<Self>;

    /// The canonical value that an accepted one means. A canonical one must mean itself. By default each does.
    #[must_use]
    fn normalize(self) -> Self {
        self
    }

    /// Whether this is what the resolver can give: desired states hold nothing else.
    fn is_canonical(self) -> bool {
        self.normalize() == self && find_word(self).is_some()
    }

    /// The word of a value.
    fn word(self) -> &'static str {
        find_word(self).expect("each value of `ensure` has a word in its vocabulary")
    }

    /// The accepted value of a word. It need not be canonical.
    fn from_word(word: &str) -> Option<Self> {
        let Vocabulary { words, aliases, .. } = Self::VOCABULARY;
        let value = words.iter().find(|(_, name, _)| *name == word).map(|(value, ..)| *value);
        value.or_else(|| aliases.iter().find(|(alias, _)| *alias == word).map(|(_, value)| *value))
    }

    /// The canonical value that a declaration gives, or the default. None where the vocabulary has no default and nothing is given: then
    /// the condition is unmanaged.
    fn resolve(given: &Parameters) -> DefinitionResult<Option<Self>> {
        let accepted = match given.string("ensure")? {
            None => Self::VOCABULARY.default,
            Some(word) => Some(Self::from_word(&word).ok_or_else(|| unknown_word::<Self>(given))?),
        };
        match accepted.map(Self::normalize) {
            Some(value) if !value.is_canonical() => Err(DefinitionError::Other(NOT_CANONICAL.into())),
            value => Ok(value),
        }
    }

    /// The canonical value, for types that cannot do without.
    fn required(given: &Parameters) -> DefinitionResult<Self> {
        Self::resolve(given)?.ok_or_else(|| given.at("ensure", "`ensure` is missing").hint(expected::<Self>()).into())
    }

    /// What others read of `ensure`: the canonical word. Where it is unmanaged there is nothing to read, which is an error.
    fn export(given: &Parameters) -> DefinitionResult<Value> {
        match Self::resolve(given)? {
            Some(value) => Ok(value.word().into()),
            None => {
                let message = "`ensure` is not given here, and what it is can be found on the node only";
                Err(given.at("ensure", message).hint(expected::<Self>()).into())
            }
        }
    }

    /// The vocabulary as `describe` gives it: canonical words, and for every other one the canonical word that it means.
    fn vocabulary() -> EnsureVocabulary {
        let Vocabulary { words, aliases, default, nullable: _ } = Self::VOCABULARY;
        let canonical = words.iter().filter(|(value, ..)| value.is_canonical());
        let normalized = words.iter().filter(|(value, ..)| !value.is_canonical()).map(|(value, word, _)| (*word, *value));
        let others = normalized.chain(aliases.iter().copied());
        EnsureVocabulary {
            values: canonical.map(|(_, word, doc)| ((*word).to_owned(), (*doc).to_owned())).collect(),
            aliases: others.map(|(word, value)| (word.to_owned(), value.normalize().word().to_owned())).collect(),
            default_value: default.map(|value| value.normalize().word().to_owned()),
        }
    }
}

const NOT_CANONICAL: &str = "the module makes of `ensure` a value that is not canonical";

fn find_word<E: Ensure>(value: E) -> Option<&'static str> {
    E::VOCABULARY.words.iter().find(|(other, ..)| *other == value).map(|(_, word, _)| *word)
}

fn unknown_word<E: Ensure>(given: &Parameters) -> Diagnostic {
    given.at("ensure", "`ensure` has no such value").hint(expected::<E>())
}

fn expected<E: Ensure>() -> String {
    let canonical = E::VOCABULARY.words.iter().filter(|(value, ..)| value.is_canonical());
    let words: Vec<String> = canonical.map(|(_, word, _)| format!("`{word}`")).collect();
    format!("use one of {}", words.join(", "))
}

/// The standard vocabulary: there or not. It is `present` if it is left out, and null is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, runtime_sdk_derive::Ensure)]
#[ensure(default = Present)]
pub enum Presence {
    /// It is there.
    Present,
    /// It is not there.
    Absent,
}

#[cfg(test)]
mod tests;
