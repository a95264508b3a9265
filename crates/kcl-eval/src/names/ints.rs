//! Integer code: expressions of local variables, literals and simple operators.
//!
//! `(a + b) % 3 == 0` becomes a few small steps that run without making values. If a
//! variable turns out not to be an integer, or an operator fails, the code gives up and the
//! expression is evaluated as any other; nothing has happened until then.

use super::{NameRef, UnitNames};
use kcl_syntax::ast::{BinOp, CmpOp, Expr, ExprId, Number};
use kcl_value::Value;

/// An operator on two integers; comparisons give 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntOp {
    Add,
    Sub,
    Mul,
    Mod,
    Eq,
    NotEq,
    Lt,
    LtE,
    Gt,
    GtE,
}

impl IntOp {
    fn binary(op: BinOp) -> Option<Self> {
        Some(match op {
            BinOp::Add => Self::Add,
            BinOp::Sub => Self::Sub,
            BinOp::Mul => Self::Mul,
            BinOp::Mod => Self::Mod,
            _ => return None,
        })
    }

    fn compare(op: CmpOp) -> Option<Self> {
        Some(match op {
            CmpOp::Eq => Self::Eq,
            CmpOp::NotEq => Self::NotEq,
            CmpOp::Lt => Self::Lt,
            CmpOp::LtE => Self::LtE,
            CmpOp::Gt => Self::Gt,
            CmpOp::GtE => Self::GtE,
            _ => return None,
        })
    }

    #[inline]
    fn apply(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Self::Add => a.checked_add(b),
            Self::Sub => a.checked_sub(b),
            Self::Mul => a.checked_mul(b),
            Self::Mod => (b > 0).then(|| a.rem_euclid(b)),
            Self::Eq => Some(i64::from(a == b)),
            Self::NotEq => Some(i64::from(a != b)),
            Self::Lt => Some(i64::from(a < b)),
            Self::LtE => Some(i64::from(a <= b)),
            Self::Gt => Some(i64::from(a > b)),
            Self::GtE => Some(i64::from(a >= b)),
        }
    }
}

/// One step on a stack of integers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IntStep {
    /// Pushes the integer of a slot.
    Slot(u32),
    /// Pushes an integer.
    Const(i64),
    /// Applies an operator to the top and a slot.
    WithSlot(IntOp, u32),
    /// Applies an operator to the top and an integer.
    WithConst(IntOp, i64),
    /// Applies an operator to the two topmost.
    Both(IntOp),
}

/// How many steps a piece of code may have.
const MAX_STEPS: usize = 12;
/// How many integers lie on the stack at most, with that many steps.
const MAX_STACK: usize = 8;

/// Runs a piece of code with the slots of a frame.
pub(crate) fn run(code: &[IntStep], slots: &[Value]) -> Option<i64> {
    let int = |slot: u32| match slots.get(slot as usize) {
        Some(Value::Int(number)) => Some(*number),
        _ => None,
    };
    let (first, rest) = code.split_first()?;
    let mut top = match *first {
        IntStep::Slot(slot) => int(slot)?,
        IntStep::Const(number) => number,
        _ => return None,
    };
    let mut below = [0i64; MAX_STACK];
    let mut n_below = 0;
    for step in rest {
        let (op, right) = match *step {
            IntStep::WithSlot(op, slot) => (op, int(slot)?),
            IntStep::WithConst(op, number) => (op, number),
            IntStep::Slot(slot) => {
                below[n_below % MAX_STACK] = std::mem::replace(&mut top, int(slot)?);
                n_below += 1;
                continue;
            }
            IntStep::Const(number) => {
                below[n_below % MAX_STACK] = std::mem::replace(&mut top, number);
                n_below += 1;
                continue;
            }
            IntStep::Both(op) => {
                n_below -= 1;
                (op, std::mem::replace(&mut top, below[n_below % MAX_STACK]))
            }
        };
        top = op.apply(top, right)?;
    }
    Some(top)
}

impl UnitNames<'_> {
    /// Makes the code of `left op right`, whose names are resolved, if it can have any.
    pub(super) fn int_binary(&mut self, id: ExprId, op: BinOp, left: ExprId, right: ExprId) {
        if let Some(op) = IntOp::binary(op) {
            self.int_code(id, op, left, right);
        }
    }

    /// Makes the code of a comparison of two.
    pub(super) fn int_compare(&mut self, id: ExprId, left: ExprId, rest: &[(CmpOp, ExprId)]) {
        if let [(op, right)] = rest
            && let Some(op) = IntOp::compare(*op)
        {
            self.int_code(id, op, left, *right);
        }
    }

    fn int_code(&mut self, id: ExprId, op: IntOp, left: ExprId, right: ExprId) {
        let start = self.names.ints.len();
        if self.push_operand(left).is_some() && self.push_operation(op, right).is_some() {
            let len = self.names.ints.len() - start;
            if len <= MAX_STEPS {
                self.names.refs[id.index()].set(NameRef::Ints(start as u32, len as u32));
                return;
            }
        }
        self.names.ints.truncate(start);
    }

    fn push_operation(&mut self, op: IntOp, right: ExprId) -> Option<()> {
        let start = self.names.ints.len();
        self.push_operand(right)?;
        let step = match self.names.ints[start..] {
            [IntStep::Slot(slot)] => IntStep::WithSlot(op, slot),
            [IntStep::Const(number)] => IntStep::WithConst(op, number),
            _ => {
                self.names.ints.push(IntStep::Both(op));
                return Some(());
            }
        };
        self.names.ints[start] = step;
        Some(())
    }

    /// Adds the code of an operand; none if it has no code.
    fn push_operand(&mut self, operand: ExprId) -> Option<()> {
        let mut id = operand;
        while let Expr::Paren(inner) = &self.module[id].kind {
            id = *inner;
        }
        let name_ref = self.names.refs[id.index()].get();
        match (&self.module[id].kind, name_ref) {
            (Expr::Number(Number::Int(number)), _) => {
                self.names.ints.push(IntStep::Const(*number));
            }
            (Expr::Ident(path), NameRef::Local(slot)) if path.names.len() == 1 => {
                self.names.ints.push(IntStep::Slot(slot));
            }
            (Expr::Binary { .. }, NameRef::Ints(start, len)) => {
                let range = start as usize..start as usize + len as usize;
                self.names.ints.extend_from_within(range);
            }
            _ => return None,
        }
        Some(())
    }
}
