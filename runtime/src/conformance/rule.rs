//! The rules, as data. docs/reference/conformance.md says of each why it is one, and how to see it.

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident = $id:literal, $holds:literal;)*) => {
        /// A rule that a component is held to.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = $holds] $name,)*
        }

        impl Rule {
            /// Every rule, in the order in which they are told.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its name, which never changes its meaning.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)* }
            }

            /// What holds, in words.
            pub fn holds(self) -> &'static str {
                match self { $(Self::$name => $holds,)* }
            }
        }
    };
}

rules! {
    DescribeTotal = "describe-total", "`describe` always answers";
    DescribeValid = "describe-valid", "what `describe` says is within the limits, and its names, types, defaults and selectors agree";
    DescribeDocumented = "describe-documented", "the type, and each attribute, block, output and word of `ensure`, has a text";
    DescribeStable = "describe-stable", "`describe` gives the same each time, in any instance and process";
    CapabilityAsks = "capability-asks", "each right that is asked for is one that a host can give, once, with a reason";
    ImportsNone = "imports-none", "a definition calls nothing but the declaration and the catalog";
    LimitsKept = "limits-kept", "a definition stays well within its time, memory and stack";
    NeverTraps = "never-traps", "a definition answers or refuses, whatever it is given";
    AnswersForm = "answers-form", "answers are canonical JSON of the size and shape that the contract has";
    ReadsDescribed = "reads-described", "a definition reads attributes and blocks by the names in `describe` only";
    IdentityReads = "identity-reads", "`identity` reads identity attributes only";
    SamplesAccepted = "samples-accepted", "each declaration that the author gives compiles";
    CompilePure = "compile-pure", "the same declaration gives the same bytes, in any instance, order and process";
    AnswersRepeat = "answers-repeat", "all other functions answer the same each time, too";
    DefaultOmitted = "default-omitted", "giving the default means the same as leaving the attribute out";
    DeferredPassedOn = "deferred-passed-on", "what reads a value that waits for the node leaves the rest to the node";
    EnsureWords = "ensure-words", "each word of `ensure`, and each alias, is accepted";
    EnsureCanonical = "ensure-canonical", "a word of `ensure` stays as it is, an alias becomes its word";
    AssetsNamed = "assets-named", "an asset comes from attributes that `describe` has, and an address has a checksum";
    AssignSlots = "assign-slots", "each slot asked for takes its asset, plain or sensitive, and no other slot does";
    ValidateAccepts = "validate-accepts", "`validate` accepts what `compile` gives";
    ValidateSemantics = "validate-semantics", "what `validate` says can be: a timeout from 1 ms to 24 h, known domains, actions and assets";
    IdentityFootprint = "identity-footprint", "`identity` and `validate` give the same claims, effects and paths";
    ValidateUnknown = "validate-unknown", "`validate` refuses unknown fields, at each level";
    ValidateTypes = "validate-types", "`validate` refuses values of another type than `compile` gives";
    ValidateStrict = "validate-strict", "`validate` refuses whatever else `compile` cannot give";
    ViewDeclared = "view-declared", "`test-view` shows each attribute by its canonical name, null where it is not managed";
    ExportEquals = "export-equals", "an export has the value that `compile` uses";
    ExportReads = "export-reads", "an export reads only what it needs";
    RelationshipsOwn = "relationships-own", "derived orders have this resource at one end, and one of the catalog at the other";
    RelationshipsActions = "relationships-actions", "a derived order for an action names one that its dependent may ask for";
    SelectorsTotal = "selectors-total", "migration, equality and replacement answer where they are declared, and only there";
    MessagesSilent = "messages-silent", "no message quotes a value";
}

impl Rule {
    /// The rule with this name.
    pub fn named(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.id() == id)
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        let ids: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert_eq!(ids.len(), Rule::ALL.len());
        assert!(Rule::ALL.iter().all(|rule| Rule::named(rule.id()) == Some(*rule)));
        assert_eq!(Rule::named("no-such-rule"), None);
    }

    #[test]
    fn the_reference_explains_every_rule() {
        let page = include_str!("../../../docs/reference/conformance.md");
        for rule in Rule::ALL {
            assert!(page.contains(&format!("### `{rule}`\n")), "docs/reference/conformance.md lacks `{rule}`");
        }
    }
}
