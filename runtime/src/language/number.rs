//! Numbers: whole to 2^53, else IEEE doubles, so that every one survives JSON unchanged.

use serde_json::{Number, Value as Json};

/// The largest whole number, in either direction: 2^53.
pub const MAX_WHOLE: u64 = 1 << 53;

/// The message for a number that cannot be held.
pub const TOO_LARGE: &str = "the number is beyond 2^53, where not every whole number can be held exactly";

/// Checks that a number can be held: finite and at most 2^53 either way. Negative zero becomes zero.
///
/// # Errors
/// With a message.
pub fn check(number: f64) -> Result<f64, &'static str> {
    if !number.is_finite() || number.abs() > MAX_WHOLE as f64 {
        return Err(TOO_LARGE);
    }
    Ok(if number == 0.0 { 0.0 } else { number })
}

/// A number as JSON: whole ones without a fraction.
///
/// # Errors
/// As for [`check`].
pub fn to_json(number: f64) -> Result<Json, &'static str> {
    let number = check(number)?;
    if number.fract() == 0.0 {
        // Checked above: at most 2^53.
        return Ok(Json::Number(Number::from(number as i64)));
    }
    Number::from_f64(number).map(Json::Number).ok_or(TOO_LARGE)
}

/// A number of JSON.
///
/// # Errors
/// As for [`check`]; whole numbers are looked at before they could be rounded.
pub fn from_json(number: &Number) -> Result<f64, &'static str> {
    let beyond = number.as_u64().is_some_and(|whole| whole > MAX_WHOLE)
        || number.as_i64().is_some_and(|whole| whole.unsigned_abs() > MAX_WHOLE);
    if beyond {
        return Err(TOO_LARGE);
    }
    check(number.as_f64().unwrap_or(f64::INFINITY))
}

/// A number as text: shortest form that reads back the same, never with an exponent.
pub fn to_text(number: f64) -> String {
    format!("{number}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_numbers_are_exact_to_two_to_the_fifty_three() {
        let exact = json!(9_007_199_254_740_992_u64);
        let Json::Number(number) = &exact else { unreachable!() };
        assert_eq!(to_json(from_json(number).unwrap()).unwrap(), exact);
        for beyond in [json!(9_007_199_254_740_993_u64), json!(-9_007_199_254_740_993_i64), json!(u64::MAX), json!(1e300)] {
            let Json::Number(number) = &beyond else { unreachable!() };
            assert_eq!(from_json(number), Err(TOO_LARGE), "{beyond}");
        }
        assert_eq!(to_json(-0.0).unwrap(), json!(0));
        assert!(to_json(f64::NAN).is_err());
    }

    /// Needs `float_roundtrip` of serde_json, without which some numbers are read as a neighbour.
    #[test]
    fn fractions_read_back_unchanged() {
        for fraction in [90.422_252_909_423_83, -3.591_744_324_346_332e-155, 5e-324, 0.1 + 0.2] {
            let text = serde_jcs::to_string(&to_json(fraction).unwrap()).unwrap();
            let Json::Number(read) = serde_json::from_str(&text).unwrap() else { panic!("{text}") };
            assert_eq!(from_json(&read), Ok(fraction), "{text}");
        }
    }

    #[test]
    fn text_has_no_exponent() {
        assert_eq!(to_text(1e-7), "0.0000001");
        assert_eq!(to_text(1.0), "1");
        assert_eq!(to_text(0.1), "0.1");
    }
}
