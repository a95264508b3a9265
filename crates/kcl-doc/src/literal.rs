//! Constants in source as JSON.

use kcl_syntax::ast::{Constant, Expr, ExprId, Module, Number, UnaryOp};
use serde_json::{Map, Value};

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
