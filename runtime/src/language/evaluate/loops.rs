//! `for` and splat expressions.

use std::collections::BTreeMap;

use super::{Evaluated, Evaluator, Failure};
use crate::language::functions::Text;
use crate::language::value::{Data, Marks, Value};
use crate::model::expression::{Expression, For, ForForm, Kind, Place};

/// What the elements of a known collection have become so far.
enum Made {
    List(Vec<Value>),
    Object(BTreeMap<String, Value>),
    Groups(BTreeMap<String, Vec<Value>>),
}

/// A key or condition is settled on the node: so is the whole.
struct NotKnown;

impl Evaluator<'_> {
    pub(super) fn each(&mut self, each: &For, place: &Place) -> Evaluated {
        let of = self.value(&each.of)?;
        let elements: Vec<(Value, Value)> = match of.data() {
            Data::Deferred(_) => return self.left_over_for(each, &of, place),
            Data::List(items) => items.iter().enumerate().map(|(index, item)| (Value::count(index), item.clone())).collect(),
            Data::Object(members) => {
                let pair = |(key, value): (&String, &Value)| Ok((Value::text(key.as_str())?, value.clone()));
                members.iter().map(pair).collect::<Result<_, _>>().map_err(|error| Failure::of_value(place, error))?
            }
            _ => {
                let summary = format!("a `for` goes through a list or an object, not {}", of.type_name());
                return Err(Failure::wrong(&each.of.place, summary));
            }
        };
        let mut marks = of.own_marks().clone();
        let mut made = match &each.form {
            ForForm::List | ForForm::Text => Made::List(Vec::new()),
            ForForm::Object { group: false, .. } => Made::Object(BTreeMap::new()),
            ForForm::Object { group: true, .. } => Made::Groups(BTreeMap::new()),
        };
        for (key, value) in elements {
            let depth = self.bound.len();
            self.bound.extend(each.key.iter().map(|name| (name.clone(), key.clone().marked(of.own_marks()))));
            self.bound.push((each.value.clone(), value.marked(of.own_marks())));
            let done = self.element(each, &mut made, &mut marks);
            self.bound.truncate(depth);
            if let Err(NotKnown) = done? {
                return self.left_over_for(each, &of, place);
            }
        }
        Ok(self.finish(each, made, place)?.marked(&marks))
    }

    /// One element; its names are bound.
    fn element(&mut self, each: &For, made: &mut Made, marks: &mut Marks) -> Result<Result<(), NotKnown>, Failure> {
        if let Some(condition) = &each.condition {
            let wanted = self.value(condition)?;
            marks.join(&wanted.marks());
            match self.truth(&wanted, "the condition", &condition.place)? {
                Some(true) => {}
                Some(false) => return Ok(Ok(())),
                None => return Ok(Err(NotKnown)),
            }
        }
        let ForForm::Object { key: written, .. } = &each.form else {
            // The bodies of a text are all used.
            let text = matches!(each.form, ForForm::Text);
            let value = if text { self.value(&each.body)? } else { self.member(&each.body)? };
            if let Made::List(items) = made {
                items.push(value);
            }
            return Ok(Ok(()));
        };
        let key = self.value(written)?;
        marks.join(&key.marks());
        let name = match key.data() {
            Data::Text(name) => name.to_string(),
            Data::Deferred(_) => return Ok(Err(NotKnown)),
            _ => return Err(Failure::wrong(&written.place, format!("a key must be a string, not {}", key.type_name()))),
        };
        let value = self.member(&each.body)?;
        match made {
            Made::Groups(groups) => groups.entry(name).or_default().push(value),
            Made::Object(members) => {
                if members.insert(name, value).is_some() {
                    let failure = Failure::wrong(&written.place, "two elements give the same key");
                    return Err(failure.hint("to group the values of equal keys in lists, put `...` after the value"));
                }
            }
            Made::List(_) => {}
        }
        Ok(Ok(()))
    }

    fn finish(&mut self, each: &For, made: Made, place: &Place) -> Evaluated {
        match made {
            Made::List(items) if matches!(each.form, ForForm::Text) => self.join(items, each, place),
            Made::List(items) => self.made(Value::list(items), place),
            Made::Object(members) => self.made(Value::object(members), place),
            Made::Groups(groups) => {
                let lists = groups.into_iter().map(|(key, items)| Ok((key, self.made(Value::list(items), place)?)));
                let lists = lists.collect::<Result<_, Failure>>()?;
                self.made(Value::object(lists), place)
            }
        }
    }

    /// The bodies of a `%{ for }`, joined.
    fn join(&self, items: Vec<Value>, each: &For, place: &Place) -> Evaluated {
        let mut marks = Marks::default();
        items.iter().for_each(|item| marks.join(&item.marks()));
        if items.iter().any(|item| !item.is_known()) {
            self.check_parts(&items, place)?;
            let parts = items.iter().map(|item| item.residual(&each.body.place)).collect();
            return self.deferred(Kind::Template(parts), place, marks);
        }
        let mut text = Text::default();
        for item in &items {
            match item.data() {
                Data::Text(part) => text.push(part).map_err(|error| Failure::of_value(place, error))?,
                _ => return Err(Failure::wrong(&each.body.place, format!("a template cannot hold {}", item.type_name()))),
            }
        }
        Ok(self.made(text.value(), place)?.marked(&marks))
    }

    /// The whole as an expression for the node.
    fn left_over_for(&mut self, each: &For, of: &Value, place: &Place) -> Evaluated {
        let mut marks = of.marks();
        let fresh = |name: &String| format!("{name}#{}", self.binders);
        let (key, value) = (each.key.as_ref().map(fresh), fresh(&each.value));
        let names = each.key.iter().zip(&key).chain([(&each.value, &value)]);
        let names: Vec<(String, String)> = names.map(|(name, fresh)| (name.clone(), fresh.clone())).collect();
        let (condition, form, body) = self.under_binder(&names, of, place, |evaluator| {
            let condition = each.condition.as_ref().map(|condition| evaluator.speculate(condition, &mut marks)).transpose()?;
            let form = match &each.form {
                ForForm::Object { key, group } => ForForm::Object { key: evaluator.speculate(key, &mut marks)?, group: *group },
                other => other.clone(),
            };
            Ok((condition, form, evaluator.speculate(&each.body, &mut marks)?))
        })?;
        let of = of.residual(&each.of.place);
        self.deferred(Kind::For(Box::new(For { key, value, of, condition, form, body })), place, marks)
    }

    /// Evaluates with names bound to what the node will bind to other, fresh names.
    fn under_binder<T>(
        &mut self,
        names: &[(String, String)],
        of: &Value,
        place: &Place,
        evaluate: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let depth = self.bound.len();
        for (name, fresh) in names {
            let element = self.deferred(Kind::Iterator(fresh.clone()), place, of.marks())?;
            self.bound.push((name.clone(), element));
        }
        self.binders += 1;
        let result = evaluate(self);
        self.binders -= 1;
        self.bound.truncate(depth);
        result
    }

    pub(super) fn splat(&mut self, of: &Expression, name: &str, each: &Expression, place: &Place) -> Evaluated {
        let collection = self.value(of)?;
        let elements = match collection.data() {
            Data::Deferred(_) => return self.left_over_splat(&collection, of, name, each, place),
            Data::Null => Vec::new(),
            Data::List(items) => items.to_vec(),
            _ => vec![collection.clone()],
        };
        let mut items = Vec::with_capacity(elements.len());
        for element in elements {
            self.bound.push((name.to_owned(), element));
            let item = self.member(each);
            self.bound.pop();
            items.push(item?);
        }
        Ok(self.made(Value::list(items), place)?.marked(collection.own_marks()))
    }

    fn left_over_splat(&mut self, of: &Value, written: &Expression, name: &str, each: &Expression, place: &Place) -> Evaluated {
        let mut marks = of.marks();
        let fresh = format!("{name}#{}", self.binders);
        let names = [(name.to_owned(), fresh.clone())];
        let each = self.under_binder(&names, of, place, |evaluator| evaluator.speculate(each, &mut marks))?;
        let kind = Kind::Splat { of: Box::new(of.residual(&written.place)), name: fresh, each: Box::new(each) };
        self.deferred(kind, place, marks)
    }
}
