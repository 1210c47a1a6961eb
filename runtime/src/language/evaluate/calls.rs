//! Function calls.

use super::{Evaluated, Evaluator, Failure, whole};
use crate::language::functions::{self, Arguments, Function, Run, Special};
use crate::language::value::{Data, Marks, Value};
use crate::model::expression::{Expression, Kind, Place};
use crate::model::ids::{NameError, SecretName};

impl Evaluator<'_> {
    pub(super) fn call(&mut self, name: &str, arguments: &[Expression], expand: bool, place: &Place) -> Evaluated {
        let function = functions::find(name).ok_or_else(|| Failure::wrong(place, format!("unknown function `{name}`")))?;
        let run = match function.run {
            Run::Special(Special::Try) if !expand => return self.try_each(arguments, place),
            Run::Special(Special::Can) if !expand => return self.can(arguments, place),
            Run::Special(special) => {
                let values = self.arguments(function, arguments, expand, place)?;
                return match values {
                    Ok(values) => self.special(special, &values, arguments, place),
                    Err(left_over) => Ok(left_over),
                };
            }
            Run::Pure(run) | Run::Pattern(run) => run,
        };
        let values = match self.arguments(function, arguments, expand, place)? {
            Ok(values) => values,
            Err(left_over) => return Ok(left_over),
        };
        let mut marks = Marks::default();
        values.iter().for_each(|value| marks.join(&value.marks()));
        if let Some(error) = values.iter().find_map(|value| value.failures().first().copied()) {
            return Err(Failure::Wrong(Box::new(error.clone())));
        }
        if values.iter().any(|value| !value.is_known()) {
            self.check_parts(&values, place)?;
            let written = |index: usize| arguments.get(index).map_or(place, |argument| &argument.place);
            let arguments = values.iter().enumerate().map(|(index, value)| value.residual(written(index))).collect();
            return self.deferred(Kind::Call { name: name.to_owned(), arguments, expand: false }, place, marks);
        }
        let weight: u64 = values.iter().map(Value::weight).sum();
        let dear = if matches!(function.run, Run::Pattern(_)) { 1 } else { 64 };
        self.spend(weight / dear, place)?;
        let value =
            run(&Arguments::new(function, &values)).map_err(|message| Failure::wrong(place, format!("`{name}`: {message}")))?;
        self.spend(value.weight() / 64, place)?;
        Ok(value.marked(&marks))
    }

    /// The arguments, with an expanded last one taken apart; or the whole call as a left-over, if that one is deferred.
    fn arguments(
        &mut self,
        function: &'static Function,
        arguments: &[Expression],
        expand: bool,
        place: &Place,
    ) -> Result<Result<Vec<Value>, Value>, Failure> {
        let mut values = arguments.iter().map(|argument| self.value(argument)).collect::<Result<Vec<_>, _>>()?;
        if expand && let Some(last) = values.pop() {
            match last.data() {
                Data::List(items) => values.extend(items.iter().map(|item| item.clone().marked(last.own_marks()))),
                Data::Deferred(_) => {
                    values.push(last);
                    return self.left_over_expansion(function, &values, arguments, place).map(Err);
                }
                _ => {
                    let at = arguments.last().map_or(place, |argument| &argument.place);
                    return Err(Failure::wrong(at, format!("`...` expands a list, not {}", last.type_name())));
                }
            }
        }
        if let Err(wanted) = function.check_count(values.len(), false) {
            return Err(Failure::wrong(place, format!("`{}` takes {wanted}, not {}", function.name, values.len())));
        }
        Ok(Ok(values))
    }

    fn left_over_expansion(&self, function: &Function, values: &[Value], written: &[Expression], place: &Place) -> Evaluated {
        let mut marks = Marks::default();
        values.iter().for_each(|value| marks.join(&value.marks()));
        self.check_parts(values, place)?;
        let arguments = values.iter().zip(written).map(|(value, written)| value.residual(&written.place)).collect();
        self.deferred(Kind::Call { name: function.name.to_owned(), arguments, expand: true }, place, marks)
    }

    fn try_each(&mut self, arguments: &[Expression], place: &Place) -> Evaluated {
        let mut last = Failure::wrong(place, "`try` has nothing to try");
        for (index, argument) in arguments.iter().enumerate() {
            match self.value(argument).and_then(whole) {
                Ok(value) if value.is_known() => return Ok(value),
                Ok(value) => return self.left_over_try(value, argument, &arguments[index + 1..], place),
                Err(failure @ Failure::Wrong(_)) => last = failure,
                Err(failure) => return Err(failure),
            }
        }
        Err(last)
    }

    fn left_over_try(&mut self, value: Value, written: &Expression, rest: &[Expression], place: &Place) -> Evaluated {
        let mut marks = value.marks();
        let mut arguments = vec![value.residual(&written.place)];
        for argument in rest {
            arguments.push(self.speculate(argument, &mut marks)?);
        }
        self.deferred(Kind::Call { name: "try".to_owned(), arguments, expand: false }, place, marks)
    }

    fn can(&mut self, arguments: &[Expression], place: &Place) -> Evaluated {
        let Some(argument) = arguments.first() else { return Err(Failure::wrong(place, "`can` takes 1 argument")) };
        match self.value(argument).and_then(whole) {
            Ok(value) if value.is_known() => Ok(Value::bool(true).marked(&value.marks())),
            Ok(value) => {
                let arguments = vec![value.residual(&argument.place)];
                self.deferred(Kind::Call { name: "can".to_owned(), arguments, expand: false }, place, value.marks())
            }
            Err(Failure::Wrong(_)) => Ok(Value::bool(false)),
            Err(failure) => Err(failure),
        }
    }

    fn special(&mut self, special: Special, values: &[Value], written: &[Expression], place: &Place) -> Evaluated {
        let value = |index: usize| values.get(index).ok_or_else(|| Failure::wrong(place, "an argument is missing"));
        let at = |index: usize| written.get(index).map_or(place, |argument| &argument.place);
        let first = value(0)?;
        match special {
            Special::Try | Special::Can => Err(Failure::wrong(place, "`try` and `can` take no `...`")),
            Special::Sensitive => self.sensitive(first, at(0), place),
            Special::Nonsensitive => self.nonsensitive(first, at(0), place),
            Special::Secret => self.secret(first, at(0), place),
            Special::File => {
                let text = self.scope.file(&self.path(first, at(0))?, at(0))?;
                Ok(self.made(Value::text(text), place)?.marked(first.own_marks()))
            }
            Special::FileExists => {
                let exists = self.scope.file_exists(&self.path(first, at(0))?, at(0))?;
                Ok(Value::bool(exists).marked(first.own_marks()))
            }
            Special::TemplateFile => self.template_file(first, at(0), value(1)?, at(1), place),
        }
    }

    /// A value marked as sensitive; the node marks again what it settles.
    fn sensitive(&mut self, value: &Value, written: &Place, place: &Place) -> Evaluated {
        let value = &whole(value.clone())?;
        if value.is_known() {
            return Ok(value.clone().marked(&Marks::sensitive()));
        }
        let mut marks = value.marks();
        marks.join(&Marks::sensitive());
        let arguments = vec![value.residual(written)];
        self.deferred(Kind::Call { name: "sensitive".to_owned(), arguments, expand: false }, place, marks)
    }

    /// A value without that mark; what the node settles has it taken away there.
    fn nonsensitive(&mut self, value: &Value, written: &Place, place: &Place) -> Evaluated {
        let revealed = value.revealed();
        if value.is_known() || !value.marks().is_sensitive() {
            return Ok(revealed);
        }
        let value = &whole(value.clone())?;
        let arguments = vec![value.residual(written)];
        let kind = Kind::Call { name: "nonsensitive".to_owned(), arguments, expand: false };
        self.deferred(kind, place, revealed.marks())
    }

    fn secret(&mut self, name: &Value, written: &Place, place: &Place) -> Evaluated {
        let constant = match name.data() {
            Data::Text(text) if !name.marks().is_sensitive() => text,
            Data::Text(_) | Data::Deferred(_) => {
                let failure =
                    Failure::fatal(written, "the name of a secret must be known on the controller, and not be sensitive");
                return Err(failure.hint("write it out, as in `secret(\"db_password\")`"));
            }
            _ => return Err(Failure::fatal(written, format!("the name of a secret must be a string, not {}", name.type_name()))),
        };
        let name: SecretName = constant.parse().map_err(|error: NameError| Failure::fatal(written, error.to_string()))?;
        Ok(self.scope.secret(&name, place)?.marked(&Marks::sensitive()))
    }

    fn path(&self, value: &Value, place: &Place) -> Result<String, Failure> {
        match value.data() {
            Data::Text(path) => Ok(path.to_string()),
            Data::Deferred(_) => {
                let failure = Failure::fatal(place, "the path of a file must be known on the controller");
                Err(failure.hint("choose between whole files with a conditional, or pass `--target` with the node's facts"))
            }
            _ => Err(Failure::wrong(place, format!("the path of a file must be a string, not {}", value.type_name()))),
        }
    }

    fn template_file(&mut self, path: &Value, path_at: &Place, given: &Value, given_at: &Place, place: &Place) -> Evaluated {
        let name = self.path(path, path_at)?;
        let members = match given.data() {
            Data::Object(members) => members,
            Data::Deferred(_) => {
                return Err(Failure::fatal(given_at, "the names that a template gets must be known on the controller"));
            }
            _ => return Err(Failure::wrong(given_at, format!("a template gets an object, not {}", given.type_name()))),
        };
        let template = self.scope.template(&name, path_at)?;
        let mut marks = path.marks();
        marks.join(given.own_marks());
        let bound = members.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let (depth, binders) = (self.depth, self.binders);
        let mut inner = Evaluator { scope: self.scope, bound, in_template: !given.own_marks().is_sensitive(), depth, binders };
        let rendered = inner.value(&template);
        let rendered = rendered.map_err(|failure| failure.map(|message| message.related(place, "rendered here")))?;
        Ok(rendered.marked(&marks))
    }
}
