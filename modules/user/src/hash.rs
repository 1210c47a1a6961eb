//! The hash of a password, which this module never sees: the host holds it to its form.

use runtime_sdk::{AttributeType, Diagnostic, Type, Value};

/// A hash with `$ID$` in front: characters that can be seen, but for `:`, `!` and `*`. What the host hands to the account tools is held to the
/// same.
const PATTERN: &str = r##"\$["#%-)+-9;-~]+\$["-)+-9;-~]*\$["#%-)+-9;-~]{8,}"##;

/// Stands for the hash, and holds nothing of it.
pub struct PasswordHash;

impl AttributeType for PasswordHash {
    fn attribute_type() -> Type {
        Type::text(PATTERN, "a hash of a password as crypt(5) has them (`$6$…`, `$y$…`)")
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        String::from_value(attribute, value).map(|_| Self)
    }
}
