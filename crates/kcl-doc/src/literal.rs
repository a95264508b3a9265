//! Constants in source as JSON.

use crate::TypeDoc;
use kcl_syntax::ast::{Constant, Expr, ExprId, Module, Number, UnaryOp};
use serde_json::{Map, Value};

/// The value of a type that has only one, as source and as JSON.
pub(crate) fn only_value(ty: &TypeDoc) -> Option<(String, Option<Value>)> {
    match ty {
        TypeDoc::BoolLit(flag) => {
            let text = if *flag { "True" } else { "False" };
            Some((text.to_owned(), Some(Value::Bool(*flag))))
        }
        TypeDoc::IntLit(number) => Some((number.to_string(), Some(Value::from(*number)))),
        TypeDoc::FloatLit(number) => Some((format!("{number:?}"), Some(Value::from(*number)))),
        TypeDoc::StrLit(text) => {
            let value = Value::from(text.as_str());
            Some((value.to_string(), Some(value)))
        }
        TypeDoc::MultiplierLit(text) => Some((text.clone(), None)),
        _ => None,
    }
}

/// Expressions are read this deep.
const MAX_DEPTH: usize = 100;

/// The value of an expression that is written as a constant; `None` for any other, and for
/// `Undefined`.
pub(crate) fn value(module: &Module, expr: ExprId) -> Option<Value> {
    read(module, expr, 0)
}

fn read(module: &Module, expr: ExprId, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    match &module[expr].kind {
        Expr::Constant(Constant::True) => Some(Value::Bool(true)),
        Expr::Constant(Constant::False) => Some(Value::Bool(false)),
        Expr::Constant(Constant::None) => Some(Value::Null),
        Expr::Number(Number::Int(number)) => Some(Value::from(*number)),
        Expr::Number(Number::Float(number)) => {
            serde_json::Number::from_f64(*number).map(Value::Number)
        }
        Expr::Unary { op: UnaryOp::Minus, operand } => match read(module, *operand, depth + 1)? {
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(number), _) => number.checked_neg().map(Value::from),
                (None, Some(number)) => serde_json::Number::from_f64(-number).map(Value::Number),
                (None, None) => None,
            },
            _ => None,
        },
        Expr::String(text) => Some(Value::from(&*text.value)),
        Expr::Paren(inner) => read(module, *inner, depth + 1),
        Expr::List(items) => items
            .iter()
            .map(|item| read(module, *item, depth + 1))
            .collect::<Option<_>>()
            .map(Value::Array),
        Expr::Config(entries) => {
            let mut fields = Map::new();
            for entry in entries {
                let key = match &module[entry.key?].kind {
                    Expr::Ident(path) if path.names.len() == 1 => path.names[0].name.as_str(),
                    Expr::String(text) => &*text.value,
                    _ => return None,
                };
                fields.insert(key.to_owned(), read(module, entry.value, depth + 1)?);
            }
            Some(Value::Object(fields))
        }
        _ => None,
    }
}
