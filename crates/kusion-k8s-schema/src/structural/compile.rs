//! Checks the rules of a schema: fields and functions exist, and the cost is within its limit.

use super::rules::Rule;
use super::{Additional, Schema};
use crate::cause::Cause;
use crate::cel::{self, Expr, KNOWN, Node, unescape};

/// The most that a rule may cost on the largest object that fits the schema.
const BUDGET: f64 = 5e7;
/// The most bytes that an object can have.
const OBJECT_SIZE: f64 = 3_145_728.0;

/// Returns what is wrong with the rules of a schema.
pub(super) fn check(schema: &Schema, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk(schema, path, true, 1.0, &mut causes);
    if causes.iter().any(|cause| cause.message.contains("exceeds budget")) {
        let detail = format!(
            "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema \
             exceeds budget by factor of more than 100x {ADVICE}"
        );
        causes.push(Cause::forbidden(path, &detail));
    }
    causes
}

const ADVICE: &str = "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength \
                      where arrays, maps, and strings are declared)";

fn walk(schema: &Schema, path: &str, resource: bool, copies: f64, causes: &mut Vec<Cause>) {
    for (at, rule) in schema.cel.iter().enumerate() {
        let path = format!("{path}.x-kubernetes-validations[{at}].rule");
        one(rule, schema, &path, resource, copies, causes);
    }
    for (name, property) in &schema.properties {
        let path = format!("{path}.properties[{name}]");
        walk(property, &path, property.embedded_resource, copies, causes);
    }
    if let Some(items) = &schema.items {
        let copies = copies * n_items(schema);
        walk(items, &format!("{path}.items"), items.embedded_resource, copies, causes);
    }
    if let Additional::Schema(inner) = &schema.additional {
        let copies = copies * n_items(schema);
        let path = format!("{path}.additionalProperties");
        walk(inner, &path, inner.embedded_resource, copies, causes);
    }
}

fn one(
    rule: &Rule,
    schema: &Schema,
    path: &str,
    resource: bool,
    copies: f64,
    causes: &mut Vec<Cause>,
) {
    let source = rule.source();
    if source.trim().is_empty() {
        causes.push(Cause::required(path, "rule is not specified"));
        return;
    }
    let mut invalid = |at: usize, message: &str| {
        let before = &source[..at.min(source.len())];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let text = source[start..].lines().next().unwrap_or_default();
        let column = before[start..].chars().count();
        let detail = format!(
            "compilation failed: ERROR: <input>:{line}:{}: {message}\n | {text}\n | {}^",
            column + 1,
            ".".repeat(column)
        );
        let message = format!("Invalid value: {}: {detail}", rule.shown());
        causes.push(Cause { field: path.to_owned(), reason: "FieldValueInvalid", message });
    };
    let Some(expr) = rule.expr() else {
        if let Err(error) = cel::parse(source) {
            invalid(error.at, &format!("Syntax error: {}", error.message));
        }
        return;
    };
    let mut names = Names { known: vec![("self".to_owned(), Some(schema))], problems: Vec::new() };
    names.known.push(("oldSelf".to_owned(), Some(schema)));
    names.infer(expr, if resource { Some(schema) } else { None });
    if let Some((at, message)) = names.problems.first() {
        invalid(*at, message);
        return;
    }
    names.known.truncate(2);
    let cost = names.cost(expr) * copies;
    if cost > BUDGET {
        let factor = cost / 1e7;
        let factor =
            if factor > 100.0 { "more than 100x".to_owned() } else { format!("{factor:.1}x") };
        let detail = format!("estimated rule cost exceeds budget by factor of {factor} {ADVICE}");
        causes.push(Cause::forbidden(path, &detail));
        let detail = "contributed to estimated rule cost total exceeding cost limit for entire \
                      OpenAPIv3 schema";
        causes.push(Cause::forbidden(path, detail));
    }
}

/// Returns how many entries a list or map can have.
fn n_items(schema: &Schema) -> f64 {
    let rules = schema.rules.as_deref();
    let limit = rules.and_then(|rules| rules.max_items.or(rules.max_properties));
    let smallest = match (&schema.items, &schema.additional) {
        (Some(items), _) => smallest(items) + 1.0,
        (None, Additional::Schema(inner)) => smallest(inner) + 4.0,
        _ => 2.0,
    };
    limit.map_or(OBJECT_SIZE / smallest, |limit| limit as f64)
}

fn smallest(schema: &Schema) -> f64 {
    match &*schema.ty {
        "integer" | "number" => 1.0,
        "boolean" => 4.0,
        _ => 2.0,
    }
}

/// The names in reach, with the schemas of their values where these are known.
struct Names<'s> {
    known: Vec<(String, Option<&'s Schema>)>,
    problems: Vec<(usize, String)>,
}

impl<'s> Names<'s> {
    /// Returns the schema of the value of an expression, if it is known.
    fn infer(&mut self, expr: &Expr, resource: Option<&'s Schema>) -> Option<&'s Schema> {
        match &expr.node {
            Node::Ident(name) => {
                let found = self.known.iter().rev().find(|(own, _)| own == name);
                let Some((_, schema)) = found else {
                    if !is_type_name(name) {
                        let message = format!("undeclared reference to '{name}' (in container '')");
                        self.problems.push((expr.at, message));
                    }
                    return None;
                };
                *schema
            }
            Node::Select(operand, name) | Node::Has(operand, name) => {
                let owner = self.infer(operand, resource)?;
                let is_resource = resource.is_some_and(|own| std::ptr::eq(own, owner));
                self.field(owner, name, expr.at, is_resource)
            }
            Node::Index(operand, key) => {
                self.infer(key, resource);
                let owner = self.infer(operand, resource)?;
                element(owner)
            }
            Node::Loop(_, target, names, bodies) => {
                let item = self.infer(target, resource).filter(|it| it.items.is_some());
                let item = item.and_then(element);
                let n_known = self.known.len();
                for (at, name) in names.iter().enumerate() {
                    let schema = if at + 1 == names.len() { item } else { None };
                    self.known.push((name.clone(), schema));
                }
                for body in bodies {
                    self.infer(body, resource);
                }
                self.known.truncate(n_known);
                None
            }
            Node::Call(target, name, arguments) => {
                if !KNOWN.contains(&&**name) && name != "has" {
                    let message = format!("undeclared reference to '{name}' (in container '')");
                    self.problems.push((expr.at, message));
                }
                if let Some(target) = target {
                    self.infer(target, resource);
                }
                for argument in arguments {
                    self.infer(argument, resource);
                }
                None
            }
            Node::Unary(_, inner) => {
                self.infer(inner, resource);
                None
            }
            Node::Binary(_, left, right) => {
                self.infer(left, resource);
                self.infer(right, resource);
                None
            }
            Node::Choice(condition, left, right) => {
                self.infer(condition, resource);
                self.infer(right, resource);
                self.infer(left, resource)
            }
            Node::List(items) => {
                for item in items {
                    self.infer(item, resource);
                }
                None
            }
            _ => None,
        }
    }

    fn field(
        &mut self,
        owner: &'s Schema,
        name: &str,
        at: usize,
        resource: bool,
    ) -> Option<&'s Schema> {
        let plain = unescape(name);
        if let Some(property) = owner.properties.get(name).or_else(|| owner.properties.get(&*plain))
        {
            return Some(property);
        }
        let open = owner.preserve_unknown || !matches!(owner.additional, Additional::Unsaid);
        if resource && matches!(name, "apiVersion" | "kind" | "metadata") {
            return None;
        }
        if &*owner.ty == "object" && !open {
            self.problems.push((at, format!("undefined field '{name}'")));
        }
        match &owner.additional {
            Additional::Schema(inner) => Some(inner),
            _ => None,
        }
    }

    /// Returns what an expression can cost.
    fn cost(&mut self, expr: &Expr) -> f64 {
        match &expr.node {
            Node::Loop(_, target, names, bodies) => {
                let outer = self.cost(target);
                let list = self.infer(target, None);
                let count = list.map_or(1.0, n_items);
                let n_known = self.known.len();
                let item = list.filter(|it| it.items.is_some()).and_then(element);
                for (at, name) in names.iter().enumerate() {
                    let schema = if at + 1 == names.len() { item } else { None };
                    self.known.push((name.clone(), schema));
                }
                let inner: f64 = bodies.iter().map(|body| self.cost(body)).sum();
                self.known.truncate(n_known);
                outer + count * inner
            }
            Node::Select(inner, _) | Node::Has(inner, _) | Node::Unary(_, inner) => {
                1.0 + self.cost(inner)
            }
            Node::Index(left, right) | Node::Binary(_, left, right) => {
                1.0 + self.cost(left) + self.cost(right)
            }
            Node::Choice(condition, left, right) => {
                self.cost(condition) + self.cost(left).max(self.cost(right))
            }
            Node::Call(target, _, arguments) => {
                let target = target.as_deref().map_or(0.0, |target| self.cost(target));
                1.0 + target + arguments.iter().map(|it| self.cost(it)).sum::<f64>()
            }
            _ => 1.0,
        }
    }
}

fn element(schema: &Schema) -> Option<&Schema> {
    match (&schema.items, &schema.additional) {
        (Some(items), _) => Some(items),
        (None, Additional::Schema(inner)) => Some(inner),
        _ => None,
    }
}

fn is_type_name(name: &str) -> bool {
    matches!(
        name,
        "int"
            | "uint"
            | "double"
            | "string"
            | "bool"
            | "bytes"
            | "list"
            | "map"
            | "null_type"
            | "type"
            | "optional"
            | "format"
            | "google"
            | "authorizer"
    )
}
