//! Random types and values of them.

use fastrand::Rng;
use kusion_cty::{Number, Refinement, Type, Value};
use std::sync::Arc;

/// Returns a random type, nested up to a depth.
pub(crate) fn random_type(rng: &mut Rng, depth: usize) -> Type {
    let kinds = if depth == 0 { 4 } else { 9 };
    match rng.usize(..kinds) {
        0 => Type::Bool,
        1 => Type::Number,
        2 => Type::String,
        3 => Type::Dynamic,
        4 => Type::list(random_type(rng, depth - 1)),
        5 => Type::set(random_type(rng, depth - 1)),
        6 => Type::map(random_type(rng, depth - 1)),
        7 => {
            let count = rng.usize(..5);
            Type::object((0..count).map(|i| (format!("a{i}"), random_type(rng, depth - 1))))
        }
        _ => {
            let count = rng.usize(..4);
            Type::tuple((0..count).map(|_| random_type(rng, depth - 1)).collect::<Vec<_>>())
        }
    }
}

/// Returns a random value of a type; `open` allows unknown parts.
pub(crate) fn random_value(rng: &mut Rng, ty: &Type, open: bool) -> Value {
    match rng.usize(..12) {
        0 => return Value::Null,
        1 if open => return Value::UNKNOWN,
        2 if open => return Value::Unknown(Some(Box::new(random_refinement(rng)))),
        _ => {}
    }
    let count = rng.usize(..5);
    match ty {
        Type::Bool => rng.bool().into(),
        Type::Number => Value::Number(random_number(rng)),
        Type::String => Value::String(random_text(rng)),
        Type::List(element) => {
            Value::List((0..count).map(|_| random_value(rng, element, open)).collect())
        }
        Type::Set(element) => {
            Value::set((0..count).map(|_| random_value(rng, element, open)).collect())
        }
        Type::Map(element) => {
            Value::map((0..count).map(|_| (random_text(rng), random_value(rng, element, open))))
        }
        Type::Object(types) => {
            let fields = types.iter().map(|(name, ty)| (name.clone(), random_value(rng, ty, open)));
            Value::map(fields)
        }
        Type::Tuple(types) => {
            Value::List(types.iter().map(|ty| random_value(rng, ty, open)).collect())
        }
        Type::Dynamic => {
            let ty = random_type(rng, 1);
            if ty == Type::Dynamic {
                return Value::Null;
            }
            let value = random_value(rng, &ty, open);
            Value::typed(ty, value)
        }
    }
}

fn random_number(rng: &mut Rng) -> Number {
    match rng.usize(..5) {
        0 => rng.i64(..).into(),
        1 => rng.i64(-200..200).into(),
        2 => rng.u64(..).into(),
        3 => Number::from_f64(f64::from_bits(rng.u64(..))).unwrap_or_else(|| 0_i64.into()),
        _ => {
            let digits: String = (0..rng.usize(1..60)).map(|_| rng.digit(10)).collect();
            Number::parse(&format!("-{digits}.{digits}e{}", rng.i32(-30..30))).expect("a number")
        }
    }
}

fn random_text(rng: &mut Rng) -> Arc<str> {
    let length = if rng.usize(..20) == 0 { rng.usize(..70_000) } else { rng.usize(..40) };
    (0..length).map(|_| rng.char(..)).collect::<String>().into()
}

fn random_refinement(rng: &mut Rng) -> Refinement {
    let mut refinement = Refinement { is_null: Some(false), ..Refinement::default() };
    match rng.usize(..4) {
        0 => refinement.prefix = Some("https://".into()),
        1 => {
            refinement.min = Some((random_number(rng), rng.bool()));
            refinement.max = Some((random_number(rng), rng.bool()));
        }
        2 => (refinement.min_length, refinement.max_length) = (Some(1), Some(rng.u32(..).into())),
        _ => {}
    }
    refinement
}
