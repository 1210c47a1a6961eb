//! Times and sizes for people, rounded: whoever wants them exactly reads the records.

use std::time::Duration;

/// A time in the unit that fits it.
pub fn duration(time: Duration) -> String {
    let (seconds, milliseconds) = (time.as_secs(), time.as_millis());
    match (seconds, milliseconds) {
        (0, 0..10) => format!("{:.1} ms", time.as_secs_f64() * 1_000.0),
        (0, _) => format!("{milliseconds} ms"),
        (1..10, _) => format!("{seconds}.{} s", milliseconds % 1_000 / 100),
        (10..60, _) => format!("{seconds} s"),
        (60..3_600, _) => two(seconds / 60, "min", seconds % 60, "s"),
        _ => two(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
    }
}

/// Two amounts; of the lesser nothing where there is none.
fn two(more: u64, unit: &str, less: u64, lesser: &str) -> String {
    if less == 0 { format!("{more} {unit}") } else { format!("{more} {unit} {less} {lesser}") }
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
        assert_eq!(told(1_250_000), "1.2 s");
        assert_eq!(told(30_000_000), "30 s");
        assert_eq!(told(300_000_000), "5 min");
        assert_eq!(told(185_000_000), "3 min 5 s");
        assert_eq!(told(7_380_000_000), "2 h 3 min");
    }

    #[test]
    fn sizes_are_rounded_up() {
        assert_eq!((size(9_999), size(10_240), size(20 << 20)), ("9999 B".into(), "10 KiB".into(), "20 MiB".into()));
    }
}
