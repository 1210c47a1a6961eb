//! Amounts with units, as people write them.

/// Bytes, from a whole number and `KiB`, `MiB` or `GiB`.
pub fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let factor = match unit {
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(factor)
}

/// Milliseconds, from a whole number and `ms`, `s`, `m` or `h`.
pub fn milliseconds(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.checked_mul(factor)
}

fn split(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_need_a_number_and_a_unit() {
        assert_eq!(milliseconds("90s"), Some(90_000));
        assert_eq!(milliseconds("500ms"), Some(500));
        assert_eq!(milliseconds("2h"), Some(7_200_000));
        assert_eq!(bytes("64KiB"), Some(64 << 10));
        assert_eq!(bytes("3GiB"), Some(3 << 30));
        for bad in ["", "s", "90", "-1s", "1.5s", "1 s", "1d", "99999999999999999999s", "18446744073709551615h"] {
            assert_eq!(milliseconds(bad), None, "{bad}");
        }
        for bad in ["", "KiB", "5", "5kB", "5 MiB", "18446744073709551615KiB"] {
            assert_eq!(bytes(bad), None, "{bad}");
        }
    }
}
