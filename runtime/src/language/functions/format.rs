//! `format` and `formatlist`, after Go's `fmt` as Terraform has it.

use super::{Arguments, Function, Outcome, Run, Text, scalar_text};
use crate::language::value::{Data, Value};

pub(super) const FUNCTIONS: &[Function] = &[Function {
    name: "format",
    parameters: &["spec"],
    required: 1,
    rest: Some("values"),
    doc: "Values written into a text. Verbs: `%s` (string, number or boolean), `%q` (as JSON string), `%v` (as `%s`, else JSON), `%t`, \
          `%d`, `%x`, `%X`, `%o`, `%b` (whole numbers), `%f`, `%e`, `%g`, `%%`. Between `%` and verb: flags `-`, `+`, `0`, space, then width, `.` and \
          precision.",
    run: Run::Pure(format),
}];

/// Widths and precisions beyond this are a mistake.
const MAX_WIDTH: usize = 1024;

#[derive(Debug, Default)]
struct Directive {
    left: bool,
    plus: bool,
    zero: bool,
    space: bool,
    width: usize,
    precision: Option<usize>,
    verb: char,
}

fn format(a: &Arguments<'_>) -> Outcome {
    let mut rest = a.text(0)?;
    let mut values = a.from(1).iter();
    let mut text = Text::default();
    while let Some(start) = rest.find('%') {
        text.push(&rest[..start])?;
        let (directive, after) = parse(&rest[start + 1..])?;
        rest = after;
        if directive.verb == '%' {
            text.push("%")?;
            continue;
        }
        let value =
            values.next().ok_or_else(|| format!("`spec` has more verbs than there are values (at `%{}`)", directive.verb))?;
        text.push(&pad(&directive, write(&directive, value)?))?;
    }
    text.push(rest)?;
    if values.next().is_some() {
        return Err("`spec` has fewer verbs than there are values".to_owned());
    }
    Ok(text.value()?)
}

/// The directive after a `%`, and the text after it.
fn parse(text: &str) -> Result<(Directive, &str), String> {
    let mut directive = Directive::default();
    let mut rest = text;
    while let Some(flag) = rest.chars().next().filter(|c| matches!(c, '-' | '+' | '0' | ' ')) {
        match flag {
            '-' => directive.left = true,
            '+' => directive.plus = true,
            '0' => directive.zero = true,
            _ => directive.space = true,
        }
        rest = &rest[1..];
    }
    directive.width = number(&mut rest)?.unwrap_or(0);
    if let Some(after) = rest.strip_prefix('.') {
        rest = after;
        directive.precision = Some(number(&mut rest)?.unwrap_or(0));
    }
    directive.verb = rest.chars().next().ok_or("`spec` ends within a verb")?;
    let after = &rest[directive.verb.len_utf8()..];
    Ok((directive, after))
}

fn number(rest: &mut &str) -> Result<Option<usize>, String> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, after) = rest.split_at(digits);
    *rest = after;
    match number {
        "" => Ok(None),
        number => match number.parse() {
            Ok(number) if number <= MAX_WIDTH => Ok(Some(number)),
            _ => Err(format!("a width or precision in `spec` is beyond {MAX_WIDTH}")),
        },
    }
}

fn write(directive: &Directive, value: &Value) -> Result<String, String> {
    let wrong = |wanted: &str| Err(format!("`%{}` takes {wanted}, not {}", directive.verb.escape_debug(), value.type_name()));
    let text = match directive.verb {
        's' | 'v' => match scalar_text(value) {
            Some(text) => text,
            None if directive.verb == 'v' => json(value)?,
            None => return wrong("a string, a number or a boolean"),
        },
        'q' => match value.data() {
            Data::Text(_) => json(value)?,
            _ => return wrong("a string"),
        },
        't' => match value.data() {
            Data::Bool(flag) => flag.to_string(),
            _ => return wrong("a boolean"),
        },
        'd' | 'x' | 'X' | 'o' | 'b' => match value.data() {
            Data::Number(number) if number.fract() == 0.0 => whole(directive, *number as i64),
            _ => return wrong("a whole number"),
        },
        'f' | 'e' | 'g' => match value.data() {
            Data::Number(number) => fraction(directive, *number),
            _ => return wrong("a number"),
        },
        verb => return Err(format!("`spec` has the unknown verb `%{}`", verb.escape_debug())),
    };
    Ok(match (directive.verb, directive.precision) {
        ('s' | 'q' | 'v', Some(most)) => text.chars().take(most).collect(),
        _ => text,
    })
}

fn json(value: &Value) -> Result<String, String> {
    let json = value.json().ok_or("the value cannot be written as JSON")?;
    serde_jcs::to_string(&json).map_err(|_| "the value cannot be written as JSON".to_owned())
}

fn whole(directive: &Directive, number: i64) -> String {
    let digits = match directive.verb {
        'x' => format!("{:x}", number.unsigned_abs()),
        'X' => format!("{:X}", number.unsigned_abs()),
        'o' => format!("{:o}", number.unsigned_abs()),
        'b' => format!("{:b}", number.unsigned_abs()),
        _ => number.unsigned_abs().to_string(),
    };
    signed(directive, number < 0, &digits)
}

fn fraction(directive: &Directive, number: f64) -> String {
    let magnitude = number.abs();
    let digits = match directive.verb {
        'f' => format!("{magnitude:.*}", directive.precision.unwrap_or(6)),
        'e' => exponent(&format!("{magnitude:.*e}", directive.precision.unwrap_or(6))),
        _ => magnitude.to_string(),
    };
    signed(directive, number < 0.0, &digits)
}

/// Rust writes `1.5e3` where Go writes `1.5e+03`.
fn exponent(text: &str) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

fn signed(directive: &Directive, negative: bool, digits: &str) -> String {
    let sign = match () {
        () if negative => "-",
        () if directive.plus => "+",
        () if directive.space => " ",
        () => "",
    };
    let zeros = if directive.zero && !directive.left { directive.width.saturating_sub(sign.len() + digits.len()) } else { 0 };
    format!("{sign}{}{digits}", "0".repeat(zeros))
}

fn pad(directive: &Directive, text: String) -> String {
    let missing = directive.width.saturating_sub(text.chars().count());
    let spaces = " ".repeat(missing);
    if directive.left { text + &spaces } else { spaces + &text }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::super::tests::call;

    fn format(arguments: Json) -> Result<Json, String> {
        call("format", arguments.as_array().unwrap())
    }

    #[test]
    fn verbs_write_values() {
        for (arguments, wanted) in [
            (json!(["Hello, %s! %d%%", "Ann", 5]), "Hello, Ann! 5%"),
            (json!(["%q|%v|%t", "a\"b", [1, "x"], true]), "\"a\\\"b\"|[1,\"x\"]|true"),
            (json!(["%5d|%-5d|%05d|%+d|% d", 42, 42, -42, 42, 42]), "   42|42   |-0042|+42| 42"),
            (json!(["%x %X %o %b", 255, 255, 8, 5]), "ff FF 10 101"),
            (json!(["%f %.2f %8.3f %e %g", 1.5, 2.345, 7.1416, 1500, 0.25]), "1.500000 2.35    7.142 1.500000e+03 0.25"),
            (json!(["%.2s|%4s", "héllo", "é"]), "hé|   é"),
        ] {
            assert_eq!(format(arguments.clone()), Ok(json!(wanted)), "{arguments}");
        }
    }

    #[test]
    fn misuse_is_refused() {
        for (arguments, wanted) in [
            (json!(["%s"]), "more verbs"),
            (json!(["x", 1]), "fewer verbs"),
            (json!(["%d", "1"]), "`%d` takes a whole number, not a string"),
            (json!(["%d", 1.5]), "`%d` takes a whole number"),
            (json!(["%s", null]), "not null"),
            (json!(["%y", 1]), "unknown verb `%y`"),
            (json!(["%"]), "ends within a verb"),
            (json!(["%99999999999d", 1]), "beyond 1024"),
        ] {
            let error = format(arguments).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
