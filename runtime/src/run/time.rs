//! The wall clock, read for people alone: nothing is ordered by it.

/// Now, RFC 3339 in UTC.
pub(super) fn now() -> String {
    text(jiff::Timestamp::now())
}

/// Now, as Unix time in milliseconds.
pub(super) fn milliseconds() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Unix time in milliseconds as RFC 3339 in UTC; none where it is of no year that has four digits.
pub fn of_milliseconds(time: i64) -> Option<String> {
    jiff::Timestamp::from_millisecond(time).ok().map(text)
}

fn text(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_utc() {
        assert_eq!(of_milliseconds(1_735_689_600_500).as_deref(), Some("2025-01-01T00:00:00.500Z"));
        assert_eq!(of_milliseconds(i64::MAX), None);
    }
}
