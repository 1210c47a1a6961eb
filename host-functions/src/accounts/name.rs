//! Names and texts that account tools are given: checked so strictly that none can be read as an option or as two fields.

use crate::error::CallError;
use crate::text::escape;

/// The longest name of an account that can be made or changed, in bytes.
pub const MAX_NAME: usize = 32;

/// The longest comment, home or shell, in bytes.
pub const MAX_FIELD: usize = 255;

/// The largest numeric id; the system calls take the one above it for "leave it as it is".
pub const MAX_ID: u32 = u32::MAX - 1;

/// What a text of the guest is, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The comment.
    Comment,
    /// The home directory.
    Home,
    /// The shell.
    Shell,
}

/// Refuses a name that no account may be made with.
///
/// # Errors
/// That says what a name must be.
pub(crate) fn check_name(name: &str) -> Result<(), CallError> {
    let stem = name.strip_suffix('$').unwrap_or(name);
    let begins = stem.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let rest = stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    if begins && rest && name.len() <= MAX_NAME {
        return Ok(());
    }
    let shown: String = name.chars().take(80).collect();
    Err(CallError::invalid(format!(
        "`{}` cannot be the name of a user or group to change: it begins with a letter or `_`, has letters, digits, `_`, `.` and `-`, \
         perhaps `$` at the end, and at most {MAX_NAME} bytes",
        escape(&shown)
    )))
}

/// Refuses a group that is neither a name as [`check_name`] wants it nor an id in digits.
pub(crate) fn check_group(group: &str) -> Result<(), CallError> {
    match is_digits(group) {
        true => match group.parse().is_ok_and(|id: u32| id <= MAX_ID && id.to_string() == group) {
            true => Ok(()),
            false => Err(CallError::invalid(format!("`{}` cannot be the id of a group", cut(group)))),
        },
        false => check_name(group),
    }
}

/// Whether it is an id and no name.
pub(crate) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Refuses an id that is none.
pub(crate) fn check_id(id: u32) -> Result<(), CallError> {
    if id <= MAX_ID { Ok(()) } else { Err(CallError::invalid(format!("{id} cannot be the id of an account"))) }
}

/// Refuses a text that cannot stand in an account file.
pub(crate) fn check_field(field: Field, text: &str) -> Result<(), CallError> {
    let refuse = |what: &str| Err(CallError::invalid(format!("the {} of a user {what}", field.word())));
    if text.len() > MAX_FIELD {
        return refuse(&format!("has at most {MAX_FIELD} bytes"));
    }
    if text.contains(|c: char| c == ':' || c.is_control()) {
        return refuse("has no `:` and no control characters");
    }
    let is_path = || text.starts_with('/') && text.split('/').all(|part| !matches!(part, "." | ".."));
    if field != Field::Comment && !is_path() {
        return refuse("is an absolute path without `.` and `..`");
    }
    Ok(())
}

fn cut(text: &str) -> String {
    text.chars().take(20).collect()
}

impl Field {
    fn word(self) -> &'static str {
        match self {
            Field::Comment => "comment",
            Field::Home => "home",
            Field::Shell => "shell",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_can_be_an_option_or_two_fields() {
        for good in ["root", "_apt", "systemd-network", "web.2", "HOST$", "a"] {
            check_name(good).unwrap();
        }
        let long = "a".repeat(MAX_NAME + 1);
        for bad in ["", "-r", "--help", "a:b", "a\nb", "a b", "0", "1a", "a,b", "a$b", "$", ".", ".a", "ä", "a/b", "a\0", &long]
        {
            assert!(matches!(check_name(bad), Err(CallError::InvalidArgument(_))), "{bad:?}");
        }
    }

    #[test]
    fn a_group_is_a_name_or_an_id_in_plain_digits() {
        for good in ["0", "1000", "4294967294", "wheel"] {
            check_group(good).unwrap();
        }
        for bad in ["4294967295", "01", "99999999999", "-1", "1a", ""] {
            assert!(check_group(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn fields_of_an_account_file_stay_one_field() {
        check_field(Field::Comment, "Web server, main").unwrap();
        check_field(Field::Comment, "").unwrap();
        check_field(Field::Home, "/var/www").unwrap();
        for (field, bad) in [
            (Field::Comment, "a:b"),
            (Field::Comment, "a\nroot::0:0::/:/bin/sh"),
            (Field::Home, "var"),
            (Field::Home, ""),
            (Field::Home, "/var/../etc"),
            (Field::Shell, "/bin/sh:x"),
            (Field::Shell, &format!("/{}", "a".repeat(MAX_FIELD))),
        ] {
            assert!(check_field(field, bad).is_err(), "{bad:?}");
        }
    }
}
