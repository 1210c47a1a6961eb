//! Conversions and encodings.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::{Arguments, Function, Outcome, Run, scalar_text};
use crate::language::value::{Data, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "tostring",
        parameters: &["value"],
        required: 1,
        rest: None,
        doc: "A number or boolean as text. Null stays null.",
        run: Run::Pure(to_string),
    },
    Function {
        name: "tonumber",
        parameters: &["value"],
        required: 1,
        rest: None,
        doc: "The number that a string spells in decimal. Null stays null.",
        run: Run::Pure(to_number),
    },
    Function {
        name: "tobool",
        parameters: &["value"],
        required: 1,
        rest: None,
        doc: "The boolean that a string spells: `true` or `false`. Null stays null.",
        run: Run::Pure(to_bool),
    },
    Function {
        name: "jsonencode",
        parameters: &["value"],
        required: 1,
        rest: None,
        doc: "The value as canonical JSON (RFC 8785): keys sorted, no spaces. Unlike Terraform, `<`, `>` and `&` are not escaped.",
        run: Run::Pure(json_encode),
    },
    Function {
        name: "jsondecode",
        parameters: &["string"],
        required: 1,
        rest: None,
        doc: "The value that JSON text spells.",
        run: Run::Pure(json_decode),
    },
    Function {
        name: "base64encode",
        parameters: &["string"],
        required: 1,
        rest: None,
        doc: "The UTF-8 bytes of a string in Base64, with padding.",
        run: Run::Pure(|a| Ok(Value::text(STANDARD.encode(a.text(0)?))?)),
    },
    Function {
        name: "base64decode",
        parameters: &["string"],
        required: 1,
        rest: None,
        doc: "The string whose UTF-8 bytes are given in Base64.",
        run: Run::Pure(base64_decode),
    },
    Function {
        name: "sha256",
        parameters: &["string"],
        required: 1,
        rest: None,
        doc: "The SHA-256 of the UTF-8 bytes of a string, in hex.",
        run: Run::Pure(|a| Ok(Value::text(hex::encode(Sha256::digest(a.text(0)?)))?)),
    },
];

fn to_string(a: &Arguments<'_>) -> Outcome {
    let value = a.value(0)?;
    match scalar_text(value) {
        Some(text) => Ok(Value::text(text)?),
        None if *value.data() == Data::Null => Ok(Value::null()),
        None => Err(a.wrong(0, "a string, a number or a boolean", value)),
    }
}

fn to_number(a: &Arguments<'_>) -> Outcome {
    let value = a.value(0)?;
    match value.data() {
        Data::Null | Data::Number(_) => Ok(value.clone()),
        Data::Text(text) => {
            let decimal = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
            let number = text.parse().ok().filter(|_| decimal).ok_or("the string does not spell a number")?;
            Ok(Value::number(number)?)
        }
        _ => Err(a.wrong(0, "a string or a number", value)),
    }
}

fn to_bool(a: &Arguments<'_>) -> Outcome {
    let value = a.value(0)?;
    match value.data() {
        Data::Null | Data::Bool(_) => Ok(value.clone()),
        Data::Text(text) => match text.as_ref() {
            "true" => Ok(Value::bool(true)),
            "false" => Ok(Value::bool(false)),
            _ => Err("the string is neither `true` nor `false`".to_owned()),
        },
        _ => Err(a.wrong(0, "a string or a boolean", value)),
    }
}

fn json_encode(a: &Arguments<'_>) -> Outcome {
    let json = a.value(0)?.json().ok_or("the value cannot be written as JSON")?;
    let text = serde_jcs::to_string(&json).map_err(|_| "the value cannot be written as JSON")?;
    Ok(Value::text(text)?)
}

fn json_decode(a: &Arguments<'_>) -> Outcome {
    // The error of the parser may quote the text.
    let json = serde_json::from_str(a.text(0)?)
        .map_err(|error| format!("the string is not JSON (line {}, column {})", error.line(), error.column()))?;
    Ok(Value::from_json(&json)?)
}

fn base64_decode(a: &Arguments<'_>) -> Outcome {
    let bytes = STANDARD.decode(a.text(0)?).map_err(|_| "the string is not Base64")?;
    let text = String::from_utf8(bytes).map_err(|_| "the bytes are not UTF-8 text")?;
    Ok(Value::text(text)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::call;

    #[test]
    fn values_are_converted() {
        for (name, arguments, wanted) in [
            ("tostring", json!([1.5]), json!("1.5")),
            ("tostring", json!([null]), json!(null)),
            ("tonumber", json!(["-1e3"]), json!(-1000)),
            ("tonumber", json!([7]), json!(7)),
            ("tobool", json!(["true"]), json!(true)),
            ("jsonencode", json!([{"b": [1.0, null], "a": "<"}]), json!(r#"{"a":"<","b":[1,null]}"#)),
            ("jsondecode", json!([r#"{"a":[1]}"#]), json!({"a": [1]})),
            ("base64encode", json!(["hé"]), json!("aMOp")),
            ("base64decode", json!(["aMOp"]), json!("hé")),
            ("sha256", json!([""]), json!("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")),
        ] {
            assert_eq!(call(name, arguments.as_array().unwrap()), Ok(wanted), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_converted_is_refused_without_quoting_it() {
        for (name, argument) in [
            ("tostring", json!(["secret"])),
            ("tonumber", json!("secret")),
            ("tonumber", json!("inf")),
            ("tonumber", json!("1e300")),
            ("tobool", json!("secret")),
            ("jsondecode", json!("secret")),
            ("jsondecode", json!("9007199254740993")),
            ("base64decode", json!("secret!")),
            ("base64decode", json!("/w==")),
        ] {
            let error = call(name, &[argument]).unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
