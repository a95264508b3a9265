//! Expressions.

use crate::error::{Eval, Failure};
use crate::evaluator::Evaluator;
use crate::instance::Instance;
use crate::names::NameRef;
use base_text::Name;
use kcl_hir::PackageId;
use kcl_syntax::ast::{
    BinOp, CmpOp, Constant, Expr, ExprId, Ident, JoinedString, Number, Path, StringPart, Subscript,
    UnaryOp, Unit,
};
use kcl_value::{List, Origin, Str, UnitNumber, Value, ops};
use std::rc::Rc;

impl<'p> Evaluator<'p> {
    /// Evaluates an expression of the current file.
    pub(crate) fn eval(&mut self, id: ExprId) -> Eval<Value> {
        self.at = self.origin(id);
        let module = self.frame.module;
        match &module[id].kind {
            Expr::Ident(path) => match self.name_ref(id) {
                NameRef::Local(slot) if path.names.len() == 1 => {
                    Ok(self.stack[self.frame.base + slot as usize].clone())
                }
                NameRef::Last(slot) => {
                    Ok(std::mem::take(&mut self.stack[self.frame.base + slot as usize]))
                }
                name_ref => self.eval_path(name_ref, path),
            },
            Expr::Number(Number::Int(number)) => Ok(Value::Int(*number)),
            Expr::Number(number) => Ok(number_value(*number)),
            Expr::Constant(constant) => Ok(constant_value(*constant)),
            Expr::String(text) => Ok(self.string_constant(id, &text.value)),
            Expr::Paren(inner) => self.eval(*inner),
            Expr::Binary { op, left, right } => self.eval_binary(id, *op, *left, *right),
            Expr::Compare { left, rest } => self.compare_all(id, *left, rest).map(Value::Bool),
            Expr::Call(call) => self.eval_call(call),
            Expr::If { body, cond, orelse } => self.eval_if(*body, *cond, *orelse),
            Expr::List(items) => self.eval_list(items),
            Expr::Joined(joined) => self.eval_joined(joined),
            Expr::Type(_) | Expr::Missing => Ok(Value::None),
            kind => self.nested(|it| it.eval_compound(id, kind)),
        }
    }

    #[inline(never)]
    fn eval_if(&mut self, body: ExprId, cond: ExprId, orelse: ExprId) -> Eval<Value> {
        self.nested(|it| {
            let holds = it.condition(cond)?;
            it.eval(if holds { body } else { orelse })
        })
    }

    #[inline(never)]
    fn eval_compound(&mut self, id: ExprId, kind: &'p Expr) -> Eval<Value> {
        match kind {
            Expr::Starred(inner) => self.eval(*inner),
            Expr::Unary { op, operand } => self.eval_unary(*op, *operand),
            Expr::Selector { value, attr, has_question } => {
                self.eval_selector(*value, attr, *has_question)
            }
            Expr::Quant(quant) => self.eval_quant(id, quant),
            Expr::ListIf { cond, items, orelse } => self.eval_list_if(*cond, items, *orelse),
            Expr::ListComp { elt, generators } => self.eval_list_comp(id, *elt, generators),
            Expr::DictComp { entry, generators } => self.eval_dict_comp(id, entry, generators),
            Expr::ConfigIf { cond, items, orelse } => self.eval_config_if(*cond, items, *orelse),
            Expr::Schema(schema) => self.eval_schema_expr(id, schema),
            Expr::Config(items) => self.eval_config(id, items),
            Expr::Lambda(_) => Ok(self.make_closure(id)),
            Expr::Subscript(subscript) => self.eval_subscript(subscript),
            Expr::Number(_)
            | Expr::Constant(_)
            | Expr::String(_)
            | Expr::Ident(_)
            | Expr::Paren(_)
            | Expr::Binary { .. }
            | Expr::Compare { .. }
            | Expr::If { .. }
            | Expr::Call(_)
            | Expr::List(_)
            | Expr::Joined(_)
            | Expr::Type(_)
            | Expr::Missing => Ok(Value::Undefined),
        }
    }

    fn eval_unary(&mut self, op: UnaryOp, operand: ExprId) -> Eval<Value> {
        let value = self.eval(operand)?;
        Ok(match op {
            UnaryOp::Plus => ops::plus(&value)?,
            UnaryOp::Minus => ops::minus(&value)?,
            UnaryOp::Invert => ops::invert(&value)?,
            UnaryOp::Not => Value::Bool(!value.is_truthy()),
        })
    }

    /// Whether the value of an expression counts as true.
    pub(crate) fn truth(&mut self, id: ExprId) -> Eval<bool> {
        match &self.frame.module[id].kind {
            Expr::Compare { left, rest } => self.compare_all(id, *left, rest),
            Expr::Binary { op: op @ (BinOp::And | BinOp::Or), left, right } => {
                self.enter()?;
                let holds = self.truth(*left)?;
                let decides = holds == (*op == BinOp::Or);
                let holds = if decides { holds } else { self.truth(*right)? };
                self.leave();
                Ok(holds)
            }
            _ => Ok(self.eval(id)?.is_truthy()),
        }
    }

    /// A string of the source; kept where code runs more than once.
    pub(crate) fn string_constant(&mut self, id: ExprId, text: &str) -> Value {
        if !self.frame.in_lambda && self.frame.this.is_none() && self.loop_depth == 0 {
            return Value::str(text);
        }
        let constants = &mut self.files[self.frame.file.0 as usize].constants;
        constants.entry(id).or_insert_with(|| Value::str(text)).clone()
    }

    /// Evaluates `a.b.c`.
    #[inline(never)]
    fn eval_path(&mut self, name_ref: NameRef, path: &'p Path) -> Eval<Value> {
        let Some(first) = path.names.first() else { return Ok(Value::Undefined) };
        self.load_path(name_ref, first.name, &path.names[1..])
    }

    /// Loads a name and what follows it.
    pub(crate) fn load_path(
        &mut self,
        name_ref: NameRef,
        first: Name,
        rest: &'p [Ident],
    ) -> Eval<Value> {
        let (mut value, rest) = match (name_ref, rest.split_first()) {
            (NameRef::Package(package), Some((second, rest))) => {
                (self.load_member(package, second.name)?, rest)
            }
            (NameRef::System(module), Some((second, rest))) => {
                (system_member(module, second.name), rest)
            }
            (NameRef::Plugin(plugin), Some((second, rest))) => {
                (crate::plugin::function_value(plugin, second.name, Origin(0)), rest)
            }
            _ => (self.load(name_ref, first)?, rest),
        };
        for name in rest {
            value = load_attr(&value, name.name)?;
        }
        Ok(value)
    }

    /// A global of an imported package.
    fn load_member(&mut self, package: PackageId, name: Name) -> Eval<Value> {
        match self.program.package(package).globals.get_index_of(&name) {
            Some(at) => self.read_global(package, at as u32),
            None => Ok(Value::Undefined),
        }
    }

    /// Loads a single name.
    pub(crate) fn load(&mut self, name_ref: NameRef, name: Name) -> Eval<Value> {
        match name_ref {
            NameRef::Local(slot) | NameRef::Last(slot) => {
                Ok(self.stack[self.frame.base + slot as usize].clone())
            }
            NameRef::LocalOr(slot, next) => match &self.stack[self.frame.base + slot as usize] {
                Value::Undefined => {
                    let next = self.chained(next);
                    self.load(next, name)
                }
                value => Ok(value.clone()),
            },
            NameRef::Attr(next) => {
                if let Some(this) = self.frame.this.clone()
                    && let Some(value) = self.load_own(&this, name)?
                {
                    return Ok(value);
                }
                let next = self.chained(next);
                self.load(next, name)
            }
            NameRef::Global(at) => {
                // A schema sees a global as it is when the instance is made.
                if self.frame.this.is_some() {
                    let value = &self.global(self.frame.package, at).value;
                    if !matches!(value, Value::Undefined) {
                        return Ok(value.clone());
                    }
                }
                self.read_global(self.frame.package, at)
            }
            NameRef::Builtin(function) => Ok(crate::call::builtin_value(function)),
            NameRef::Package(_)
            | NameRef::System(_)
            | NameRef::Plugin(_)
            | NameRef::Missing
            | NameRef::Ints(..)
            | NameRef::Unresolved => Ok(Value::Undefined),
        }
    }

    /// An attribute of the instance around the code, if it has one of that name.
    fn load_own(&mut self, this: &Rc<Instance>, name: Name) -> Eval<Option<Value>> {
        match this.slot(name) {
            // A lambda sees attributes as they are when it is called.
            Some(slot) if self.frame.in_lambda => {
                let value = this.states.borrow()[slot].progress.cache.clone();
                Ok(Some(value.unwrap_or_else(|| this.get(slot))))
            }
            Some(slot) => self.read_attr(this, slot).map(Some),
            None => match this.get_key(name.as_str()) {
                None if !this.layout.lent.is_empty() => self.load_lent(this, name),
                value => Ok(value),
            },
        }
    }

    /// A parameter that a mixin reads as an attribute of its protocol.
    #[cold]
    fn load_lent(&mut self, this: &Rc<Instance>, name: Name) -> Eval<Option<Value>> {
        let lent = this.layout.lent.iter().find(|(lent, ..)| *lent == name);
        let Some(&(_, schema, at)) = lent else { return Ok(None) };
        let value = self.in_schema(schema, this, |evaluator| {
            Ok(evaluator.stack[evaluator.frame.base + at].clone())
        })?;
        Ok(Some(value).filter(|value| !matches!(value, Value::Undefined)))
    }

    fn eval_selector(&mut self, value: ExprId, attr: &'p Path, optional: bool) -> Eval<Value> {
        let mut value = self.eval(value)?;
        for (at, name) in attr.names.iter().enumerate() {
            value = if at == 0 && optional && !value.is_truthy() {
                Value::None
            } else {
                load_attr(&value, name.name)?
            };
        }
        Ok(value)
    }

    #[inline(never)]
    fn eval_binary(&mut self, id: ExprId, op: BinOp, left: ExprId, right: ExprId) -> Eval<Value> {
        if matches!(op, BinOp::And | BinOp::Or | BinOp::As) {
            return self.nested(|it| it.eval_logic(op, left, right));
        }
        if let Some(number) = self.quick_int(id) {
            self.at = self.origin(right);
            return Ok(Value::Int(number));
        }
        let module = self.frame.module;
        let a = match &module[left].kind {
            // Two operators in a row; more of them are a chain.
            Expr::Binary { op: first_op, left: first, right: second }
                if !matches!(first_op, BinOp::And | BinOp::Or | BinOp::As) =>
            {
                if self.options.tracks_items() || matches!(module[*first].kind, Expr::Binary { .. })
                {
                    return self.eval_chain(op, left, right);
                }
                let a = self.eval(*first)?;
                let b = self.eval(*second)?;
                self.binary(*first_op, a, b)?
            }
            _ => self.eval(left)?,
        };
        let b = self.eval(right)?;
        self.operate(op, (a, left), (b, right))
    }

    /// Applies an operator to the values of two expressions.
    fn operate(&mut self, op: BinOp, a: (Value, ExprId), b: (Value, ExprId)) -> Eval<Value> {
        let ((mut a, left), (mut b, right)) = (a, b);
        if self.options.tracks_items() {
            a = self.stamped(a, self.origin(left));
            b = self.stamped(b, self.origin(right));
        }
        self.binary(op, a, b)
    }

    #[inline(never)]
    fn eval_logic(&mut self, op: BinOp, left: ExprId, right: ExprId) -> Eval<Value> {
        let a = self.eval(left)?;
        match op {
            BinOp::And => {
                if a.is_truthy() {
                    self.eval(right)
                } else {
                    Ok(a)
                }
            }
            BinOp::Or => {
                if a.is_truthy() {
                    Ok(a)
                } else {
                    self.eval(right)
                }
            }
            _ => {
                let Expr::Type(ty) = &self.frame.module[right].kind else { return Ok(a) };
                let ty = self.runtime_type(*ty);
                self.cast(a, &ty, true)
            }
        }
    }

    /// Evaluates `a op b op c …` from the left, without nesting; strings that are added up
    /// are written into one buffer.
    #[inline(never)]
    fn eval_chain(&mut self, op: BinOp, left: ExprId, right: ExprId) -> Eval<Value> {
        let module = self.frame.module;
        let mut rest = vec![(op, right)];
        let mut first = left;
        while let Expr::Binary { op, left, right } = &module[first].kind
            && !matches!(op, BinOp::And | BinOp::Or | BinOp::As)
        {
            rest.push((*op, *right));
            first = *left;
        }
        self.enter()?;
        let mut value = self.eval(first)?;
        value = self.stamped(value, self.origin(first));
        let mut buffer = String::new();
        while let Some((op, right)) = rest.pop() {
            let mut next = self.eval(right)?;
            next = self.stamped(next, self.origin(right));
            match (op, &value, &next) {
                (BinOp::Add, Value::Str(a), Value::Str(b)) => {
                    if buffer.is_empty() {
                        buffer.push_str(a);
                    }
                    buffer.push_str(b);
                    self.charge(b.len())?;
                    let goes_on = matches!(rest.last(), Some((BinOp::Add, _)));
                    if !goes_on {
                        value = Value::Str(Str::from(std::mem::take(&mut buffer)));
                    }
                    continue;
                }
                _ if !buffer.is_empty() => {
                    value = Value::Str(Str::from(std::mem::take(&mut buffer)));
                }
                _ => {}
            }
            value = self.binary(op, value, next)?;
        }
        self.leave();
        Ok(value)
    }

    /// Applies an operator to two values.
    pub(crate) fn binary(&mut self, op: BinOp, a: Value, b: Value) -> Eval<Value> {
        if let (Value::Int(a), Value::Int(b), false) = (&a, &b, self.options.strict_range_check)
            && let Some(number) = quick_op(op, *a, *b)
        {
            return Ok(Value::Int(number));
        }
        self.binary_slow(op, a, b)
    }

    /// Refuses `text * n` and `list * n` if the result takes too much memory.
    fn check_repeated(&self, a: &Value, b: &Value) -> Eval<()> {
        let (value, count) = match (a, b) {
            (value, Value::Int(count)) | (Value::Int(count), value) => (value, *count),
            _ => return Ok(()),
        };
        let size = match value {
            Value::Str(text) => text.len(),
            Value::List(list) => list.items.len() * size_of::<Value>(),
            _ => return Ok(()),
        };
        let count = usize::try_from(count).unwrap_or(0);
        if size.saturating_mul(count) > self.room() {
            return Err(kcl_std::too_much_memory().into());
        }
        Ok(())
    }

    #[inline(never)]
    fn binary_slow(&mut self, op: BinOp, mut a: Value, b: Value) -> Eval<Value> {
        if let (BinOp::Add, Value::List(list), Value::List(more)) = (op, &mut a, &b)
            && let Some(list) = Rc::get_mut(list)
            && list.origins.is_empty()
            && more.origins.is_empty()
        {
            self.charge(more.items.len() * size_of::<Value>())?;
            list.items.extend(more.items.iter().cloned());
            return Ok(a);
        }
        if op == BinOp::Mul {
            self.check_repeated(&a, &b)?;
        }
        let strict = self.options.strict_range_check;
        let value = match op {
            BinOp::Add => ops::add(&a, &b, strict)?,
            BinOp::Sub => ops::sub(&a, &b, strict)?,
            BinOp::Mul => ops::mul(&a, &b, strict)?,
            BinOp::Div => ops::div(&a, &b, strict)?,
            BinOp::FloorDiv => ops::floor_div(&a, &b, strict)?,
            BinOp::Mod => ops::rem(&a, &b, strict)?,
            BinOp::Pow => ops::pow(&a, &b, strict)?,
            BinOp::LShift => ops::shl(&a, &b, strict)?,
            BinOp::RShift => ops::shr(&a, &b, strict)?,
            BinOp::BitAnd => ops::bit_and(&a, &b, strict)?,
            BinOp::BitXor => ops::bit_xor(&a, &b, strict)?,
            BinOp::BitOr => return self.bit_or(a, b),
            BinOp::And | BinOp::Or | BinOp::As => return Ok(a),
        };
        match &value {
            Value::Str(text) => self.charge(text.len())?,
            Value::List(list) => self.charge(list.items.len() * size_of::<Value>())?,
            _ => {}
        }
        Ok(value)
    }

    /// Whether `a < b <= c` holds.
    #[inline(never)]
    fn compare_all(&mut self, id: ExprId, left: ExprId, rest: &'p [(CmpOp, ExprId)]) -> Eval<bool> {
        if let Some(holds) = self.quick_int(id) {
            if let [(_, right)] = rest {
                self.at = self.origin(*right);
            }
            return Ok(holds != 0);
        }
        self.enter()?;
        let mut a = self.eval(left)?;
        let mut holds = true;
        for (op, right) in rest {
            let b = self.eval(*right)?;
            let quick = match (&a, &b) {
                (Value::Int(a), Value::Int(b)) => quick_compare(*op, *a, *b),
                _ => None,
            };
            holds = match quick {
                Some(holds) => holds,
                None => {
                    if self.weighs_work {
                        self.weigh([&a, &b].into_iter())?;
                    }
                    compare(*op, &a, &b)?
                }
            };
            if !holds {
                break;
            }
            a = b;
        }
        self.leave();
        Ok(holds)
    }

    fn eval_subscript(&mut self, subscript: &'p Subscript) -> Eval<Value> {
        let value = self.eval(subscript.value)?;
        if let Some(index) = subscript.index {
            let index = self.eval(index)?;
            return Ok(if subscript.has_question {
                ops::index_optional(&value, &index)?
            } else {
                ops::index(&value, &index)?
            });
        }
        let lower = self.eval_optional(subscript.lower)?;
        let upper = self.eval_optional(subscript.upper)?;
        let step = self.eval_optional(subscript.step)?;
        if subscript.has_question && !value.is_truthy() {
            return Ok(Value::None);
        }
        let value = ops::slice(&value, lower.as_ref(), upper.as_ref(), step.as_ref())?;
        Ok(value)
    }

    pub(crate) fn eval_optional(&mut self, expr: Option<ExprId>) -> Eval<Option<Value>> {
        expr.map(|expr| self.eval(expr)).transpose()
    }

    #[inline(never)]
    fn eval_list(&mut self, items: &'p [ExprId]) -> Eval<Value> {
        self.nested(|it| {
            let mut list = List::new(Vec::with_capacity(items.len()));
            it.eval_items(items, &mut list)?;
            it.charge(list.items.len() * size_of::<Value>())?;
            Ok(Value::List(Rc::new(list)))
        })
    }

    fn eval_items(&mut self, items: &'p [ExprId], list: &mut List) -> Eval<()> {
        for &item in items {
            if matches!(self.frame.module[item].kind, Expr::Starred(_) | Expr::ListIf { .. }) {
                let value = self.eval(item)?;
                self.unpack(list, &value, item)?;
                continue;
            }
            list.items.push(self.eval(item)?);
            if self.options.tracks_items() {
                self.push_origin(list, item);
            }
        }
        Ok(())
    }

    /// Adds what `*value` stands for.
    fn unpack(&mut self, list: &mut List, value: &Value, from: ExprId) -> Eval<()> {
        let before = list.items.len();
        match value {
            Value::List(items) => {
                list.items.extend(items.items.iter().cloned());
                if self.options.tracks_items() {
                    list.origins.extend(items.origins.iter().copied());
                }
            }
            Value::Dict(_) | Value::Schema(_) => {
                let keys = value.as_config().into_iter().flat_map(kcl_value::Dict::keys);
                list.items.extend(keys.map(|key| Value::Str(key.clone())));
            }
            Value::None | Value::Undefined => {}
            other => {
                return Err(Failure::new(format!(
                    "only list, dict and schema object can be used with unpack operators * and **, got {}",
                    kcl_value::show(other)
                )));
            }
        }
        if self.options.tracks_items() {
            let origin = self.origin(from);
            list.origins.resize(list.items.len(), origin);
        }
        let added = list.items.len() - before;
        self.charge(added * size_of::<Value>())
    }

    fn eval_list_if(
        &mut self,
        cond: ExprId,
        items: &'p [ExprId],
        orelse: Option<ExprId>,
    ) -> Eval<Value> {
        if self.condition(cond)? {
            return self.eval_list(items);
        }
        match orelse {
            Some(orelse) => self.eval(orelse),
            None => Ok(Value::None),
        }
    }

    #[inline(never)]
    fn eval_joined(&mut self, joined: &'p JoinedString) -> Eval<Value> {
        self.nested(|it| it.join(&joined.parts))
    }

    fn join(&mut self, parts: &'p [StringPart]) -> Eval<Value> {
        let mut text = std::mem::take(&mut self.text_buffer);
        text.clear();
        for part in parts {
            match part {
                StringPart::Text(part) => text.push_str(part),
                StringPart::Formatted { value, spec } => {
                    let value = self.eval(*value)?;
                    if !kcl_value::fits(&value, self.room().saturating_sub(text.len())) {
                        return Err(kcl_std::too_much_memory().into());
                    }
                    match spec.as_deref().map(str::trim) {
                        None => kcl_value::show_into(&mut text, &value),
                        Some(spec) if spec.eq_ignore_ascii_case("#json") => {
                            text.push_str(&kcl_value::json::write(&value));
                        }
                        Some(spec) if spec.eq_ignore_ascii_case("#yaml") => {
                            text.push_str(&kcl_value::yaml::write(&value));
                        }
                        Some(_) => {
                            return Err(Failure::new(
                                "invalid string interpolation format specification",
                            ));
                        }
                    }
                }
            }
        }
        self.charge(text.len())?;
        let value = Value::Str(Str::from(text.as_str()));
        self.text_buffer = text;
        Ok(value)
    }
}

/// Evaluates `value.name`.
pub(crate) fn load_attr(value: &Value, name: Name) -> Eval<Value> {
    match value {
        Value::Str(text) => match kcl_std::string_method(name.as_str()) {
            Some(method) => Ok(crate::call::method_value(text.clone(), method)),
            None => Ok(ops::attribute(value, name.as_str())?),
        },
        Value::Func(func) if name.as_str() == "instances" => Ok(crate::call::instances_value(func)),
        _ => Ok(ops::attribute(value, name.as_str())?),
    }
}

/// A constant or function of a system module.
fn system_member(module: &'static kcl_std::Module, name: Name) -> Value {
    if let Some(constant) = module.constant(name.as_str()) {
        return (constant.value)();
    }
    match module.function(name.as_str()) {
        Some(function) => crate::call::builtin_value(function),
        None => Value::Undefined,
    }
}

/// Applies an operator to integers, if that is simple and does not fail.
#[inline]
fn quick_op(op: BinOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinOp::Add => a.checked_add(b),
        BinOp::Sub => a.checked_sub(b),
        BinOp::Mul => a.checked_mul(b),
        BinOp::Mod if b > 0 => Some(a.rem_euclid(b)),
        _ => None,
    }
}

/// Compares integers.
#[inline]
fn quick_compare(op: CmpOp, a: i64, b: i64) -> Option<bool> {
    match op {
        CmpOp::Eq => Some(a == b),
        CmpOp::NotEq => Some(a != b),
        CmpOp::Lt => Some(a < b),
        CmpOp::LtE => Some(a <= b),
        CmpOp::Gt => Some(a > b),
        CmpOp::GtE => Some(a >= b),
        _ => None,
    }
}

pub(crate) fn compare(op: CmpOp, a: &Value, b: &Value) -> Eval<bool> {
    Ok(match op {
        CmpOp::Eq => ops::equals(a, b),
        CmpOp::NotEq => !ops::equals(a, b),
        CmpOp::Lt => ops::less(a, b)?,
        CmpOp::LtE => ops::less_equal(a, b)?,
        CmpOp::Gt => ops::greater(a, b)?,
        CmpOp::GtE => ops::greater_equal(a, b)?,
        CmpOp::Is => ops::is_same(a, b),
        CmpOp::IsNot | CmpOp::Not => !ops::is_same(a, b),
        CmpOp::In => ops::contains(b, a)?,
        CmpOp::NotIn => !ops::contains(b, a)?,
    })
}

fn constant_value(constant: Constant) -> Value {
    match constant {
        Constant::True => Value::Bool(true),
        Constant::False => Value::Bool(false),
        Constant::None => Value::None,
        Constant::Undefined => Value::Undefined,
    }
}

#[inline]
pub(crate) fn number_value(number: Number) -> Value {
    match number {
        Number::Int(number) => Value::Int(number),
        Number::Float(number) => Value::Float(number),
        Number::Unit { value, unit } => Value::Unit(Rc::new(UnitNumber {
            value: value as f64 * unit_factor(unit),
            raw: value,
            unit: unit.as_str(),
        })),
    }
}

fn unit_factor(unit: Unit) -> f64 {
    match unit {
        Unit::N => 1e-9,
        Unit::U => 1e-6,
        Unit::M => 1e-3,
        Unit::K | Unit::KUpper => 1e3,
        Unit::MUpper => 1e6,
        Unit::G => 1e9,
        Unit::T => 1e12,
        Unit::P => 1e15,
        Unit::Ki => 1024.0,
        Unit::Mi => 1_048_576.0,
        Unit::Gi => 1_073_741_824.0,
        Unit::Ti => 1_099_511_627_776.0,
        Unit::Pi => 1_125_899_906_842_624.0,
    }
}
