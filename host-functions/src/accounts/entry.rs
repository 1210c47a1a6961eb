//! What is read of users and groups, as data.

/// What every process of the node can read of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its numeric id.
    pub id: u32,
    /// The id of its primary group.
    pub group: u32,
    /// The name of that group; none if no group has the id.
    pub group_name: Option<String>,
    /// Names of groups that list it, sorted.
    pub groups: Vec<String>,
    /// The comment field.
    pub comment: String,
    /// Its home directory.
    pub home: String,
    /// Its shell.
    pub shell: String,
    /// Whether it is in the account files.
    pub local: bool,
}

/// What every process of the node can read of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its numeric id.
    pub id: u32,
    /// Names of users that it lists, sorted.
    pub members: Vec<String>,
    /// Whether it is in the account files.
    pub local: bool,
}

/// What the password field of a user holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Password {
    /// Nothing.
    Empty,
    /// What no password matches.
    Unusable,
    /// A hash.
    Hash,
}

/// Who may log in as a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Login {
    /// What the password field holds.
    pub password: Password,
    /// Whether no password is accepted.
    pub locked: bool,
    /// The day from which the account cannot be used, from 1970-01-01.
    pub expires: Option<u32>,
}

impl Login {
    /// What a password field and an expiry field of the shadow file mean.
    pub(super) fn of_fields(password: &str, expires: &str) -> Self {
        let hash = unlocked(password);
        let kind = match hash {
            "" if password.is_empty() => Password::Empty,
            hash if is_hash(hash) => Password::Hash,
            _ => Password::Unusable,
        };
        let locked = kind == Password::Unusable || password.starts_with('!');
        // The tools write no number or -1 for an account that does not expire.
        Self { password: kind, locked, expires: expires.parse().ok() }
    }
}

/// A password field without what locks it.
pub(super) fn unlocked(password: &str) -> &str {
    password.trim_start_matches('!')
}

/// Whether a password can match it: a hash of crypt(5), or the oldest kind, which has no `$`.
pub(super) fn is_hash(text: &str) -> bool {
    let salt = |byte: u8| byte.is_ascii_alphanumeric() || b"./".contains(&byte);
    let oldest =
        (text.len() == 13 || text.starts_with('_') && text.len() == 20) && text.trim_start_matches('_').bytes().all(salt);
    oldest || is_modern_hash(text)
}

/// Whether it is a hash with a `$ID$` in front, which is all that is ever written.
pub(super) fn is_modern_hash(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b':' | b'!' | b'*');
    let parts: Vec<&str> = text.split('$').collect();
    let known =
        parts.len() >= 4 && parts[0].is_empty() && !parts[1].is_empty() && parts.last().is_some_and(|hash| hash.len() >= 8);
    known && text.len() <= 512 && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA512: &str = "$6$saltsalt$IFnjQHjNWjYTGLbkEPW0nyR9IGUKJqkn/wKzXYl1HNCkdkkh7WqJCuTVQ2P1gUPjn9Oe3ufSqSaNnKdvU.rGV.";

    #[test]
    fn password_fields_are_told_apart() {
        let of = |field: &str| {
            let login = Login::of_fields(field, "");
            (login.password, login.locked)
        };
        assert_eq!(of(""), (Password::Empty, false));
        for unusable in ["!", "!!", "*", "!*", "x", "*LK*"] {
            assert_eq!(of(unusable), (Password::Unusable, true), "{unusable}");
        }
        assert_eq!(of(SHA512), (Password::Hash, false));
        assert_eq!(of(&format!("!{SHA512}")), (Password::Hash, true));
        assert_eq!(of("ab01FAX.bQRSU"), (Password::Hash, false), "the oldest kind");
    }

    #[test]
    fn an_account_expires_on_a_day_or_never() {
        assert_eq!(Login::of_fields("!", "19000").expires, Some(19_000));
        assert_eq!(Login::of_fields("!", "").expires, None);
        assert_eq!(Login::of_fields("!", "-1").expires, None);
    }

    #[test]
    fn only_what_looks_like_a_hash_is_one() {
        for good in
            [SHA512, "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7", "$2b$12$abcdefghijklmnopqrstuv"]
        {
            assert!(is_modern_hash(good), "{good}");
        }
        for bad in [
            "hunter2",
            "",
            "$",
            "$6$",
            "$6$salt$",
            "$6$saltsalt$",
            "$6$salt$a:b45678901",
            "$6$salt$abcdefgh\nroot:x",
            "!$6$salt$abcdefghij",
        ] {
            assert!(!is_modern_hash(bad), "{bad}");
        }
    }
}
