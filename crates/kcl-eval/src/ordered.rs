//! Names that an `if` sets, and private names that are set more than once.
//!
//! Their statements are *ordered*: an `if` is decided once, with the values that its names
//! have at that place, and the statements of the branch taken count once each, in order. A
//! read runs the statements that set the name, from the first on, until it meets one that is
//! under way. So the condition and the right side of a statement that changes a name see what
//! the statements before it made of it, and so does a read of a global in an `if` that is the last
//! statement to set it. Every other read sees the final value.
//!
//! A condition that is asked for early, by a read, and needs a statement that is under way is
//! not decided then, but in its turn.

use crate::error::Eval;
use crate::evaluator::Evaluator;
use crate::instance::Instance;
use crate::layout::SchemaId;
use crate::lazy::circular;
use base_text::{FileId, Name};
use kcl_hir::PackageId;
use kcl_hir::names::{names_set, visit_definitions};
use kcl_syntax::ast::{If, Module, Stmt, StmtId};
use kcl_value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A statement of a file.
pub(crate) type Site = (FileId, StmtId);

/// An outermost statement of a package or of a schema's body, in the order of execution.
pub(crate) struct Outermost<'p> {
    pub(crate) file: FileId,
    pub(crate) schema: SchemaId,
    pub(crate) module: &'p Module,
    pub(crate) stmt: StmtId,
}

/// The ordered statements of a package or of a schema with its bases and mixins.
#[derive(Debug, Default)]
pub(crate) struct OrderedStmts {
    /// The statements that set a name, in order; behind the setters in an `if` with all its
    /// `elif`s stands the `if` itself, whose conditions may read the name.
    setters: FxHashMap<Name, Vec<Site>>,
    /// Where statements stand: those that set names, and the `if`s around them.
    places: FxHashMap<Site, Place>,
}

/// Where an ordered statement stands.
#[derive(Debug)]
struct Place {
    schema: SchemaId,
    outermost: StmtId,
    is_if: bool,
    /// The `if` around it, and whether it stands in the branch for a condition that holds.
    parent: Option<(StmtId, bool)>,
    /// The names it sets, with its position among the setters of each; none for an `elif`.
    names: Vec<(Name, u32)>,
}

/// A condition that is being evaluated.
pub(crate) struct Deciding {
    holder: Holder,
    own: Site,
    /// Its `if`, or the one whose `elif` it is.
    head: Site,
    /// How many statements were under way when it began.
    depth: usize,
    /// The outermost of these that it needs to have ended; more than `depth` if none.
    needs: usize,
    /// Whether it reads the name that the innermost of these sets, which has no value.
    is_circular: bool,
}

/// How far the ordered statements of a package or instance have come.
#[derive(Debug, Default)]
pub(crate) struct OrderedRuns {
    marks: FxHashMap<Site, Mark>,
    names: FxHashMap<Name, NameRun>,
}

/// How far one name has come.
#[derive(Clone, Copy, Debug, Default)]
struct NameRun {
    /// All setters before this one are done or will never run.
    next: u32,
    /// The number of setters up to the last one that has stored a value.
    stored: u32,
    /// Whether `+=` ran in its turn: from then on, statements in their turn see the global as
    /// it is then, as in the reference.
    follows_turns: bool,
}

#[derive(Clone, Copy, Debug)]
enum Mark {
    /// Runs, or its condition is evaluated; `depth` statements are under way, with itself.
    UnderWay {
        depth: usize,
    },
    Done,
    /// An `if` that is decided.
    Decided(bool),
    /// An `if` that needs a statement under way; asking again before that has ended is in vain.
    Early(Need),
}

/// A statement that must end before a condition can be decided.
#[derive(Clone, Copy, Debug)]
struct Need {
    /// How many statements are under way, with it.
    depth: usize,
    /// What it sets, if it is no condition.
    name: Option<Name>,
    /// How many conditions had been decided in their turn.
    turn: u32,
    /// Whether that statement is what asks for the condition.
    is_circular: bool,
}

/// What holds the names: a package or an instance.
#[derive(Clone)]
pub(crate) enum Holder {
    Package(PackageId),
    Instance(Rc<Instance>),
}

impl Holder {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Package(a), Self::Package(b)) => a == b,
            (Self::Instance(a), Self::Instance(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// What came of a setter that was asked to run.
enum Passage {
    /// It has run, or stands in a branch that is not taken.
    Passed,
    /// It runs, and a statement that it needs is asking.
    Overtaken,
    /// It runs and asks itself, or an `if` around it is not decided yet.
    UnderWay,
    /// The condition of an `if` around it asks, by way of another name.
    Circular,
}

/// How far the setters of a name have come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Settled {
    /// None is left.
    Finally,
    /// One is under way, or not decided yet.
    SoFar,
    /// The condition of an `if` that sets the name needs it by way of another name, and nothing
    /// has set it before.
    Circular,
}

/// Whether there is an `if`, or a private name that is set more than once.
fn has_order(outermost: &[Outermost<'_>]) -> bool {
    let mut private: FxHashSet<Name> = FxHashSet::default();
    outermost.iter().any(|outer| {
        if let Stmt::If(_) = outer.module[outer.stmt].kind {
            return true;
        }
        let mut is_again = false;
        visit_definitions(outer.module, outer.stmt, &mut |defined| {
            let name = defined.ident.name;
            if defined.is_value() && name.as_str().starts_with('_') {
                is_again |= !private.insert(name);
            }
        });
        is_again
    })
}

impl OrderedStmts {
    /// Finds the ordered statements; `None` if there are none.
    pub(crate) fn find(outermost: &[Outermost<'_>]) -> Option<Self> {
        if !has_order(outermost) {
            return None;
        }
        let mut groups: Vec<Vec<Name>> = Vec::with_capacity(outermost.len());
        let mut by_name: FxHashMap<Name, Vec<usize>> = FxHashMap::default();
        let mut found: Vec<Name> = Vec::new();
        for (at, outer) in outermost.iter().enumerate() {
            let is_if = matches!(outer.module[outer.stmt].kind, Stmt::If(_));
            let names = names_set(outer.module, &[outer.stmt]);
            for &name in &names {
                let stmts = by_name.entry(name).or_default();
                stmts.push(at);
                if is_if || (name.as_str().starts_with('_') && stmts.len() > 1) {
                    found.push(name);
                }
            }
            groups.push(names);
        }
        if found.is_empty() {
            return None;
        }
        // All names of an ordered statement are ordered, and so are all statements that set one.
        let mut ordered = Self::default();
        let mut is_ordered = vec![false; outermost.len()];
        while let Some(name) = found.pop() {
            if ordered.setters.insert(name, Vec::new()).is_some() {
                continue;
            }
            for &at in by_name.get(&name).into_iter().flatten() {
                if !std::mem::replace(&mut is_ordered[at], true) {
                    found.extend(&groups[at]);
                }
            }
        }
        for (outer, is_ordered) in outermost.iter().zip(is_ordered) {
            // A mixin may be used by a schema and by its base.
            if is_ordered && !ordered.has_stmt(outer.file, outer.stmt) {
                ordered.add(outer, outer.stmt, None);
            }
        }
        Some(ordered)
    }

    fn add(&mut self, outer: &Outermost<'_>, stmt: StmtId, parent: Option<(StmtId, bool)>) {
        let site = (outer.file, stmt);
        let (mut is_counted, mut is_if) = (true, false);
        if let Stmt::If(if_stmt) = &outer.module[stmt].kind {
            is_if = true;
            for (inner, holds) in branches(if_stmt) {
                self.add(outer, inner, Some((stmt, holds)));
            }
            is_counted = !is_elif(outer.module, stmt, parent);
        }
        let set = if is_counted { names_set(outer.module, &[stmt]) } else { Vec::new() };
        let mut names: Vec<(Name, u32)> = Vec::with_capacity(set.len());
        for name in set {
            let setters = self.setters.entry(name).or_default();
            if setters.last() != Some(&site) {
                names.push((name, setters.len() as u32));
                setters.push(site);
            }
        }
        let (schema, outermost) = (outer.schema, outer.stmt);
        self.places.insert(site, Place { schema, outermost, is_if, parent, names });
    }

    /// Whether the statements that set a name are ordered.
    pub(crate) fn has_name(&self, name: Name) -> bool {
        self.setters.contains_key(&name)
    }

    /// Whether a statement is ordered.
    pub(crate) fn has_stmt(&self, file: FileId, stmt: StmtId) -> bool {
        self.places.contains_key(&(file, stmt))
    }

    /// Whether a statement runs whatever conditions say.
    fn is_certain(&self, site: Site) -> bool {
        self.places.get(&site).is_some_and(|place| place.parent.is_none() && !place.is_if)
    }

    /// The `if` of a chain of `elif`s.
    fn head(&self, module: &Module, site: Site) -> Site {
        let (file, mut stmt) = site;
        let parent = |stmt| self.places.get(&(file, stmt)).and_then(|place| place.parent);
        while let Some((outer, _)) = parent(stmt).filter(|_| is_elif(module, stmt, parent(stmt))) {
            stmt = outer;
        }
        (file, stmt)
    }

    /// The `if`s around a statement, the outermost first, with the branches that lead to it.
    fn path(&self, file: FileId, place: &Place) -> Vec<(StmtId, bool)> {
        let mut path = Vec::new();
        let mut next = place.parent;
        while let Some((stmt, holds)) = next {
            path.push((stmt, holds));
            next = self.places.get(&(file, stmt)).and_then(|place| place.parent);
        }
        path.reverse();
        path
    }
}

/// Whether an `if` is an `elif` of the one around it.
fn is_elif(module: &Module, stmt: StmtId, parent: Option<(StmtId, bool)>) -> bool {
    let Some((parent, false)) = parent else { return false };
    matches!(&module[parent].kind, Stmt::If(outer) if outer.orelse == [stmt])
}

/// The statements of both branches, with whether the condition must hold.
fn branches(if_stmt: &If) -> impl Iterator<Item = (StmtId, bool)> {
    let then = if_stmt.body.iter().map(|stmt| (*stmt, true));
    then.chain(if_stmt.orelse.iter().map(|stmt| (*stmt, false)))
}

impl<'p> Evaluator<'p> {
    /// Runs an outermost statement of the package in its turn, if it is ordered.
    pub(crate) fn run_ordered_global(&mut self, file: FileId, stmt: StmtId) -> Option<Eval<()>> {
        let package = self.program.file(file).package;
        let stmts = self.packages[package.0 as usize].ordered.clone()?;
        let place = stmts.places.get(&(file, stmt))?;
        let holder = Holder::Package(package);
        let before = self.turn.replace((file, stmt));
        let done = self.in_place(&holder, file, place, |evaluator| {
            evaluator.run_in_order(&holder, &stmts, stmt)
        });
        self.turn = before;
        Some(done)
    }

    /// Whether a read in an `if` that runs in its turn sees the value so far: of a global that has
    /// one and that no statement behind that `if` sets, as in the reference.
    fn sees_value_so_far(&mut self, holder: &Holder, stmts: &OrderedStmts, name: Name) -> bool {
        let Some(turn) = self.turn.filter(|_| self.detours == 0) else { return false };
        let last = stmts.setters.get(&name).and_then(|setters| setters.last());
        let is_in_turn = last.is_some_and(|last| {
            let place = stmts.places.get(last);
            place.is_some_and(|place| (last.0, place.outermost) == turn)
        });
        is_in_turn && matches!(holder, Holder::Package(_)) && self.name_run(holder, name).stored > 0
    }

    /// Runs an ordered statement in its turn; the frame is that of its outermost statement.
    pub(crate) fn run_in_order(
        &mut self,
        holder: &Holder,
        stmts: &OrderedStmts,
        stmt: StmtId,
    ) -> Eval<()> {
        let file = self.frame.file;
        if let Stmt::If(if_stmt) = &self.frame.module[stmt].kind {
            let Some(holds) = self.decide(holder, stmts, stmt, if_stmt, true)? else {
                return Ok(());
            };
            for &inner in if holds { &if_stmt.body } else { &if_stmt.orelse } {
                self.run_in_order(holder, stmts, inner)?;
            }
            return Ok(());
        }
        match stmts.places.get(&(file, stmt)).filter(|place| !place.names.is_empty()) {
            Some(place) => match self.mark(holder, (file, stmt)) {
                Some(_) => Ok(()),
                None => {
                    self.run_setter_in_order(holder, stmts, stmt, place)?;
                    self.note_turn(holder, stmt, place);
                    Ok(())
                }
            },
            None => self.run_stmt(stmt).map(drop),
        }
    }

    /// Runs the setters of an ordered name as far as they must have run for a read.
    ///
    fn settle(&mut self, holder: &Holder, stmts: &OrderedStmts, name: Name) -> Eval<Settled> {
        if self.detours == 0 && self.name_run(holder, name).follows_turns {
            return Ok(Settled::SoFar);
        }
        if self.sees_value_so_far(holder, stmts, name) {
            return Ok(Settled::SoFar);
        }
        let n_setters = stmts.setters.get(&name).map_or(0, |setters| setters.len() as u32);
        // A condition sees no statement behind its `if` that sets the same name.
        let end = match &self.deciding {
            Some(deciding) if self.is_in_condition() && deciding.holder.is(holder) => {
                let place = stmts.places.get(&deciding.head);
                let names = place.map_or(&[][..], |place| &place.names);
                let own = names.iter().find(|(own, _)| *own == name);
                own.map_or(n_setters, |(_, end)| *end)
            }
            _ => n_setters,
        };
        match self.settle_until(holder, stmts, name, end)? {
            Settled::Finally if end != n_setters => Ok(Settled::SoFar),
            settled => Ok(settled),
        }
    }

    fn settle_until(
        &mut self,
        holder: &Holder,
        stmts: &OrderedStmts,
        name: Name,
        end: u32,
    ) -> Eval<Settled> {
        let Some(setters) = stmts.setters.get(&name) else { return Ok(Settled::Finally) };
        let mut next = self.name_run(holder, name).next;
        let mut all_passed = true;
        while next < end {
            match self.pass(holder, stmts, setters[next as usize])? {
                Passage::Passed => {
                    next += 1;
                    if all_passed {
                        let run = self.name_run(holder, name);
                        let next = run.next.max(next);
                        self.set_name_run(holder, name, NameRun { next, ..run });
                    }
                }
                Passage::Overtaken => {
                    all_passed = false;
                    next += 1;
                }
                Passage::UnderWay => return Ok(Settled::SoFar),
                Passage::Circular => {
                    let has_come =
                        setters[..next as usize].iter().any(|site| stmts.is_certain(*site));
                    return Ok(if has_come { Settled::SoFar } else { Settled::Circular });
                }
            }
        }
        Ok(if all_passed { Settled::Finally } else { Settled::SoFar })
    }

    /// Runs a setter because a name that it sets is read.
    fn pass(&mut self, holder: &Holder, stmts: &OrderedStmts, site: Site) -> Eval<Passage> {
        match self.mark(holder, site) {
            Some(Mark::UnderWay { depth }) => {
                self.note_early(depth);
                let asks_itself = self.targets.len() <= depth;
                return Ok(if asks_itself { Passage::UnderWay } else { Passage::Overtaken });
            }
            Some(Mark::Done | Mark::Decided(true)) => return Ok(Passage::Passed),
            Some(Mark::Decided(false) | Mark::Early(_)) | None => {}
        }
        let (file, stmt) = site;
        let Some(place) = stmts.places.get(&site) else { return Ok(Passage::Passed) };
        let path = stmts.path(file, place);
        for &(if_stmt, wanted) in &path {
            match self.mark(holder, (file, if_stmt)) {
                Some(Mark::Decided(holds)) if holds != wanted => return Ok(Passage::Passed),
                Some(Mark::UnderWay { depth }) => {
                    let is_own = self.is_deciding(holder, (file, if_stmt));
                    if !is_own {
                        self.note_early(depth);
                    }
                    let is_direct = is_own && self.targets.len() == depth;
                    return Ok(if is_direct { Passage::UnderWay } else { Passage::Circular });
                }
                _ => {}
            }
        }
        self.enter()?;
        self.detours += 1;
        let module: &'p Module = &self.program.file(file).module;
        let passage = self.in_place(holder, file, place, |evaluator| {
            for (if_stmt, wanted) in path {
                let Stmt::If(node) = &module[if_stmt].kind else { continue };
                match evaluator.decide(holder, stmts, if_stmt, node, false)? {
                    Some(holds) if holds == wanted => {}
                    Some(_) => return Ok(Passage::Passed),
                    None => return Ok(evaluator.undecided(holder, (file, if_stmt))),
                }
            }
            if let Stmt::If(node) = &module[stmt].kind {
                return evaluator.decide_all(holder, stmts, stmt, node);
            }
            // A condition may have run it.
            if evaluator.mark(holder, site).is_none() {
                evaluator.run_setter_in_order(holder, stmts, stmt, place)?;
            }
            Ok(Passage::Passed)
        });
        self.detours -= 1;
        self.leave();
        passage
    }

    /// Decides an `if`, unless it is decided; `None` while its condition is evaluated, or if
    /// that is too early.
    fn decide(
        &mut self,
        holder: &Holder,
        stmts: &OrderedStmts,
        stmt: StmtId,
        if_stmt: &'p If,
        in_turn: bool,
    ) -> Eval<Option<bool>> {
        let site = (self.frame.file, stmt);
        match self.mark(holder, site) {
            Some(Mark::Decided(holds)) => return Ok(Some(holds)),
            Some(Mark::Early(need)) if !in_turn && self.is_pending(need) => {
                self.note_early(need.depth);
                return Ok(None);
            }
            Some(Mark::Early(_)) | None => {}
            Some(_) => return Ok(None),
        }
        let depth = self.targets.len();
        self.set_mark(holder, site, Some(Mark::UnderWay { depth }));
        let head = stmts.head(self.frame.module, site);
        let deciding = Deciding {
            holder: holder.clone(),
            own: site,
            head,
            depth,
            needs: usize::MAX,
            is_circular: false,
        };
        let outer = self.deciding.replace(deciding);
        let holds = self.truth(if_stmt.cond);
        let decided = std::mem::replace(&mut self.deciding, outer);
        let (needs, is_circular) =
            decided.map_or((usize::MAX, false), |it| (it.needs, it.is_circular));
        self.note_early(needs);
        // In its turn it is never too early.
        let is_early = !in_turn && needs <= depth;
        let holds = holds.map(|holds| (!is_early).then_some(holds));
        if let Ok(Some(holds)) = holds {
            self.note_decision(if_stmt.cond, holds);
        }
        let mark = holds.as_ref().ok().map(|holds| match holds {
            Some(holds) => Mark::Decided(*holds),
            None => Mark::Early(Need { is_circular, ..self.need(needs) }),
        });
        self.set_mark(holder, site, mark);
        self.turns += u32::from(in_turn);
        holds
    }

    /// What comes of a setter in an `if` that cannot be decided now.
    fn undecided(&mut self, holder: &Holder, site: Site) -> Passage {
        match self.mark(holder, site) {
            Some(Mark::Early(need)) if need.is_circular => Passage::Circular,
            _ => Passage::UnderWay,
        }
    }

    /// The statement at a depth.
    fn need(&self, depth: usize) -> Need {
        let name = depth.checked_sub(1).and_then(|at| self.targets.get(at).copied());
        Need { depth, name, turn: self.turns, is_circular: false }
    }

    /// Whether a statement that is needed has not ended yet.
    fn is_pending(&self, need: Need) -> bool {
        let now = self.need(need.depth);
        self.targets.len() >= need.depth && now.name == need.name && now.turn == need.turn
    }

    /// Whether the condition of an `if` asks itself.
    fn is_deciding(&self, holder: &Holder, site: Site) -> bool {
        let deciding = self.deciding.as_ref();
        deciding.is_some_and(|it| it.own == site && it.holder.is(holder))
    }

    /// Notes that a read meets a statement that is under way, as one of `depth`: what is made of
    /// it decides no condition that began later.
    pub(crate) fn note_early(&mut self, depth: usize) {
        if let Some(deciding) = &mut self.deciding
            && depth <= deciding.depth
        {
            deciding.needs = deciding.needs.min(depth);
        }
    }

    /// Decides an `if` and its `elif`s, up to the one whose condition holds.
    fn decide_all(
        &mut self,
        holder: &Holder,
        stmts: &OrderedStmts,
        mut stmt: StmtId,
        mut if_stmt: &'p If,
    ) -> Eval<Passage> {
        while self.decide(holder, stmts, stmt, if_stmt, false)? == Some(false) {
            let &[inner] = if_stmt.orelse.as_slice() else { break };
            let Stmt::If(elif) = &self.frame.module[inner].kind else { break };
            (stmt, if_stmt) = (inner, elif);
        }
        let is_decided =
            matches!(self.mark(holder, (self.frame.file, stmt)), Some(Mark::Decided(_)));
        Ok(if is_decided { Passage::Passed } else { Passage::UnderWay })
    }

    /// Runs a setter after those before it that set the same names.
    fn run_setter_in_order(
        &mut self,
        holder: &Holder,
        stmts: &OrderedStmts,
        stmt: StmtId,
        place: &Place,
    ) -> Eval<()> {
        let site = (self.frame.file, stmt);
        for &(name, at) in &place.names {
            self.settle_until(holder, stmts, name, at)?;
        }
        if self.mark(holder, site).is_some() {
            return Ok(());
        }
        let n_targets = match &self.frame.module[stmt].kind {
            Stmt::Assign(assign) => assign.targets.len(),
            _ => 1,
        };
        let depth = self.targets.len() + n_targets;
        self.set_mark(holder, site, Some(Mark::UnderWay { depth }));
        let result = self.run_stmt(stmt);
        self.set_mark(holder, site, result.is_ok().then_some(Mark::Done));
        result.map(drop)
    }

    /// Notes that a setter ran in its turn.
    fn note_turn(&mut self, holder: &Holder, stmt: StmtId, place: &Place) {
        let (Holder::Package(_), Stmt::AugAssign(assign)) = (holder, &self.frame.module[stmt].kind)
        else {
            return;
        };
        if assign.target.paths.is_empty() && self.detours == 0 {
            for &(name, _) in &place.names {
                let run = self.name_run(holder, name);
                self.set_name_run(holder, name, NameRun { follows_turns: true, ..run });
            }
        }
    }

    /// Notes that an ordered statement stores a value; false if a later one has done so.
    pub(crate) fn may_store(&mut self, holder: &Holder, name: Name, stmt: StmtId) -> bool {
        let Some(stmts) = self.ordered_stmts(holder) else { return true };
        let Some(place) = stmts.places.get(&(self.frame.file, stmt)) else { return true };
        let Some(&(_, at)) = place.names.iter().find(|(known, _)| *known == name) else {
            return true;
        };
        let run = self.name_run(holder, name);
        if at < run.stored {
            return at + 1 == run.stored;
        }
        self.set_name_run(holder, name, NameRun { stored: at + 1, ..run });
        true
    }

    /// Runs code in the frame of a statement's outermost one.
    fn in_place<T>(
        &mut self,
        holder: &Holder,
        file: FileId,
        place: &Place,
        code: impl FnOnce(&mut Self) -> Eval<T>,
    ) -> Eval<T> {
        let loops = std::mem::take(&mut self.loop_depth);
        let backtrack = self.backtrack.take();
        let result = match holder {
            Holder::Package(_) => {
                let n_slots = self.unit(file, place.outermost);
                let frame = self.file_frame(file);
                self.in_frame(frame, n_slots as usize, code)
            }
            Holder::Instance(this) => self.in_schema(place.schema, this, code),
        };
        self.backtrack = backtrack;
        self.loop_depth = loops;
        result
    }

    fn ordered_stmts(&self, holder: &Holder) -> Option<Rc<OrderedStmts>> {
        match holder {
            Holder::Package(package) => self.packages[package.0 as usize].ordered.clone(),
            Holder::Instance(this) => this.layout.ordered.clone(),
        }
    }

    fn with_runs<T>(&mut self, holder: &Holder, code: impl FnOnce(&mut OrderedRuns) -> T) -> T {
        match holder {
            Holder::Package(package) => code(&mut self.packages[package.0 as usize].ordered_runs),
            Holder::Instance(this) => code(this.ordered_runs.borrow_mut().get_or_insert_default()),
        }
    }

    fn mark(&mut self, holder: &Holder, site: Site) -> Option<Mark> {
        self.with_runs(holder, |runs| runs.marks.get(&site).copied())
    }

    fn set_mark(&mut self, holder: &Holder, site: Site, mark: Option<Mark>) {
        self.with_runs(holder, |runs| match mark {
            Some(mark) => drop(runs.marks.insert(site, mark)),
            None => drop(runs.marks.remove(&site)),
        });
    }

    fn name_run(&mut self, holder: &Holder, name: Name) -> NameRun {
        self.with_runs(holder, |runs| runs.names.get(&name).copied().unwrap_or_default())
    }

    fn set_name_run(&mut self, holder: &Holder, name: Name, run: NameRun) {
        self.with_runs(holder, |runs| runs.names.insert(name, run));
    }

    /// Settles a name that is read; says whether its value is final. Refuses a name that has no
    /// value because another one, which it needs, needs it.
    fn settle_read(
        &mut self,
        holder: &Holder,
        name: Name,
        value: impl FnOnce(&mut Self) -> Value,
    ) -> Eval<bool> {
        let Some(stmts) = self.ordered_stmts(holder) else { return Ok(false) };
        let circles = self.circles;
        match self.settle(holder, &stmts, name)? {
            Settled::Finally => return Ok(true),
            Settled::Circular => self.circles += 1,
            Settled::SoFar if self.circles != circles && self.is_in_condition() => {
                if matches!(value(self), Value::Undefined) {
                    return Err(circular(name));
                }
            }
            Settled::SoFar => {}
        }
        Ok(false)
    }

    /// Whether the condition of an ordered `if` is being evaluated, not a statement that it needs.
    fn is_in_condition(&self) -> bool {
        self.deciding.as_ref().is_some_and(|deciding| deciding.depth == self.targets.len())
    }

    /// Notes that a statement, or a condition that it needs, reads the name that it sets.
    #[cold]
    pub(crate) fn note_own_read(&mut self, value: &Value) {
        self.note_early(self.targets.len());
        let in_condition = self.is_in_condition();
        if let Some(deciding) = self.deciding.as_mut().filter(|_| in_condition) {
            deciding.is_circular |= matches!(value, Value::Undefined);
        }
    }

    /// Refuses a statement whose value is nothing since a condition that it needs needs it: the
    /// name would be left out without a word.
    pub(crate) fn check_circles(&self, circles: u32, name: Name, value: &Value) -> Eval<()> {
        if matches!(value, Value::Undefined) && self.circles != circles {
            return Err(circular(name));
        }
        Ok(())
    }

    /// Reads an ordered global.
    pub(crate) fn read_ordered_global(&mut self, package: PackageId, at: u32) -> Eval<Value> {
        let state = self.global(package, at);
        if let Some(value) = &state.progress.cache {
            return Ok(value.clone());
        }
        let name = state.name;
        let is_final = self.settle_read(&Holder::Package(package), name, |it| {
            it.global(package, at).value.clone()
        })?;
        let state = self.global(package, at);
        if is_final {
            state.progress.cache = Some(state.value.clone());
        }
        Ok(state.value.clone())
    }

    /// Reads an ordered attribute.
    pub(crate) fn read_ordered_attr(&mut self, this: &Rc<Instance>, slot: usize) -> Eval<Value> {
        if let Some(value) = &this.states.borrow()[slot].progress.cache {
            return Ok(value.clone());
        }
        let name = this.layout.attrs[slot].name;
        let holder = Holder::Instance(this.clone());
        let is_final = self.settle_read(&holder, name, |_| this.get(slot))?;
        let value = this.get(slot);
        if is_final {
            this.states.borrow_mut()[slot].progress.cache = Some(value.clone());
        }
        Ok(value)
    }
}
