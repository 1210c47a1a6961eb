//! Times and sizes for people, rounded: whoever wants them exactly reads the records.

use std::time::Duration;

/// A time in the unit that fits it.
pub fn duration(time: Duration) -> String {
    let (seconds, milliseconds) = (time.as_secs(), time.as_millis());
    match (seconds, milliseconds) {
        (0, 0..10) => format!("{:.1} ms", time.as_secs_f64() * 1_000.0),
        (0, _) => format!("{milliseconds} ms"),
        (1..60, _) => format!("{}.{} s", seconds, milliseconds % 1_000 / 100),
        (60..3_600, _) => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A size in bytes, rounded up to a unit.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} B"),
        10_000..=10_239_999 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{} MiB", bytes.div_ceil(1024 * 1024)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_one_unit_that_fits() {
        let told = |micros| duration(Duration::from_micros(micros));
        assert_eq!(told(0), "0.0 ms");
        assert_eq!(told(1_460), "1.5 ms");
        assert_eq!(told(12_900), "12 ms");
        assert_eq!(told(999_999), "999 ms");
        assert_eq!(told(30_000_000), "30.0 s");
        assert_eq!(told(185_000_000), "3 min 5 s");
        assert_eq!(told(7_380_000_000), "2 h 3 min");
    }

    #[test]
    fn sizes_are_rounded_up() {
        assert_eq!((size(9_999), size(10_240), size(20 << 20)), ("9999 B".into(), "10 KiB".into(), "20 MiB".into()));
    }
}
