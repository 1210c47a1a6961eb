//! What the guest is told to do, and in which function: by the attribute `behaviour`, or by the component's own bytes for functions that are given
//! nothing of the declaration.

use std::hint::black_box;

/// Where a test puts what to do in place of the dots.
static TOLD: [u8; 64] = *b"hostile-behaviour=..............................................";

/// What stands before the behaviour there.
const PREFIX: usize = "hostile-behaviour=".len();

/// Defines an enum of words with a list of all of them.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $variant),*
        }

        impl $name {
            /// Every value with its word.
            pub const ALL: &[(Self, &str)] = &[$((Self::$variant, $word)),*];

            /// The value of a word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
            }
        }
    };
}

words! {
    /// A function of the contract.
    Place {
        /// `identity`.
        Identity = "identity",
        /// `compile`.
        Compile = "compile",
        /// `validate`.
        Validate = "validate",
        /// `relationships`.
        Relationships = "relationships",
        /// `resolve-export`.
        ResolveExport = "resolve-export",
        /// `test-view`.
        TestView = "test-view",
        /// `assign-asset`.
        AssignAsset = "assign-asset",
        /// `migrate`.
        Migrate = "migrate",
        /// `equal`.
        Equal = "equal",
        /// `must-replace`.
        MustReplace = "must-replace",
        /// `must-replace-on-drift`.
        MustReplaceOnDrift = "must-replace-on-drift",
        /// `stable-id`.
        StableId = "stable-id",
        /// `describe`, which is told by the component's own bytes.
        Describe = "describe",
        /// `capabilities`, as `describe`.
        Capabilities = "capabilities",
        /// `inspect-safety`.
        InspectSafety = "inspect-safety",
        /// `composition-conflicts`.
        CompositionConflicts = "composition-conflicts",
        /// `check`.
        Check = "check",
        /// `work.apply`.
        Apply = "apply",
        /// `work.verify`.
        Verify = "verify",
        /// `perform`.
        Perform = "perform",
        /// `refresh`.
        Refresh = "refresh",
        /// `recover-interrupted`.
        Recover = "recover",
    }
}

words! {
    /// What to do there.
    Act {
        /// Run for ever.
        Spin = "spin",
        /// Run for three seconds.
        Dawdle = "dawdle",
        /// Allocate until it is refused.
        Allocate = "allocate",
        /// Panic, which traps.
        Trap = "trap",
        /// Recurse for ever.
        Recurse = "recurse",
        /// Read WASI's monotonic clock.
        ReadClock = "read-clock",
        /// Ask WASI for random bytes.
        ReadRandom = "read-random",
        /// Read WASI's environment.
        ReadEnvironment = "read-environment",
        /// Ask for a fact.
        ReadFact = "read-fact",
        /// Look up an account.
        FindUser = "find-user",
        /// Observe `path` through the host.
        Observe = "observe",
        /// Observe `other`, which the effects do not name.
        ObserveOther = "observe-other",
        /// Read the content of `other`.
        ReadOther = "read-other",
        /// Read an asset that `validate` did not list.
        ReadAsset = "read-asset",
        /// Read the sensitive content that it was given.
        ReadSecret = "read-secret",
        /// Ask how large the sensitive content is that it was given.
        SizeSecret = "size-secret",
        /// Read the content of `path`.
        ReadOwn = "read-own",
        /// Write the sensitive content that it was given at `path`; that of another resource if it was given none.
        StageSecret = "stage-secret",
        /// Name the sensitive content of another resource.
        NameSecret = "name-secret",
        /// Write a file at `path`.
        Write = "write",
        /// Write a file at `path`, and take no notice of a refusal.
        WriteQuietly = "write-quietly",
        /// Write a file at `other`.
        WriteOther = "write-other",
        /// Stage a file at `path` and never commit it.
        StageOnly = "stage-only",
        /// Set the mode of what is at `path`.
        SetAttributes = "set-attributes",
        /// Make a directory at `path`.
        MakeDirectory = "make-directory",
        /// Make a symbolic link at `path`, to `other`.
        MakeSymlink = "make-symlink",
        /// Remove what is at `path`, with all that it holds.
        Remove = "remove",
        /// Remove what is at `other`, with all that it holds.
        RemoveOther = "remove-other",
        /// Discard a staged file by a name of its own choice.
        DiscardStaged = "discard-staged",
        /// Open handles without end and keep them.
        LeakHandles = "leak-handles",
        /// Make the host calls that `note` lists, and log what came of each.
        Call = "call",
        /// Make the one call of `runtime:module` that `other` says, and tell what came of it in an error.
        Ask = "ask",
        /// Make every call about `path` over and over, as often as `note` says, and log what was seen.
        Storm = "storm",
        /// Use a handle after giving it back.
        ClosedHandle = "closed-handle",
        /// Use a handle that it was never given.
        ForgedHandle = "forged-handle",
        /// Log without end of messages.
        FloodLog = "flood-log",
        /// Answer with a string of 20 MiB.
        HugeString = "huge-string",
        /// Answer with a list of 20,000.
        HugeList = "huge-list",
        /// Answer with text that is not JSON.
        BadJson = "bad-json",
        /// Answer with JSON that is not canonical.
        LooseJson = "loose-json",
        /// Answer with JSON that is 100,000 lists deep.
        DeepJson = "deep-json",
        /// Answer with words that the contract does not have.
        UnknownWord = "unknown-word",
        /// Answer with ESC sequences, line breaks and direction marks in each text.
        ControlCharacters = "control-characters",
        /// Claim and affect `other`; in `validate` only there, so that it differs from `identity`.
        ClaimOther = "claim-other",
        /// Claim the path that `note` names.
        ClaimNoted = "claim-noted",
        /// Claim the part `path` of the object `other`, in a domain of its own.
        ClaimPart = "claim-part",
        /// Claim the whole of the object `other`, in a domain of its own.
        ClaimWhole = "claim-whole",
        /// Read an attribute that is not flagged identity.
        ReadUnflagged = "read-unflagged",
        /// Read an attribute that `describe` does not have.
        ReadUnknown = "read-unknown",
        /// Ask for a timeout of 0.
        NoTimeout = "no-timeout",
        /// Ask for the longest timeout that fits in the type.
        EndlessTimeout = "endless-timeout",
        /// Name an asset that the bundle does not have.
        NameAsset = "name-asset",
        /// Derive an edge between two other resources.
        OrderOthers = "order-others",
        /// Derive an order after the first other resource.
        OrderFirst = "order-first",
        /// The same for a shared action, which `validate` then declares.
        OrderAction = "order-action",
        /// The same for a shared action, which `validate` does not declare.
        SmuggleAction = "smuggle-action",
        /// Derive for the first other resource that it goes after this one, for a shared action that it did not ask for.
        PushAction = "push-action",
        /// Derive an order after the resource that `note` names.
        OrderNoted = "order-noted",
        /// Derive an order after itself.
        OrderItself = "order-itself",
        /// Derive an order after a resource that does not exist.
        OrderNobody = "order-nobody",
        /// Put out a number where text was described.
        WrongOutput = "wrong-output",
        /// Put out something that was not described.
        MoreOutputs = "more-outputs",
        /// Put out less than was described.
        FewerOutputs = "fewer-outputs",
        /// Put out nothing.
        NoOutputs = "no-outputs",
        /// Put out 2 MiB.
        HugeOutputs = "huge-outputs",
        /// Put out what looks like a sensitive value's slot.
        SlotOutput = "slot-output",
        /// Say that it cannot be managed beside itself.
        Conflict = "conflict",
        /// Say that it cannot be managed once something is at `other`, which its effects then name for reading.
        ConflictWithOther = "conflict-with-other",
        /// Need a capability that the node does not offer.
        NeedMore = "need-more",
        /// Ask for a prerequisite that `validate` did not declare.
        UndeclaredPrerequisite = "undeclared-prerequisite",
        /// Say that all is as desired; in `verify`, after an `apply` that did nothing.
        ClaimSuccess = "claim-success",
        /// Say that it is still not as desired.
        NeverConverge = "never-converge",
        /// Fail, and say that nothing was changed, after writing at `path`.
        DenyChange = "deny-change",
    }
}

/// One act in one function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    /// What.
    pub act: Act,
    /// Where.
    pub place: Place,
}

impl Behaviour {
    /// What the component's own bytes say to do in `place`; none to behave.
    pub fn told(place: Place) -> Option<Act> {
        // The compiler must not know what stands there: it may be something else by now.
        let told = black_box(&TOLD)[PREFIX..].split(|byte| *byte == b'.').next().unwrap_or_default();
        let behaviour = std::str::from_utf8(told).ok().and_then(Self::parse)?;
        (behaviour.place == place).then_some(behaviour.act)
    }

    /// The behaviour that `act@place` names; none if either word is unknown.
    pub fn parse(text: &str) -> Option<Self> {
        let (act, place) = text.split_once('@')?;
        Some(Self { act: Act::from_word(act)?, place: Place::from_word(place)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_behaviour_is_an_act_at_a_place() {
        assert_eq!(Behaviour::parse("spin@compile"), Some(Behaviour { act: Act::Spin, place: Place::Compile }));
        assert_eq!(Behaviour::parse("write-other@apply"), Some(Behaviour { act: Act::WriteOther, place: Place::Apply }));
        for wrong in ["", "spin", "spin@", "@compile", "spin@nowhere", "sing@compile"] {
            assert_eq!(Behaviour::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_behaviour_has_room_in_the_bytes_and_none_is_there() {
        let longest = |words: &[usize]| words.iter().copied().max().unwrap_or_default();
        let acts: Vec<usize> = Act::ALL.iter().map(|(_, word)| word.len()).collect();
        let places: Vec<usize> = Place::ALL.iter().map(|(_, word)| word.len()).collect();
        assert!(PREFIX + longest(&acts) + 1 + longest(&places) < TOLD.len());
        assert!(Place::ALL.iter().all(|(place, _)| Behaviour::told(*place).is_none()));
    }

    #[test]
    fn the_readme_lists_every_word() {
        let readme = include_str!("../README.md");
        let words = Act::ALL.iter().map(|(_, word)| word).chain(Place::ALL.iter().map(|(_, word)| word));
        for word in words {
            assert!(readme.contains(&format!("`{word}`")), "README.md lacks `{word}`");
        }
    }
}
