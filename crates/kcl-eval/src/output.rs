//! The globals of the main package as one value.

use crate::error::Eval;
use crate::evaluator::Evaluator;
use base_text::{FileId, Name};
use kcl_hir::PackageId;
use kcl_syntax::ast::{ConfigOp, Stmt, StmtId};
use kcl_value::{Dict, Entry, MergeOp, Origin, Slot, Str, Value};

impl Evaluator<'_> {
    /// Puts scalars and globals together as the program's result.
    pub(crate) fn plan_globals(&mut self) -> Eval<Value> {
        let scalars = std::mem::take(&mut self.packages[0].scalars);
        let key = Str::from("");
        let mut holder = Value::dict(Dict::new());
        for (scalar, origin) in scalars {
            let (key, op) = (key.clone(), ConfigOp::Union);
            holder = self.insert_entry(holder, key, scalar, op, None, origin)?;
        }
        self.provenance.root = root_origin(&holder);
        let mut globals = Dict::new();
        for at in self.global_order() {
            let state = &self.packages[0].globals[at];
            let (name, value, origin) = (state.name, state.value.clone(), state.origin);
            if name.is_private() && !self.request.show_hidden {
                continue;
            }
            let roots = &self.request.roots;
            if !roots.is_empty() && !roots.contains(&name) {
                continue;
            }
            let key = self.string(name);
            let slot = if self.partial { self.global_slot(at) } else { Slot::default() };
            globals.push_new(Entry { key, value, slot, origin });
        }
        let holder_dict = holder.as_config().and_then(|dict| dict.get("").cloned());
        let has_scalars = holder_dict.is_some();
        if !has_scalars {
            return Ok(Value::dict(globals));
        }
        if globals.is_empty() {
            return Ok(holder_dict.unwrap_or_default());
        }
        let merged = self.insert_entry(
            holder,
            key,
            Value::dict(globals),
            ConfigOp::Union,
            None,
            Origin::default(),
        )?;
        self.provenance.root = root_origin(&merged);
        Ok(merged.as_config().and_then(|dict| dict.get("").cloned()).unwrap_or_default())
    }

    /// How a global of a partial program meets those of other programs: `=` replaces them,
    /// but for instances, which are merged with `:` and `=` alike.
    fn global_slot(&self, at: usize) -> Slot {
        let state = &self.packages[0].globals[at];
        let is_assigned = state.setters.last().is_some_and(|setter| {
            let module = &self.program.file(setter.file).module;
            let stmt = setter.stop.unwrap_or(setter.stmt);
            matches!(module[stmt].kind, Stmt::Assign(_))
        });
        let replaces = is_assigned && !matches!(state.value, Value::Schema(_));
        Slot::new(if replaces { MergeOp::Override } else { MergeOp::Union }, None)
    }

    /// The variables of the main package in the order of output: that of the statements
    /// that are left after merging.
    fn global_order(&self) -> Vec<usize> {
        let program = self.program;
        let states = &self.packages[0].globals;
        let mut order: Vec<usize> =
            (0..states.len()).filter(|at| states[*at].is_variable).collect();
        if !self.merges.removed.is_empty() {
            let package = program.package(PackageId(0));
            let first = |name: Name| -> (usize, StmtId) {
                let definitions = package.globals.get(&name).map(|global| &global.definitions);
                let left = definitions
                    .into_iter()
                    .flatten()
                    .find(|definition| !self.merges.removed.contains(definition));
                let (file, stmt) = left.copied().unwrap_or((FileId(u32::MAX), StmtId(u32::MAX)));
                let file = package.files.iter().position(|known| *known == file);
                (file.unwrap_or(usize::MAX), stmt)
            };
            order.sort_by_cached_key(|at| first(states[*at].name));
        }
        order
    }
}

fn root_origin(holder: &Value) -> Origin {
    let entry = holder.as_config().and_then(|dict| dict.entry(""));
    entry.map(|entry| entry.origin).unwrap_or_default()
}
