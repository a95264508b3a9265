//! What of a program ran, for reports about tests.
//!
//! Recorded only on request ([`crate::Options::coverage`]). Without it, a decision costs one
//! comparison, and lambdas and schemas nothing: they share the check of other rare cases.

use crate::error::Eval;
use crate::evaluator::Evaluator;
use crate::instance::Instance;
use crate::layout::SchemaId;
use base_text::{FileId, FileSpan};
use kcl_hir::PackageId;
use kcl_syntax::ast::{ExprId, StmtId};
use kcl_value::Origin;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How often a part of a program ran.
///
/// A part is the condition of an `if`, of a rule or of an `assert`, a lambda, a schema or a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The part: an expression, or the statement that declares a schema or rule.
    pub place: FileSpan,
    /// How often a condition held, a lambda was called, or a schema had an instance.
    pub yes: u64,
    /// How often a condition did not hold.
    pub no: u64,
}

/// How often each part ran so far.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    hits: FxHashMap<Origin, (u64, u64)>,
}

impl Coverage {
    fn note(&mut self, part: Origin, holds: bool) {
        let (yes, no) = self.hits.entry(part).or_default();
        *(if holds { yes } else { no }) += 1;
    }
}

impl Evaluator<'_> {
    /// Whether the condition of an `if` or of a rule holds. Notes it, if that is asked for.
    #[inline]
    pub(crate) fn condition(&mut self, cond: ExprId) -> Eval<bool> {
        // The rare case is a call of its own: nothing of the caller is kept for it.
        if self.coverage.is_some() { self.noted_condition(cond) } else { self.truth(cond) }
    }

    #[cold]
    #[inline(never)]
    fn noted_condition(&mut self, cond: ExprId) -> Eval<bool> {
        let holds = self.truth(cond)?;
        self.note_decision(cond, holds);
        Ok(holds)
    }

    /// Notes whether a condition of the current file held, if that is asked for.
    #[inline]
    pub(crate) fn note_decision(&mut self, cond: ExprId, holds: bool) {
        if self.coverage.is_some() {
            self.note_part(self.origin(cond), holds);
        }
    }

    /// Notes the call of a lambda.
    pub(crate) fn note_lambda(&mut self, file: FileId, lambda: ExprId) {
        if self.coverage.is_some() {
            let origin_base = self.files[file.0 as usize].origin_base;
            self.note_part(Origin(origin_base + lambda.0), true);
        }
    }

    /// Notes a statement that declares a schema or rule, when that is used.
    pub(crate) fn note_declaration(&mut self, file: FileId, stmt: StmtId) {
        if self.coverage.is_some() {
            self.note_part(self.stmt_origin(file, stmt), true);
        }
    }

    #[cold]
    fn note_part(&mut self, part: Origin, holds: bool) {
        if let Some(coverage) = &mut self.coverage {
            coverage.note(part, holds);
        }
    }

    /// Notes an instance of a schema, or of one that is based on it.
    #[cold]
    pub(crate) fn note_instance(&mut self, id: SchemaId, caller: PackageId, this: &Rc<Instance>) {
        if self.records_instances {
            self.instances.entry(id).or_default().push((caller, this.clone()));
        }
        let (file, stmt) = (self.schema(id).file, self.schema(id).stmt);
        self.note_declaration(file, stmt);
    }

    /// What ran, in the order of files and places; empty if that was not asked for.
    pub(crate) fn hits(&self) -> Vec<Hit> {
        let Some(coverage) = &self.coverage else { return Vec::new() };
        let mut parts: Vec<_> = coverage.hits.iter().collect();
        parts.sort_unstable_by_key(|(part, _)| part.0);
        let hit = |(part, (yes, no)): (&Origin, &(u64, u64))| {
            Some(Hit { place: self.place(*part)?, yes: *yes, no: *no })
        };
        parts.into_iter().filter_map(hit).collect()
    }
}
