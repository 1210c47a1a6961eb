//! Source texts, and places within them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::expression::Place;

/// Bytes between two points at which characters have been counted beforehand, so that long lines cost little.
const STRIDE: usize = 256;

/// One source text. It may be a file of values, so its debug output is its name alone.
pub struct Source {
    name: Arc<str>,
    text: String,
    /// Byte offset of the start of each line.
    lines: Vec<usize>,
    /// Characters before each multiple of [`STRIDE`].
    counted: Vec<u32>,
    /// Parts that are not shown, as ranges of bytes.
    hidden: Mutex<Vec<Range<usize>>>,
}

/// What stands in the place of a character that is not shown.
const HIDDEN: char = '\u{2022}';

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({})", self.name)
    }
}

impl Source {
    /// A text under the name that places will carry.
    pub fn new(name: &str, text: String) -> Self {
        let bytes = text.as_bytes();
        let lines = std::iter::once(0).chain(memchr_newlines(bytes)).collect();
        let mut counted = vec![0];
        for block in bytes.chunks(STRIDE) {
            counted.push(counted[counted.len() - 1] + count_characters(block));
        }
        Self { name: name.into(), text, lines, counted, hidden: Mutex::default() }
    }

    /// A text of which no character is shown: all of it may be sensitive.
    pub fn private(name: &str, text: String) -> Self {
        let source = Self::new(name, text);
        source.hide(0..source.text.len());
        source
    }

    /// Has a range of bytes not shown from now on: a sensitive value that is written out there.
    pub fn hide(&self, range: Range<usize>) {
        self.hidden.lock().unwrap_or_else(PoisonError::into_inner).push(range);
    }

    /// A line as it may be shown: one character for each of its own.
    pub fn shown(&self, number: u32) -> String {
        let line = self.line(number);
        let start = line.as_ptr() as usize - self.text.as_ptr() as usize;
        let hidden = self.hidden.lock().unwrap_or_else(PoisonError::into_inner);
        let is_hidden = |at: usize| hidden.iter().any(|range| range.contains(&(start + at)));
        line.char_indices().map(|(at, c)| if is_hidden(at) && !c.is_whitespace() { HIDDEN } else { c }).collect()
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The place of a range of bytes. It ends with the line on which it starts, and is at least one character long.
    pub fn place(&self, range: Range<usize>) -> Place {
        let start = range.start.min(self.text.len());
        let index = self.lines.partition_point(|line| *line <= start) - 1;
        let line_end = self.lines.get(index + 1).map_or(self.text.len(), |next| next - 1);
        let end = range.end.clamp(start, line_end.max(start));
        let column = self.characters_before(start) - self.characters_before(self.lines[index]) + 1;
        let length = (self.characters_before(end) - self.characters_before(start)).max(1);
        Place { file: self.name.clone(), line: u32::try_from(index + 1).unwrap_or(u32::MAX), column, length }
    }

    /// A line of text, from 1, without its end.
    pub fn line(&self, number: u32) -> &str {
        let index = number.saturating_sub(1) as usize;
        let start = self.lines.get(index).copied().unwrap_or(self.text.len());
        let end = self.lines.get(index + 1).map_or(self.text.len(), |next| next - 1);
        self.text[start..end].trim_end_matches('\r')
    }

    fn characters_before(&self, offset: usize) -> u32 {
        let block = offset / STRIDE;
        self.counted[block] + count_characters(&self.text.as_bytes()[block * STRIDE..offset])
    }
}

fn memchr_newlines(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(index, _)| index + 1)
}

fn count_characters(bytes: &[u8]) -> u32 {
    // Continuation bytes of UTF-8 are 10xxxxxx. The largest text fits into u32 many times over.
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u32
}

/// The source texts that messages may point into, by name. Clones are cheap.
#[derive(Debug, Clone, Default)]
pub struct Sources(BTreeMap<Arc<str>, Arc<Source>>);

impl Sources {
    /// Adds a text; one of the same name is replaced.
    pub fn add(&mut self, source: Arc<Source>) {
        self.0.insert(source.name().clone(), source);
    }

    /// These and the others.
    #[must_use]
    pub fn joined(&self, others: &Sources) -> Self {
        let mut joined = self.clone();
        joined.0.extend(others.0.iter().map(|(name, source)| (name.clone(), source.clone())));
        joined
    }

    /// The text of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<Source>> {
        self.0.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_not_shown_and_keeps_its_columns() {
        let source = Source::new("a", "é = \"hush\" # x\nb = 1\n".to_owned());
        let start = source.text().find("hush").unwrap();
        source.hide(start..start + 4);
        assert_eq!((source.shown(1).as_str(), source.shown(2).as_str()), ("é = \"••••\" # x", "b = 1"));
        assert_eq!(Source::private("a", "a = 1\n".to_owned()).shown(1), "• • •");
        assert_eq!(source.shown(99), "");
    }

    #[test]
    fn places_count_characters_on_lines() {
        let source = Source::new("a", format!("x = 1\r\n{}é = \"y\nz\"\n", "ü".repeat(300)));
        let place = source.place(0..1);
        assert_eq!((place.line, place.column, place.length), (1, 1, 1));
        let start = source.text().find('é').unwrap();
        let place = source.place(start..start + 2);
        assert_eq!((place.line, place.column, place.length), (2, 301, 1));
        let quote = source.text().find('"').unwrap();
        let place = source.place(quote..quote + 5);
        assert_eq!((place.line, place.column, place.length), (2, 305, 2), "cut at the end of its first line");
        assert_eq!(source.line(1), "x = 1");
        assert_eq!(source.line(3), "z\"");
        assert_eq!((source.line(4), source.line(99)), ("", ""));
        let end = source.place(usize::MAX - 1..usize::MAX);
        assert_eq!((end.line, end.column, end.length), (4, 1, 1));
    }
}
