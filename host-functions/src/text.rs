//! Text of guests and of the node made safe to show: nothing in it can move a cursor, hide, or start a new line.

/// Whether `c` could mislead a reader of a terminal or a log: control characters, line and paragraph separators, bidi controls.
pub fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// `text` with every character of [`needs_escape`] written as `\u{…}`.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if needs_escape(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// `bytes`, usually a path, as text for people: [`escape`]d, with `\x…` for what is not UTF-8.
pub fn escape_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(&escape(chunk.valid()));
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// `text` cut to at most `limit` bytes, at the end of a character, with `…` in place of the rest.
pub fn cut(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let mut end = limit.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_misleads_is_escaped() {
        assert_eq!(escape("a\u{1b}[0m\nb\u{202e}é"), "a\\u{1b}[0m\\u{a}b\\u{202e}é");
        assert_eq!(escape_bytes(b"/a\xff\x07"), "/a\\xff\\u{7}");
    }

    #[test]
    fn cutting_keeps_characters_whole() {
        assert_eq!(cut("abc".into(), 3), "abc");
        assert_eq!(cut("ééééé".into(), 8), "éé…");
        assert!(cut("x".repeat(2000), 1024).len() <= 1024);
    }
}
