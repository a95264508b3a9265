//! Checks the rules of a schema: fields and functions exist, and the cost is within its limit.

use super::cost::{self, Copies, element};
use super::rules::Rule;
use super::{Additional, Schema};
use crate::cause::Cause;
use crate::cel::{self, Expr, Node, SPACES, is_known, unescape};

/// The most that a rule may cost for all values that an object can have.
const RULE_LIMIT: u64 = 10_000_000;
/// The most that all rules of a schema may cost.
const TOTAL_LIMIT: u64 = 100_000_000;

/// Returns what is wrong with the rules of a schema.
pub(super) fn check(schema: &Schema, path: &str) -> Vec<Cause> {
    let mut checker = Checker::default();
    checker.walk(schema, path, true, Copies::Limited(1));
    checker.total(path);
    checker.causes
}

/// Goes through a schema and adds up what its rules cost.
#[derive(Default)]
struct Checker {
    causes: Vec<Cause>,
    total: u64,
    /// The most expensive rules: their paths and costs.
    expensive: Vec<(String, u64)>,
}

impl Checker {
    fn walk(&mut self, schema: &Schema, path: &str, resource: bool, copies: Copies) {
        for (at, rule) in schema.cel.iter().enumerate() {
            let path = format!("{path}.x-kubernetes-validations[{at}]");
            if one(rule, schema, &format!("{path}.rule"), resource, &mut self.causes) {
                self.cost(rule, schema, &path, copies);
            }
        }
        for (name, property) in &schema.properties {
            let path = format!("{path}.properties[{name}]");
            self.walk(property, &path, property.embedded_resource, copies);
        }
        if let Some(items) = &schema.items {
            let path = format!("{path}.items");
            self.walk(items, &path, items.embedded_resource, copies.below(schema));
        }
        if let Additional::Schema(inner) = &schema.additional {
            let path = format!("{path}.additionalProperties");
            self.walk(inner, &path, inner.embedded_resource, copies.below(schema));
        }
    }

    /// Adds the cost of a rule and of its message.
    fn cost(&mut self, rule: &Rule, schema: &Schema, path: &str, copies: Copies) {
        let own = rule.expr().map(|expr| copies.times(cost::estimate(expr, schema), schema));
        let message = rule.message_expr().map(|expr| cost::estimate(expr, schema));
        let parts = [
            ("rule", "estimated rule cost", own),
            ("messageExpression", "estimated messageExpression cost", message),
        ];
        for (field, name, cost) in parts {
            let Some(cost) = cost else { continue };
            let path = format!("{path}.{field}");
            if cost > RULE_LIMIT {
                self.causes.push(Cause::forbidden(&*path, &exceeded(name, cost, RULE_LIMIT)));
            }
            self.total = self.total.saturating_add(cost);
            if cost >= TOTAL_LIMIT / 100 {
                self.expensive.push((path, cost));
            }
        }
    }

    /// Says that all rules together cost too much.
    fn total(&mut self, path: &str) {
        if self.total <= TOTAL_LIMIT {
            return;
        }
        self.expensive.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        for (path, _) in self.expensive.iter().take(4) {
            let detail = "contributed to estimated rule cost total exceeding cost limit for entire \
                          OpenAPIv3 schema";
            self.causes.push(Cause::forbidden(&**path, detail));
        }
        let name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        self.causes.push(Cause::forbidden(path, &exceeded(name, self.total, TOTAL_LIMIT)));
    }
}

/// Words a cost that is beyond a limit.
fn exceeded(name: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = match factor {
        _ if factor > 100.0 => "more than 100x".to_owned(),
        _ if factor < 1.5 => format!("{factor:.6}x"),
        _ => format!("{factor:.1}x"),
    };
    format!(
        "{name} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, \
         maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}

/// Checks a rule; returns whether it can be evaluated.
fn one(rule: &Rule, schema: &Schema, path: &str, resource: bool, causes: &mut Vec<Cause>) -> bool {
    let source = rule.source();
    if source.trim().is_empty() {
        causes.push(Cause::required(path, "rule is not specified"));
        return false;
    }
    let mut invalid = |at: usize, message: &str| {
        let detail = cel::located(source, &[(at, message.to_owned())]);
        let message = format!("Invalid value: {}: compilation failed: {detail}", rule.shown());
        causes.push(Cause { field: path.to_owned(), reason: "FieldValueInvalid", message });
    };
    let Some(expr) = rule.expr() else {
        if let Err(error) = cel::parse(source) {
            invalid(error.at, &format!("Syntax error: {}", error.message));
        }
        return false;
    };
    let mut names = Names { known: vec![("self".to_owned(), Some(schema))], problems: Vec::new() };
    names.known.push(("oldSelf".to_owned(), Some(schema)));
    names.infer(expr, if resource { Some(schema) } else { None });
    if let Some((at, message)) = names.problems.first() {
        invalid(*at, message);
        return false;
    }
    true
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
                    if !is_type_name(name) && !SPACES.contains(&&**name) {
                        let message = format!("undeclared reference to '{name}' (in container '')");
                        self.problems.push((expr.at, message));
                    }
                    return None;
                };
                *schema
            }
            Node::Select(operand, name)
            | Node::OptionalSelect(operand, name)
            | Node::Has(operand, name) => {
                let owner = self.infer(operand, resource)?;
                let is_resource = resource.is_some_and(|own| std::ptr::eq(own, owner));
                self.field(owner, name, expr.at, is_resource)
            }
            Node::Index(operand, key) | Node::OptionalIndex(operand, key) => {
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
                if !is_known(name) && name != "has" {
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
