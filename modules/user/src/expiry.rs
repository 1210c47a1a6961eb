//! When an account expires: a day, or never.

use runtime_sdk::{AttributeType, Diagnostic, Type, Value};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The first day on which an account cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// There is none.
    Never,
    /// Days since 1970-01-01, to the end of the year 9999.
    Day(u32),
}

/// The last day that can be written.
const LAST: u32 = 2_932_896;

impl Expiry {
    /// What the host says of an account.
    pub fn of(day: Option<u32>) -> Self {
        day.map_or(Self::Never, Self::Day)
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "never" {
            return Some(Self::Never);
        }
        let is_plain = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let mut parts = text.splitn(3, '-').filter(|_| is_plain);
        let mut next = || parts.next()?.parse::<u32>().ok();
        let day = days(next()?, next()?, next()?)?;
        // The calendar repeats, so a day that is not in it comes back as another.
        (Self::Day(day).to_string() == text).then_some(Self::Day(day))
    }
}

/// Days from 1970-01-01 to a day of the Gregorian calendar.
fn days(year: u32, month: u32, day: u32) -> Option<u32> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March, so that the leap day is the last of one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    let whole = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    whole.checked_sub(719_468)
}

/// Year, month and day of a number of days since 1970-01-01.
fn date(days: u32) -> (u32, u32, u32) {
    let whole = days + 719_468;
    let (era, of_era) = (whole / 146_097, whole % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u32::from(month <= 2), month, day)
}

impl std::fmt::Display for Expiry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Never => f.write_str("never"),
            Self::Day(days) if *days > LAST => write!(f, "day {days}"),
            Self::Day(days) => {
                let (year, month, day) = date(*days);
                write!(f, "{year:04}-{month:02}-{day:02}")
            }
        }
    }
}

impl AttributeType for Expiry {
    fn attribute_type() -> Type {
        Type::String
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        let text = String::from_value(attribute, value)?;
        let refusal =
            || Diagnostic::at(attribute, format!("`{attribute}` is no day")).hint("write it as `2030-06-30`, or `never`");
        Self::parse(&text).ok_or_else(refusal)
    }
}

impl Serialize for Expiry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Expiry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("no day"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_by_the_calendar() {
        for (text, day) in [
            ("1970-01-01", 0),
            ("1970-03-01", 59),
            ("2000-02-29", 11_016),
            ("2024-12-31", 20_088),
            ("2030-06-30", 22_095),
            ("9999-12-31", LAST),
        ] {
            assert_eq!(Expiry::parse(text), Some(Expiry::Day(day)), "{text}");
            assert_eq!(Expiry::Day(day).to_string(), text);
        }
        assert_eq!(Expiry::parse("never"), Some(Expiry::Never));
        assert_eq!(Expiry::Day(u32::MAX).to_string(), "day 4294967295", "what somebody else put there");
    }

    #[test]
    fn every_day_of_forty_years_comes_back() {
        for day in 0..15_000 {
            let text = Expiry::Day(day).to_string();
            assert_eq!(Expiry::parse(&text), Some(Expiry::Day(day)), "{text}");
        }
    }

    #[test]
    fn what_is_no_day_is_refused() {
        let texts = ["", "0", "2030-02-29", "2030-13-01", "2030-00-01", "2030-01-32", "2030-1-1", "1969-12-31", "10000-01-01"];
        for text in texts.into_iter().chain(["2030/01/01", "+030-01-01", "Never", "2030-01-01 "]) {
            assert_eq!(Expiry::parse(text), None, "{text}");
        }
    }
}
