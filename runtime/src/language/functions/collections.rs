//! Functions on lists and objects.

use std::collections::{BTreeMap, BTreeSet};

use unicode_segmentation::UnicodeSegmentation as _;

use super::{Arguments, Function, Outcome, Run};
use crate::language::value::{Data, Value};

/// The most elements that `range` gives.
const MAX_RANGE: usize = 1 << 16;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "length",
        parameters: &["value"],
        required: 1,
        rest: None,
        doc: "How many elements a list or object has, or characters a string.",
        run: Run::Pure(length),
    },
    Function {
        name: "concat",
        parameters: &["list"],
        required: 1,
        rest: Some("lists"),
        doc: "The elements of all lists in one.",
        run: Run::Pure(concat),
    },
    Function {
        name: "contains",
        parameters: &["list", "value"],
        required: 2,
        rest: None,
        doc: "Whether the list has an element equal to the value.",
        run: Run::Pure(contains),
    },
    Function {
        name: "distinct",
        parameters: &["list"],
        required: 1,
        rest: None,
        doc: "The list without elements that equal an earlier one.",
        run: Run::Pure(distinct),
    },
    Function {
        name: "compact",
        parameters: &["list"],
        required: 1,
        rest: None,
        doc: "The list without nulls and empty strings.",
        run: Run::Pure(|a| Ok(Value::list(a.list(0)?.iter().filter(|item| !is_empty(item)).cloned().collect())?)),
    },
    Function {
        name: "flatten",
        parameters: &["list"],
        required: 1,
        rest: None,
        doc: "The list with lists in it replaced by their elements, at any depth.",
        run: Run::Pure(|a| {
            let mut flat = Vec::new();
            flatten(a.list(0)?, &mut flat);
            Ok(Value::list(flat)?)
        }),
    },
    Function {
        name: "sort",
        parameters: &["list"],
        required: 1,
        rest: None,
        doc: "A list of strings in the order of their code points.",
        run: Run::Pure(sort),
    },
    Function {
        name: "reverse",
        parameters: &["list"],
        required: 1,
        rest: None,
        doc: "The elements in reverse order.",
        run: Run::Pure(|a| Ok(Value::list(a.list(0)?.iter().rev().cloned().collect())?)),
    },
    Function {
        name: "element",
        parameters: &["list", "index"],
        required: 2,
        rest: None,
        doc: "The element at an index, which wraps around at both ends.",
        run: Run::Pure(element),
    },
    Function {
        name: "slice",
        parameters: &["list", "start", "end"],
        required: 3,
        rest: None,
        doc: "The elements from `start` to before `end`.",
        run: Run::Pure(slice),
    },
    Function {
        name: "range",
        parameters: &["start", "limit", "step"],
        required: 1,
        rest: None,
        doc: "Numbers from `start` to before `limit`; `range(limit)` starts at 0, `step` is 1 or -1 if left out.",
        run: Run::Pure(range),
    },
    Function {
        name: "keys",
        parameters: &["object"],
        required: 1,
        rest: None,
        doc: "The keys, in the order of their code points.",
        run: Run::Pure(|a| {
            let keys = a.object(0)?.keys().map(|key| Value::text(key.as_str()));
            Ok(Value::list(keys.collect::<Result<_, _>>()?)?)
        }),
    },
    Function {
        name: "values",
        parameters: &["object"],
        required: 1,
        rest: None,
        doc: "The values, in the order of their keys.",
        run: Run::Pure(|a| Ok(Value::list(a.object(0)?.values().cloned().collect())?)),
    },
    Function {
        name: "lookup",
        parameters: &["object", "key", "default"],
        required: 2,
        rest: None,
        doc: "The member of that key, else the default. Without a default a missing key is an error.",
        run: Run::Pure(lookup),
    },
    Function {
        name: "merge",
        parameters: &["object"],
        required: 1,
        rest: Some("objects"),
        doc: "The members of all objects; of equal keys the last one holds. Nulls are passed over.",
        run: Run::Pure(merge),
    },
    Function {
        name: "zipmap",
        parameters: &["keys", "values"],
        required: 2,
        rest: None,
        doc: "An object of keys and the values at the same index.",
        run: Run::Pure(zipmap),
    },
    Function {
        name: "coalesce",
        parameters: &["value"],
        required: 1,
        rest: Some("values"),
        doc: "The first value that is neither null nor an empty string.",
        run: Run::Pure(|a| {
            let first = a.from(0).iter().find(|value| !is_empty(value));
            first.cloned().ok_or_else(|| "every value is null or an empty string".to_owned())
        }),
    },
];

fn is_empty(value: &Value) -> bool {
    match value.data() {
        Data::Null => true,
        Data::Text(text) => text.is_empty(),
        _ => false,
    }
}

fn length(a: &Arguments<'_>) -> Outcome {
    let value = a.value(0)?;
    Ok(Value::count(match value.data() {
        Data::List(items) => items.len(),
        Data::Object(members) => members.len(),
        Data::Text(text) => text.graphemes(true).count(),
        _ => return Err(a.wrong(0, "a list, an object or a string", value)),
    }))
}

fn concat(a: &Arguments<'_>) -> Outcome {
    let mut all = Vec::new();
    for index in 0..a.count() {
        all.extend_from_slice(a.list(index)?);
    }
    Ok(Value::list(all)?)
}

fn contains(a: &Arguments<'_>) -> Outcome {
    let wanted = a.value(1)?;
    Ok(Value::bool(a.list(0)?.iter().any(|item| item.same(wanted))))
}

fn distinct(a: &Arguments<'_>) -> Outcome {
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for item in a.list(0)? {
        let text = item.json().map(|json| json.to_string()).unwrap_or_default();
        if seen.insert(text) {
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept)?)
}

/// Values nest to a fixed depth, so this does too.
fn flatten(items: &[Value], flat: &mut Vec<Value>) {
    for item in items {
        match item.data() {
            Data::List(inner) => flatten(inner, flat),
            _ => flat.push(item.clone()),
        }
    }
}

fn sort(a: &Arguments<'_>) -> Outcome {
    let mut texts = Vec::new();
    for item in a.list(0)? {
        match item.data() {
            Data::Text(text) => texts.push((text.clone(), item.clone())),
            _ => return Err(format!("the list holds {}, and only strings are sorted", item.type_name())),
        }
    }
    texts.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(Value::list(texts.into_iter().map(|(_, item)| item).collect())?)
}

fn element(a: &Arguments<'_>) -> Outcome {
    let items = a.list(0)?;
    let count = items.len() as i64;
    if count == 0 {
        return Err("the list is empty".to_owned());
    }
    Ok(items[a.whole(1)?.rem_euclid(count) as usize].clone())
}

fn slice(a: &Arguments<'_>) -> Outcome {
    let items = a.list(0)?;
    let index = |at| usize::try_from(a.whole(at)?).map_err(|_| format!("`{}` must not be negative", a.name(at)));
    let (start, end) = (index(1)?, index(2)?);
    let part = items.get(start..end).ok_or("`start` and `end` do not lie within the list")?;
    Ok(Value::list(part.to_vec())?)
}

fn range(a: &Arguments<'_>) -> Outcome {
    let (start, limit) = if a.count() == 1 { (0.0, a.number(0)?) } else { (a.number(0)?, a.number(1)?) };
    let step = match a.count() {
        3 => a.number(2)?,
        _ if limit < start => -1.0,
        _ => 1.0,
    };
    if step == 0.0 || (step > 0.0) != (limit >= start) {
        return Err("`step` does not lead from `start` to `limit`".to_owned());
    }
    let mut numbers = Vec::new();
    let mut next = start;
    while if step > 0.0 { next < limit } else { next > limit } {
        if numbers.len() == MAX_RANGE {
            return Err(format!("more than {MAX_RANGE} numbers"));
        }
        numbers.push(Value::number(next)?);
        next += step;
    }
    Ok(Value::list(numbers)?)
}

fn lookup(a: &Arguments<'_>) -> Outcome {
    match a.object(0)?.get(a.text(1)?) {
        Some(value) => Ok(value.clone()),
        None if a.count() == 3 => Ok(a.value(2)?.clone()),
        None => Err("the object has no such key, and no default is given".to_owned()),
    }
}

fn merge(a: &Arguments<'_>) -> Outcome {
    let mut merged = BTreeMap::new();
    for (index, value) in a.from(0).iter().enumerate() {
        if *value.data() != Data::Null {
            merged.extend(a.object(index)?.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
    }
    Ok(Value::object(merged)?)
}

fn zipmap(a: &Arguments<'_>) -> Outcome {
    let (keys, values) = (a.list(0)?, a.list(1)?);
    if keys.len() != values.len() {
        return Err("`keys` and `values` are not of the same length".to_owned());
    }
    let mut members = BTreeMap::new();
    for (key, value) in keys.iter().zip(values) {
        match key.data() {
            Data::Text(key) => members.insert(key.to_string(), value.clone()),
            _ => return Err(format!("`keys` holds {}, and keys are strings", key.type_name())),
        };
    }
    Ok(Value::object(members)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::call;

    #[test]
    fn collections_are_taken_apart_and_put_together() {
        for (name, arguments, wanted) in [
            ("length", json!([[1, 2]]), json!(2)),
            ("length", json!([{"a": 1}]), json!(1)),
            ("length", json!(["e\u{301}a"]), json!(2)),
            ("concat", json!([[1], [2, 3]]), json!([1, 2, 3])),
            ("contains", json!([[1, "2"], 2]), json!(false)),
            ("contains", json!([[[1]], [1]]), json!(true)),
            ("distinct", json!([[1, "1", 1, {"a": 1}, {"a": 1}]]), json!([1, "1", {"a": 1}])),
            ("compact", json!([["a", "", null, 0]]), json!(["a", 0])),
            ("flatten", json!([[[1, [2]], 3]]), json!([1, 2, 3])),
            ("sort", json!([["b", "a", "C"]]), json!(["C", "a", "b"])),
            ("reverse", json!([[1, 2]]), json!([2, 1])),
            ("element", json!([["a", "b", "c"], 4]), json!("b")),
            ("element", json!([["a", "b", "c"], -1]), json!("c")),
            ("slice", json!([["a", "b", "c"], 1, 3]), json!(["b", "c"])),
            ("range", json!([3]), json!([0, 1, 2])),
            ("range", json!([1, 8, 3]), json!([1, 4, 7])),
            ("range", json!([4, 1]), json!([4, 3, 2])),
            ("range", json!([0]), json!([])),
            ("keys", json!([{"b": 1, "a": 2}]), json!(["a", "b"])),
            ("values", json!([{"b": 1, "a": 2}]), json!([2, 1])),
            ("lookup", json!([{"a": 1}, "a"]), json!(1)),
            ("lookup", json!([{"a": 1}, "b", 2]), json!(2)),
            ("merge", json!([{"a": 1, "b": 1}, null, {"b": 2}]), json!({"a": 1, "b": 2})),
            ("zipmap", json!([["a", "b"], [1, 2]]), json!({"a": 1, "b": 2})),
            ("coalesce", json!([null, "", "x"]), json!("x")),
        ] {
            assert_eq!(call(name, arguments.as_array().unwrap()), Ok(wanted), "{name} {arguments}");
        }
    }

    #[test]
    fn misuse_is_refused() {
        for (name, arguments) in [
            ("length", json!([1])),
            ("sort", json!([[1]])),
            ("element", json!([[], 0])),
            ("slice", json!([[1], 1, 0])),
            ("slice", json!([[1], 0, 2])),
            ("slice", json!([[1], -1, 1])),
            ("range", json!([1_000_000])),
            ("range", json!([0, 5, 0])),
            ("range", json!([0, 5, -1])),
            ("range", json!([9007199254740990_i64, 9007199254740992_i64, 0.1])),
            ("lookup", json!([{"a": 1}, "b"])),
            ("merge", json!([1])),
            ("zipmap", json!([["a"], []])),
            ("zipmap", json!([[1], [1]])),
            ("coalesce", json!(["", null])),
        ] {
            assert!(call(name, arguments.as_array().unwrap()).is_err(), "{name} {arguments}");
        }
    }
}
