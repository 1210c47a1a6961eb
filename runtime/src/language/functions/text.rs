//! Functions on strings. A character is what a reader takes for one: a grapheme cluster, as in Terraform.

use unicode_segmentation::UnicodeSegmentation as _;

use super::{Arguments, Function, Outcome, Run, Text, scalar_text};
use crate::language::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "upper",
        parameters: &["string"],
        required: 1,
        rest: None,
        doc: "All letters in upper case.",
        run: Run::Pure(|a| Ok(Value::text(a.text(0)?.to_uppercase())?)),
    },
    Function {
        name: "lower",
        parameters: &["string"],
        required: 1,
        rest: None,
        doc: "All letters in lower case.",
        run: Run::Pure(|a| Ok(Value::text(a.text(0)?.to_lowercase())?)),
    },
    Function {
        name: "title",
        parameters: &["string"],
        required: 1,
        rest: None,
        doc: "The first letter of each word in upper case.",
        run: Run::Pure(title),
    },
    Function {
        name: "trim",
        parameters: &["string", "characters"],
        required: 2,
        rest: None,
        doc: "Without any of `characters` at either end.",
        run: Run::Pure(|a| {
            let characters = a.text(1)?;
            Ok(Value::text(a.text(0)?.trim_matches(|c| characters.contains(c)))?)
        }),
    },
    Function {
        name: "trimspace",
        parameters: &["string"],
        required: 1,
        rest: None,
        doc: "Without white space at either end.",
        run: Run::Pure(|a| Ok(Value::text(a.text(0)?.trim())?)),
    },
    Function {
        name: "trimprefix",
        parameters: &["string", "prefix"],
        required: 2,
        rest: None,
        doc: "Without `prefix`, if it starts so.",
        run: Run::Pure(|a| Ok(Value::text(a.text(0)?.strip_prefix(a.text(1)?).unwrap_or(a.text(0)?))?)),
    },
    Function {
        name: "trimsuffix",
        parameters: &["string", "suffix"],
        required: 2,
        rest: None,
        doc: "Without `suffix`, if it ends so.",
        run: Run::Pure(|a| Ok(Value::text(a.text(0)?.strip_suffix(a.text(1)?).unwrap_or(a.text(0)?))?)),
    },
    Function {
        name: "chomp",
        parameters: &["string"],
        required: 1,
        rest: None,
        doc: "Without line ends at its end.",
        run: Run::Pure(|a| Ok(Value::text(a.text(0)?.trim_end_matches(['\n', '\r']))?)),
    },
    Function {
        name: "indent",
        parameters: &["spaces", "string"],
        required: 2,
        rest: None,
        doc: "Each line but the first led by that many spaces.",
        run: Run::Pure(indent),
    },
    Function {
        name: "split",
        parameters: &["separator", "string"],
        required: 2,
        rest: None,
        doc: "The list of parts between separators.",
        run: Run::Pure(split),
    },
    Function {
        name: "join",
        parameters: &["separator"],
        required: 1,
        rest: Some("lists"),
        doc: "The elements of all lists as one string. Numbers and booleans are written as in a template.",
        run: Run::Pure(join),
    },
    Function {
        name: "substr",
        parameters: &["string", "offset", "length"],
        required: 3,
        rest: None,
        doc: "`length` characters from `offset`, which counts from the end if negative. With length -1, all the rest.",
        run: Run::Pure(substr),
    },
    Function {
        name: "strrev",
        parameters: &["string"],
        required: 1,
        rest: None,
        doc: "The characters in reverse order.",
        run: Run::Pure(|a| Ok(Value::text(a.text(0)?.graphemes(true).rev().collect::<String>())?)),
    },
    Function {
        name: "startswith",
        parameters: &["string", "prefix"],
        required: 2,
        rest: None,
        doc: "Whether it starts so.",
        run: Run::Pure(|a| Ok(Value::bool(a.text(0)?.starts_with(a.text(1)?)))),
    },
    Function {
        name: "endswith",
        parameters: &["string", "suffix"],
        required: 2,
        rest: None,
        doc: "Whether it ends so.",
        run: Run::Pure(|a| Ok(Value::bool(a.text(0)?.ends_with(a.text(1)?)))),
    },
    Function {
        name: "strcontains",
        parameters: &["string", "part"],
        required: 2,
        rest: None,
        doc: "Whether `part` occurs in it.",
        run: Run::Pure(|a| Ok(Value::bool(a.text(0)?.contains(a.text(1)?)))),
    },
];

fn title(a: &Arguments<'_>) -> Outcome {
    let mut titled = String::new();
    let mut within_word = false;
    for c in a.text(0)?.chars() {
        if within_word {
            titled.push(c);
        } else {
            titled.extend(c.to_uppercase());
        }
        within_word = c.is_alphanumeric() || matches!(c, '_' | '\'');
    }
    Ok(Value::text(titled)?)
}

fn indent(a: &Arguments<'_>) -> Outcome {
    let spaces = usize::try_from(a.whole(0)?).map_err(|_| "`spaces` must not be negative".to_owned())?;
    let mut text = Text::default();
    for (index, line) in a.text(1)?.split('\n').enumerate() {
        if index > 0 {
            text.push("\n")?;
            text.repeat(" ", spaces)?;
        }
        text.push(line)?;
    }
    Ok(text.value()?)
}

fn split(a: &Arguments<'_>) -> Outcome {
    let (separator, text) = (a.text(0)?, a.text(1)?);
    let parts: Vec<&str> = match (separator, text) {
        (_, "") if !separator.is_empty() => vec![""],
        ("", _) => text.graphemes(true).collect(),
        _ => text.split(separator).collect(),
    };
    let parts: Result<_, _> = parts.into_iter().map(Value::text).collect();
    Ok(Value::list(parts?)?)
}

fn join(a: &Arguments<'_>) -> Outcome {
    let separator = a.text(0)?;
    let mut text = Text::default();
    let mut first = true;
    for index in 1..a.count() {
        for item in a.list(index)? {
            let word = scalar_text(item).ok_or_else(|| format!("a list holds {}, which is not text", item.type_name()))?;
            if !first {
                text.push(separator)?;
            }
            first = false;
            text.push(&word)?;
        }
    }
    Ok(text.value()?)
}

fn substr(a: &Arguments<'_>) -> Outcome {
    let characters: Vec<&str> = a.text(0)?.graphemes(true).collect();
    let (offset, length) = (a.whole(1)?, a.whole(2)?);
    let count = characters.len() as i64;
    let start = if offset < 0 { (count + offset).max(0) } else { offset.min(count) };
    let end = match length {
        -1 => count,
        length if length < 0 => return Err("`length` must be -1 or more".to_owned()),
        length => start.saturating_add(length).min(count),
    };
    Ok(Value::text(characters[start as usize..end as usize].concat())?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::call;

    #[test]
    fn strings_are_changed() {
        for (name, arguments, wanted) in [
            ("upper", json!(["straße"]), json!("STRASSE")),
            ("lower", json!(["ÄB"]), json!("äb")),
            ("title", json!(["hello wide-world it's"]), json!("Hello Wide-World It's")),
            ("trim", json!(["?!hello?!", "!?"]), json!("hello")),
            ("trimspace", json!([" a \n"]), json!("a")),
            ("trimprefix", json!(["helloworld", "hello"]), json!("world")),
            ("trimprefix", json!(["a", "b"]), json!("a")),
            ("trimsuffix", json!(["helloworld", "world"]), json!("hello")),
            ("chomp", json!(["a\r\n\n"]), json!("a")),
            ("indent", json!([2, "a\nb\n"]), json!("a\n  b\n  ")),
            ("split", json!([",", "a,b,"]), json!(["a", "b", ""])),
            ("split", json!([",", ""]), json!([""])),
            ("join", json!([", ", ["a", 1], [true]]), json!("a, 1, true")),
            ("join", json!([","]), json!("")),
            ("substr", json!(["hello world", 1, 4]), json!("ello")),
            ("substr", json!(["hello", -2, -1]), json!("lo")),
            ("substr", json!(["e\u{301}a", 0, 1]), json!("e\u{301}")),
            ("substr", json!(["abc", 9, 9]), json!("")),
            ("strrev", json!(["abe\u{301}"]), json!("e\u{301}ba")),
            ("startswith", json!(["ab", "a"]), json!(true)),
            ("endswith", json!(["ab", "a"]), json!(false)),
            ("strcontains", json!(["abc", "b"]), json!(true)),
        ] {
            let arguments = arguments.as_array().unwrap();
            assert_eq!(call(name, arguments), Ok(wanted), "{name} {arguments:?}");
        }
    }

    #[test]
    fn growth_is_refused_before_it_happens() {
        assert!(call("indent", &[json!(1_i64 << 53), json!("a\nb")]).unwrap_err().contains("grows beyond"));
        assert!(call("indent", &[json!(-1), json!("a\nb")]).is_err());
        let wide = "x".repeat(1 << 20);
        let many: Vec<&str> = vec![""; 100];
        assert!(call("join", &[json!(wide), json!(many)]).unwrap_err().contains("grows beyond"));
        assert!(call("join", &[json!(","), json!([null])]).unwrap_err().contains("holds null"));
    }
}
