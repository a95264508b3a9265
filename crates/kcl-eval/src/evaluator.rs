//! The state of an evaluation and its outermost steps.

use crate::call::ParamTypes;
use crate::coverage::Coverage;
use crate::error::{Eval, EvalError, Failure};
use crate::instance::Instance;
use crate::layout::{Layout, Links, SchemaId};
use crate::lazy::{Backtrack, GlobalState};
use crate::library::Parts;
use crate::names::{FileNames, NameRef};
use crate::ordered::{Deciding, OrderedRuns, OrderedStmts, Outermost};
use crate::provenance::Provenance;
use crate::runtime_type::RuntimeType;
use crate::stack::stack_address;
use crate::typing::CheckedLists;
use crate::{Earlier, EarlierStream, Evaluated, Options, Request, Tracking, Usage};
use base_diag::{Diagnostic, Severity};
use base_system::System;
use base_text::{FileId, FileSpan, Name, Span};
use kcl_hir::names::visit_definitions;
use kcl_hir::{PackageId, Program};
use kcl_std::too_much_memory;
use kcl_syntax::ast::{ExprId, Module, Schema, Stmt, StmtId};
use kcl_value::output::Stream;
use kcl_value::{CallArgs, Origin, SchemaInfo, Str, Value};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;

/// Evaluates a program.
///
/// # Errors
///
/// With the first failure.
pub fn evaluate(
    program: &Program,
    system: &dyn System,
    request: &Request,
    earlier: Earlier<'_>,
) -> Result<Evaluated, Box<EvalError>> {
    let (mut provenance, mut parts, mut kept) = (Provenance::default(), Parts::default(), None);
    match earlier {
        Earlier::Programs(known) => provenance = known,
        // Contests and coverage are those of one evaluation.
        Earlier::Library(library)
            if request.options.tracking != Tracking::Contests && !request.options.coverage =>
        {
            parts = library.take();
            kept = Some(library);
        }
        Earlier::Nothing | Earlier::Library(_) => {}
    }
    let mut evaluator = Evaluator::with_library(program, system, request, provenance, parts);
    match evaluator.run() {
        Ok(_) if !evaluator.failed_checks.is_empty() => Err(evaluator.into_error(None)),
        Ok(value) => {
            let end = evaluator.end();
            if let Some(library) = kept {
                library.fill(&mut evaluator);
            }
            Ok(Evaluated { end, ..evaluator.into_evaluated(value) })
        }
        Err(failure) => Err(evaluator.into_error(Some(&failure))),
    }
}

/// The tree of no file.
static NO_MODULE: LazyLock<Module> = LazyLock::new(Module::default);

/// The largest size of a single list or string, in bytes.
const MAX_VALUE: usize = 256 << 20;

/// After so many steps it is looked at the clock.
const SLICE: u64 = 1 << 16;

/// Where code runs: the file, the stack frame, the schema instance around it.
#[derive(Clone)]
pub(crate) struct Frame<'p> {
    /// The tree of the file.
    pub(crate) module: &'p Module,
    /// The file.
    pub(crate) file: FileId,
    /// The package of the file.
    pub(crate) package: PackageId,
    /// What to add to an expression's number to get its [`Origin`].
    pub(crate) origin_base: u32,
    /// What the names of the file mean.
    pub(crate) refs: Rc<[Cell<NameRef>]>,
    /// Where the locals start on the stack.
    pub(crate) base: usize,
    /// The schema instance in whose body the code stands.
    pub(crate) this: Option<Rc<Instance>>,
    /// Whether the code is the body of a lambda.
    pub(crate) in_lambda: bool,
}

/// A schema, mixin or protocol of the program.
pub(crate) struct SchemaDecl<'p> {
    pub(crate) file: FileId,
    pub(crate) stmt: StmtId,
    pub(crate) decl: &'p Schema,
    pub(crate) package: PackageId,
    pub(crate) info: Rc<SchemaInfo>,
    /// Whether the statement had its turn.
    pub(crate) has_run: bool,
    /// Made when the schema is used first.
    pub(crate) layout: Option<Rc<Layout>>,
    pub(crate) links: Option<Rc<Links>>,
    pub(crate) param_types: Rc<ParamTypes>,
}

/// What is known of one file.
pub(crate) struct FileState {
    pub(crate) names: FileNames,
    pub(crate) origin_base: u32,
    pub(crate) n_exprs: u32,
    /// String constants by expression.
    pub(crate) constants: FxHashMap<ExprId, Value>,
    /// The types of annotations by number; empty until one is asked for.
    pub(crate) types: Vec<Option<Rc<RuntimeType>>>,
}

/// What is known of one package.
#[derive(Default)]
pub(crate) struct PackageState {
    pub(crate) globals: Vec<GlobalState>,
    /// Values of expression statements.
    pub(crate) scalars: Vec<(Value, Origin)>,
    pub(crate) schema_scalar: usize,
    pub(crate) evaluated: bool,
    pub(crate) imports_evaluated: bool,
    /// The last statement that ran in its turn.
    pub(crate) passed: Option<(FileId, StmtId)>,
    /// Statements that run once each, in order.
    pub(crate) ordered: Option<Rc<OrderedStmts>>,
    /// How far they have come.
    pub(crate) ordered_runs: OrderedRuns,
}

pub(crate) struct Evaluator<'p> {
    pub(crate) program: &'p Program,
    pub(crate) system: &'p dyn System,
    pub(crate) request: &'p Request,
    /// The options of the request.
    pub(crate) options: Options,
    pub(crate) files: Vec<FileState>,
    pub(crate) packages: Vec<PackageState>,
    pub(crate) schemas: Vec<SchemaDecl<'p>>,
    pub(crate) schema_ids: FxHashMap<(PackageId, Name), SchemaId>,
    pub(crate) strings: FxHashMap<Name, Str>,
    pub(crate) stack: Vec<Value>,
    pub(crate) frame: Frame<'p>,
    /// The expression or statement that was evaluated last.
    pub(crate) at: Origin,
    /// The arguments of an instance without any.
    pub(crate) no_args: Rc<CallArgs>,
    /// Memory for the arguments of the next call.
    pub(crate) spare_args: Option<Box<CallArgs>>,
    /// String methods by name, as far as they were looked up.
    pub(crate) methods: FxHashMap<Name, Option<&'static kcl_std::Method>>,
    /// Memory for the next interpolated string.
    pub(crate) text_buffer: String,
    /// Names that statements under way assign to, the innermost last; `no_name` where an
    /// instance begins.
    pub(crate) targets: Vec<Name>,
    pub(crate) no_name: Name,
    /// Set while a setter runs because its name was read.
    pub(crate) backtrack: Option<Backtrack>,
    /// How many setters run because their names were read.
    pub(crate) detours: u32,
    /// The outermost ordered statement of a package that runs in its turn.
    pub(crate) turn: Option<crate::ordered::Site>,
    /// How many ordered `if`s have been decided in their turn.
    pub(crate) turns: u32,
    /// The condition of an ordered `if` that is being evaluated.
    pub(crate) deciding: Option<Deciding>,
    /// How often a condition was found to need a name that its own `if` sets.
    pub(crate) circles: u32,
    /// How many schema bodies and schema expressions are under way.
    pub(crate) schema_depth: u32,
    pub(crate) schema_expr_depth: u32,
    /// How many steps, levels and bytes are left.
    pub(crate) steps_left: u64,
    /// How many steps may come after those, slice by slice.
    steps_after: u64,
    /// When the evaluation must have ended, since the Unix epoch.
    pub(crate) ends_at: Option<Duration>,
    pub(crate) depth_left: u32,
    stack_floor: usize,
    pub(crate) memory_left: u64,
    /// Whether work on large values counts as several steps.
    pub(crate) weighs_work: bool,
    /// How many comprehensions and quantifiers are under way.
    pub(crate) loop_depth: u32,
    /// Instances by schema, if the program asks for them.
    pub(crate) instances: FxHashMap<SchemaId, Vec<(PackageId, Rc<Instance>)>>,
    pub(crate) records_instances: bool,
    /// Whether instances are noted at all: for the program, or for coverage.
    pub(crate) notes_instances: bool,
    /// Whether calls of lambdas are noted: for what gave their arguments, or for coverage.
    pub(crate) notes_calls: bool,
    /// What ran, if that is asked for.
    pub(crate) coverage: Option<Box<Coverage>>,
    pub(crate) printed: String,
    /// Whether anything outside the program was asked for: files, time, the working folder.
    pub(crate) used_system: Cell<bool>,
    /// Whether imported packages did nothing that must happen again for another program.
    pub(crate) imports_are_pure: bool,
    pub(crate) stream: Option<Stream>,
    /// What was given to earlier calls of `manifests.yaml_stream`.
    pub(crate) earlier_streams: Vec<EarlierStream>,
    /// The call of a built-in that was begun last; kept for provenance only.
    pub(crate) call_at: Origin,
    /// The arguments of running lambdas whose givers are known.
    pub(crate) given_arguments: Vec<crate::provenance::GivenArgument>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Checks that failed without ending the evaluation.
    pub(crate) failed_checks: Vec<Diagnostic>,
    /// Whether instances keep only what is written.
    pub(crate) partial: bool,
    pub(crate) provenance: Provenance,
    pub(crate) checked: CheckedLists,
    /// A failure with more detail than the fault that stands for it in a built-in.
    pub(crate) pending: Option<Failure>,
    /// Config blocks of the main package that are merged into a later one.
    pub(crate) merges: crate::config::Merges,
}

impl<'p> Evaluator<'p> {
    pub(crate) fn new(
        program: &'p Program,
        system: &'p dyn System,
        request: &'p Request,
        provenance: Provenance,
    ) -> Self {
        Self::with_library(program, system, request, provenance, Parts::default())
    }

    /// Makes an evaluator that knows imported packages already.
    pub(crate) fn with_library(
        program: &'p Program,
        system: &'p dyn System,
        request: &'p Request,
        mut provenance: Provenance,
        library: Parts,
    ) -> Self {
        let options = request.options;
        let bases = provenance.add_program(program, &request.arguments);
        let mut files = Vec::with_capacity(program.files.len());
        for (file, origin_base) in program.files.iter().zip(bases) {
            let n_exprs = file.module.exprs.len() as u32;
            files.push(FileState {
                names: FileNames::default(),
                origin_base,
                n_exprs,
                constants: FxHashMap::default(),
                types: Vec::new(),
            });
        }
        let frame = Frame {
            module: &NO_MODULE,
            file: FileId(0),
            package: PackageId(0),
            origin_base: 1,
            refs: Rc::from([]),
            base: 0,
            this: None,
            in_lambda: false,
        };
        let mut evaluator = Self {
            program,
            system,
            request,
            options,
            files,
            packages: program.packages.iter().map(|_| PackageState::default()).collect(),
            schemas: Vec::new(),
            schema_ids: FxHashMap::default(),
            strings: FxHashMap::default(),
            stack: Vec::with_capacity(256),
            frame,
            at: Origin(0),
            no_args: Rc::default(),
            spare_args: None,
            methods: FxHashMap::default(),
            text_buffer: String::new(),
            targets: Vec::new(),
            no_name: Name::new(""),
            backtrack: None,
            detours: 0,
            turn: None,
            turns: 0,
            deciding: None,
            circles: 0,
            schema_depth: 0,
            schema_expr_depth: 0,
            steps_left: 0,
            steps_after: options.limits.steps,
            ends_at: options.limits.time.map(|time| system.now() + time),
            depth_left: options.limits.depth,
            stack_floor: request.stack_floor,
            memory_left: options.limits.memory,
            weighs_work: false,
            loop_depth: 0,
            instances: FxHashMap::default(),
            records_instances: false,
            notes_instances: false,
            notes_calls: options.follows_reads() || options.coverage,
            coverage: options.coverage.then(Box::default),
            printed: String::new(),
            used_system: Cell::new(false),
            imports_are_pure: false,
            stream: None,
            earlier_streams: Vec::new(),
            call_at: Origin(0),
            given_arguments: Vec::new(),
            warnings: Vec::new(),
            failed_checks: Vec::new(),
            partial: options.partial,
            provenance,
            checked: CheckedLists::default(),
            pending: None,
            merges: crate::config::Merges::default(),
        };
        evaluator.merges = crate::config::find_merges(program);
        // The main package comes last, so that the numbers of the others do not depend on it.
        let mut new_files = &program.files[..];
        if evaluator.adopt(library) {
            // What is kept of packages never speaks of instances.
            new_files = &new_files[..program.packages[0].files.len()];
        } else {
            (1..program.packages.len()).for_each(|at| evaluator.declare(at));
        }
        evaluator.records_instances = new_files.iter().any(|file| file.text.contains("instances"));
        evaluator.notes_instances = evaluator.records_instances || options.coverage;
        if !program.packages.is_empty() {
            evaluator.declare(0);
        }
        evaluator
    }

    /// What was evaluated last.
    pub(crate) fn end(&self) -> Option<FileSpan> {
        self.place(self.at).map(|place| self.line_start(place))
    }

    pub(crate) fn into_evaluated(self, value: Value) -> Evaluated {
        let (end, usage) = (self.end(), self.usage());
        let coverage = self.hits();
        Evaluated {
            value,
            end,
            usage,
            stream: self.stream,
            earlier_streams: self.earlier_streams,
            provenance: self.provenance,
            printed: self.printed,
            warnings: self.warnings,
            coverage,
        }
    }

    /// The error of checks that failed, and of what ended the evaluation.
    pub(crate) fn into_error(mut self, failure: Option<&Failure>) -> Box<EvalError> {
        let mut diagnostics = std::mem::take(&mut self.failed_checks);
        diagnostics.extend(failure.map(|failure| self.diagnostic(failure)));
        let coverage = self.hits();
        Box::new(EvalError { diagnostics, printed: self.printed, coverage })
    }

    /// Registers the schemas of a package and the statements that set its globals.
    fn declare(&mut self, at: usize) {
        let program = self.program;
        let package = &program.packages[at];
        let package_id = PackageId(at as u32);
        for (&name, global) in &package.globals {
            for &(file, stmt) in &global.definitions {
                let module: &'p Module = &program.file(file).module;
                if let Stmt::Schema(decl) = &module[stmt].kind {
                    let id = SchemaId(self.schemas.len() as u32);
                    let info = Rc::new(SchemaInfo {
                        name: Str::from(name.as_str()),
                        package: Str::from(package.path.as_str()),
                        id: id.0,
                    });
                    self.schema_ids.insert((package_id, name), id);
                    self.schemas.push(SchemaDecl {
                        file,
                        stmt,
                        decl,
                        package: package_id,
                        info,
                        layout: None,
                        links: None,
                        param_types: Rc::default(),
                        has_run: false,
                    });
                }
            }
        }
        self.packages[at].ordered = self.ordered_globals(package_id);
        self.packages[at].globals = self.global_states(package_id);
    }

    fn ordered_globals(&self, package: PackageId) -> Option<Rc<OrderedStmts>> {
        let program = self.program;
        let mut outermost = Vec::new();
        for &file in &program.package(package).files {
            let module: &'p Module = &program.file(file).module;
            let stmts =
                module.body.iter().filter(|stmt| !self.merges.removed.contains(&(file, **stmt)));
            outermost.extend(stmts.map(|&stmt| Outermost {
                file,
                schema: SchemaId::NONE,
                module,
                stmt,
            }));
        }
        OrderedStmts::find(&outermost).map(Rc::new)
    }

    pub(crate) fn run(&mut self) -> Eval<Value> {
        if self.program.packages.is_empty() {
            return Ok(Value::dict(kcl_value::Dict::new()));
        }
        self.evaluate_package(PackageId(0))?;
        let value = self.plan_globals()?;
        if !(self.partial && self.options.complete) {
            return Ok(value);
        }
        self.partial = false;
        self.completed(&value)
    }

    /// Evaluates all statements of a package, its imports first.
    pub(crate) fn evaluate_package(&mut self, package: PackageId) -> Eval<()> {
        if std::mem::replace(&mut self.packages[package.0 as usize].evaluated, true) {
            return Ok(());
        }
        self.evaluate_imports(package)?;
        if package == PackageId(0) {
            self.imports_are_pure = self.is_pure();
        }
        let program = self.program;
        for &file in &program.package(package).files {
            let module: &'p Module = &program.file(file).module;
            for &stmt in &module.body {
                if package == PackageId(0) && !self.is_asked_for(module, stmt) {
                    continue;
                }
                self.run_global_stmt(file, stmt)?;
                self.packages[package.0 as usize].passed = Some((file, stmt));
            }
        }
        Ok(())
    }

    /// Whether a statement of the main package is to run: it declares something, or sets a variable
    /// that is asked for.
    fn is_asked_for(&self, module: &Module, stmt: StmtId) -> bool {
        let roots = &self.request.roots;
        if roots.is_empty() || matches!(module[stmt].kind, Stmt::Schema(_)) {
            return true;
        }
        let mut is_found = false;
        visit_definitions(module, stmt, &mut |defined| {
            is_found |= roots.contains(&defined.ident.name);
        });
        is_found
    }

    /// Evaluates the packages that a package uses. One that is imported and not used is passed
    /// over, yet not what it uses in turn.
    fn evaluate_imports(&mut self, package: PackageId) -> Eval<()> {
        if std::mem::replace(&mut self.packages[package.0 as usize].imports_evaluated, true) {
            return Ok(());
        }
        let program = self.program;
        for &file in &program.package(package).files {
            for import in &program.file(file).imports {
                match import.target {
                    kcl_hir::ImportTarget::Package(target) if import.is_used => {
                        self.evaluate_package(target)?;
                    }
                    kcl_hir::ImportTarget::Package(target) => self.evaluate_imports(target)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The frame of a file, with locals from the top of the stack on.
    pub(crate) fn file_frame(&self, file: FileId) -> Frame<'p> {
        let source = self.program.file(file);
        Frame {
            module: &source.module,
            file,
            package: source.package,
            origin_base: self.files[file.0 as usize].origin_base,
            refs: self.files[file.0 as usize].names.refs.clone(),
            base: self.stack.len(),
            this: None,
            in_lambda: false,
        }
    }

    /// Runs `code` in another frame with `n_slots` fresh locals.
    pub(crate) fn in_frame<T>(
        &mut self,
        mut frame: Frame<'p>,
        n_slots: usize,
        code: impl FnOnce(&mut Self) -> Eval<T>,
    ) -> Eval<T> {
        let base = self.stack.len();
        frame.base = base;
        self.stack.resize(base + n_slots, Value::Undefined);
        let saved = std::mem::replace(&mut self.frame, frame);
        let result = code(self);
        self.frame = saved;
        self.stack.truncate(base);
        result
    }

    /// The shared string of a name.
    pub(crate) fn string(&mut self, name: Name) -> Str {
        if let Some(known) = self.strings.get(&name) {
            return known.clone();
        }
        let text = Str::from(name.as_str());
        self.strings.insert(name, text.clone());
        text
    }

    /// Gives a call from outside limits of its own.
    pub(crate) fn begin_call(&mut self, limits: crate::CallLimits) {
        self.options.limits.steps = limits.steps;
        self.options.limits.memory = limits.memory;
        (self.steps_left, self.steps_after) = (0, limits.steps);
        self.memory_left = limits.memory;
        self.ends_at = None;
        self.weighs_work = true;
    }

    /// Counts one step and one level; see [`Self::leave`].
    #[inline]
    pub(crate) fn enter(&mut self) -> Eval<()> {
        if self.depth_left == 0 || self.steps_left == 0 || stack_address() < self.stack_floor {
            self.go_on()?;
        }
        self.depth_left -= 1;
        self.steps_left -= 1;
        Ok(())
    }

    #[inline]
    pub(crate) fn leave(&mut self) {
        self.depth_left += 1;
    }

    /// Runs code one step further and one level deeper.
    #[inline]
    pub(crate) fn nested<T>(&mut self, code: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        self.enter()?;
        let result = code(self);
        self.leave();
        result
    }

    /// Counts bytes that a new value takes.
    #[inline]
    pub(crate) fn charge(&mut self, bytes: usize) -> Eval<()> {
        match self.memory_left.checked_sub(bytes as u64) {
            Some(left) if bytes <= MAX_VALUE => {
                self.memory_left = left;
                Ok(())
            }
            _ => Err(too_much_memory().into()),
        }
    }

    /// How many bytes one more value may take.
    pub(crate) fn room(&self) -> usize {
        usize::try_from(self.memory_left).unwrap_or(usize::MAX).min(MAX_VALUE)
    }

    /// Counts many steps.
    pub(crate) fn spend(&mut self, steps: u64) -> Eval<()> {
        match (self.steps_left + self.steps_after).checked_sub(steps) {
            Some(left) => {
                self.steps_left = left.min(SLICE);
                self.steps_after = left - self.steps_left;
                Ok(())
            }
            None => Err(Failure::new("the program was stopped: it takes too many steps")),
        }
    }

    /// How many bytes of text the steps that are left can be spent on.
    pub(crate) fn work_left(&self) -> usize {
        let steps = self.steps_left + self.steps_after;
        usize::try_from(steps).unwrap_or(usize::MAX).saturating_mul(crate::calls::BYTES_PER_STEP)
    }

    /// Begins the next slice of steps, if none of the limits is reached.
    #[cold]
    fn go_on(&mut self) -> Eval<()> {
        if self.depth_left == 0 || stack_address() < self.stack_floor {
            return Err(Failure::new("stack overflow: expressions or calls nest too deeply"));
        }
        if self.steps_after == 0 {
            return Err(Failure::new("the program was stopped: it takes too many steps"));
        }
        if let Some(end) = self.ends_at
            && self.system.now() >= end
        {
            return Err(self.timed_out());
        }
        self.steps_left = self.steps_after.min(SLICE);
        self.steps_after -= self.steps_left;
        Ok(())
    }

    /// The failure of a program whose time is over.
    #[cold]
    pub(crate) fn timed_out(&self) -> Failure {
        let time = self.options.limits.time.unwrap_or_default();
        Failure::new(format!("the program was stopped: timed out after {time:?}"))
    }

    /// What was taken of the limits so far.
    pub(crate) fn usage(&self) -> Usage {
        let limits = &self.options.limits;
        Usage {
            steps: limits.steps - self.steps_left - self.steps_after,
            memory: limits.memory - self.memory_left,
        }
    }

    pub(crate) fn origin(&self, expr: ExprId) -> Origin {
        Origin(self.frame.origin_base + expr.0)
    }

    pub(crate) fn stmt_origin(&self, file: FileId, stmt: StmtId) -> Origin {
        let state = &self.files[file.0 as usize];
        Origin(state.origin_base + state.n_exprs + stmt.0)
    }

    /// The place of a node.
    pub(crate) fn place(&self, origin: Origin) -> Option<FileSpan> {
        let origin = self.provenance.node(origin);
        if origin.0 == 0 {
            return None;
        }
        let at = self.files.partition_point(|file| file.origin_base <= origin.0).checked_sub(1)?;
        let state = &self.files[at];
        let module = &self.program.files[at].module;
        let index = origin.0 - state.origin_base;
        let span = if index < state.n_exprs {
            module.exprs[index as usize].span
        } else {
            module.stmts.get((index - state.n_exprs) as usize)?.span
        };
        Some(FileSpan { file: FileId(at as u32), span })
    }

    /// The expression that an origin stands for.
    pub(crate) fn expr_at(&self, origin: Origin) -> Option<(FileId, ExprId)> {
        let origin = self.provenance.node(origin);
        let at = self.files.partition_point(|file| file.origin_base <= origin.0).checked_sub(1)?;
        let state = &self.files[at];
        let index = origin.0 - state.origin_base;
        (index < state.n_exprs).then_some((FileId(at as u32), ExprId(index)))
    }

    pub(crate) fn diagnostic(&self, failure: &Failure) -> Diagnostic {
        let details = failure.details();
        let at = self.place(details.at.unwrap_or(self.at)).map(|place| self.line_start(place));
        let new = |at, message: &str| {
            Diagnostic::new(Severity::Error, "E3M38", "EvaluationError", at, message)
        };
        match &details.check {
            Some(check) => {
                let Some(instance) = check.instance.and_then(|origin| self.place(origin)) else {
                    return new(at, &check.headline);
                };
                let mut diagnostic = new(Some(instance), "Instance check failed");
                if let Some(at) = at {
                    diagnostic = diagnostic.label(at, check.headline.as_str());
                }
                diagnostic
            }
            None => match &details.note {
                Some(note) => new(at, &details.message).note(note),
                None => new(at, &details.message),
            },
        }
    }

    /// Evaluation knows lines only: the first column of the line of a place.
    fn line_start(&self, place: FileSpan) -> FileSpan {
        let text = &self.program.file(place.file).text;
        let start = (place.span.start as usize).min(text.len());
        let line_start = text
            .get(..start)
            .map_or(0, |before| before.rfind('\n').map_or(0, |newline| newline + 1));
        FileSpan { file: place.file, span: Span::empty(line_start as u32) }
    }
}
