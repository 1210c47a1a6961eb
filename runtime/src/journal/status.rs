//! The order of events of one intent.

use std::fmt;

use crate::model::report::EffectClass;

/// An intent's number, unique in one state folder; later intents have greater ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntentId(pub(crate) i64);

impl fmt::Display for IntentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A fieldless enum with one word for each case: its form in the database and in JSON.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$case_doc])* $case,)+
        }

        impl $name {
            /// Every case.
            pub const ALL: &[$name] = &[$($name::$case),+];

            /// Its word in the database and in JSON.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$case => $word,)+
                }
            }

            /// The case that `word` stands for.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|case| case.as_str() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Where an intent stands.
    Status {
        /// On disk; its change may be under way, or its run was lost.
        Intended = "intended",
        /// Its run ended it: something changed, and it is known that the rest did not. Open.
        Partial = "partial",
        /// Its run ended it: it may or may not have changed. Open.
        Unknown = "unknown",
        /// Its run ended it: something changed, and the rest is not known. Open.
        PartialUnknown = "partial_unknown",
        /// Settled: changed as intended.
        Done = "done",
        /// Settled: nothing changed.
        NotStarted = "not_started",
        /// Settled by recovery: it is safe to check and apply again.
        Recovered = "recovered",
        /// Settled by the operator, who looked and takes what is there.
        Abandoned = "abandoned",
    }
}

impl Status {
    /// Whether it blocks its resource until recovery.
    pub const fn is_open(self) -> bool {
        match self {
            Self::Intended | Self::Partial | Self::Unknown | Self::PartialUnknown => true,
            Self::Done | Self::NotStarted | Self::Recovered | Self::Abandoned => false,
        }
    }
}

words! {
    /// How the run that made an intent ends it.
    Ending {
        /// Changed as intended.
        Done = "done",
        /// Nothing changed.
        NotStarted = "not_started",
        /// Something changed, and it is known that the rest did not.
        Partial = "partial",
        /// It may or may not have changed.
        Unknown = "unknown",
        /// Something changed, and the rest is not known.
        PartialUnknown = "partial_unknown",
    }
}

impl EffectClass {
    /// How an intent ends whose change failed so.
    pub const fn ending(self) -> Ending {
        match self {
            Self::BeforeChange => Ending::NotStarted,
            Self::PartialChange => Ending::Partial,
            Self::UnknownOutcome => Ending::Unknown,
            Self::PartialChangeUnknown => Ending::PartialUnknown,
        }
    }
}

words! {
    /// How a later run settles an intent that was left open.
    Resolution {
        /// The module made it safe to check and apply again.
        Recovered = "recovered",
        /// The operator looked and takes what is there.
        Abandoned = "abandoned",
    }
}

/// What happens to an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntentEvent {
    /// It is written, before its change.
    Intended,
    /// Its run ends it.
    Ended(Ending),
    /// A later run settles it.
    Resolved(Resolution),
}

impl IntentEvent {
    /// Its word in the database and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Intended => "intended",
            Self::Ended(ending) => ending.as_str(),
            Self::Resolved(resolution) => resolution.as_str(),
        }
    }

    /// The event that `word` stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        (word == "intended")
            .then_some(Self::Intended)
            .or_else(|| Ending::from_word(word).map(Self::Ended))
            .or_else(|| Resolution::from_word(word).map(Self::Resolved))
    }
}

impl fmt::Display for IntentEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An event that cannot follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{event}` cannot follow {}", status.map_or("nothing".to_owned(), |status| format!("`{status}`")))]
pub struct IllegalOrder {
    /// Where the intent stood; none if it was not yet written.
    pub status: Option<Status>,
    /// What was to happen.
    pub event: IntentEvent,
}

/// Where an intent stands after `event`, given where it stood; `None` is before it is written.
///
/// # Errors
/// If the event cannot follow: an intent begins once, is ended at most once by its run, and is settled exactly once.
pub fn next(status: Option<Status>, event: IntentEvent) -> Result<Status, IllegalOrder> {
    match (status, event) {
        (None, IntentEvent::Intended) => Ok(Status::Intended),
        (Some(Status::Intended), IntentEvent::Ended(ending)) => Ok(match ending {
            Ending::Done => Status::Done,
            Ending::NotStarted => Status::NotStarted,
            Ending::Partial => Status::Partial,
            Ending::Unknown => Status::Unknown,
            Ending::PartialUnknown => Status::PartialUnknown,
        }),
        (Some(status), IntentEvent::Resolved(resolution)) if status.is_open() => Ok(match resolution {
            Resolution::Recovered => Status::Recovered,
            Resolution::Abandoned => Status::Abandoned,
        }),
        _ => Err(IllegalOrder { status, event }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events() -> impl Strategy<Value = IntentEvent> {
        let all = std::iter::once(IntentEvent::Intended)
            .chain(Ending::ALL.iter().copied().map(IntentEvent::Ended))
            .chain(Resolution::ALL.iter().copied().map(IntentEvent::Resolved))
            .collect::<Vec<_>>();
        prop::sample::select(all)
    }

    proptest! {
        #[test]
        fn whatever_is_asked_an_intent_begins_once_and_is_settled_once(asked in prop::collection::vec(events(), 0..12)) {
            let mut status = None;
            let mut taken = Vec::new();
            for event in asked {
                match next(status, event) {
                    Ok(after) => {
                        taken.push(event);
                        status = Some(after);
                    }
                    Err(refused) => prop_assert_eq!(refused, IllegalOrder { status, event }),
                }
            }
            let settles = |event: &&IntentEvent| {
                matches!(event, IntentEvent::Ended(Ending::Done | Ending::NotStarted) | IntentEvent::Resolved(_))
            };
            prop_assert!(taken.iter().skip(1).all(|event| *event != IntentEvent::Intended));
            prop_assert!(taken.iter().filter(|event| matches!(event, IntentEvent::Ended(_))).count() <= 1);
            let settled = taken.iter().filter(settles).count();
            prop_assert_eq!(settled, usize::from(status.is_some_and(|status| !status.is_open())));
            if settled == 1 {
                prop_assert!(settles(&taken.last().expect("it was settled")), "nothing follows a settlement");
            }
        }
    }

    #[test]
    fn an_intent_can_be_recovered_from_every_open_status_and_from_no_other() {
        for &status in Status::ALL {
            let recovered = next(Some(status), IntentEvent::Resolved(Resolution::Recovered));
            assert_eq!(recovered.is_ok(), status.is_open(), "{status}");
        }
        let refused = next(Some(Status::Done), IntentEvent::Ended(Ending::Done)).unwrap_err();
        assert_eq!(refused.to_string(), "`done` cannot follow `done`");
        assert_eq!(next(None, IntentEvent::Ended(Ending::Done)).unwrap_err().to_string(), "`done` cannot follow nothing");
    }

    #[test]
    fn words_are_unique_and_round_trip() {
        for &status in Status::ALL {
            assert_eq!(Status::from_word(status.as_str()), Some(status));
        }
        assert_eq!(IntentEvent::from_word("partial_unknown"), Some(IntentEvent::Ended(Ending::PartialUnknown)));
        assert_eq!(IntentEvent::from_word("run_began"), None);
    }
}
