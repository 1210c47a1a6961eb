//! Which flaw this component has: a word in its own bytes, that tests put there.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

/// The place of the word. Tests look for what stands before `none`, and fill up with dots.
static BEHAVIOUR: [u8; 48] = *b"broken-behaviour=none...........................";

/// How long what stands before the word is.
const PREFIX: usize = "broken-behaviour=".len();

/// Defines the flaws and a list of their words.
macro_rules! flaws {
    ($($(#[doc = $doc:literal])* $name:ident = $word:literal,)*) => {
        /// A flaw.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Flaw {
            $($(#[doc = $doc])* $name,)*
        }

        impl Flaw {
            /// Every flaw with its word.
            pub const ALL: &[(Self, &str)] = &[$((Self::$name, $word)),*];
        }
    };
}

flaws! {
    /// `describe` counts its calls.
    DescribeCounts = "describe-counts",
    /// `describe` traps.
    DescribeTraps = "describe-traps",
    /// `describe` has an attribute without a text.
    DescribeSilent = "describe-silent",
    /// `describe` has a default of another type.
    DescribeDefault = "describe-default",
    /// `describe` asks for a right that there is not.
    AskUnknown = "ask-unknown",
    /// `compile` counts its calls.
    CompileCounts = "compile-counts",
    /// `compile` looks back at the declaration before.
    CompileLooksBack = "compile-looks-back",
    /// `compile` reads the clock.
    CompileClock = "compile-clock",
    /// `compile` runs for ever.
    CompileSpins = "compile-spins",
    /// `compile` takes all the memory there is.
    CompileAllocates = "compile-allocates",
    /// `compile` answers with JSON that is not canonical.
    CompileLoose = "compile-loose",
    /// `compile` reads an attribute that is not described.
    CompileReadsUnknown = "compile-reads-unknown",
    /// `compile` takes a value that waits for one that is left out.
    CompileIgnoresWaiting = "compile-ignores-waiting",
    /// `compile` quotes a value in a message.
    CompileQuotes = "compile-quotes",
    /// An asset blames what is no attribute.
    AssetBlames = "asset-blames",
    /// Every slot takes an asset.
    SlotAny = "slot-any",
    /// `validate` does not list its asset.
    AssetUnlisted = "asset-unlisted",
    /// Left out means something else than the default.
    DefaultDiffers = "default-differs",
    /// An alias of `ensure` means another word.
    AliasDiffers = "alias-differs",
    /// A word of `ensure` is refused.
    WordRefused = "word-refused",
    /// `identity` reads what is not identity.
    IdentityReads = "identity-reads",
    /// `identity` gives another path than `validate`.
    IdentityDiffers = "identity-differs",
    /// `validate` refuses what `compile` gives.
    ValidateRefuses = "validate-refuses",
    /// `validate` counts its calls.
    ValidateCounts = "validate-counts",
    /// `validate` gives no time.
    ValidateNoTime = "validate-no-time",
    /// `validate` accepts unknown fields.
    ValidateUnknown = "validate-unknown",
    /// `validate` accepts values of another type.
    ValidateTypes = "validate-types",
    /// `validate` does not check what `compile` does.
    ValidateLoose = "validate-loose",
    /// `test-view` leaves an attribute out.
    ViewHides = "view-hides",
    /// `test-view` shows an attribute by its alias.
    ViewAlias = "view-alias",
    /// `test-view` shows null for what is given.
    ViewNull = "view-null",
    /// An export has another value than the state.
    ExportDiffers = "export-differs",
    /// Exporting what is not managed traps.
    ExportTraps = "export-traps",
    /// An export reads a sensitive attribute.
    ExportReads = "export-reads",
    /// `relationships` orders others.
    EdgeOthers = "edge-others",
    /// `relationships` orders what does not exist.
    EdgeUnknown = "edge-unknown",
    /// `relationships` asks for an action that nobody listed.
    EdgeAction = "edge-action",
    /// `equal` answers for what no selector names.
    EqualAny = "equal-any",
    /// `equal` says that a value differs from itself.
    EqualNever = "equal-never",
    /// `migrate` takes state of today.
    MigrateAny = "migrate-any",
}

/// Whether the component has this flaw.
pub fn has(flaw: Flaw) -> bool {
    // The compiler must not know what stands there: it may be something else by now.
    let behaviour = black_box(&BEHAVIOUR);
    let word = behaviour[PREFIX..].split(|byte| *byte == b'.').next().unwrap_or_default();
    Flaw::ALL.iter().any(|(known, name)| *known == flaw && name.as_bytes() == word)
}

/// How often it was asked, in this instance.
pub fn count() -> u32 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_fit_and_none_is_set() {
        assert!(Flaw::ALL.iter().all(|(flaw, word)| PREFIX + word.len() < BEHAVIOUR.len() && !has(*flaw)));
    }
}
