//! Amounts with units, as policies write them.

use std::time::Duration;

use crate::model::units;

/// The least memory that a limit may say: one page of WebAssembly memory.
const MIN_MEMORY: u64 = 64 << 10;

/// The most: the whole of a 32-bit memory.
const MAX_MEMORY: u64 = 4 << 30;

/// The longest deadline: 24 hours.
const MAX_DEADLINE: Duration = Duration::from_secs(86_400);

/// Bytes, from `64MiB` and the like.
///
/// # Errors
/// What is wrong with it.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    let bytes = units::bytes(text).ok_or("write a whole number and `KiB`, `MiB` or `GiB`, as in `64MiB`")?;
    let bytes = Some(bytes).filter(|bytes| (MIN_MEMORY..=MAX_MEMORY).contains(bytes));
    bytes.ok_or_else(|| "memory must be from 64KiB to 4GiB".to_owned())
}

/// A time, from `30s` and the like.
///
/// # Errors
/// What is wrong with it.
pub(super) fn deadline(text: &str) -> Result<Duration, String> {
    let time = units::milliseconds(text).ok_or("write a whole number and `ms`, `s`, `m` or `h`, as in `30s`")?;
    let time = Some(Duration::from_millis(time));
    let time = time.filter(|time| !time.is_zero() && *time <= MAX_DEADLINE);
    time.ok_or_else(|| "a deadline must be from 1ms to 24h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_a_unit_and_a_range() {
        assert_eq!(memory("64MiB"), Ok(64 << 20));
        assert_eq!(memory("64KiB"), Ok(64 << 10));
        assert_eq!(memory("4GiB"), Ok(4 << 30));
        for bad in ["", "64", "MiB", "64MB", "64 MiB", "-1MiB", "0MiB", "5GiB", "63KiB", "99999999999999999999GiB", "1.5GiB"] {
            assert!(memory(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn deadlines_have_a_unit_and_a_range() {
        assert_eq!(deadline("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(deadline("1ms"), Ok(Duration::from_millis(1)));
        assert_eq!(deadline("24h"), Ok(MAX_DEADLINE));
        for bad in ["", "30", "s", "30sec", "0s", "25h", "1441m", "18446744073709551615h", "1.5s", "1m30s"] {
            assert!(deadline(bad).is_err(), "{bad}");
        }
    }
}
