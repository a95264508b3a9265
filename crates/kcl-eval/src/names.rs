//! What names mean, in the form in which the evaluator reads it.
//!
//! A *unit* is a top-level statement or a schema. `kcl_hir::names` resolves it once, before it
//! runs first; the results are stored here in tables by expression, with short cuts for
//! integers and last uses.

pub(crate) mod ints;
mod last_use;

use self::ints::IntStep;
use self::last_use::mark_last_uses;
use crate::call::{ParamTypes, ReturnType};
use crate::evaluator::Evaluator;
use base_text::{FileId, Name};
use kcl_hir::PackageId;
use kcl_hir::names::{Meaning, Sink, resolve_unit};
use kcl_syntax::ast::{BinOp, CmpOp, ExprId, Lambda, Module, Stmt, StmtId, TypeId};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// What an identifier means.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum NameRef {
    /// Nobody asked yet.
    #[default]
    Unresolved,
    /// A slot of the frame.
    Local(u32),
    /// A slot of a lambda's frame that is read for the last time; only on single names.
    Last(u32),
    /// On an operator: where its integer code starts, and its length.
    Ints(u32, u32),
    /// A slot of the frame if it is set, else the entry of the chain.
    LocalOr(u32, u32),
    /// An attribute of the instance if it has one of that name, else the entry of the chain.
    Attr(u32),
    /// A global of the file's package.
    Global(u32),
    /// An imported package.
    Package(PackageId),
    /// A system module.
    System(&'static kcl_std::Module),
    /// A plugin, by its name.
    Plugin(Name),
    /// A built-in function.
    Builtin(&'static kcl_std::Function),
    /// Nothing.
    Missing,
}

/// What a lambda needs to run.
#[derive(Debug, Default)]
pub(crate) struct LambdaInfo {
    /// The size of its frame; parameters come first.
    pub(crate) n_slots: u32,
    /// How many parameters it has.
    pub(crate) n_params: u32,
    /// Whether a parameter has a default.
    pub(crate) has_defaults: bool,
    /// The body, if it is a single expression.
    pub(crate) only_expr: Option<ExprId>,
    /// The annotation of its result.
    pub(crate) return_ty: Option<TypeId>,
    /// What it captures: from the frame around it to its own.
    pub(crate) captures: Vec<(u32, u32)>,
    /// The types of its parameters, once it was called.
    pub(crate) param_types: ParamTypes,
    /// The type of its result, once it was called.
    pub(crate) return_type: ReturnType,
}

/// The resolved names of one file.
#[derive(Default)]
pub(crate) struct FileNames {
    /// By expression: identifiers, config keys, the first loop variable of comprehensions and
    /// quantifiers, and the schema of schema expressions.
    pub(crate) refs: Rc<[Cell<NameRef>]>,
    /// Alternatives that [`NameRef::LocalOr`] and [`NameRef::Attr`] point at.
    pub(crate) chain: Vec<NameRef>,
    /// The integer code of operators, piece by piece.
    pub(crate) ints: Vec<IntStep>,
    pub(crate) lambdas: FxHashMap<ExprId, Rc<LambdaInfo>>,
    /// The frame sizes of units.
    pub(crate) units: FxHashMap<StmtId, u32>,
    /// What assignments in lambdas assign to.
    pub(crate) targets: FxHashMap<(StmtId, u32), u32>,
    /// What assignments with a path start from.
    pub(crate) target_refs: FxHashMap<(StmtId, u32), NameRef>,
    /// Slots that a config literal must clear when it starts.
    pub(crate) resets: FxHashMap<ExprId, Vec<u32>>,
    /// Slots of a block that is merged with others, with the keys of others that they hold.
    pub(crate) merged_keys: FxHashMap<ExprId, Vec<(u32, Name)>>,
}

/// Keeps what [`kcl_hir::names`] finds in a unit.
pub(crate) struct UnitNames<'p> {
    module: &'p Module,
    names: FileNames,
}

impl From<Meaning> for NameRef {
    fn from(meaning: Meaning) -> Self {
        match meaning {
            Meaning::Local(slot) => Self::Local(slot),
            Meaning::LocalOr(slot, next) => Self::LocalOr(slot, next),
            Meaning::Attr(next) => Self::Attr(next),
            Meaning::Global(at) => Self::Global(at),
            Meaning::Package(package) => Self::Package(package),
            Meaning::System(id) => kcl_std::module_by_id(id).map_or(Self::Missing, Self::System),
            Meaning::Plugin(name) => Self::Plugin(name),
            Meaning::Builtin(id) => kcl_std::builtin_by_id(id).map_or(Self::Missing, Self::Builtin),
            Meaning::Missing => Self::Missing,
        }
    }
}

impl Sink for UnitNames<'_> {
    fn meaning(&mut self, expr: ExprId, meaning: Meaning) {
        self.names.refs[expr.index()].set(meaning.into());
    }

    fn alternative(&mut self, meaning: Meaning) -> u32 {
        self.names.chain.push(meaning.into());
        self.names.chain.len() as u32 - 1
    }

    fn target(&mut self, stmt: StmtId, at: u32, slot: u32) {
        self.names.targets.insert((stmt, at), slot);
    }

    fn target_start(&mut self, stmt: StmtId, at: u32, meaning: Meaning) {
        self.names.target_refs.insert((stmt, at), meaning.into());
    }

    fn reset(&mut self, config: ExprId, slot: u32) {
        self.names.resets.entry(config).or_default().push(slot);
    }

    fn merged_key(&mut self, config: ExprId, slot: u32, name: Name) {
        self.names.merged_keys.entry(config).or_default().push((slot, name));
    }

    fn lambda(&mut self, id: ExprId, lambda: &Lambda, n_slots: u32, captures: Vec<(u32, u32)>) {
        mark_last_uses(self.module, &self.names, lambda);
        let params = lambda.params.as_ref().map_or(&[][..], |params| &params.list);
        let only_expr = match lambda.body.as_slice() {
            [stmt] => match &self.module[*stmt].kind {
                Stmt::Expr(exprs) if exprs.len() == 1 => Some(exprs[0]),
                _ => None,
            },
            _ => None,
        };
        let info = LambdaInfo {
            n_slots,
            n_params: params.len() as u32,
            has_defaults: params.iter().any(|param| param.default.is_some()),
            only_expr,
            return_ty: lambda.return_ty,
            captures,
            param_types: OnceCell::new(),
            return_type: OnceCell::new(),
        };
        self.names.lambdas.insert(id, Rc::new(info));
    }

    fn binary(&mut self, expr: ExprId, op: BinOp, left: ExprId, right: ExprId) {
        self.int_binary(expr, op, left, right);
    }

    fn compare(&mut self, expr: ExprId, left: ExprId, rest: &[(CmpOp, ExprId)]) {
        self.int_compare(expr, left, rest);
    }
}

impl Evaluator<'_> {
    /// Resolves a unit if that has not been done, and returns the size of its frame.
    pub(crate) fn unit(&mut self, file: FileId, stmt: StmtId) -> u32 {
        let state = &mut self.files[file.0 as usize];
        if let Some(n_slots) = state.names.units.get(&stmt) {
            return *n_slots;
        }
        let source = self.program.file(file);
        let mut names = std::mem::take(&mut state.names);
        if names.refs.is_empty() {
            let n_exprs = source.module.exprs.len();
            names.refs = (0..n_exprs).map(|_| Cell::default()).collect();
        }
        let mut unit = UnitNames { module: &source.module, names };
        let n_slots = resolve_unit(self.program, file, stmt, &mut unit);
        let mut names = unit.names;
        names.units.insert(stmt, n_slots);
        self.files[file.0 as usize].names = names;
        n_slots
    }

    /// What an expression's name means; the unit must have been resolved.
    #[inline]
    pub(crate) fn name_ref(&self, expr: ExprId) -> NameRef {
        self.frame.refs.get(expr.index()).map_or(NameRef::Unresolved, Cell::get)
    }

    /// The result of an operator on integers, if it has code and the code does not give up.
    #[inline]
    pub(crate) fn quick_int(&self, operator: ExprId) -> Option<i64> {
        let NameRef::Ints(start, len) = self.name_ref(operator) else { return None };
        if self.options.strict_range_check {
            return None;
        }
        let names = &self.files[self.frame.file.0 as usize].names;
        let code = &names.ints[start as usize..start as usize + len as usize];
        ints::run(code, &self.stack[self.frame.base..])
    }

    pub(crate) fn chained(&self, at: u32) -> NameRef {
        self.files[self.frame.file.0 as usize].names.chain[at as usize]
    }
}
