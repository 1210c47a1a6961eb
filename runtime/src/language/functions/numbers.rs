//! Functions on numbers.

use super::{Arguments, Function, Outcome, Run};
use crate::language::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "min",
        parameters: &["number"],
        required: 1,
        rest: Some("numbers"),
        doc: "The smallest of the numbers.",
        run: Run::Pure(|a| fold(a, f64::min)),
    },
    Function {
        name: "max",
        parameters: &["number"],
        required: 1,
        rest: Some("numbers"),
        doc: "The largest of the numbers.",
        run: Run::Pure(|a| fold(a, f64::max)),
    },
    Function {
        name: "abs",
        parameters: &["number"],
        required: 1,
        rest: None,
        doc: "The number without its sign.",
        run: Run::Pure(|a| Ok(Value::number(a.number(0)?.abs())?)),
    },
    Function {
        name: "ceil",
        parameters: &["number"],
        required: 1,
        rest: None,
        doc: "The nearest whole number that is not smaller.",
        run: Run::Pure(|a| Ok(Value::number(a.number(0)?.ceil())?)),
    },
    Function {
        name: "floor",
        parameters: &["number"],
        required: 1,
        rest: None,
        doc: "The nearest whole number that is not larger.",
        run: Run::Pure(|a| Ok(Value::number(a.number(0)?.floor())?)),
    },
];

fn fold(a: &Arguments<'_>, choose: fn(f64, f64) -> f64) -> Outcome {
    let first = a.number(0)?;
    let chosen = (1..a.count()).try_fold(first, |chosen, index| Ok::<_, String>(choose(chosen, a.number(index)?)));
    Ok(Value::number(chosen?)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::call;

    #[test]
    fn numbers_are_compared_and_rounded() {
        for (name, arguments, wanted) in [
            ("min", json!([3, 1.5, 2]), json!(1.5)),
            ("max", json!([3]), json!(3)),
            ("abs", json!([-2.5]), json!(2.5)),
            ("ceil", json!([1.2]), json!(2)),
            ("floor", json!([-1.2]), json!(-2)),
            ("ceil", json!([-0.5]), json!(0)),
        ] {
            assert_eq!(call(name, arguments.as_array().unwrap()), Ok(wanted), "{name}");
        }
        assert_eq!(call("max", &[json!(1), json!("2")]), Err("`numbers` must be a number, not a string".into()));
    }
}
