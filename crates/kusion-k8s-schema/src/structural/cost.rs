//! What a validation rule can cost at most, in the units of the real server.
//!
//! The estimate is one of sizes: how long texts, lists and maps can be under their schemas, and how
//! often each part of an expression is evaluated. All sums and products stop at the largest number.

use super::{Additional, Schema};
use crate::cel::{Expr, Macro, Node, Op, SPACES, unescape};

/// The most bytes that a request can have.
const REQUEST_BYTES: u64 = 3 * 1024 * 1024;
/// Cost per character of a text that is read.
const PER_CHAR: f64 = 0.1;
/// Cost per character of a regular expression.
const PER_REGEX_CHAR: f64 = 0.25;
/// The longest regular expression behind a named format, in characters.
const FORMAT_REGEX: f64 = 128.0;
/// Cost of a list and of a map that an expression makes.
const NEW_LIST: u64 = 10;
const NEW_MAP: u64 = 30;

/// How many values of a schema an object can have, as far as the schemas above limit it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copies {
    /// At most so many.
    Limited(u64),
    /// A list or map above has no limit.
    Unlimited,
}

impl Copies {
    /// Returns how many values the entries of a list or map have.
    pub(super) fn below(self, schema: &Schema) -> Self {
        let limit = limit_of(schema);
        match (self, limit) {
            (Self::Limited(count), Some(limit)) => Self::Limited(count.saturating_mul(limit)),
            _ => Self::Unlimited,
        }
    }

    /// Returns the cost of a rule for all values of a schema.
    pub(super) fn times(self, cost: u64, schema: &Schema) -> u64 {
        cost.saturating_mul(match self {
            Self::Limited(count) => count,
            Self::Unlimited => REQUEST_BYTES / (smallest(schema) + 1),
        })
    }
}

/// Returns the most that an expression on values of a schema can cost.
pub(super) fn estimate(expr: &Expr, schema: &Schema) -> u64 {
    let names = ["self", "oldSelf"];
    let known = names.map(|name| (name.to_owned(), Found::at(schema))).to_vec();
    Estimator { root: schema, known }.find(expr).0
}

fn limit_of(schema: &Schema) -> Option<u64> {
    let rules = schema.rules.as_deref();
    match (&schema.items, &schema.additional) {
        (Some(_), _) => rules.and_then(|rules| rules.max_items),
        (None, Additional::Schema(_) | Additional::Allowed) => {
            rules.and_then(|rules| rules.max_properties)
        }
        _ => Some(1),
    }
}

/// Returns the fewest bytes that a value of a schema takes as JSON.
fn smallest(schema: &Schema) -> u64 {
    if schema.int_or_string {
        return 1;
    }
    match (&*schema.ty, &*schema.format) {
        ("integer" | "number", _) => 1,
        ("boolean", _) => 4,
        ("string", "duration") => 3,
        ("string", "date") => 12,
        ("string", "date-time") => 21,
        ("object", _) if !matches!(schema.additional, Additional::Schema(_)) => {
            let needed = schema.properties.iter().filter(|(name, property)| {
                schema.required.contains(name) && property.default.is_none()
            });
            let sizes = needed.map(|(name, property)| name.len() as u64 + smallest(property) + 4);
            2 + sizes.sum::<u64>()
        }
        _ => 2,
    }
}

/// Returns the largest size of a value of a schema: characters, items or entries; 0 for values
/// that have no size.
fn largest(schema: &Schema) -> u64 {
    let rules = schema.rules.as_deref();
    let max_length = rules.and_then(|rules| rules.max_length);
    if schema.int_or_string {
        return max_length.map_or(REQUEST_BYTES - 2, |length| length.saturating_mul(4));
    }
    match (&*schema.ty, &*schema.format) {
        ("string", "duration" | "date-time") => 32,
        ("string", "date") => 12,
        ("string", "byte") => max_length.unwrap_or(REQUEST_BYTES - 2),
        ("string", _) => match (max_length, longest_choice(schema)) {
            (Some(length), _) => length.saturating_mul(4),
            (None, Some(length)) => length,
            (None, None) => REQUEST_BYTES - 2,
        },
        ("array", _) => match &schema.items {
            Some(items) => {
                limit_of(schema).unwrap_or_else(|| (REQUEST_BYTES - 2) / (smallest(items) + 1))
            }
            None => 0,
        },
        ("object", _) => match &schema.additional {
            Additional::Schema(inner) => {
                limit_of(schema).unwrap_or_else(|| (REQUEST_BYTES - 2) / (smallest(inner) + 6))
            }
            _ => 0,
        },
        _ => 0,
    }
}

fn longest_choice(schema: &Schema) -> Option<u64> {
    let choices = &schema.rules.as_deref()?.choices;
    choices.iter().map(|it| it.as_str().map_or(0, str::len) as u64).max()
}

/// The kinds of values, as far as costs depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Numbers, booleans, times and spans of time.
    Single,
    Text,
    List,
    Map,
    Other,
}

/// The bounds of the value of an expression.
#[derive(Debug, Clone, Copy)]
struct Found<'s> {
    shape: Shape,
    /// The schema, for values that are part of the object.
    schema: Option<&'s Schema>,
    /// The size, where the expression says it.
    size: Option<u64>,
    /// The size of the items of a list or map that the expression makes.
    item: Option<u64>,
}

impl<'s> Found<'s> {
    fn at(schema: &'s Schema) -> Self {
        let shape = match &*schema.ty {
            _ if schema.int_or_string => Shape::Other,
            "string" => match &*schema.format {
                "duration" | "date" | "date-time" => Shape::Single,
                _ => Shape::Text,
            },
            "array" => Shape::List,
            "object" => Shape::Map,
            "integer" | "number" | "boolean" => Shape::Single,
            _ => Shape::Other,
        };
        Self { shape, schema: Some(schema), size: None, item: None }
    }

    fn of(shape: Shape) -> Self {
        Self { shape, schema: None, size: None, item: None }
    }

    fn sized(shape: Shape, size: u64) -> Self {
        Self { size: Some(size), ..Self::of(shape) }
    }

    /// Returns the largest size; a size that is not known has no limit.
    fn max(&self) -> u64 {
        match (self.size, self.schema) {
            (Some(size), _) => size,
            (None, Some(schema)) => largest(schema),
            (None, None) if self.shape == Shape::Single => 1,
            (None, None) => u64::MAX,
        }
    }
}

/// Multiplies and rounds up.
fn factor(size: u64, per_unit: f64) -> u64 {
    // The largest numbers become infinite or stay the largest.
    (size as f64 * per_unit).ceil() as u64
}

fn sum(parts: &[u64]) -> u64 {
    parts.iter().fold(0, |total: u64, part| total.saturating_add(*part))
}

struct Estimator<'s> {
    root: &'s Schema,
    known: Vec<(String, Found<'s>)>,
}

impl<'s> Estimator<'s> {
    /// Returns the cost of an expression, and the bounds about its value.
    fn find(&mut self, expr: &Expr) -> (u64, Found<'s>) {
        match &expr.node {
            Node::Null | Node::Bool(_) | Node::Int(_) | Node::Uint(_) | Node::Double(_) => {
                (0, Found::sized(Shape::Single, 1))
            }
            Node::String(text) => (0, Found::sized(Shape::Text, text.chars().count() as u64)),
            Node::Bytes(bytes) => (0, Found::sized(Shape::Text, bytes.len() as u64)),
            Node::IfPresent(inner) => self.find(inner),
            Node::Message(_, fields) => {
                let costs = fields.iter().map(|(_, _, value)| self.find(value).0);
                let cost = costs.fold(NEW_MAP, u64::saturating_add);
                (cost, Found::sized(Shape::Map, fields.len() as u64))
            }
            Node::Ident(name) => {
                let found = self.known.iter().rev().find(|(own, _)| own == name);
                // The server takes the size of any other name for that of the whole value.
                let other = Found::sized(Shape::Other, largest(self.root));
                (1, found.map_or(other, |(_, found)| *found))
            }
            Node::List(items) => self.list(items),
            Node::Map(entries) => {
                let mut cost = NEW_MAP;
                for (key, value) in entries {
                    cost = sum(&[cost, self.find(key).0, self.find(value).0]);
                }
                (cost, Found::sized(Shape::Map, entries.len() as u64))
            }
            Node::Select(operand, name) | Node::OptionalSelect(operand, name) => {
                let (cost, owner) = self.find(operand);
                let field = owner.schema.and_then(|schema| field(schema, name));
                (cost.saturating_add(1), field.map_or(Found::of(Shape::Other), Found::at))
            }
            // The test itself costs nothing.
            Node::Has(operand, _) => (self.find(operand).0, Found::of(Shape::Single)),
            Node::Index(operand, key) | Node::OptionalIndex(operand, key) => {
                let ((cost, owner), (key, _)) = (self.find(operand), self.find(key));
                let item = owner.schema.and_then(element).map(Found::at);
                let item = item.unwrap_or(Found { size: owner.item, ..Found::of(Shape::Other) });
                (sum(&[cost, key, 1]), item)
            }
            Node::Unary('-', inner) if matches!(inner.node, Node::Int(_) | Node::Double(_)) => {
                (0, Found::sized(Shape::Single, 1))
            }
            Node::Unary(_, inner) => {
                (self.find(inner).0.saturating_add(1), Found::of(Shape::Single))
            }
            Node::Binary(op, left, right) => self.binary(*op, left, right),
            Node::Choice(condition, left, right) => {
                let (condition, _) = self.find(condition);
                let ((left_cost, left), (right_cost, right)) = (self.find(left), self.find(right));
                let shape = if left.shape == right.shape { left.shape } else { Shape::Other };
                let size = left.max().max(right.max());
                let item = left.item.zip(right.item).map(|(left, right)| left.max(right));
                let found = Found { schema: None, shape, size: Some(size), item };
                (sum(&[condition, left_cost.max(right_cost)]), found)
            }
            Node::Call(target, name, arguments) => self.call(target.as_deref(), name, arguments),
            Node::Loop(kind, target, names, bodies) => self.repeat(*kind, target, names, bodies),
        }
    }

    fn list(&mut self, items: &[Expr]) -> (u64, Found<'s>) {
        let (mut cost, mut item) = (NEW_LIST, 0);
        for expr in items {
            let (own, found) = self.find(expr);
            cost = cost.saturating_add(own);
            item = item.max(found.max());
        }
        let found = Found::sized(Shape::List, items.len() as u64);
        (cost, Found { item: Some(item), ..found })
    }

    fn binary(&mut self, op: Op, left: &Expr, right: &Expr) -> (u64, Found<'s>) {
        let ((left_cost, left), (right_cost, right)) = (self.find(left), self.find(right));
        let single = Found::of(Shape::Single);
        let shapes = (left.shape, right.shape);
        let read = factor(left.max().min(right.max()), PER_CHAR);
        let (own, found) = match op {
            Op::And | Op::Or => (0, single),
            Op::Equal | Op::NotEqual => (read, single),
            Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => match shapes {
                (Shape::Text, _) | (_, Shape::Text) => (read, single),
                (Shape::Single, _) | (_, Shape::Single) => (1, single),
                _ => (read.max(1), single),
            },
            Op::In => match right.shape {
                Shape::Map => (1, single),
                _ => (right.max(), single),
            },
            Op::Add => {
                let size = left.max().saturating_add(right.max());
                let item = left.item.zip(right.item).map(|(left, right)| left.max(right));
                let made = |shape| Found { item, ..Found::sized(shape, size) };
                match shapes {
                    (Shape::Text, _) | (_, Shape::Text) => {
                        (factor(size, PER_CHAR), made(Shape::Text))
                    }
                    (Shape::List, _) | (_, Shape::List) => (1, made(Shape::List)),
                    (Shape::Single, _) | (_, Shape::Single) => (1, single),
                    _ => (factor(size, PER_CHAR).max(1), made(Shape::Other)),
                }
            }
            _ => (1, single),
        };
        (sum(&[left_cost, right_cost, own]), found)
    }

    fn call(&mut self, target: Option<&Expr>, name: &str, arguments: &[Expr]) -> (u64, Found<'s>) {
        let space = target.and_then(|target| match &target.node {
            Node::Ident(name) if SPACES.contains(&&**name) => Some(&**name),
            _ => None,
        });
        let target = if space.is_some() { None } else { target };
        let mut cost = 0;
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let (own, found) = self.find(argument);
            cost = sum(&[cost, own]);
            values.push(found);
        }
        let target = target.map(|target| {
            let (own, found) = self.find(target);
            cost = sum(&[cost, own]);
            found
        });
        let (own, found) = match target {
            _ if space == Some("sets") => (product(&values), Found::of(Shape::Single)),
            _ if space.is_some() => (1, Found::of(Shape::Other)),
            Some(target) => method(&target, name, arguments, &values),
            None => function(name, &values),
        };
        (sum(&[cost, own]), found)
    }

    fn repeat(
        &mut self,
        kind: Macro,
        target: &Expr,
        names: &[String],
        bodies: &[Expr],
    ) -> (u64, Found<'s>) {
        let (range_cost, range) = self.find(target);
        let n_known = self.known.len();
        let over_keys = range.shape == Shape::Map;
        // What is not part of the object is taken for the value that the rule is about.
        let item = match range.schema {
            Some(schema) => element(schema).map(Found::at),
            None => Some(Found::at(self.root)),
        };
        let item = item.unwrap_or(Found::of(Shape::Other));
        let key = if over_keys { Found::sized(Shape::Text, 0) } else { Found::of(Shape::Single) };
        match names {
            [first, second] => {
                self.known.push((first.clone(), key));
                self.known.push((second.clone(), item));
            }
            _ => {
                let name = names.first().cloned().unwrap_or_default();
                self.known.push((name, if over_keys { key } else { item }));
            }
        }
        let found: Vec<(u64, Found<'s>)> = bodies.iter().map(|body| self.find(body)).collect();
        self.known.truncate(n_known);
        let last = found.last().map_or(0, |(cost, _)| *cost);
        let first = found.first().map_or(0, |(cost, _)| *cost);
        // What the loop does besides: look at the result so far, and write the next one.
        let (once, each) = match kind {
            Macro::All => (1, sum(&[last, 3])),
            Macro::Exists => (1, sum(&[last, 4])),
            Macro::ExistsOne => (2, sum(&[last, 2])),
            Macro::Map if found.len() == 2 => (NEW_LIST + 1, sum(&[first, last, NEW_LIST + 2])),
            Macro::Map => (NEW_LIST + 1, sum(&[last, NEW_LIST + 2])),
            Macro::TransformList | Macro::TransformMap => {
                (NEW_LIST + 1, sum(&[first, last, NEW_LIST + 2]))
            }
            Macro::Filter => (NEW_LIST + 1, sum(&[last, NEW_LIST + 3])),
            Macro::OptionalMap | Macro::OptionalFlatMap => {
                return (sum(&[range_cost, last, 2]), Found::of(Shape::Other));
            }
        };
        let count = range.max();
        let made = match kind {
            Macro::All | Macro::Exists | Macro::ExistsOne => Found::of(Shape::Single),
            Macro::OptionalMap | Macro::OptionalFlatMap => Found::of(Shape::Other),
            Macro::TransformMap => Found::sized(Shape::Map, count),
            Macro::Map | Macro::TransformList => {
                let item = found.last().map(|(_, found)| found.max());
                Found { item, ..Found::sized(Shape::List, count) }
            }
            Macro::Filter => Found { item: Some(item.max()), ..Found::sized(Shape::List, count) },
        };
        (sum(&[range_cost, once, count.saturating_mul(each)]), made)
    }
}

/// Returns the cost of comparing all items of two lists.
fn product(values: &[Found<'_>]) -> u64 {
    values.iter().map(Found::max).fold(1, u64::saturating_mul).saturating_add(1)
}

/// Returns the cost of a method beyond that of its operands, and its result.
fn method<'s>(
    target: &Found<'s>,
    name: &str,
    arguments: &[Expr],
    values: &[Found<'s>],
) -> (u64, Found<'s>) {
    let single = Found::of(Shape::Single);
    let size = target.max();
    let argument = values.first().map_or(0, Found::max);
    let read = factor(size, PER_CHAR);
    let text = |size: u64| Found::sized(Shape::Text, size);
    match name {
        "startsWith" | "endsWith" => (factor(argument, PER_CHAR), single),
        "contains" => (read.saturating_mul(factor(argument, PER_CHAR)), single),
        "matches" | "find" | "findAll" => {
            let read = factor(size.saturating_add(1), PER_CHAR);
            let cost = read.saturating_mul(factor(argument, PER_REGEX_CHAR));
            let found = match name {
                "matches" => single,
                "find" => text(size),
                _ => Found::sized(Shape::List, size),
            };
            (cost, found)
        }
        "lowerAscii" | "upperAscii" | "substring" | "trim" => (read, text(size)),
        "replace" => (factor(size, 2.0 * PER_CHAR), text(replaced(size, arguments, values))),
        "split" => {
            let limit = match arguments.get(1).map(|it| &it.node) {
                Some(Node::Int(limit)) => u64::try_from(*limit).unwrap_or(size),
                _ => size,
            };
            (factor(size, 2.0 * PER_CHAR), Found::sized(Shape::List, limit))
        }
        "join" => {
            let item = match target.schema.and_then(element) {
                Some(items) => largest(items),
                None => target.item.unwrap_or(u64::MAX),
            };
            let marks = argument.saturating_mul(size.saturating_sub(1));
            let size = size.saturating_mul(item).saturating_add(marks);
            (factor(size, PER_CHAR), text(size))
        }
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
            if target.shape == Shape::Text {
                return (read, single);
            }
            let item = target.schema.and_then(element).filter(|it| &*it.ty == "string");
            let each = item.map_or(1, |it| factor(largest(it), PER_CHAR).saturating_add(1));
            (size.saturating_mul(each), single)
        }
        "distinct" | "sort" => {
            let cost = size.saturating_mul(size).saturating_mul(2);
            (sum(&[cost, NEW_LIST, 1]), Found::sized(Shape::List, size))
        }
        "reverse" | "flatten" | "slice" if target.shape == Shape::List => {
            (sum(&[size, NEW_LIST, 1]), Found::sized(Shape::List, size))
        }
        "format" => (read, Found::of(Shape::Text)),
        "validate" => {
            let cost = factor(argument, PER_CHAR);
            (factor(cost, FORMAT_REGEX * PER_REGEX_CHAR), Found::of(Shape::Other))
        }
        "containsIP" | "containsCIDR" => {
            let text = matches!(values.first(), Some(it) if it.shape == Shape::Text);
            let own = if name == "containsIP" { 4 } else { 7 };
            (sum(&[own, if text { factor(argument, PER_CHAR) } else { 0 }]), single)
        }
        "charAt" | "reverse" | "getScheme" | "getHost" | "getHostname" | "getPort"
        | "getEscapedPath" => (1, Found::of(Shape::Text)),
        "getQuery" => (1, Found::of(Shape::Map)),
        "add" | "sub" | "masked" | "ip" => (1, Found::of(Shape::Other)),
        _ => (1, single),
    }
}

/// Returns the longest text that a replacement can lead to.
fn replaced(size: u64, arguments: &[Expr], values: &[Found<'_>]) -> u64 {
    let (Some(from), Some(to)) = (arguments.first(), values.get(1)) else { return u64::MAX };
    let shortest = match &from.node {
        Node::String(text) => text.chars().count() as u64,
        _ => 0,
    };
    match shortest {
        0 => size.saturating_add(1).saturating_mul(to.max()).saturating_add(size),
        _ if to.max() <= shortest => size,
        _ => size.div_ceil(shortest).saturating_mul(to.max()),
    }
}

/// Returns the cost of a function beyond that of its argument, and its result.
fn function<'s>(name: &str, values: &[Found<'s>]) -> (u64, Found<'s>) {
    let Some(argument) = values.first() else { return (1, Found::of(Shape::Other)) };
    let read = factor(argument.max(), PER_CHAR);
    match name {
        "dyn" => (1, *argument),
        "url" => (read, Found::sized(Shape::Other, argument.max())),
        "isIP" | "isCIDR" | "isQuantity" | "isSemver" => (read, Found::of(Shape::Single)),
        "ip" | "cidr" | "quantity" | "semver" => (read, Found::of(Shape::Other)),
        "string" => (1, Found::of(Shape::Text)),
        "type" => (1, Found::of(Shape::Other)),
        _ => (1, Found::of(Shape::Single)),
    }
}

fn field<'s>(schema: &'s Schema, name: &str) -> Option<&'s Schema> {
    let property = schema.properties.get(name);
    property.or_else(|| schema.properties.get(&*unescape(name))).or(match &schema.additional {
        Additional::Schema(inner) => Some(inner),
        _ => None,
    })
}

/// Returns the schema of the entries of a list or map.
pub(super) fn element(schema: &Schema) -> Option<&Schema> {
    match (&schema.items, &schema.additional) {
        (Some(items), _) => Some(items),
        (None, Additional::Schema(inner)) => Some(inner),
        _ => None,
    }
}
