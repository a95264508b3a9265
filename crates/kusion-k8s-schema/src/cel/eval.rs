//! From expressions to values.

use super::access::{self, Authorizer};
use super::functions::call;
use super::library::{self, SPACES};
use super::special::Special;
use super::{Expr, Macro, Node, Op};
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

/// The most that one rule may cost, in evaluated expressions.
const COST_LIMIT: usize = 1_000_000;

/// A value of an expression; JSON is looked at, not copied.
#[derive(Debug, Clone)]
pub(crate) enum Cel<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Cow<'a, str>),
    List(Vec<Cel<'a>>),
    Map(Vec<(Cel<'a>, Cel<'a>)>),
    /// A JSON list.
    Array(&'a [Value]),
    /// A JSON object.
    Object(&'a serde_json::Map<String, Value>),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A value that may be missing.
    Optional(Option<Box<Cel<'a>>>),
    /// A time, an amount, an address …
    Special(Special),
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The rule is wrong for this value; the message.
    Error(String),
    /// The rule costs too much.
    Cost,
    /// The rule uses a feature that this evaluator does not support.
    Unknown,
}

impl Failure {
    /// There is no function for such operands.
    pub(super) fn overload() -> Self {
        Self::Error("no such overload".to_owned())
    }
}

impl<'a> From<&'a Value> for Cel<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(whole), _) => Self::Int(whole),
                (None, Some(whole)) => Self::Uint(whole),
                _ => Self::Double(number.as_f64().unwrap_or_default()),
            },
            Value::String(text) => Self::String(Cow::Borrowed(text)),
            Value::Array(items) => Self::Array(items),
            Value::Object(entries) => Self::Object(entries),
        }
    }
}

impl<'a> Cel<'a> {
    /// Returns the items of a list.
    pub(super) fn items(&self) -> Option<Vec<Cel<'a>>> {
        match self {
            Self::List(items) => Some(items.clone()),
            Self::Array(items) => Some(items.iter().map(Into::into).collect()),
            _ => None,
        }
    }

    /// Returns keys and values of a map.
    pub(super) fn entries(&self) -> Option<Vec<(Cel<'a>, Cel<'a>)>> {
        match self {
            Self::Map(entries) => Some(entries.clone()),
            Self::Object(entries) => Some(
                entries
                    .iter()
                    .map(|(key, value)| (Cel::String(Cow::Borrowed(key)), value.into()))
                    .collect(),
            ),
            _ => None,
        }
    }

    /// Returns how large a value is that is not part of the object: what it costs to copy it.
    fn weight(&self) -> usize {
        match self {
            Self::List(items) => 1 + items.iter().map(Self::weight).sum::<usize>(),
            Self::Map(entries) => {
                let both = |(key, value): &(Cel<'_>, Cel<'_>)| key.weight() + value.weight();
                1 + entries.iter().map(both).sum::<usize>()
            }
            Self::String(Cow::Owned(text)) => 1 + text.len() / 10,
            Self::Bytes(bytes) => 1 + bytes.len() / 10,
            Self::Optional(Some(inner)) => inner.weight(),
            _ => 1,
        }
    }

    /// Returns the value as JSON; `None` if it has no such form.
    pub(crate) fn to_json(&self) -> Option<Value> {
        Some(match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Int(number) => (*number).into(),
            Self::Uint(number) => (*number).into(),
            Self::Double(number) => (*number).into(),
            Self::String(text) => Value::String(text.clone().into_owned()),
            Self::Bytes(bytes) => data_encoding::BASE64.encode(bytes).into(),
            Self::Array(items) => Value::Array(items.to_vec()),
            Self::Object(entries) => Value::Object((*entries).clone()),
            Self::List(items) => items.iter().map(Self::to_json).collect::<Option<_>>()?,
            Self::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| match key {
                    Cel::String(key) => Some((key.clone().into_owned(), value.to_json()?)),
                    _ => None,
                });
                Value::Object(entries.collect::<Option<_>>()?)
            }
            Self::Special(value @ (Special::Time(_) | Special::Duration(_))) => value.text().into(),
            Self::Optional(_) | Self::Special(_) => return None,
        })
    }

    /// Returns whether a field or key is there, or the key of an optional value.
    fn find(&self, key: &Cel<'a>) -> Result<Option<Cel<'a>>, Failure> {
        match self {
            Self::Optional(None) => Ok(None),
            Self::Optional(Some(inner)) => inner.find(key),
            _ if self.items().is_none() && self.entries().is_none() => Err(Failure::overload()),
            _ => Ok(index(self, key).ok()),
        }
    }

    fn get(&self, key: &str) -> Option<Cel<'a>> {
        match self {
            Self::Object(entries) => {
                // Names that are not identifiers are escaped in rules.
                entries.get(key).or_else(|| entries.get(&unescape(key))).map(Into::into)
            }
            Self::Map(entries) => entries
                .iter()
                .find(|(own, _)| matches!(own, Cel::String(own) if own == key))
                .map(|(_, value)| value.clone()),
            _ => None,
        }
    }
}

/// Returns the name of a field that a rule writes as an identifier (`a__dash__b` is `a-b`).
pub(crate) fn unescape(name: &str) -> String {
    if !name.contains("__") {
        return name.to_owned();
    }
    let plain = name
        .replace("__dot__", ".")
        .replace("__dash__", "-")
        .replace("__slash__", "/")
        .replace("__underscores__", "__");
    match plain.strip_prefix("__").and_then(|rest| rest.strip_suffix("__")) {
        Some(inner) if !inner.is_empty() => inner.to_owned(),
        _ => plain,
    }
}

/// The names that an expression can use.
#[derive(Debug, Default)]
pub(crate) struct Scope<'a> {
    names: Vec<(String, Cel<'a>)>,
    /// Fields of `variables`, each evaluated when it is first used.
    variables: Vec<Variable<'a>>,
    /// Who answers questions of `authorizer`.
    authorizer: Option<&'a dyn Authorizer>,
    cost: usize,
}

/// A field of `variables`.
#[derive(Debug)]
struct Variable<'a> {
    name: String,
    expr: Arc<Expr>,
    value: Option<Result<Cel<'a>, Failure>>,
}

impl<'a> Scope<'a> {
    /// Adds a name.
    pub(crate) fn with(mut self, name: &str, value: Cel<'a>) -> Self {
        self.names.push((name.to_owned(), value));
        self
    }

    /// Adds a field of `variables`.
    pub(crate) fn with_variable(mut self, name: &str, expr: &Arc<Expr>) -> Self {
        let expr = Arc::clone(expr);
        self.variables.push(Variable { name: name.to_owned(), expr, value: None });
        self
    }

    /// Adds `authorizer`.
    pub(crate) fn with_authorizer(mut self, authorizer: &'a dyn Authorizer) -> Self {
        self.authorizer = Some(authorizer);
        self.with("authorizer", Cel::Special(Special::Access(Box::default())))
    }

    /// Counts the cost of a value that was made or copied.
    fn charge(&mut self, value: Cel<'a>) -> Result<Cel<'a>, Failure> {
        self.cost = self.cost.saturating_add(value.weight());
        if self.cost > COST_LIMIT { Err(Failure::Cost) } else { Ok(value) }
    }

    /// Returns the value of a field of `variables`; `None` if there is none of this name.
    fn variable(&mut self, name: &str) -> Option<Result<Cel<'a>, Failure>> {
        let at = self.variables.iter().rposition(|it| it.name == name)?;
        if let Some(value) = &self.variables[at].value {
            return Some(value.clone());
        }
        // A variable sees those before it, and no names of loops.
        let later = self.variables.split_off(at);
        let names = std::mem::take(&mut self.names);
        self.names = names.iter().take_while(|(own, _)| is_root(own)).cloned().collect();
        let value = evaluate(&later[0].expr, self).map_err(|failure| match failure {
            Failure::Error(why) => {
                Failure::Error(format!("composited variable {name:?} fails to evaluate: {why}"))
            }
            other => other,
        });
        self.names = names;
        self.variables.extend(later);
        self.variables[at].value = Some(value.clone());
        Some(value)
    }
}

/// Returns whether a name is one that a policy is evaluated with.
fn is_root(name: &str) -> bool {
    ["object", "oldObject", "request", "params", "namespaceObject", "authorizer"].contains(&name)
}

/// Evaluates an expression.
pub(crate) fn evaluate<'a>(expr: &Expr, scope: &mut Scope<'a>) -> Result<Cel<'a>, Failure> {
    scope.cost += 1;
    if scope.cost > COST_LIMIT {
        return Err(Failure::Cost);
    }
    Ok(match &expr.node {
        Node::Null => Cel::Null,
        Node::Bool(flag) => Cel::Bool(*flag),
        Node::Int(number) => Cel::Int(*number),
        Node::Uint(number) => Cel::Uint(*number),
        Node::Double(number) => Cel::Double(*number),
        Node::String(text) => Cel::String(Cow::Owned(text.clone())),
        Node::Bytes(bytes) => Cel::Bytes(bytes.clone()),
        Node::Ident(name) => {
            let found = scope.names.iter().rev().find(|(own, _)| own == name);
            let is_type = ["int", "uint", "double", "bool", "string", "list", "map", "null_type"];
            match found {
                Some((_, value)) => {
                    let value = value.clone();
                    scope.charge(value)?
                }
                None if is_type.contains(&&**name) => Cel::Special(Special::Type(name.clone())),
                None => return Err(Failure::Unknown),
            }
        }
        Node::List(_) | Node::Map(_) | Node::Message(..) | Node::IfPresent(_) => {
            let made = literal(expr, scope)?;
            scope.charge(made)?
        }
        Node::OptionalSelect(operand, name) => {
            let key = Cel::String(Cow::Owned(unescape(name)));
            Cel::Optional(evaluate(operand, scope)?.find(&key)?.map(Box::new))
        }
        Node::OptionalIndex(operand, key) => {
            let (operand, key) = (evaluate(operand, scope)?, evaluate(key, scope)?);
            Cel::Optional(operand.find(&key)?.map(Box::new))
        }
        Node::Select(operand, name) => select(operand, name, scope)?,
        Node::Has(operand, name) => has(operand, name, scope)?,
        Node::Index(operand, key) => {
            let (operand, key) = (evaluate(operand, scope)?, evaluate(key, scope)?);
            index(&operand, &key)?
        }
        Node::Unary(sign, operand) => match (sign, evaluate(operand, scope)?) {
            ('!', Cel::Bool(flag)) => Cel::Bool(!flag),
            ('-', Cel::Int(number)) => Cel::Int(number.checked_neg().ok_or_else(overflow)?),
            ('-', Cel::Double(number)) => Cel::Double(-number),
            _ => return Err(Failure::overload()),
        },
        Node::Binary(op, left, right) => {
            let made = binary(*op, left, right, scope)?;
            scope.charge(made)?
        }
        Node::Choice(condition, left, right) => match evaluate(condition, scope)? {
            Cel::Bool(true) => evaluate(left, scope)?,
            Cel::Bool(false) => evaluate(right, scope)?,
            _ => return Err(Failure::overload()),
        },
        Node::Call(Some(target), name, arguments) if matches!(&target.node, Node::Ident(space) if is_space(space, scope)) =>
        {
            let Node::Ident(space) = &target.node else { return Err(Failure::Unknown) };
            let arguments = arguments
                .iter()
                .map(|argument| evaluate(argument, scope))
                .collect::<Result<Vec<_>, _>>()?;
            let made = library::call(space, name, &arguments)?;
            scope.charge(made)?
        }
        Node::Call(target, name, arguments) => {
            let target = match target {
                Some(target) => Some(evaluate(target, scope)?),
                None => None,
            };
            let arguments = arguments
                .iter()
                .map(|argument| evaluate(argument, scope))
                .collect::<Result<Vec<_>, _>>()?;
            match (&target, scope.authorizer) {
                (Some(Cel::Special(Special::Access(query))), Some(authorizer)) => {
                    access::call(query, name, &arguments, authorizer)?
                }
                _ => {
                    let made = call(target, name, &arguments)?;
                    scope.charge(made)?
                }
            }
        }
        Node::Loop(kind, target, names, bodies) => {
            let made = run(*kind, target, names, bodies, scope)?;
            scope.charge(made)?
        }
    })
}

/// Evaluates a list, a map or a message.
fn literal<'a>(expr: &Expr, scope: &mut Scope<'a>) -> Result<Cel<'a>, Failure> {
    match &expr.node {
        Node::List(items) => {
            let mut made = Vec::with_capacity(items.len());
            for item in items {
                made.extend(entry(item, scope)?);
            }
            Ok(Cel::List(made))
        }
        Node::Map(entries) => {
            let mut made = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                let key = evaluate(key, scope)?;
                made.extend(entry(value, scope)?.map(|value| (key, value)));
            }
            Ok(Cel::Map(made))
        }
        Node::Message(_, fields) => {
            let mut made = Vec::with_capacity(fields.len());
            for (name, _, value) in fields {
                let name = Cel::String(Cow::Owned(unescape(name)));
                made.extend(entry(value, scope)?.map(|value| (name, value)));
            }
            Ok(Cel::Map(made))
        }
        Node::IfPresent(inner) => evaluate(inner, scope),
        _ => Err(Failure::Unknown),
    }
}

/// Evaluates `operand.name`.
fn select<'a>(operand: &Expr, name: &str, scope: &mut Scope<'a>) -> Result<Cel<'a>, Failure> {
    if let Some(value) = variable(operand, name, scope) {
        return value.and_then(|it| scope.charge(it));
    }
    match evaluate(operand, scope)? {
        optional @ Cel::Optional(_) => {
            let key = Cel::String(Cow::Owned(unescape(name)));
            Ok(Cel::Optional(optional.find(&key)?.map(Box::new)))
        }
        Cel::Special(Special::Access(_)) if name == "requestResource" => {
            let query = scope.authorizer.map(|it| Box::new(it.request_resource()));
            Ok(Cel::Special(Special::Access(query.ok_or(Failure::Unknown)?)))
        }
        operand => operand.get(name).ok_or_else(|| Failure::Error(format!("no such key: {name}"))),
    }
}

/// Evaluates `has(operand.name)`.
fn has<'a>(operand: &Expr, name: &str, scope: &mut Scope<'a>) -> Result<Cel<'a>, Failure> {
    if let Some(value) = variable(operand, name, scope) {
        return value.map(|_| Cel::Bool(true));
    }
    let key = Cel::String(Cow::Owned(name.to_owned()));
    Ok(Cel::Bool(match evaluate(operand, scope)? {
        optional @ Cel::Optional(_) => optional.find(&key)?.is_some(),
        operand => operand.get(name).is_some(),
    }))
}

/// Returns the field of `variables` that an expression selects, if it does.
fn variable<'a>(
    operand: &Expr,
    name: &str,
    scope: &mut Scope<'a>,
) -> Option<Result<Cel<'a>, Failure>> {
    match &operand.node {
        Node::Ident(own) if own == "variables" => scope.variable(name),
        _ => None,
    }
}

/// Returns the value of an entry; `None` if it is optional and missing.
fn entry<'a>(expr: &Expr, scope: &mut Scope<'a>) -> Result<Option<Cel<'a>>, Failure> {
    let Node::IfPresent(inner) = &expr.node else { return evaluate(expr, scope).map(Some) };
    match evaluate(inner, scope)? {
        Cel::Optional(value) => Ok(value.map(|it| *it)),
        _ => Err(Failure::overload()),
    }
}

/// Returns whether a name stands for functions, and not for a value.
fn is_space(name: &str, scope: &Scope<'_>) -> bool {
    SPACES.contains(&name) && !scope.names.iter().any(|(own, _)| own == name)
}

fn overflow() -> Failure {
    Failure::Error("integer overflow".to_owned())
}

fn index<'a>(operand: &Cel<'a>, key: &Cel<'a>) -> Result<Cel<'a>, Failure> {
    if let Cel::Optional(_) = operand {
        return operand.find(key).map(|found| Cel::Optional(found.map(Box::new)));
    }
    if let Some(items) = operand.items() {
        let Cel::Int(at) = key else { return Err(Failure::overload()) };
        let found = usize::try_from(*at).ok().and_then(|at| items.into_iter().nth(at));
        return found.ok_or_else(|| Failure::Error(format!("index out of bounds: {at}")));
    }
    let entries = operand.entries().unwrap_or_default();
    let found = entries.into_iter().find(|(own, _)| equal(own, key));
    found.map(|(_, value)| value).ok_or_else(|| {
        let key = super::functions::text_of(key).unwrap_or_default();
        Failure::Error(format!("no such key: {key}"))
    })
}

fn binary<'a>(
    op: Op,
    left: &Expr,
    right: &Expr,
    scope: &mut Scope<'a>,
) -> Result<Cel<'a>, Failure> {
    if matches!(op, Op::And | Op::Or) {
        return logic(op == Op::Or, left, right, scope);
    }
    let (left, right) = (evaluate(left, scope)?, evaluate(right, scope)?);
    let ordered = |wanted: fn(Ordering) -> bool| {
        compare(&left, &right).map(|order| Cel::Bool(wanted(order))).ok_or_else(Failure::overload)
    };
    match op {
        Op::Equal => Ok(Cel::Bool(equal(&left, &right))),
        Op::NotEqual => Ok(Cel::Bool(!equal(&left, &right))),
        Op::Less => ordered(Ordering::is_lt),
        Op::LessEqual => ordered(Ordering::is_le),
        Op::Greater => ordered(Ordering::is_gt),
        Op::GreaterEqual => ordered(Ordering::is_ge),
        Op::In => match (right.items(), right.entries()) {
            (Some(items), _) => Ok(Cel::Bool(items.iter().any(|item| equal(item, &left)))),
            (_, Some(entries)) => Ok(Cel::Bool(entries.iter().any(|(key, _)| equal(key, &left)))),
            _ => Err(Failure::overload()),
        },
        _ => arithmetic(op, &left, &right),
    }
}

/// `||` and `&&`: one deciding side is enough, whatever the other side is.
fn logic<'a>(
    deciding: bool,
    left: &Expr,
    right: &Expr,
    scope: &mut Scope<'a>,
) -> Result<Cel<'a>, Failure> {
    let left = evaluate(left, scope);
    if matches!(left, Ok(Cel::Bool(flag)) if flag == deciding) || matches!(left, Err(Failure::Cost))
    {
        return left;
    }
    match (left, evaluate(right, scope)) {
        (_, Err(Failure::Cost)) => Err(Failure::Cost),
        (_, Ok(Cel::Bool(flag))) if flag == deciding => Ok(Cel::Bool(flag)),
        (Ok(Cel::Bool(_)), Ok(Cel::Bool(flag))) => Ok(Cel::Bool(flag)),
        (Err(failure), _) | (_, Err(failure)) => Err(failure),
        _ => Err(Failure::overload()),
    }
}

fn arithmetic<'a>(op: Op, left: &Cel<'a>, right: &Cel<'a>) -> Result<Cel<'a>, Failure> {
    match (op, left, right) {
        (Op::Divide | Op::Remainder, Cel::Int(_) | Cel::Uint(_), Cel::Int(0) | Cel::Uint(0)) => {
            let what = if op == Op::Divide { "division" } else { "modulus" };
            Err(Failure::Error(format!("{what} by zero")))
        }
        (_, Cel::Int(left), Cel::Int(right)) => {
            let result = whole(op, i128::from(*left), i128::from(*right));
            result.and_then(|it| it.try_into().ok()).map(Cel::Int).ok_or_else(overflow)
        }
        (_, Cel::Uint(left), Cel::Uint(right)) => {
            let result = whole(op, i128::from(*left), i128::from(*right));
            result.and_then(|it| it.try_into().ok()).map(Cel::Uint).ok_or_else(overflow)
        }
        (_, Cel::Double(left), Cel::Double(right)) => Ok(Cel::Double(match op {
            Op::Add => left + right,
            Op::Subtract => left - right,
            Op::Multiply => left * right,
            Op::Divide => left / right,
            _ => return Err(Failure::overload()),
        })),
        (Op::Add | Op::Subtract, Cel::Special(left), Cel::Special(right)) => {
            let result = left.plus(right, op == Op::Subtract);
            result.map(Cel::Special).ok_or_else(Failure::overload)
        }
        (Op::Add, Cel::Bytes(left), Cel::Bytes(right)) => {
            Ok(Cel::Bytes([&**left, &**right].concat()))
        }
        (Op::Add, Cel::String(left), Cel::String(right)) => {
            Ok(Cel::String(Cow::Owned(format!("{left}{right}"))))
        }
        (Op::Add, left, right) => match (left.items(), right.items()) {
            (Some(mut left), Some(right)) => {
                left.extend(right);
                Ok(Cel::List(left))
            }
            _ => Err(Failure::overload()),
        },
        _ => Err(Failure::overload()),
    }
}

/// Arithmetic on whole numbers; two of 64 bits need no more than 128.
fn whole(op: Op, left: i128, right: i128) -> Option<i128> {
    match op {
        Op::Add => left.checked_add(right),
        Op::Subtract => left.checked_sub(right),
        Op::Multiply => left.checked_mul(right),
        Op::Divide => left.checked_div(right),
        _ => left.checked_rem(right),
    }
}

/// Returns whether two values are the same; numbers of different kinds are compared by value.
pub(super) fn equal(left: &Cel, right: &Cel) -> bool {
    match (left, right) {
        (Cel::Null, Cel::Null) | (Cel::Optional(None), Cel::Optional(None)) => true,
        (Cel::Bool(left), Cel::Bool(right)) => left == right,
        (Cel::String(left), Cel::String(right)) => left == right,
        (Cel::Bytes(left), Cel::Bytes(right)) => left == right,
        (Cel::Optional(Some(left)), Cel::Optional(Some(right))) => equal(left, right),
        _ => {
            if let Some(order) = compare(left, right) {
                return order.is_eq();
            }
            if let (Some(left), Some(right)) = (left.items(), right.items()) {
                return left.len() == right.len()
                    && left.iter().zip(&right).all(|(left, right)| equal(left, right));
            }
            let (Some(left), Some(right)) = (left.entries(), right.entries()) else { return false };
            left.len() == right.len()
                && left.iter().all(|(key, value)| {
                    right.iter().any(|(own, other)| equal(own, key) && equal(value, other))
                })
        }
    }
}

/// Orders two values, if they have an order.
pub(super) fn compare(left: &Cel, right: &Cel) -> Option<Ordering> {
    let float = |value: &Cel| match value {
        Cel::Int(number) => Some(*number as f64),
        Cel::Uint(number) => Some(*number as f64),
        Cel::Double(number) => Some(*number),
        _ => None,
    };
    match (left, right) {
        (Cel::Int(left), Cel::Int(right)) => Some(left.cmp(right)),
        (Cel::Uint(left), Cel::Uint(right)) => Some(left.cmp(right)),
        (Cel::String(left), Cel::String(right)) => Some(left.cmp(right)),
        (Cel::Bool(left), Cel::Bool(right)) => Some(left.cmp(right)),
        (Cel::Special(left), right) => left.order(right),
        (left, Cel::Special(right)) => right.order(left).map(Ordering::reverse),
        _ => float(left)?.partial_cmp(&float(right)?),
    }
}

fn run<'a>(
    kind: Macro,
    target: &Expr,
    names: &[String],
    bodies: &[Expr],
    scope: &mut Scope<'a>,
) -> Result<Cel<'a>, Failure> {
    let target = evaluate(target, scope)?;
    let pairs: Vec<(Cel, Cel)> = match (&target, target.items(), target.entries()) {
        (Cel::Optional(value), ..) => {
            let optional = matches!(kind, Macro::OptionalMap | Macro::OptionalFlatMap);
            let [name] = names else { return Err(Failure::overload()) };
            if !optional {
                return Err(Failure::overload());
            }
            return optional_map(kind, value.as_deref(), name, bodies, scope);
        }
        (_, Some(items), _) => (0..).zip(items).map(|(at, item)| (Cel::Int(at), item)).collect(),
        (_, None, Some(entries)) => entries,
        _ => return Err(Failure::overload()),
    };
    let over_keys = target.items().is_none();
    let mut kept = Vec::new();
    let mut keys = Vec::new();
    let mut count = 0;
    let mut failure = None;
    for (key, value) in pairs {
        let item = if over_keys && names.len() == 1 { key.clone() } else { value.clone() };
        let n_names = scope.names.len();
        match names {
            [first, second] => {
                scope.names.push((first.clone(), key.clone()));
                scope.names.push((second.clone(), value));
            }
            _ => scope.names.push((names[0].clone(), item.clone())),
        }
        let last = bodies.last().map_or(Err(Failure::Unknown), |body| match (kind, bodies) {
            (Macro::Map | Macro::TransformList | Macro::TransformMap, [condition, body]) => {
                match evaluate(condition, scope) {
                    Ok(Cel::Bool(true)) => evaluate(body, scope).map(Some),
                    Ok(_) => Ok(None),
                    Err(failure) => Err(failure),
                }
            }
            _ => evaluate(body, scope).map(Some),
        });
        scope.names.truncate(n_names);
        match (kind, last) {
            (_, Err(Failure::Cost)) => return Err(Failure::Cost),
            (Macro::All, Ok(Some(Cel::Bool(false)))) => return Ok(Cel::Bool(false)),
            (Macro::Exists, Ok(Some(Cel::Bool(true)))) => return Ok(Cel::Bool(true)),
            (Macro::ExistsOne, Ok(Some(Cel::Bool(flag)))) => count += usize::from(flag),
            (Macro::Filter, Ok(Some(Cel::Bool(true)))) => kept.push(item),
            (Macro::Map | Macro::TransformList | Macro::TransformMap, Ok(Some(value))) => {
                keys.push(key);
                kept.push(value);
            }
            (_, Ok(_)) => {}
            (_, Err(error)) => failure = Some(error),
        }
    }
    match (kind, failure) {
        (_, Some(failure)) => Err(failure),
        (Macro::All, None) => Ok(Cel::Bool(true)),
        (Macro::Exists, None) => Ok(Cel::Bool(false)),
        (Macro::ExistsOne, None) => Ok(Cel::Bool(count == 1)),
        (Macro::TransformMap, None) => Ok(Cel::Map(keys.into_iter().zip(kept).collect())),
        (Macro::Map | Macro::Filter | Macro::TransformList, None) => Ok(Cel::List(kept)),
        (Macro::OptionalMap | Macro::OptionalFlatMap, None) => Err(Failure::overload()),
    }
}

/// `optional.optMap(name, body)` and `optional.optFlatMap(name, body)`.
fn optional_map<'a>(
    kind: Macro,
    value: Option<&Cel<'a>>,
    name: &str,
    bodies: &[Expr],
    scope: &mut Scope<'a>,
) -> Result<Cel<'a>, Failure> {
    let (Some(value), [body]) = (value, bodies) else { return Ok(Cel::Optional(None)) };
    scope.names.push((name.to_owned(), value.clone()));
    let made = evaluate(body, scope);
    scope.names.pop();
    match (kind, made?) {
        (Macro::OptionalMap, made) => Ok(Cel::Optional(Some(Box::new(made)))),
        (_, made @ Cel::Optional(_)) => Ok(made),
        _ => Err(Failure::overload()),
    }
}
