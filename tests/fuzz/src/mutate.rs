//! Changes to inputs that know no format: of bits, ranges, numbers and words, and of what other inputs have.

use crate::random::Random;

/// The longest input that is made. Formats have caps of their own, far above, which have tests of their own.
pub(crate) const MAX_INPUT: usize = 32 << 10;

/// Numbers at which programs err.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "127",
    "255",
    "256",
    "65535",
    "2147483648",
    "4294967295",
    "9007199254740993",
    "9223372036854775808",
    "18446744073709551616",
    "1e308",
    "0.5",
];

/// Characters that formats give a meaning.
const SIGNS: &[u8] = b" \n\"'\\/{}[]$%=,:*.-";

/// What inputs are changed with.
pub(crate) struct Mutator<'a> {
    pub(crate) random: &'a mut Random,
    /// Words of the format.
    pub(crate) words: &'a [&'a str],
    /// Another input, to take parts from.
    pub(crate) other: &'a [u8],
}

impl Mutator<'_> {
    /// Changes `input` in one place or several.
    pub(crate) fn change(&mut self, input: &mut Vec<u8>) {
        for _ in 0..1 + self.random.below(6) {
            self.step(input);
        }
        input.truncate(MAX_INPUT);
    }

    fn step(&mut self, input: &mut Vec<u8>) {
        let random = &mut *self.random;
        match random.below(11) {
            0 => flip(input, random),
            1 => set(input, random),
            2 => {
                let range = range(input, random);
                input.drain(range);
            }
            3 => {
                let part = input[range(input, random)].to_vec();
                insert(input, &part, random);
            }
            4 => {
                let part = self.other[range(self.other, random)].to_vec();
                insert(input, &part, random);
            }
            5 | 6 => {
                let word = random.pick(self.words).map_or(&b""[..], |word| word.as_bytes());
                insert(input, word, random);
            }
            7 => {
                let word = random.pick(self.words).map_or(Vec::new(), |word| word.as_bytes().to_vec());
                let at = range(input, random);
                input.splice(at, word);
            }
            8 => number(input, random),
            9 => swap_lines(input, random),
            _ => repeat(input, self.words, random),
        }
    }
}

fn flip(input: &mut [u8], random: &mut Random) {
    let at = random.below(input.len());
    if let Some(byte) = input.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn set(input: &mut [u8], random: &mut Random) {
    let at = random.below(input.len());
    if let Some(byte) = input.get_mut(at) {
        *byte = match random.below(4) {
            0 => 0,
            1 => 0xff,
            2 => random.pick(SIGNS).copied().unwrap_or_default(),
            _ => random.next() as u8,
        };
    }
}

/// A part of the input, mostly a short one.
fn range(input: &[u8], random: &mut Random) -> std::ops::Range<usize> {
    let longest = if random.once_in(4) { input.len() } else { input.len().min(24) };
    let length = random.below(longest + 1);
    let start = random.below(input.len() - length + 1);
    start..start + length
}

fn insert(input: &mut Vec<u8>, part: &[u8], random: &mut Random) {
    let at = random.below(input.len() + 1);
    input.splice(at..at, part.iter().copied());
}

/// Another number in place of one.
fn number(input: &mut Vec<u8>, random: &mut Random) {
    let from = random.below(input.len());
    let Some(start) = input[from..].iter().position(u8::is_ascii_digit).map(|at| from + at) else { return };
    let length = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if let Some(number) = random.pick(&NUMBERS) {
        input.splice(start..start + length, number.bytes());
    }
}

/// Two lines in each other's place.
fn swap_lines(input: &mut Vec<u8>, random: &mut Random) {
    let mut lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    let (one, other) = (random.below(lines.len()), random.below(lines.len()));
    lines.swap(one, other);
    *input = lines.join(&b'\n');
}

/// A word or a part, many times over: depth, length, counts.
fn repeat(input: &mut Vec<u8>, words: &[&str], random: &mut Random) {
    let part = match random.pick(words) {
        Some(word) if random.once_in(2) => word.as_bytes().to_vec(),
        _ => input[range(input, random)].to_vec(),
    };
    let times = if random.once_in(16) { 4096 } else { 2 + random.below(80) };
    let times = times.min(MAX_INPUT / part.len().max(1));
    insert(input, &part.repeat(times), random);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_keep_the_cap_repeat_with_their_seed_and_differ_without() {
        let made = |seed: u64| {
            let mut random = Random::new(seed);
            let mut input = b"resource \"a\" \"b\" {\n  c = 12\n}\n".to_vec();
            for _ in 0..200 {
                Mutator { random: &mut random, words: &["${", "}"], other: b"other" }.change(&mut input);
                assert!(input.len() <= MAX_INPUT);
            }
            input
        };
        assert_eq!(made(1), made(1));
        assert_ne!(made(1), made(2));
    }

    #[test]
    fn nothing_can_be_changed_too() {
        let mut random = Random::new(3);
        for _ in 0..500 {
            Mutator { random: &mut random, words: &[], other: b"" }.change(&mut Vec::new());
        }
    }
}
