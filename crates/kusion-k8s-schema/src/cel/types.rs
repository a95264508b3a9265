//! The types of expressions, checked as servers check them.

use super::library::{FORMATS, SPACES};
use super::signatures::{self, Signature};
use super::{Expr, Macro, Node, Op, unescape};
use crate::{Scalar, Type, TypeId, TypeTable};
use std::fmt;
use std::rc::Rc;

/// The type of a value.
#[derive(Debug, Clone)]
pub(crate) enum Ty<'t> {
    /// Any value: it is checked when the expression is evaluated.
    Dyn,
    /// What an invalid expression has; nothing more is said about it.
    Error,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    List(Box<Ty<'t>>),
    Map(Box<Ty<'t>>, Box<Ty<'t>>),
    Optional(Box<Ty<'t>>),
    /// A type with functions only, by its name in the table of functions.
    Opaque(&'static str),
    /// Any type, the same in all places of one signature.
    Var(usize),
    /// A type of a kind.
    Schema(&'t TypeTable, TypeId),
    /// A record with these fields.
    Record(Rc<Fields<'t>>),
    /// A message that expressions create (`Object.spec`).
    Message(String),
}

/// The fields of a record.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'t> {
    /// Its name, for messages.
    pub(crate) name: &'static str,
    pub(crate) fields: Vec<(String, Ty<'t>)>,
}

/// What is wrong with an expression, and where (byte offset).
pub(crate) type Problem = (usize, String);

/// Finds the type of an expression and everything that is wrong with it.
pub(crate) fn infer<'t>(expr: &Expr, names: &[(&str, Ty<'t>)]) -> (Ty<'t>, Vec<Problem>) {
    let names = names.iter().map(|(name, ty)| ((*name).to_owned(), ty.clone())).collect();
    let mut checker = Checker { names, problems: Vec::new() };
    let ty = checker.ty(expr);
    (ty, checker.problems)
}

/// Words problems as servers do, each with its line and a mark below its column.
pub(crate) fn located(source: &str, problems: &[Problem]) -> String {
    let texts: Vec<String> = problems
        .iter()
        .map(|(at, message)| {
            let before = &source[..(*at).min(source.len())];
            let line = before.matches('\n').count() + 1;
            let start = before.rfind('\n').map_or(0, |at| at + 1);
            let text = source[start..].lines().next().unwrap_or_default();
            let column = before[start..].chars().count();
            let dots = ".".repeat(column);
            format!("ERROR: <input>:{line}:{}: {message}\n | {text}\n | {dots}^", column + 1)
        })
        .collect();
    texts.join("\n")
}

impl fmt::Display for Ty<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dyn | Self::Var(_) => out.write_str("dyn"),
            Self::Error => out.write_str("!error!"),
            Self::Null => out.write_str("null"),
            Self::Bool => out.write_str("bool"),
            Self::Int => out.write_str("int"),
            Self::Uint => out.write_str("uint"),
            Self::Double => out.write_str("double"),
            Self::String => out.write_str("string"),
            Self::Bytes => out.write_str("bytes"),
            Self::List(item) => write!(out, "list({item})"),
            Self::Map(key, value) => write!(out, "map({key}, {value})"),
            Self::Optional(inner) => write!(out, "optional_type({inner})"),
            Self::Opaque(name) => out.write_str(match *name {
                "quantity" => "kubernetes.Quantity",
                "ip" => "net.IP",
                "cidr" => "net.CIDR",
                "url" => "kubernetes.URL",
                "semver" => "kubernetes.Semver",
                "format" => "kubernetes.NamedFormat",
                "authorizer" => "kubernetes.authorization.Authorizer",
                "pathCheck" => "kubernetes.authorization.PathCheck",
                "groupCheck" => "kubernetes.authorization.GroupCheck",
                "resourceCheck" => "kubernetes.authorization.ResourceCheck",
                "decision" => "kubernetes.authorization.Decision",
                name => name,
            }),
            Self::Schema(..) => out.write_str("object"),
            Self::Record(fields) => out.write_str(fields.name),
            Self::Message(name) => out.write_str(name),
        }
    }
}

impl<'t> Ty<'t> {
    /// Returns a type of a kind as the type of values.
    pub(crate) fn of_schema(table: &'t TypeTable, id: TypeId) -> Self {
        match table.get(id) {
            Type::Any => Self::Dyn,
            Type::Struct(found) if found.fields.is_empty() => match found.additional {
                Some(inner) => {
                    Self::Map(Box::new(Self::String), Box::new(Self::of_schema(table, inner)))
                }
                None => Self::Dyn,
            },
            Type::Struct(_) => Self::Schema(table, id),
            Type::Map(map) => {
                Self::Map(Box::new(Self::String), Box::new(Self::of_schema(table, map.element)))
            }
            Type::List(list) => Self::List(Box::new(Self::of_schema(table, list.element))),
            Type::Scalar(scalar) => match scalar {
                Scalar::String => Self::String,
                Scalar::Bytes => Self::Bytes,
                Scalar::Time | Scalar::MicroTime => Self::Opaque("timestamp"),
                Scalar::Integer | Scalar::Int32 => Self::Int,
                Scalar::Number => Self::Double,
                Scalar::Boolean => Self::Bool,
                Scalar::IntOrString | Scalar::Quantity => Self::Dyn,
            },
        }
    }

    fn is_open(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error | Self::Var(_))
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Double)
    }

    /// Returns whether a value of one type can be used as one of another.
    fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            _ if self.is_open() || other.is_open() => true,
            (Self::List(left), Self::List(right))
            | (Self::Optional(left), Self::Optional(right)) => left.fits(right),
            (Self::Map(key, value), Self::Map(other_key, other_value)) => {
                key.fits(other_key) && value.fits(other_value)
            }
            (Self::Opaque(left), Self::Opaque(right)) => left == right,
            (Self::Schema(_, left), Self::Schema(_, right)) => left == right,
            (Self::Record(left), Self::Record(right)) => left.name == right.name,
            (Self::Message(left), Self::Message(right)) => left == right,
            // Objects, messages and times may be null.
            (
                Self::Null,
                Self::Schema(..) | Self::Record(_) | Self::Message(_) | Self::Opaque(_),
            )
            | (
                Self::Schema(..) | Self::Record(_) | Self::Message(_) | Self::Opaque(_),
                Self::Null,
            ) => true,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Returns the type of values of either type.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Error, _) | (_, Self::Error) => Self::Error,
            (Self::List(left), Self::List(right)) => match (*left, *right) {
                // An empty list has any type.
                (Self::Var(_), item) | (item, Self::Var(_)) => Self::List(Box::new(item)),
                (left, right) => Self::List(Box::new(left.or(right))),
            },
            (left, right) if left.is_open() || right.is_open() => Self::Dyn,
            (left, _) => left,
        }
    }

    /// Returns the type with all that is still undecided as `dyn`.
    pub(crate) fn decided(self) -> Self {
        match self {
            Self::Var(_) => Self::Dyn,
            Self::List(item) => Self::List(Box::new(item.decided())),
            Self::Optional(inner) => Self::Optional(Box::new(inner.decided())),
            Self::Map(key, value) => Self::Map(Box::new(key.decided()), Box::new(value.decided())),
            other => other,
        }
    }

    /// Finds what the variables of a pattern stand for; returns whether a type fits it.
    fn bind(&self, actual: &Self, bound: &mut [Option<Ty<'t>>; 2]) -> bool {
        match (self, actual) {
            (Self::Var(at), _) => match bound.get_mut(*at) {
                Some(Some(known)) if !matches!(known, Self::Var(_)) => known.fits(actual),
                Some(slot) => {
                    *slot = Some(actual.clone());
                    true
                }
                None => false,
            },
            (_, actual) if actual.is_open() => true,
            (Self::List(left), Self::List(right))
            | (Self::Optional(left), Self::Optional(right)) => left.bind(right, bound),
            (Self::Map(key, value), Self::Map(other_key, other_value)) => {
                key.bind(other_key, bound) && value.bind(other_value, bound)
            }
            _ => self.fits(actual),
        }
    }

    fn filled(&self, bound: &[Option<Ty<'t>>; 2]) -> Self {
        match self {
            Self::Var(at) => bound.get(*at).cloned().flatten().unwrap_or(Self::Dyn),
            Self::List(item) => Self::List(Box::new(item.filled(bound))),
            Self::Optional(inner) => Self::Optional(Box::new(inner.filled(bound))),
            Self::Map(key, value) => {
                Self::Map(Box::new(key.filled(bound)), Box::new(value.filled(bound)))
            }
            other => other.clone(),
        }
    }
}

struct Checker<'t> {
    names: Vec<(String, Ty<'t>)>,
    problems: Vec<Problem>,
}

impl<'t> Checker<'t> {
    fn problem(&mut self, at: usize, message: String) -> Ty<'t> {
        self.problems.push((at, message));
        Ty::Error
    }

    fn undeclared(&mut self, at: usize, name: &str) -> Ty<'t> {
        self.problem(at, format!("undeclared reference to '{name}' (in container '')"))
    }

    fn is_name(&self, name: &str) -> bool {
        self.names.iter().any(|(own, _)| own == name)
    }

    fn ty(&mut self, expr: &Expr) -> Ty<'t> {
        match &expr.node {
            Node::Null => Ty::Null,
            Node::Bool(_) => Ty::Bool,
            Node::Int(_) => Ty::Int,
            Node::Uint(_) => Ty::Uint,
            Node::Double(_) => Ty::Double,
            Node::String(_) => Ty::String,
            Node::Bytes(_) => Ty::Bytes,
            Node::Ident(name) => self.ident(name, expr.at),
            Node::List(items) => {
                let item = self.joined(items.iter());
                Ty::List(Box::new(item))
            }
            Node::Map(entries) => {
                let key = self.joined(entries.iter().map(|it| &it.0));
                let value = self.joined(entries.iter().map(|it| &it.1));
                Ty::Map(Box::new(key), Box::new(value))
            }
            Node::IfPresent(inner) => match self.ty(inner) {
                Ty::Optional(inner) => *inner,
                other if other.is_open() => Ty::Dyn,
                other => self.problem(
                    inner.at,
                    format!("expected type 'optional_type(dyn)' but found '{other}'"),
                ),
            },
            Node::Message(name, fields) => self.message(name, fields, expr.at),
            Node::Select(operand, name) => self.select(operand, name, expr.at),
            Node::OptionalSelect(operand, name) => match self.select(operand, name, expr.at) {
                found @ Ty::Optional(_) => found,
                found => Ty::Optional(Box::new(found)),
            },
            Node::Has(operand, name) => {
                self.select(operand, name, expr.at);
                Ty::Bool
            }
            Node::Index(operand, key) => self.index(operand, key, expr.at, "_[_]"),
            Node::OptionalIndex(operand, key) => match self.index(operand, key, expr.at, "_[?_]") {
                found @ Ty::Optional(_) => found,
                found => Ty::Optional(Box::new(found)),
            },
            Node::Unary(sign, inner) => {
                let found = self.ty(inner);
                match (sign, &found) {
                    (_, found) if found.is_open() => {
                        if *sign == '!' {
                            Ty::Bool
                        } else {
                            Ty::Dyn
                        }
                    }
                    ('!', Ty::Bool) => Ty::Bool,
                    ('-', Ty::Int | Ty::Double) => found,
                    _ => self.problem(
                        expr.at,
                        format!("found no matching overload for '{sign}_' applied to '({found})'"),
                    ),
                }
            }
            Node::Binary(op, left, right) => self.binary(*op, left, right, expr.at),
            Node::Choice(condition, left, right) => {
                let condition = self.ty(condition);
                let (left, right) = (self.ty(left), self.ty(right));
                if !left.fits(&right) || !condition.fits(&Ty::Bool) {
                    let message = format!(
                        "found no matching overload for '_?_:_' applied to '({condition}, {left}, \
                         {right})'"
                    );
                    return self.problem(expr.at, message);
                }
                left.or(right)
            }
            Node::Call(target, name, arguments) => {
                self.call(target.as_deref(), name, arguments, expr.at)
            }
            Node::Loop(kind, target, names, bodies) => self.repeat(*kind, target, names, bodies),
        }
    }

    fn ident(&mut self, name: &str, at: usize) -> Ty<'t> {
        if let Some((_, ty)) = self.names.iter().rev().find(|(own, _)| own == name) {
            return ty.clone();
        }
        let types = ["int", "uint", "double", "bool", "string", "bytes", "list", "map"];
        if types.contains(&name) || ["null_type", "type"].contains(&name) {
            return Ty::Opaque("type");
        }
        self.undeclared(at, name)
    }

    /// The type of the entries of a literal, which must be the same.
    fn joined<'e>(&mut self, items: impl Iterator<Item = &'e Expr>) -> Ty<'t> {
        let mut joined: Option<Ty<'t>> = None;
        for item in items {
            let found = self.ty(item);
            joined = Some(match joined {
                Some(before) if !before.fits(&found) => {
                    let message = format!("expected type '{before}' but found '{found}'");
                    self.problem(item.at, message)
                }
                Some(before) => before.or(found),
                None => found,
            });
        }
        joined.unwrap_or(Ty::Var(0))
    }

    fn message(&mut self, name: &str, fields: &[(String, usize, Expr)], at: usize) -> Ty<'t> {
        let root = name.split('.').next().unwrap_or_default();
        let known = self.names.iter().any(|(own, ty)| {
            own == root && matches!(ty, Ty::Message(declared) if declared == root)
        });
        if !known {
            return self.undeclared(at, name);
        }
        for (field, colon, value) in fields {
            let found = self.ty(value);
            let expected = match &**field {
                "op" | "path" | "from" => "string",
                _ => "",
            };
            let is_good = field == "value" || expected == "string" && found.fits(&Ty::String);
            if name == "JSONPatch" && !is_good {
                let message = format!(
                    "expected type of field '{field}' is '{expected}' but provided type is '{found}'"
                );
                self.problem(*colon, message);
            }
        }
        Ty::Message(name.to_owned())
    }

    fn select(&mut self, operand: &Expr, name: &str, at: usize) -> Ty<'t> {
        let owner = self.ty(operand);
        self.field(owner, name, at)
    }

    fn field(&mut self, owner: Ty<'t>, name: &str, at: usize) -> Ty<'t> {
        match owner {
            Ty::Error => Ty::Error,
            Ty::Dyn | Ty::Var(_) | Ty::Message(_) => Ty::Dyn,
            Ty::Map(_, value) => *value,
            Ty::Optional(inner) => {
                let found = self.field(*inner, name, at);
                Ty::Optional(Box::new(found))
            }
            Ty::Schema(table, id) => {
                let Type::Struct(found) = table.get(id) else { return Ty::Dyn };
                if let Some(field) = found.field(name).or_else(|| found.field(&unescape(name))) {
                    return Ty::of_schema(table, field.ty);
                }
                if found.preserve_unknown || found.additional.is_some() {
                    return Ty::Dyn;
                }
                self.problem(at, format!("undefined field '{name}'"))
            }
            Ty::Record(record) => match record.fields.iter().rev().find(|(own, _)| own == name) {
                Some((_, ty)) => ty.clone(),
                None => self.problem(at, format!("undefined field '{name}'")),
            },
            Ty::Opaque("authorizer") if name == "requestResource" => Ty::Opaque("resourceCheck"),
            other => self.problem(at, format!("type '{other}' does not support field selection")),
        }
    }

    fn index(&mut self, operand: &Expr, key: &Expr, at: usize, name: &str) -> Ty<'t> {
        let (owner, key) = (self.ty(operand), self.ty(key));
        let (inner, wrapped) = match &owner {
            Ty::Optional(inner) => ((**inner).clone(), true),
            other => (other.clone(), false),
        };
        let found = match inner {
            inner if inner.is_open() => Ty::Dyn,
            Ty::List(item) if key.fits(&Ty::Int) => *item,
            Ty::Map(own, value) if key.fits(&own) => *value,
            _ => {
                let message = format!(
                    "found no matching overload for '{name}' applied to '({owner}, {key})'"
                );
                return self.problem(at, message);
            }
        };
        if wrapped { Ty::Optional(Box::new(found)) } else { found }
    }

    fn expect(&mut self, expected: &Ty<'t>, expr: &Expr) {
        let found = self.ty(expr);
        if !found.fits(expected) {
            self.problem(expr.at, format!("expected type '{expected}' but found '{found}'"));
        }
    }

    fn binary(&mut self, op: Op, left: &Expr, right: &Expr, at: usize) -> Ty<'t> {
        if matches!(op, Op::And | Op::Or) {
            self.expect(&Ty::Bool, left);
            self.expect(&Ty::Bool, right);
            return Ty::Bool;
        }
        let (left, right) = (self.ty(left), self.ty(right));
        let open = left.is_open() || right.is_open();
        let (name, found) = match op {
            Op::Equal => ("_==_", left.fits(&right).then_some(Ty::Bool)),
            Op::NotEqual => ("_!=_", left.fits(&right).then_some(Ty::Bool)),
            Op::Less => ("_<_", ordered(&left, &right)),
            Op::LessEqual => ("_<=_", ordered(&left, &right)),
            Op::Greater => ("_>_", ordered(&left, &right)),
            Op::GreaterEqual => ("_>=_", ordered(&left, &right)),
            Op::In => (
                "@in",
                match &right {
                    _ if right.is_open() => Some(Ty::Bool),
                    Ty::List(item) if left.fits(item) => Some(Ty::Bool),
                    Ty::Map(key, _) if left.fits(key) => Some(Ty::Bool),
                    _ => None,
                },
            ),
            _ => {
                let name = match op {
                    Op::Add => "_+_",
                    Op::Subtract => "_-_",
                    Op::Multiply => "_*_",
                    Op::Divide => "_/_",
                    _ => "_%_",
                };
                (
                    name,
                    if open { Some(open_sum(op, &left, &right)) } else { sum(op, &left, &right) },
                )
            }
        };
        found.unwrap_or_else(|| {
            let message =
                format!("found no matching overload for '{name}' applied to '({left}, {right})'");
            self.problem(at, message)
        })
    }

    fn call(&mut self, target: Option<&Expr>, name: &str, arguments: &[Expr], at: usize) -> Ty<'t> {
        let space = target.and_then(|target| match &target.node {
            Node::Ident(own) if SPACES.contains(&&**own) && !self.is_name(own) => Some(&**own),
            _ => None,
        });
        if space == Some("format") && FORMATS.contains(&name) {
            return Ty::Opaque("format");
        }
        // Patches are made in policies that change objects.
        let hidden = space == Some("jsonpatch") && !self.is_name("JSONPatch");
        let receiver = match (target, space) {
            (Some(target), None) => Some(self.ty(target)),
            (Some(target), Some(own)) if hidden => Some(self.undeclared(target.at, own)),
            _ => None,
        };
        if let ("matches", Some(last)) = (name, arguments.last())
            && let Node::String(pattern) = &last.node
            && fancy_regex::Regex::new(pattern).is_err()
        {
            self.problem(last.at, "invalid matches argument".to_owned());
        }
        let arguments: Vec<Ty<'t>> = arguments.iter().map(|it| self.ty(it)).collect();
        let overloads = signatures::overloads(name);
        let is_patch = |it: &Signature| it.receiver == Some("jsonpatch");
        if overloads.is_empty() || hidden && overloads.iter().all(is_patch) {
            return self.undeclared(at, name);
        }
        let mut results: Vec<Ty<'t>> = Vec::new();
        for overload in overloads {
            if let Some(result) = applied(&overload, space, receiver.as_ref(), &arguments) {
                results.push(result);
            }
        }
        let shown: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        match results.len() {
            0 => {
                let open = receiver.as_ref().is_some_and(Ty::is_open);
                if open && arguments.iter().any(|it| matches!(it, Ty::Error)) {
                    return Ty::Error;
                }
                let before = receiver.map(|it| format!("{it}.")).unwrap_or_default();
                let message = format!(
                    "found no matching overload for '{name}' applied to '{before}({})'",
                    shown.join(", ")
                );
                self.problem(at, message)
            }
            1 => results.remove(0),
            _ => {
                let first = results.remove(0);
                let same = results.iter().all(|it| it.to_string() == first.to_string());
                if same { first } else { Ty::Dyn }
            }
        }
    }

    fn repeat(&mut self, kind: Macro, target: &Expr, names: &[String], bodies: &[Expr]) -> Ty<'t> {
        let over = self.ty(target);
        let (key, item) = match &over {
            Ty::List(item) => (Ty::Int, (**item).clone()),
            Ty::Map(key, value) if names.len() == 2 => ((**key).clone(), (**value).clone()),
            Ty::Map(key, _) => (Ty::Dyn, (**key).clone()),
            Ty::Optional(inner) => (Ty::Dyn, (**inner).clone()),
            other if other.is_open() => (Ty::Dyn, Ty::Dyn),
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be \
                     list, map, or dynamic)"
                );
                self.problem(target.at, message);
                (Ty::Error, Ty::Error)
            }
        };
        let n_names = self.names.len();
        match names {
            [first, second] => {
                self.names.push((first.clone(), key.clone()));
                self.names.push((second.clone(), item.clone()));
            }
            [only] => self.names.push((only.clone(), item.clone())),
            _ => {}
        }
        let made = match (kind, bodies) {
            (Macro::All | Macro::Exists | Macro::ExistsOne | Macro::Filter, [body]) => {
                self.expect(&Ty::Bool, body);
                Ty::Bool
            }
            (_, [condition, body]) => {
                self.expect(&Ty::Bool, condition);
                self.ty(body)
            }
            (_, [body]) => self.ty(body),
            _ => Ty::Dyn,
        };
        self.names.truncate(n_names);
        match kind {
            Macro::All | Macro::Exists | Macro::ExistsOne => Ty::Bool,
            Macro::Filter => Ty::List(Box::new(item)),
            Macro::Map | Macro::TransformList => Ty::List(Box::new(made)),
            Macro::TransformMap => Ty::Map(Box::new(key), Box::new(made)),
            Macro::OptionalMap => Ty::Optional(Box::new(made)),
            Macro::OptionalFlatMap => made,
        }
    }
}

/// Returns the result of an overload, if it takes these arguments.
fn applied<'t>(
    overload: &Signature,
    space: Option<&str>,
    receiver: Option<&Ty<'t>>,
    arguments: &[Ty<'t>],
) -> Option<Ty<'t>> {
    let mut bound = [None, None];
    match (overload.receiver, space, receiver) {
        (None, None, None) => {}
        (Some(own), Some(space), None) if own == space => {}
        (Some(own), None, Some(receiver)) => {
            let is_space = SPACES.contains(&own) && !["ip", "format"].contains(&own);
            if is_space || !signatures::type_of(own).bind(receiver, &mut bound) {
                return None;
            }
        }
        _ => return None,
    }
    if overload.arguments.len() != arguments.len() {
        return None;
    }
    for (own, argument) in overload.arguments.iter().zip(arguments) {
        if !signatures::type_of(own).bind(argument, &mut bound) {
            return None;
        }
    }
    Some(signatures::type_of(overload.result).filled(&bound))
}

fn ordered<'t>(left: &Ty<'t>, right: &Ty<'t>) -> Option<Ty<'t>> {
    let known = |ty: &Ty<'t>| {
        ty.is_open()
            || ty.is_number()
            || matches!(ty, Ty::Bool | Ty::String | Ty::Bytes)
            || matches!(ty, Ty::Opaque("timestamp" | "duration"))
    };
    let both = left.fits(right) || left.is_number() && right.is_number();
    (known(left) && known(right) && both).then_some(Ty::Bool)
}

fn sum<'t>(op: Op, left: &Ty<'t>, right: &Ty<'t>) -> Option<Ty<'t>> {
    let (time, span) = (Ty::Opaque("timestamp"), Ty::Opaque("duration"));
    match (op, left, right) {
        (Op::Remainder, Ty::Double, _) => None,
        (_, Ty::Int, Ty::Int) | (_, Ty::Uint, Ty::Uint) | (_, Ty::Double, Ty::Double) => {
            Some(left.clone())
        }
        (Op::Add, Ty::String, Ty::String) | (Op::Add, Ty::Bytes, Ty::Bytes) => Some(left.clone()),
        (Op::Add, Ty::List(item), Ty::List(other)) if item.fits(other) => {
            Some(left.clone().or(right.clone()))
        }
        (Op::Add | Op::Subtract, Ty::Opaque("duration"), Ty::Opaque("duration"))
        | (Op::Subtract, Ty::Opaque("timestamp"), Ty::Opaque("timestamp")) => Some(span),
        (Op::Add | Op::Subtract, Ty::Opaque("timestamp"), Ty::Opaque("duration"))
        | (Op::Add, Ty::Opaque("duration"), Ty::Opaque("timestamp")) => Some(time),
        _ => None,
    }
}

/// The type of a sum if one side can be anything: that of the other side, if only one is possible.
fn open_sum<'t>(op: Op, left: &Ty<'t>, right: &Ty<'t>) -> Ty<'t> {
    let known = if left.is_open() { right } else { left };
    match known {
        Ty::Int | Ty::Uint | Ty::Double | Ty::String | Ty::Bytes => known.clone(),
        Ty::List(_) if op == Op::Add => known.clone(),
        _ => Ty::Dyn,
    }
}
