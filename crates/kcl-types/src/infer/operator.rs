//! Operators.

use crate::checker::Checker;
use crate::diagnostics;
use crate::ty::{DictType, Type};
use base_text::FileSpan;
use kcl_syntax::ast::{BinOp, CmpOp, UnaryOp};
use std::sync::Arc;

impl Checker<'_> {
    /// The type of `left op right`.
    pub(crate) fn binary(&mut self, left: &Type, right: &Type, op: BinOp, at: FileSpan) -> Type {
        let a = self.types().widen_union(left);
        let b = self.types().widen_union(right);
        if a.is_any() || b.is_any() {
            return Type::Any;
        }
        let result = match op {
            BinOp::Add => self.add(&a, &b),
            BinOp::Sub | BinOp::Pow => arithmetic(&a, &b),
            BinOp::Mul => multiply(&a, &b),
            BinOp::Div | BinOp::FloorDiv | BinOp::Mod => self.divide(&a, &b, op, at),
            BinOp::LShift | BinOp::RShift | BinOp::BitXor | BinOp::BitAnd => {
                (a.is_int() && b.is_int()).then_some(Type::Int)
            }
            BinOp::BitOr => self.unite(&a, &b),
            BinOp::And => Some(Type::Bool),
            BinOp::Or => Some(self.join2(a, b)),
            BinOp::As => {
                self.check_conversion(&a, &b, at);
                Some(b)
            }
        };
        result.unwrap_or_else(|| {
            self.report(diagnostics::bad_operands(at, op.as_str(), left, right));
            Type::Any
        })
    }

    fn add(&self, a: &Type, b: &Type) -> Option<Type> {
        match (a, b) {
            (Type::List(a), Type::List(b)) => {
                Some(Type::list(self.join2((**a).clone(), (**b).clone())))
            }
            _ if a.is_str() && b.is_str() => Some(Type::Str),
            _ => arithmetic(a, b),
        }
    }

    fn divide(&mut self, a: &Type, b: &Type, op: BinOp, at: FileSpan) -> Option<Type> {
        let ty = arithmetic(a, b)?;
        if matches!(b, Type::IntLit(0)) || *b == Type::FloatLit(0.0) {
            let message = "integer division or modulo by zero";
            self.report(diagnostics::type_error(at, message));
        }
        Some(if op == BinOp::Mod { Type::Int } else { ty })
    }

    fn unite(&self, a: &Type, b: &Type) -> Option<Type> {
        match (a, b) {
            _ if a.is_int() && b.is_int() => Some(Type::Int),
            (Type::None, _) => Some(b.clone()),
            (Type::List(a), Type::List(b)) => {
                Some(Type::list(self.join2((**a).clone(), (**b).clone())))
            }
            (Type::Dict(a), Type::Dict(b)) => Some(self.unite_dicts(Arc::clone(a), b)),
            (_, Type::None) | (Type::Schema(_), Type::Schema(_) | Type::Dict(_)) => Some(a.clone()),
            _ => None,
        }
    }

    /// The type of two dicts together; the first one is changed in place if it can be.
    fn unite_dicts(&self, mut a: Arc<DictType>, b: &DictType) -> Type {
        let dict = Arc::make_mut(&mut a);
        let attrs = Arc::make_mut(&mut dict.attrs);
        for (name, attr) in b.attrs.iter() {
            attrs.insert(name, attr.clone());
        }
        self.types().join_into(&mut dict.key, b.key.clone());
        self.types().join_into(&mut dict.value, b.value.clone());
        Type::Dict(a)
    }

    /// The type of `left op right`, where `left` is not needed any more.
    pub(crate) fn binary_owned(
        &mut self,
        left: Type,
        right: &Type,
        op: BinOp,
        at: FileSpan,
    ) -> Type {
        match (left, right) {
            (Type::Dict(a), Type::Dict(b)) if op == BinOp::BitOr => self.unite_dicts(a, b),
            (Type::List(mut a), Type::List(b)) if matches!(op, BinOp::Add | BinOp::BitOr) => {
                self.types().join_into(Arc::make_mut(&mut a), (**b).clone());
                Type::List(a)
            }
            (left, right) => self.binary(&left, right, op, at),
        }
    }

    fn check_conversion(&mut self, from: &Type, to: &Type, at: FileSpan) {
        let types = self.types();
        if types.is_upper_bound(&types.widen(from), to) {
            return;
        }
        let (from, to) = (self.full_name(from), self.full_name(to));
        let message = format!(
            "Conversion of type '{from}' to type '{to}' may be a mistake because neither type sufficiently overlaps with the other"
        );
        self.report(diagnostics::type_error(at, message));
    }

    /// The type of `op operand`.
    pub(crate) fn unary(&mut self, ty: &Type, op: UnaryOp, at: FileSpan) -> Type {
        if ty.is_any() {
            return Type::Any;
        }
        let wide = self.types().widen_union(ty);
        let (is_fine, symbol) = match op {
            UnaryOp::Plus => (wide.is_number(), "+"),
            UnaryOp::Minus => (wide.is_number(), "-"),
            UnaryOp::Invert => (wide.is_int() || wide.is_bool(), "~"),
            UnaryOp::Not => (true, "not"),
        };
        if is_fine {
            return wide;
        }
        let message = format!("bad operand type for unary {symbol}: '{ty}'");
        self.report(diagnostics::type_error(at, message));
        Type::Any
    }

    /// Reports operands that cannot be compared.
    pub(crate) fn compare(&mut self, left: &Type, right: &Type, op: CmpOp, at: FileSpan) {
        let a = self.types().widen_union(left);
        let b = self.types().widen_union(right);
        if a.is_any() || b.is_any() || is_comparable(&a, &b, op) {
            return;
        }
        self.report(diagnostics::bad_operands(at, op.as_str(), &a, &b));
    }
}

fn arithmetic(a: &Type, b: &Type) -> Option<Type> {
    if !a.is_number() || !b.is_number() {
        return None;
    }
    Some(if a.is_float() || b.is_float() { Type::Float } else { Type::Int })
}

fn multiply(a: &Type, b: &Type) -> Option<Type> {
    let can_repeat = |ty: &Type| ty.all(|ty| ty.is_number() || ty.is_str() || ty.is_list());
    if let Some(ty) = arithmetic(a, b) {
        Some(ty)
    } else if a.is_int() && can_repeat(b) {
        Some(b.clone())
    } else if can_repeat(a) && b.is_int() {
        Some(a.clone())
    } else {
        None
    }
}

fn is_comparable(a: &Type, b: &Type, op: CmpOp) -> bool {
    let is_membership = matches!(op, CmpOp::In | CmpOp::NotIn);
    let is_equality = matches!(op, CmpOp::Eq | CmpOp::NotEq);
    let is_number = |ty: &Type| ty.all(|ty| ty.is_number() || ty.is_bool());
    if is_number(a) && is_number(b) && !is_membership {
        return true;
    }
    let is_basic = |ty: &Type| ty.all(|ty| ty.is_number() || ty.is_bool() || ty.is_str());
    if is_basic(a) && is_basic(b) && is_equality {
        return true;
    }
    if is_equality && (a.is_list() && b.is_list() || a.is_config() && b.is_config()) {
        return true;
    }
    if is_membership && b.is_iterable() {
        return true;
    }
    let takes_none = matches!(op, CmpOp::Eq | CmpOp::NotEq | CmpOp::Is | CmpOp::IsNot | CmpOp::Not);
    (a.is_none() || b.is_none()) && takes_none
}
