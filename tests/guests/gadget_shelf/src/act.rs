//! Ways to misbehave.

use serde::{Deserialize, Serialize};

/// A way to misbehave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Writes a file while it is asked to read.
    WriteInRead,
    /// Removes all beneath its object, which is outside the effects of the resource, and says nothing.
    Stray,
    /// Traps after its first change.
    Trap,
    /// Takes memory without end, in reading.
    Grow,
    /// Runs without end, in reading.
    Spin,
    /// Changes nothing, and says that it did.
    Forget,
}

impl Act {
    /// Every way.
    pub const ALL: [Self; 6] = [Self::WriteInRead, Self::Stray, Self::Trap, Self::Grow, Self::Spin, Self::Forget];

    /// The word for it in a manifest.
    pub fn word(self) -> &'static str {
        match self {
            Self::WriteInRead => "write-in-read",
            Self::Stray => "stray",
            Self::Trap => "trap",
            Self::Grow => "grow",
            Self::Spin => "spin",
            Self::Forget => "forget",
        }
    }

    /// Takes memory until there is no more.
    pub fn grow() {
        let mut taken: Vec<Vec<u8>> = Vec::new();
        loop {
            taken.push(vec![1; 1 << 20]);
        }
    }

    /// Runs until it is ended.
    pub fn spin() {
        let mut number = 1_u64;
        while std::hint::black_box(number) != 0 {
            number = number.wrapping_mul(3) | 1;
        }
    }
}
