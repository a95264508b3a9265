//! Values that are only read and passed on: `image = server.image`.

use super::{Contest, Provenance};
use crate::evaluator::Evaluator;
use crate::names::NameRef;
use base_text::Name;
use kcl_syntax::ast::{BinOp, Expr, ExprId, Ident};
use kcl_value::{List, Origin, Value, ops};
use std::rc::Rc;

/// How many reads behind each other are followed.
const MAX_READS: usize = 64;

/// An argument of a lambda that is only passed on.
#[derive(Debug)]
pub(crate) struct GivenArgument {
    /// Where it lies on the stack.
    at: usize,
    value: Value,
    origin: Origin,
}

impl GivenArgument {
    /// Whether it lies on the stack at `base` or above.
    pub(crate) fn is_from(&self, base: usize) -> bool {
        self.at >= base
    }
}

impl Provenance {
    /// The origin of a value that the expression `at` read where `given` had put it.
    fn passed_on(&mut self, at: Origin, given: Origin) -> Origin {
        if given.0 == 0 || self.node(given) == at {
            return at;
        }
        if let Some(known) = self.contests.reads.get(&(at, given)) {
            return *known;
        }
        if self.contests.is_full() {
            return at;
        }
        let contests = Rc::make_mut(&mut self.contests);
        let origin = contests.add(Contest { winner: at, old: Origin(0), new: at, given });
        contests.reads.insert((at, given), origin);
        origin
    }

    /// The node that gave the value of a leaf, behind all that only read it.
    pub(super) fn giver(&self, origin: Origin) -> Origin {
        let mut origin = origin;
        let mut n_reads = 0;
        while let Some(contest) = self.contest(origin) {
            if contest.given.0 != 0 {
                n_reads += 1;
                origin = contest.given;
            } else {
                origin = contest.new;
            }
            if n_reads > MAX_READS {
                break;
            }
        }
        self.node(origin)
    }
}

impl Evaluator<'_> {
    /// The origin of a value that an expression has just given.
    #[inline]
    pub(crate) fn origin_of(&mut self, expr: ExprId, value: &Value) -> Origin {
        if self.options.follows_reads() { self.followed(expr, value) } else { self.origin(expr) }
    }

    /// Notes the origin of the last item of a list, which an expression has just given.
    #[cold]
    pub(crate) fn push_origin(&mut self, list: &mut List, expr: ExprId) {
        let Some(item) = list.items.last() else { return };
        let origin = self.origin_of(expr, item);
        list.origins.push(origin);
    }

    #[cold]
    fn followed(&mut self, expr: ExprId, value: &Value) -> Origin {
        let origin = self.origin(expr);
        if !is_scalar(value) {
            return origin;
        }
        let at = self.at;
        let given = self.given(expr, value);
        let inputs = if given.0 == 0 { self.inputs(expr) } else { Vec::new() };
        self.at = at;
        if given.0 == 0 {
            return self.provenance.computed(origin, inputs);
        }
        self.provenance.passed_on(origin, given)
    }

    /// Notes who gave an argument that goes to the top of the stack.
    pub(crate) fn note_argument(&mut self, expr: ExprId, value: &Value) {
        let at = self.stack.len();
        while self.given_arguments.last().is_some_and(|last| last.is_from(at)) {
            self.given_arguments.pop();
        }
        if is_scalar(value) {
            let before = self.at;
            let mut origin = self.given(expr, value);
            if origin.0 == 0 {
                let inputs = self.inputs(expr);
                let has_inputs = !inputs.is_empty();
                let computed = self.provenance.computed(self.origin(expr), inputs);
                origin = if has_inputs { computed } else { origin };
            }
            self.at = before;
            if origin.0 != 0 {
                self.given_arguments.push(GivenArgument { at, value: value.clone(), origin });
            }
        }
    }

    /// Where the value lay that an expression only reads; unknown if it does anything else.
    pub(super) fn given(&mut self, expr: ExprId, value: &Value) -> Origin {
        let module = self.frame.module;
        match &module[expr].kind {
            Expr::Paren(inner) => self.given(*inner, value),
            Expr::Ident(path) => self.given_by_path(self.name_ref(expr), &path.names, value),
            Expr::Selector { value: inner, attr, .. } => {
                let Some((last, before)) = attr.names.split_last() else { return Origin(0) };
                let holder = self.peek(*inner).and_then(|mut holder| {
                    for name in before {
                        holder = ops::attribute(&holder, name.name.as_str()).ok()?;
                    }
                    Some(holder)
                });
                holder.map_or(Origin(0), |holder| entry_origin(&holder, last.name.as_str()))
            }
            Expr::Subscript(subscript) => {
                let Some(index) = subscript.index else { return Origin(0) };
                match (self.peek(subscript.value), self.peek(index)) {
                    (Some(holder), Some(Value::Str(key))) => entry_origin(&holder, key.as_str()),
                    (Some(Value::List(list)), Some(Value::Int(at))) => {
                        let at = usize::try_from(at).ok();
                        at.and_then(|at| list.origins.get(at)).copied().unwrap_or_default()
                    }
                    _ => Origin(0),
                }
            }
            Expr::Binary { op: BinOp::As, left, .. } => self.given(*left, value),
            Expr::Binary { op: BinOp::Or, left, right } => match self.peek(*left) {
                Some(first) if first.is_truthy() => self.given(*left, value),
                Some(_) => self.given(*right, value),
                None => Origin(0),
            },
            _ => Origin(0),
        }
    }

    /// Where the value lay that the names of a path read.
    pub(super) fn given_by_path(
        &mut self,
        name_ref: NameRef,
        path: &[Ident],
        value: &Value,
    ) -> Origin {
        let Some((first, rest)) = path.split_first() else { return Origin(0) };
        let Some((last, before)) = rest.split_last() else {
            return self.given_by_name(name_ref, first.name, value);
        };
        if let (NameRef::Package(package), []) = (name_ref, before) {
            let at = self.program.package(package).globals.get_index_of(&last.name);
            return at.map_or(Origin(0), |at| self.global(package, at as u32).origin);
        }
        let holder = self.peek_path(name_ref, &path[..path.len() - 1]);
        holder.map_or(Origin(0), |holder| entry_origin(&holder, last.name.as_str()))
    }

    fn given_by_name(&mut self, name_ref: NameRef, name: Name, value: &Value) -> Origin {
        match name_ref {
            NameRef::Local(slot) | NameRef::Last(slot) => self.given_argument(slot, value),
            NameRef::LocalOr(slot, next) => match &self.stack[self.frame.base + slot as usize] {
                Value::Undefined => self.given_by_name(self.chained(next), name, value),
                _ => self.given_argument(slot, value),
            },
            NameRef::Attr(next) => match self.frame.this.clone() {
                Some(this) if this.slot(name).is_some() => {
                    this.slot(name).map_or(Origin(0), |slot| this.origin_of(slot))
                }
                _ => self.given_by_name(self.chained(next), name, value),
            },
            NameRef::Global(at) => self.global(self.frame.package, at).origin,
            _ => Origin(0),
        }
    }

    fn given_argument(&self, slot: u32, value: &Value) -> Origin {
        let at = self.frame.base + slot as usize;
        let given = self.given_arguments.iter().rev().take_while(|it| it.at >= self.frame.base);
        let mut given = given.filter(|it| it.at == at && ops::equals(&it.value, value));
        given.next().map_or(Origin(0), |it| it.origin)
    }

    /// The value of an expression that only reads, and has been evaluated before.
    pub(super) fn peek(&mut self, expr: ExprId) -> Option<Value> {
        let module = self.frame.module;
        match &module[expr].kind {
            Expr::Paren(inner) => self.peek(*inner),
            Expr::String(text) => Some(Value::str(&*text.value)),
            Expr::Number(_) => self.eval(expr).ok(),
            Expr::Ident(path) => self.peek_path(self.name_ref(expr), &path.names),
            Expr::Selector { value, attr, has_question: false } => {
                let mut value = self.peek(*value)?;
                for name in &attr.names {
                    value = ops::attribute(&value, name.name.as_str()).ok()?;
                }
                Some(value)
            }
            Expr::Subscript(subscript) => {
                let holder = self.peek(subscript.value)?;
                let index = self.peek(subscript.index?)?;
                ops::index(&holder, &index).ok()
            }
            _ => None,
        }
    }

    /// Reads the names of a path.
    pub(super) fn peek_path(&mut self, name_ref: NameRef, path: &[Ident]) -> Option<Value> {
        // A last read has taken the value.
        if matches!(name_ref, NameRef::Last(_) | NameRef::System(_) | NameRef::Plugin(_)) {
            return None;
        }
        let (first, mut rest) = path.split_first()?;
        let mut value = match (name_ref, rest.split_first()) {
            (NameRef::Package(package), Some((second, others))) => {
                rest = others;
                let at = self.program.package(package).globals.get_index_of(&second.name)?;
                self.global(package, at as u32).value.clone()
            }
            _ => self.load(name_ref, first.name).ok()?,
        };
        for name in rest {
            value = ops::attribute(&value, name.name.as_str()).ok()?;
        }
        Some(value)
    }
}

fn entry_origin(holder: &Value, key: &str) -> Origin {
    let entry = holder.as_config().and_then(|config| config.entry(key));
    entry.map(|entry| entry.origin).unwrap_or_default()
}

fn is_scalar(value: &Value) -> bool {
    !matches!(
        value,
        Value::Undefined | Value::List(_) | Value::Dict(_) | Value::Schema(_) | Value::Func(_)
    )
}
