//! Messages of guests for the operator, capped and made safe to show.

mod host;
pub mod policy;

use crate::call::Level;
use crate::text::escape;
use policy::{MAX_MESSAGE, MAX_TOTAL};

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// How much it matters.
    pub level: Level,
    /// Escaped text, at most [`MAX_MESSAGE`] bytes and a note if it was cut.
    pub text: String,
}

/// What one attempt wrote, up to [`MAX_TOTAL`] bytes.
#[derive(Debug, Clone, Default)]
pub struct LogBook {
    lines: Vec<Line>,
    bytes: usize,
    full: bool,
}

impl LogBook {
    /// The messages, oldest first.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Takes the messages for the operator out, warnings marked as such, and forgets the others.
    pub(crate) fn take(&mut self) -> Vec<String> {
        let shown = |line: Line| match line.level {
            Level::Debug => None,
            Level::Info => Some(line.text),
            Level::Warning => Some(format!("warning: {}", line.text)),
        };
        std::mem::take(&mut self.lines).into_iter().filter_map(shown).collect()
    }

    /// Adds the messages of a provider, which are safe to show already.
    pub(crate) fn join(&mut self, other: &mut LogBook) {
        for line in std::mem::take(&mut other.lines) {
            self.add(line.level, &line.text);
        }
    }

    /// Adds a message and gives what was kept of it; none if the book is full.
    pub(crate) fn add(&mut self, level: Level, message: &str) -> Option<&Line> {
        if self.full {
            return None;
        }
        let text = shorten(message);
        // An empty message counts too, else there could be any number of them.
        self.bytes += text.len().max(1);
        if self.bytes > MAX_TOTAL {
            self.full = true;
            let text = format!("further messages are dropped: a resource may write {MAX_TOTAL} bytes");
            self.lines.push(Line { level: Level::Warning, text });
        } else {
            self.lines.push(Line { level, text });
        }
        self.lines.last()
    }
}

/// The message escaped, and cut to [`MAX_MESSAGE`] bytes.
fn shorten(message: &str) -> String {
    let mut end = message.len().min(MAX_MESSAGE);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    // Escaping makes text longer, so the cap is held again after it; what was cut before it cannot come back.
    let escaped = escape(&message[..end]);
    let mut kept = escaped.len().min(MAX_MESSAGE);
    while !escaped.is_char_boundary(kept) {
        kept -= 1;
    }
    if end == message.len() && kept == escaped.len() {
        return escaped;
    }
    format!("{} (cut: the message had {} bytes)", &escaped[..kept], message.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_escaped_and_cut_with_a_note() {
        let mut book = LogBook::default();
        assert_eq!(book.add(Level::Info, "a\u{1b}]0;x\u{7}\nb").unwrap().text, "a\\u{1b}]0;x\\u{7}\\u{a}b");
        let long = "é".repeat(MAX_MESSAGE);
        let text = &book.add(Level::Info, &long).unwrap().text;
        assert!(text.ends_with("(cut: the message had 8192 bytes)"), "{text}");
        assert!(text.len() < MAX_MESSAGE + 64);
        let controls = "\u{1b}".repeat(MAX_MESSAGE);
        assert!(book.add(Level::Info, &controls).unwrap().text.len() < MAX_MESSAGE + 64);
    }

    #[test]
    fn operators_get_what_is_meant_for_them_once() {
        let mut book = LogBook::default();
        for (level, text) in [(Level::Debug, "a"), (Level::Info, "b"), (Level::Warning, "c")] {
            book.add(level, text);
        }
        assert_eq!(book.take(), ["b", "warning: c"]);
        assert!(book.take().is_empty());
        for _ in 0..100 {
            book.add(Level::Info, &"x".repeat(MAX_MESSAGE));
            book.take();
        }
        assert!(book.add(Level::Info, "x").is_none(), "taking makes no room");
    }

    #[test]
    fn a_full_book_says_so_once() {
        let mut book = LogBook::default();
        for _ in 0..100 {
            book.add(Level::Debug, &"x".repeat(MAX_MESSAGE));
        }
        assert_eq!(book.lines().len(), MAX_TOTAL / MAX_MESSAGE + 1);
        assert!(book.lines().last().unwrap().text.starts_with("further messages are dropped"));
        let mut empty = LogBook::default();
        for _ in 0..2 * MAX_TOTAL {
            empty.add(Level::Debug, "");
        }
        assert_eq!(empty.lines().len(), MAX_TOTAL + 1, "empty messages are bounded too");
    }
}
