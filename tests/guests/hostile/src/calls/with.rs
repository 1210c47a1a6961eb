//! What a call is given: its subject, spoilt as the kind of the attack says, and whether some other argument is.

use std::cell::Cell;

use crate::desired::Desired;

/// More than any host takes, and little enough for a guest that policy lets have 192 MiB.
const HUGE_BYTES: usize = 100 << 20;

/// Text that would mislead a reader of a terminal. A path may have it.
const MISLEADING: &str = "\u{1b}[2J\n\u{202e}\u{7}";

/// One kind of attack on one function.
pub struct With<'a> {
    kind: &'a str,
    /// The resource, for its paths.
    pub desired: &'a Desired,
    known: Cell<bool>,
}

impl<'a> With<'a> {
    pub fn new(kind: &'a str, desired: &'a Desired) -> Self {
        Self { kind, desired, known: Cell::new(false) }
    }

    /// Whether this is the kind. A kind that no one asks for is a slip of the pen, which [`was_known`](Self::was_known) tells.
    pub fn is(&self, kind: &str) -> bool {
        let is = self.kind == kind;
        if is {
            self.known.set(true);
        }
        is
    }

    /// Whether the call made something of the kind. `own` is a call with nothing wrong in it.
    pub fn was_known(&self) -> bool {
        self.known.get() || self.kind == "own"
    }

    /// The path of the resource, or what is to stand in its place.
    pub fn path(&self) -> Vec<u8> {
        self.bytes(&self.desired.path)
    }

    /// A text, or what is to stand in its place.
    pub fn text(&self, honest: &str) -> String {
        String::from_utf8(self.bytes(honest)).unwrap_or_else(|_| "\u{fffd}".into())
    }

    /// As [`text`](Self::text), in bytes.
    pub fn bytes(&self, honest: &str) -> Vec<u8> {
        let spoilt = match self.kind {
            "absolute" => self.desired.other.clone(),
            "dotdot" if honest.starts_with('/') => format!("{honest}/../../../secret/kept"),
            "dotdot" => format!("../../../{honest}"),
            "dot" => format!("{honest}/."),
            "trailing-slash" => format!("{honest}/"),
            "double-slash" => format!("/{honest}"),
            "relative" => honest.trim_start_matches('/').to_owned(),
            "nul" => format!("{honest}\0"),
            "control" => format!("{honest}{MISLEADING}"),
            "empty" => String::new(),
            "option" => "--root=/".to_owned(),
            "long" => format!("{honest}{}", "x".repeat(300)),
            "longer" => format!("{honest}{}", "/x".repeat(2_500)),
            "deep" => format!("{honest}{}", "/x".repeat(2_000)),
            "not-utf8" => {
                self.known.set(true);
                return [honest.as_bytes(), &[0xff, 0xfe]].concat();
            }
            "huge" => {
                self.known.set(true);
                return vec![0; HUGE_BYTES];
            }
            _ => return honest.as_bytes().to_vec(),
        };
        self.known.set(true);
        spoilt.into_bytes()
    }

    /// The folder of the resource's path.
    pub fn folder(&self) -> &str {
        self.desired.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}
