//! Names to slots: what every identifier of a statement or schema means.
//!
//! A *unit* is a top-level statement or a schema. It is resolved once, before it runs first;
//! the results lie in tables by expression. Locals are slots of the unit's or lambda's stack
//! frame. Keys of config literals are visible to what follows them in the literal; they get
//! a slot only when something refers to them.

pub(crate) mod ints;
mod last_use;
mod resolve;
mod scope;

use self::ints::IntStep;
use self::scope::{Function, Kind, Resolver};
use crate::call::{ParamTypes, ReturnType};
use crate::evaluator::Evaluator;
use base_text::FileId;
use kcl_hir::PackageId;
use kcl_syntax::ast::{ExprId, Stmt, StmtId, TypeId};
use rustc_hash::FxHashMap;
use std::cell::Cell;
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
    /// A plugin.
    Plugin,
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
        let mut resolver = Resolver {
            program: self.program,
            file,
            module: &source.module,
            names,
            functions: vec![Function::new(Kind::Global)],
        };
        match &source.module[stmt].kind {
            Stmt::Schema(_) | Stmt::Rule(_) => resolver.schema(stmt),
            _ => resolver.stmt(stmt),
        }
        let n_slots = resolver.functions[0].n_slots;
        let mut names = resolver.names;
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
