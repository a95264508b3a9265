//! The parts of a file that tests can run.

use super::{Part, PartKind};
use base_text::{LineIndex, Span};
use kcl_syntax::ast::{Check, Expr, ExprId, Module, SchemaKind, Stmt};
use kcl_syntax::walk::{Node, descendants};
use std::collections::{BTreeMap, HashMap};

/// How many characters of a condition are shown.
const MAX_SHOWN: usize = 48;

/// Reads the parts of a source text, with how often each ran.
pub(super) fn read(text: &str, hits: &BTreeMap<Span, (u64, u64)>) -> Vec<Part> {
    let module = kcl_syntax::parse(text).module;
    let mut reader = Reader {
        text,
        module: &module,
        lines: LineIndex::new(text),
        hits,
        lambdas: HashMap::new(),
        parts: Vec::new(),
    };
    descendants(&module, |node| match node {
        Node::Stmt(id) => reader.stmt(module[id].span, &module[id].kind),
        Node::Expr(id) => reader.expr(id),
        Node::Type(_) => {}
    });
    let mut parts = reader.parts;
    parts.sort_by_key(|part| (part.span.start, part.span.end));
    parts
}

struct Reader<'t> {
    text: &'t str,
    module: &'t Module,
    lines: LineIndex,
    hits: &'t BTreeMap<Span, (u64, u64)>,
    /// The names that lambdas are bound to.
    lambdas: HashMap<ExprId, String>,
    parts: Vec<Part>,
}

impl Reader<'_> {
    fn stmt(&mut self, span: Span, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(assign) => {
                if let [target] = assign.targets.as_slice() {
                    self.lambdas.insert(assign.value, target.name.name.to_string());
                }
            }
            Stmt::SchemaAttr(attr) => {
                if let Some(value) = attr.value {
                    self.lambdas.insert(value, attr.name.name.to_string());
                }
            }
            Stmt::Schema(schema) => {
                if schema.kind != SchemaKind::Protocol {
                    self.declaration(span, schema.name.span, schema.name.name.to_string());
                }
                self.checks(&schema.checks);
            }
            Stmt::Rule(rule) => {
                self.declaration(span, rule.name.span, rule.name.name.to_string());
                self.checks(&rule.checks);
            }
            Stmt::If(stmt) => self.condition(PartKind::Branch, stmt.cond),
            Stmt::Assert(assert) => {
                self.condition(PartKind::Rule, assert.test);
                self.conditions(assert.if_cond.as_slice());
            }
            Stmt::Import(_)
            | Stmt::TypeAlias(_)
            | Stmt::Expr(_)
            | Stmt::Unification(_)
            | Stmt::AugAssign(_) => {}
        }
    }

    fn expr(&mut self, id: ExprId) {
        let module = self.module;
        match &module[id].kind {
            Expr::If { cond, .. } | Expr::ListIf { cond, .. } | Expr::ConfigIf { cond, .. } => {
                self.condition(PartKind::Branch, *cond);
            }
            Expr::ListComp { generators, .. } | Expr::DictComp { generators, .. } => {
                for generator in generators {
                    self.conditions(&generator.ifs);
                }
            }
            Expr::Quant(quant) => self.conditions(quant.if_cond.as_slice()),
            Expr::Lambda(_) => {
                let name = self.lambdas.remove(&id).unwrap_or_else(|| "lambda".to_owned());
                let span = module[id].span;
                self.part(PartKind::Lambda, name, span, span);
            }
            _ => {}
        }
    }

    fn checks(&mut self, checks: &[Check]) {
        for check in checks {
            self.condition(PartKind::Rule, check.test);
            self.conditions(check.if_cond.as_slice());
        }
    }

    fn conditions(&mut self, conditions: &[ExprId]) {
        for cond in conditions {
            self.condition(PartKind::Branch, *cond);
        }
    }

    fn condition(&mut self, kind: PartKind, cond: ExprId) {
        let span = self.module[cond].span;
        let words: Vec<&str> = span.slice(self.text).split_whitespace().collect();
        let mut name = words.join(" ");
        if let Some((end, _)) = name.char_indices().nth(MAX_SHOWN) {
            name.truncate(end);
            name.push('…');
        }
        self.part(kind, name, span, span);
    }

    fn declaration(&mut self, span: Span, shown: Span, name: String) {
        self.part(PartKind::Schema, name, span, shown);
    }

    /// Adds a part that is recorded under one place and shown at another.
    fn part(&mut self, kind: PartKind, name: String, recorded: Span, shown: Span) {
        let (yes, no) = self.hits.get(&recorded).copied().unwrap_or_default();
        let line = self.lines.line(shown.start);
        self.parts.push(Part { kind, name, span: shown, line, yes, no });
    }
}
