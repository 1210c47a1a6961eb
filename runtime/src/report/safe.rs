//! Text that is safe on a terminal.

use crate::model::key::escape;

/// `text` on one line: control characters, line ends and bidi controls are written as `\u{…}`.
pub fn line(text: &str) -> String {
    escape(text)
}

/// The lines of `text`, each as [`line()`]; a tab stays a tab, a carriage return before the line's end goes.
pub fn block(text: &str) -> Vec<String> {
    text.lines().map(|text| text.split('\t').map(escape).collect::<Vec<_>>().join("\t")).collect()
}

/// The first `limit` characters of `text`, and how many there were if that is not all.
pub fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}... ({} characters)", &text[..end], text.chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_is_not_escaped_twice() {
        let once = line("a\u{1b}[31m\nb\u{202e}");
        assert_eq!(once, "a\\u{1b}[31m\\u{a}b\\u{202e}");
        assert_eq!(line(&once), once);
    }

    #[test]
    fn blocks_keep_lines_and_tabs_only() {
        assert_eq!(block("a\tb\r\n\u{1b}]0;x\u{7}\n"), ["a\tb", "\\u{1b}]0;x\\u{7}"]);
        assert_eq!(block("a\rb"), ["a\\u{d}b"], "a carriage return within a line could hide what stands before it");
    }

    #[test]
    fn shortened_counts_characters() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äöü... (4 characters)");
    }
}
