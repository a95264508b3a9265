//! Values that an expression computes from others: `replicas = str(app.replicas)`.

use super::{Contest, Provenance};
use crate::evaluator::Evaluator;
use crate::expr::compare;
use kcl_hir::Program;
use kcl_syntax::ast::{BinOp, Expr, ExprId, UnaryOp};
use kcl_syntax::walk::{Node, children};
use kcl_value::{Origin, Value};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// How many parts of an expression are looked at.
const MAX_PARTS: usize = 128;
/// How many inputs of one value are kept.
const MAX_INPUTS: usize = 16;
/// How many values behind each other are looked at.
const MAX_VALUES: usize = 256;

impl Provenance {
    /// The origin of a value that the expression `at` computes from values of these origins.
    pub(super) fn computed(&mut self, at: Origin, inputs: Vec<Origin>) -> Origin {
        if inputs.is_empty() || self.contests.is_full() {
            return at;
        }
        if let Some(known) = self.contests.computed.get(&(at, inputs.clone())) {
            return *known;
        }
        let contests = Rc::make_mut(&mut self.contests);
        let contest = Contest { winner: at, old: Origin(0), new: at, given: Origin(0) };
        let origin = contests.add(contest);
        contests.inputs.insert(origin, inputs.clone().into());
        contests.computed.insert((at, inputs), origin);
        origin
    }

    /// What the value of a leaf was computed from, behind all that was computed in between, each
    /// once. Values that the main package computes are listed before what they are computed from.
    /// Empty for a value that was only written or read.
    pub fn inputs(&self, programs: &[&Program], origin: Origin) -> Vec<Origin> {
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        let mut open: Vec<Origin> = self.direct_inputs(origin).iter().rev().copied().collect();
        let mut room = MAX_VALUES;
        while let Some(input) = open.pop() {
            room -= 1;
            let node = self.giver(input);
            if room == 0 || found.len() >= MAX_INPUTS {
                break;
            }
            if !seen.insert(node) {
                continue;
            }
            let behind = self.direct_inputs(input);
            if behind.is_empty() || self.is_main(programs, node) {
                found.push(input);
            }
            open.extend(behind.iter().rev());
        }
        found
    }

    /// Whether a node is in a main package.
    pub fn is_main(&self, programs: &[&Program], origin: Origin) -> bool {
        self.find(programs, self.giver(origin)).is_some_and(|node| {
            let main = programs.get(node.program).and_then(|program| program.main_package());
            main.is_some_and(|main| (node.file.0 as usize) < main.files.len())
        })
    }

    /// What a value was computed from, behind all expressions that only read it.
    fn direct_inputs(&self, origin: Origin) -> &[Origin] {
        let mut origin = origin;
        for _ in 0..MAX_VALUES {
            if let Some(inputs) = self.contests.inputs.get(&origin) {
                return inputs;
            }
            let Some(contest) = self.contest(origin) else { break };
            origin = if contest.given.0 == 0 { contest.new } else { contest.given };
        }
        &[]
    }
}

impl Evaluator<'_> {
    /// Where the values were that an expression, which has just been evaluated, used. Only reads
    /// that must have happened are followed, so that nothing is evaluated.
    pub(super) fn inputs(&mut self, expr: ExprId) -> Vec<Origin> {
        let mut found = Vec::new();
        let mut open = vec![expr];
        let mut room = MAX_PARTS;
        while let Some(part) = open.pop() {
            room -= 1;
            if room == 0 || found.len() >= MAX_INPUTS {
                break;
            }
            let before = open.len();
            self.add_inputs(part, &mut open, &mut found);
            open[before..].reverse();
        }
        found
    }

    /// Adds what an expression reads, and the parts of it that were evaluated.
    fn add_inputs(&mut self, expr: ExprId, open: &mut Vec<ExprId>, found: &mut Vec<Origin>) {
        let module = self.frame.module;
        let mut add = |origin: Origin| {
            let is_new = origin.0 != 0 && !found.contains(&origin);
            found.extend(is_new.then_some(origin));
            origin.0 != 0
        };
        match &module[expr].kind {
            Expr::Ident(_) => {
                let value = self.peek(expr).unwrap_or(Value::Undefined);
                add(self.given(expr, &value));
            }
            Expr::Selector { value: inner, .. } => {
                let is_known = add(self.given(expr, &Value::Undefined));
                open.extend((!is_known).then_some(*inner));
            }
            Expr::Subscript(subscript) => {
                let is_known = add(self.given(expr, &Value::Undefined));
                open.extend((!is_known).then_some(subscript.value));
                open.extend(subscript.index);
            }
            Expr::If { body, cond, orelse } => {
                open.push(*cond);
                if let Some(holds) = self.peek_truth(*cond) {
                    open.push(if holds { *body } else { *orelse });
                }
            }
            Expr::Binary { op: op @ (BinOp::And | BinOp::Or), left, right } => {
                open.push(*left);
                if self.peek_truth(*left) == Some(*op == BinOp::And) {
                    open.push(*right);
                }
            }
            Expr::Binary { op: BinOp::As, left, .. } => open.push(*left),
            Expr::Call(call) => {
                match &module[call.func].kind {
                    // The text of a method: `app.name.upper()`.
                    Expr::Ident(path) if path.names.len() > 1 => {
                        let name_ref = self.name_ref(call.func);
                        let text = &path.names[..path.names.len() - 1];
                        let value = self.peek_path(name_ref, text).unwrap_or(Value::Undefined);
                        add(self.given_by_path(name_ref, text, &value));
                    }
                    Expr::Selector { value, .. } => open.push(*value),
                    _ => {}
                }
                open.extend(&call.args);
                open.extend(call.kwargs.iter().filter_map(|it| it.value));
            }
            Expr::ListComp { generators, .. } | Expr::DictComp { generators, .. } => {
                open.extend(generators.first().map(|it| it.iter));
            }
            Expr::Compare { left, rest } => {
                // Those behind it are compared only if the first comparison holds.
                open.push(*left);
                open.extend(rest.first().map(|(_, right)| *right));
            }
            Expr::Quant(quant) => open.push(quant.target),
            Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::Paren(_)
            | Expr::Starred(_)
            | Expr::List(_)
            | Expr::Joined(_) => children(module, Node::Expr(expr), |child| {
                if let Node::Expr(child) = child {
                    open.push(child);
                }
            }),
            _ => {}
        }
    }

    /// Whether a condition that has been evaluated holds; `None` if that cannot be told by reading.
    fn peek_truth(&mut self, cond: ExprId) -> Option<bool> {
        let module = self.frame.module;
        match &module[cond].kind {
            Expr::Paren(inner) => self.peek_truth(*inner),
            Expr::Unary { op: UnaryOp::Not, operand } => Some(!self.peek_truth(*operand)?),
            Expr::Compare { left, rest } => {
                let [(op, right)] = rest.as_slice() else { return None };
                compare(*op, &self.peek(*left)?, &self.peek(*right)?).ok()
            }
            Expr::Binary { op: BinOp::And, left, right } => {
                if self.peek_truth(*left)? {
                    self.peek_truth(*right)
                } else {
                    Some(false)
                }
            }
            Expr::Binary { op: BinOp::Or, left, right } => {
                if self.peek_truth(*left)? {
                    Some(true)
                } else {
                    self.peek_truth(*right)
                }
            }
            _ => self.peek(cond).map(|value| value.is_truthy()),
        }
    }
}
