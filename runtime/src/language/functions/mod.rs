//! The functions of the language, in one table from which their reference is written.
//!
//! Names and meanings are Terraform's. A function is pure: the same arguments give the same value on any machine. Those that need
//! more than their arguments' values (files, errors, marks) are [`Special`], and the evaluator does them.

mod collections;
mod convert;
mod format;
mod numbers;
mod patterns;
mod special;
mod text;

use super::value::{Data, MAX_WEIGHT, Value, ValueError};

/// What a function gives: a value, or what is wrong, in words that quote no value.
pub type Outcome = Result<Value, String>;

/// A function.
#[derive(Debug)]
pub struct Function {
    /// As it is called.
    pub name: &'static str,
    /// The names of its parameters.
    pub parameters: &'static [&'static str],
    /// How many of them must be given.
    pub required: usize,
    /// The name of what any number of further arguments are.
    pub rest: Option<&'static str>,
    /// One or more sentences of Markdown.
    pub doc: &'static str,
    /// What it does.
    pub run: Run,
}

/// What a function does.
#[derive(Debug)]
pub enum Run {
    /// Takes known values and gives a known one.
    Pure(fn(&Arguments<'_>) -> Outcome),
    /// As `Pure`, but a byte of its arguments costs more.
    Pattern(fn(&Arguments<'_>) -> Outcome),
    /// Done by the evaluator.
    Special(Special),
}

/// Functions that need more than the values of their arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// The first argument that can be evaluated.
    Try,
    /// Whether the argument can be evaluated.
    Can,
    /// Marks a value as sensitive.
    Sensitive,
    /// Takes that mark away.
    Nonsensitive,
    /// A secret of the node.
    Secret,
    /// The text of a file.
    File,
    /// Whether there is such a file.
    FileExists,
    /// A template file, rendered.
    TemplateFile,
}

impl Special {
    /// Whether it reads files beside the manifest, which only the controller has.
    pub fn reads_files(self) -> bool {
        matches!(self, Self::File | Self::FileExists | Self::TemplateFile)
    }
}

const TABLES: [&[Function]; 7] = [
    text::FUNCTIONS,
    format::FUNCTIONS,
    patterns::FUNCTIONS,
    collections::FUNCTIONS,
    numbers::FUNCTIONS,
    convert::FUNCTIONS,
    special::FUNCTIONS,
];

/// Every function, in the order of the reference.
pub fn all() -> impl Iterator<Item = &'static Function> {
    TABLES.into_iter().flatten()
}

/// The names of all functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(|function| function.name)
}

/// The function of that name.
pub fn find(name: &str) -> Option<&'static Function> {
    all().find(|function| function.name == name)
}

impl Function {
    /// How it is called: `lookup(object, key, [default])`.
    pub fn signature(&self) -> String {
        let optional = |index| index >= self.required;
        let mut parts: Vec<String> = Vec::new();
        for (index, name) in self.parameters.iter().enumerate() {
            parts.push(if optional(index) { format!("[{name}]") } else { (*name).to_owned() });
        }
        parts.extend(self.rest.map(|rest| format!("{rest}...")));
        format!("{}({})", self.name, parts.join(", "))
    }

    /// Checks how many arguments are given. With `expand` the last one stands for any number.
    ///
    /// # Errors
    /// With the number that is wanted, in words.
    pub fn check_count(&self, given: usize, expand: bool) -> Result<(), String> {
        let most = self.rest.map_or(self.parameters.len(), |_| usize::MAX);
        let enough = given >= self.required || (expand && given > 0);
        if enough && (given <= most || expand && given <= most.saturating_add(1)) {
            return Ok(());
        }
        let words = |count: usize| if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") };
        Err(match (self.required, most) {
            (least, usize::MAX) => format!("at least {}", words(least)),
            (least, most) if least == most => words(most),
            (least, most) => format!("{least} to {}", words(most)),
        })
    }
}

/// The arguments of a call, known and counted.
pub struct Arguments<'a> {
    function: &'static Function,
    values: &'a [Value],
}

impl<'a> Arguments<'a> {
    /// Arguments of a call of `function`.
    pub fn new(function: &'static Function, values: &'a [Value]) -> Self {
        Self { function, values }
    }

    fn count(&self) -> usize {
        self.values.len()
    }

    /// One of them; the count was checked before.
    fn value(&self, index: usize) -> Result<&'a Value, String> {
        self.values.get(index).ok_or_else(|| format!("`{}` is missing", self.name(index)))
    }

    /// All from `index` on.
    fn from(&self, index: usize) -> &'a [Value] {
        self.values.get(index..).unwrap_or_default()
    }

    fn name(&self, index: usize) -> &'static str {
        self.function.parameters.get(index).copied().or(self.function.rest).unwrap_or("argument")
    }

    fn wrong(&self, index: usize, wanted: &str, value: &Value) -> String {
        format!("`{}` must be {wanted}, not {}", self.name(index), value.type_name())
    }

    fn text(&self, index: usize) -> Result<&'a str, String> {
        match self.value(index)?.data() {
            Data::Text(text) => Ok(text),
            _ => Err(self.wrong(index, "a string", self.value(index)?)),
        }
    }

    fn number(&self, index: usize) -> Result<f64, String> {
        match self.value(index)?.data() {
            Data::Number(number) => Ok(*number),
            _ => Err(self.wrong(index, "a number", self.value(index)?)),
        }
    }

    fn whole(&self, index: usize) -> Result<i64, String> {
        let number = self.number(index)?;
        if number.fract() != 0.0 {
            return Err(format!("`{}` must be a whole number", self.name(index)));
        }
        // At most 2^53 in either direction.
        Ok(number as i64)
    }

    fn list(&self, index: usize) -> Result<&'a [Value], String> {
        match self.value(index)?.data() {
            Data::List(items) => Ok(items),
            _ => Err(self.wrong(index, "a list", self.value(index)?)),
        }
    }

    fn object(&self, index: usize) -> Result<&'a std::collections::BTreeMap<String, Value>, String> {
        match self.value(index)?.data() {
            Data::Object(members) => Ok(members),
            _ => Err(self.wrong(index, "an object", self.value(index)?)),
        }
    }
}

impl From<ValueError> for String {
    fn from(error: ValueError) -> Self {
        error.to_string()
    }
}

/// Text that may not grow beyond what a value may weigh.
#[derive(Debug, Default)]
pub struct Text(String);

impl Text {
    /// Adds to it.
    ///
    /// # Errors
    /// Before it grows too large.
    pub fn push(&mut self, text: &str) -> Result<(), ValueError> {
        if (self.0.len() + text.len()) as u64 > MAX_WEIGHT {
            return Err(ValueError::TooLarge);
        }
        self.0.push_str(text);
        Ok(())
    }

    /// Adds the same several times.
    ///
    /// # Errors
    /// Before it grows too large.
    pub fn repeat(&mut self, text: &str, times: usize) -> Result<(), ValueError> {
        if (text.len() as u64).saturating_mul(times as u64) > MAX_WEIGHT {
            return Err(ValueError::TooLarge);
        }
        self.push(&text.repeat(times))
    }

    /// The text as a value.
    ///
    /// # Errors
    /// If it is too large.
    pub fn value(self) -> Result<Value, ValueError> {
        Value::text(self.0)
    }
}

/// A scalar as a template writes it; none for null, lists and objects.
pub fn scalar_text(value: &Value) -> Option<String> {
    match value.data() {
        Data::Text(text) => Some(text.to_string()),
        Data::Number(number) => Some(super::number::to_text(*number)),
        Data::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value as Json, json};

    use super::*;

    /// Calls a pure function with JSON.
    pub(super) fn call(name: &str, arguments: &[Json]) -> Result<Json, String> {
        let function = find(name).unwrap();
        let values: Vec<Value> = arguments.iter().map(|json| Value::from_json(json).unwrap()).collect();
        function.check_count(values.len(), false)?;
        let (Run::Pure(run) | Run::Pattern(run)) = function.run else { panic!("{name} is special") };
        run(&Arguments::new(function, &values)).map(|value| value.json().unwrap())
    }

    #[test]
    fn names_are_unique_and_every_function_is_described() {
        let names: BTreeSet<&str> = names().collect();
        assert_eq!(names.len(), all().count());
        for function in all() {
            assert!(function.doc.ends_with('.') && function.required <= function.parameters.len(), "{}", function.name);
        }
    }

    #[test]
    fn counts_are_checked_in_words() {
        let count = |name: &str, given, expand| find(name).unwrap().check_count(given, expand);
        assert_eq!(count("upper", 2, false), Err("1 argument".into()));
        assert_eq!(count("lookup", 1, false), Err("2 to 3 arguments".into()));
        assert_eq!(count("format", 0, false), Err("at least 1 argument".into()));
        assert!(count("lookup", 1, true).is_ok());
        assert_eq!(find("lookup").unwrap().signature(), "lookup(object, key, [default])");
        assert_eq!(find("format").unwrap().signature(), "format(spec, values...)");
    }

    #[test]
    fn a_wrong_type_is_named_and_the_value_is_not() {
        assert_eq!(call("upper", &[json!(["secret"])]), Err("`string` must be a string, not a list".into()));
        assert_eq!(call("substr", &[json!("x"), json!(0.5), json!(1)]), Err("`offset` must be a whole number".into()));
    }
}
