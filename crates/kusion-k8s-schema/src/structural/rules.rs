//! Validation rules in schemas: read and checked with the CRD, run on objects.

use super::{Additional, Schema};
use crate::cel::{self, Cel, Expr, Failure, Scope};
use crate::{Cause, quoted};
use base_text::push_html_safe_json_string;
use serde_json::{Map, Value};

/// One rule of a schema.
#[derive(Debug)]
pub(super) struct Rule {
    source: String,
    message: String,
    reason: String,
    field_path: String,
    /// `None` if the text is not an expression.
    expr: Option<Expr>,
    message_expr: Option<Expr>,
    /// Whether the rule refers to the old value.
    transition: bool,
}

impl Rule {
    /// Reads the rules of a schema.
    pub(super) fn read_all(schema: &Map<String, Value>) -> Vec<Self> {
        let list = schema.get("x-kubernetes-validations").and_then(Value::as_array);
        list.into_iter().flatten().map(Self::read).collect()
    }

    fn read(rule: &Value) -> Self {
        let text = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let source = text("rule");
        let expr = cel::parse(&source).ok();
        let message_source = text("messageExpression");
        Self {
            message: text("message").trim().to_owned(),
            reason: text("reason"),
            field_path: text("fieldPath"),
            transition: expr.as_ref().is_some_and(|expr| expr.mentions("oldSelf")),
            message_expr: Some(&*message_source)
                .filter(|it| !it.is_empty())
                .and_then(|source| cel::parse(source).ok()),
            expr,
            source,
        }
    }

    /// Returns the text of the rule.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Returns the expression of the rule.
    pub(super) fn expr(&self) -> Option<&Expr> {
        self.expr.as_ref()
    }

    /// Returns the expression of the message, if there is one.
    pub(super) fn message_expr(&self) -> Option<&Expr> {
        self.message_expr.as_ref()
    }

    /// Returns the rule as messages about it show it.
    pub(super) fn shown(&self) -> String {
        let quote = |text: &str| {
            let mut quoted = String::new();
            push_html_safe_json_string(&mut quoted, text);
            quoted
        };
        let reason = if self.reason.is_empty() { "null".to_owned() } else { quote(&self.reason) };
        format!(
            "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":\"\",\"Reason\":{reason},\
             \"FieldPath\":{},\"OptionalOldSelf\":null}}",
            quote(&self.source),
            quote(&self.message),
            quote(&self.field_path)
        )
    }
}

/// Runs the rules of a schema on an object; `old` is what was there before.
pub(super) fn run(schema: &Schema, object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut runner = Runner { causes: Vec::new(), spent: false };
    runner.value(schema, object, old, "");
    runner.causes
}

/// Returns whether a schema has rules anywhere.
pub(super) fn exist(schema: &Schema) -> bool {
    !schema.cel.is_empty()
        || schema.properties.values().any(exist)
        || schema.items.as_deref().is_some_and(exist)
        || matches!(&schema.additional, Additional::Schema(inner) if exist(inner))
}

struct Runner {
    causes: Vec<Cause>,
    /// Whether a rule cost too much, so that no further ones are run.
    spent: bool,
}

impl Runner {
    fn value(&mut self, schema: &Schema, value: &Value, old: Option<&Value>, path: &str) {
        for rule in &schema.cel {
            if self.spent {
                return;
            }
            self.rule(rule, value, old, path);
        }
        match value {
            Value::Object(entries) => {
                for (key, item) in entries {
                    let inner = match (schema.properties.get(&**key), &schema.additional) {
                        (Some(property), _) => property,
                        (None, Additional::Schema(inner)) => inner,
                        _ => continue,
                    };
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    self.value(inner, item, old.and_then(|old| old.get(key)), &path);
                }
            }
            Value::Array(items) => {
                let Some(inner) = &schema.items else { return };
                for (at, item) in items.iter().enumerate() {
                    let before = old.and_then(|old| same_item(schema, item, old));
                    self.value(inner, item, before, &format!("{path}[{at}]"));
                }
            }
            _ => {}
        }
    }

    fn rule(&mut self, rule: &Rule, value: &Value, old: Option<&Value>, path: &str) {
        let Some(expr) = &rule.expr else { return };
        let scope = || {
            let scope = Scope::default().with("self", value.into());
            match old {
                Some(old) => scope.with("oldSelf", old.into()),
                None => scope,
            }
        };
        if value.is_null() || rule.transition && old.is_none() {
            return;
        }
        let kind = match value {
            Value::Object(_) => "object",
            Value::Array(_) => "array",
            Value::String(_) => "string",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            _ => "integer",
        };
        match cel::evaluate(expr, &mut scope()) {
            Ok(Cel::Bool(true)) => {}
            Err(Failure::Unknown) => {
                let detail = format!("the sandbox cannot evaluate the rule: {}", rule.source);
                self.causes.push(Cause::invalid(shown_path(path), &kind.into(), detail));
            }
            Ok(_) => {
                let message = rule.message_expr.as_ref().and_then(|expr| {
                    match cel::evaluate(expr, &mut scope()) {
                        Ok(Cel::String(text)) if !text.trim().is_empty() => Some(text.into_owned()),
                        _ => None,
                    }
                });
                let message = message.unwrap_or_else(|| match &*rule.message {
                    "" => format!("failed rule: {}", rule.source),
                    message => message.to_owned(),
                });
                self.causes.push(broken(rule, value, path, &message));
            }
            Err(Failure::Error(error)) => {
                let detail = format!("{error} evaluating rule: {}", rule.source);
                self.causes.push(Cause::invalid(shown_path(path), &kind.into(), detail));
            }
            Err(Failure::Cost) => {
                self.spent = true;
                let detail = format!(
                    "'operation cancelled: actual cost limit exceeded': no further validation \
                     rules will be run due to call cost exceeds limit for rule: {}",
                    rule.source
                );
                self.causes.push(Cause::invalid(shown_path(path), &kind.into(), detail));
            }
        }
    }
}

fn shown_path(path: &str) -> &str {
    if path.is_empty() { "<nil>" } else { path }
}

/// Returns the item of a keyed list that had the same keys before.
fn same_item<'o>(schema: &Schema, item: &Value, old: &'o Value) -> Option<&'o Value> {
    if &*schema.list_type != "map" {
        return None;
    }
    let same =
        |other: &&Value| schema.list_keys.iter().all(|key| item.get(&**key) == other.get(&**key));
    old.as_array()?.iter().find(same)
}

/// Words a rule that does not hold.
fn broken(rule: &Rule, value: &Value, path: &str, message: &str) -> Cause {
    let field = format!("{path}{}", rule.field_path);
    let field = shown_path(field.trim_start_matches('.')).to_owned();
    match &*rule.reason {
        "FieldValueForbidden" => Cause::forbidden(field, message),
        "FieldValueRequired" => Cause::required(field, message),
        "FieldValueDuplicate" => Cause::duplicate(field, value),
        _ => {
            let message = match value {
                Value::Object(_) | Value::Array(_) => format!("Invalid value: {message}"),
                Value::String(text) => format!("Invalid value: {}: {message}", quoted(text)),
                other => format!("Invalid value: {other}: {message}"),
            };
            Cause { field, reason: "FieldValueInvalid", message }
        }
    }
}
