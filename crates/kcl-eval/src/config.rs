//! Config literals and the merging of blocks of the same name.

use crate::error::{Eval, Failure};
use crate::evaluator::Evaluator;
use crate::loops::key_text;
use crate::names::NameRef;
use base_text::{FileId, Name};
use kcl_hir::{Block, EntryOrder, Program, entry_name};
use kcl_syntax::ast::{ConfigEntry, ConfigOp, Expr, ExprId, Module, StmtId};
use kcl_value::{Dict, Entry, MergeOp, Origin, Slot, Str, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Which blocks of the main package are merged into which statement.
///
/// `p: P {…}` may be written several times; the last statement gets the entries of all.
#[derive(Default)]
pub(crate) struct Merges {
    pub(crate) blocks: FxHashMap<(FileId, StmtId), Rc<[Block]>>,
    /// Statements whose entries went to a later one.
    pub(crate) removed: FxHashSet<(FileId, StmtId)>,
}

/// Finds the blocks of the main package that are to be merged.
pub(crate) fn find_merges(program: &Program) -> Merges {
    let mut merges = Merges::default();
    for (name, global) in program.main_package().into_iter().flat_map(|package| &package.globals) {
        let blocks = program.merged_blocks(*name, global);
        if let Some((last, earlier)) = blocks.split_last() {
            merges.removed.extend(earlier.iter().map(|block| (block.file, block.stmt)));
            merges.blocks.insert((last.file, last.stmt), blocks.as_slice().into());
        }
    }
    merges
}

impl<'p> Evaluator<'p> {
    pub(crate) fn eval_config(&mut self, id: ExprId, items: &'p [ConfigEntry]) -> Eval<Value> {
        let resets = &self.files[self.frame.file.0 as usize].names.resets;
        if !resets.is_empty()
            && let Some(slots) = resets.get(&id)
        {
            for slot in slots.clone() {
                self.stack[self.frame.base + slot as usize] = Value::Undefined;
            }
        }
        let mut dict = Value::dict(Dict::with_capacity(items.len()));
        self.eval_entries(&mut dict, items, false)?;
        Ok(dict)
    }

    /// Evaluates entries into a dict. With `unify`, an entry with `=` makes those of the same
    /// key before it void, as in merged blocks.
    pub(crate) fn eval_entries(
        &mut self,
        dict: &mut Value,
        items: &'p [ConfigEntry],
        unify: bool,
    ) -> Eval<()> {
        if !unify {
            return items.iter().try_for_each(|item| self.eval_entry(dict, item, false, Origin(0)));
        }
        let module = self.frame.module;
        if has_distinct_keys(module, items) {
            return items.iter().try_for_each(|item| self.eval_entry(dict, item, true, Origin(0)));
        }
        let mut buckets = Buckets::default();
        for (at, item) in items.iter().enumerate() {
            let origin = self.origin(item.value);
            buckets.add(self, entry_name(module, item), item.op, at, origin);
        }
        for (at, beaten) in buckets.into_order() {
            self.eval_entry(dict, &items[at], true, beaten)?;
        }
        Ok(())
    }

    /// Evaluates an entry into a dict; `beaten` is the origin of those it made void.
    fn eval_entry(
        &mut self,
        dict: &mut Value,
        item: &'p ConfigEntry,
        unify: bool,
        beaten: Origin,
    ) -> Eval<()> {
        let value = self.eval_entry_value(item, unify)?;
        let own = self.origin_of(item.value, &value);
        let origin = self.outvote(beaten, own);
        let Some(key_expr) = item.key else {
            let made = std::mem::take(dict);
            let value = self.stamped(value, origin);
            *dict = self.unpack_into(made, value)?;
            return Ok(());
        };
        let (key, index) = self.eval_key(key_expr)?;
        self.charge(size_of::<Entry>())?;
        let slot = Slot::new(crate::union::merge_op(item.op), index);
        self.place_entry(dict, Entry { key: key.clone(), value, slot, origin })?;
        if let NameRef::Local(slot) = self.name_ref(key_expr) {
            let value = dict.as_config().and_then(|dict| dict.get(&key)).cloned();
            self.stack[self.frame.base + slot as usize] = value.unwrap_or_default();
        }
        Ok(())
    }

    /// Evaluates the value of an entry, nested literals of merged blocks by their rules.
    fn eval_entry_value(&mut self, item: &'p ConfigEntry, unify: bool) -> Eval<Value> {
        if unify {
            match &self.frame.module[item.value].kind {
                Expr::Config(items) => {
                    self.at = self.origin(item.value);
                    let mut dict = Value::dict(Dict::with_capacity(items.len()));
                    self.eval_entries(&mut dict, items, true)?;
                    return Ok(dict);
                }
                Expr::Schema(schema) => {
                    self.at = self.origin(item.value);
                    if let Expr::Config(items) = &self.frame.module[schema.config].kind {
                        let mut config = Value::dict(Dict::with_capacity(items.len()));
                        self.schema_expr_depth += 1;
                        let result = self.eval_entries(&mut config, items, true);
                        self.schema_expr_depth -= 1;
                        result?;
                        return self.eval_schema_with(item.value, schema, config);
                    }
                }
                _ => {}
            }
        }
        self.eval(item.value)
    }

    /// Puts an entry into the literal that is being evaluated.
    pub(crate) fn place_entry(&mut self, dict: &mut Value, mut entry: Entry) -> Eval<()> {
        if let Value::Dict(rc) = dict
            && let Some(target) = Rc::get_mut(rc)
            && entry.slot.index().is_none()
            && entry.slot.op() != MergeOp::Insert
        {
            match target.try_push(entry) {
                Ok(()) => return Ok(()),
                Err(refused) => entry = refused,
            }
        }
        let op = match entry.slot.op() {
            MergeOp::Union => ConfigOp::Union,
            MergeOp::Override => ConfigOp::Override,
            MergeOp::Insert => ConfigOp::Insert,
        };
        let made = std::mem::take(dict);
        let index = entry.slot.index();
        *dict = self.insert_entry(made, entry.key, entry.value, op, index, entry.origin)?;
        Ok(())
    }

    /// The text of a key and, for `key[index]`, the index.
    fn eval_key(&mut self, key: ExprId) -> Eval<(Str, Option<i32>)> {
        let module = self.frame.module;
        if let NameRef::LocalOr(slot, u32::MAX) = self.name_ref(key) {
            let value = self.stack[self.frame.base + slot as usize].clone();
            return Ok((key_text(&value), None));
        }
        match &module[key].kind {
            Expr::Ident(path) => match path.names.first() {
                Some(first) => Ok((self.string(first.name), None)),
                None => Ok((Str::from(""), None)),
            },
            Expr::String(text) => {
                let Value::Str(text) = self.string_constant(key, &text.value) else {
                    return Ok((Str::from(&*text.value), None));
                };
                Ok((text, None))
            }
            Expr::Subscript(subscript) => {
                let index =
                    subscript.index.and_then(|index| kcl_hir::names::literal_index(module, index));
                if let (Expr::Ident(path), Some(index)) = (&module[subscript.value].kind, index)
                    && let Some(first) = path.names.first()
                {
                    return Ok((self.string(first.name), Some(index)));
                }
                let value = self.eval(key)?;
                Ok((key_text(&value), None))
            }
            _ => {
                let value = self.eval(key)?;
                Ok((key_text(&value), None))
            }
        }
    }

    /// `{**value}`
    fn unpack_into(&mut self, dict: Value, value: Value) -> Eval<Value> {
        match value {
            Value::None | Value::Undefined => Ok(dict),
            Value::Dict(_) => self.bit_or(dict, value),
            Value::Schema(schema) => {
                let attrs = schema.attrs.clone();
                self.bit_or(dict, Value::dict(attrs))
            }
            other => Err(Failure::new(format!(
                "only list, dict and schema object can be used with unpack operators * and **, got {}",
                kcl_value::show(&other)
            ))),
        }
    }

    pub(crate) fn eval_config_if(
        &mut self,
        cond: ExprId,
        items: &'p [ConfigEntry],
        orelse: Option<ExprId>,
    ) -> Eval<Value> {
        let holds = self.eval(cond)?.is_truthy();
        self.note_decision(cond, holds);
        if holds {
            let mut dict = Value::dict(Dict::with_capacity(items.len()));
            self.eval_entries(&mut dict, items, false)?;
            return Ok(dict);
        }
        let Some(orelse) = orelse else { return Ok(Value::None) };
        if let Expr::Config(items) = &self.frame.module[orelse].kind {
            let mut dict = Value::dict(Dict::with_capacity(items.len()));
            self.eval_entries(&mut dict, items, false)?;
            return Ok(dict);
        }
        self.eval(orelse)
    }

    /// Evaluates merged blocks to one config.
    pub(crate) fn eval_blocks(&mut self, blocks: &[Block]) -> Eval<Value> {
        let program = self.program;
        // The entries of all blocks, by key in the order of their first use.
        let mut buckets: Buckets<(usize, usize)> = Buckets::default();
        for (block_idx, block) in blocks.iter().enumerate() {
            let module: &'p Module = &program.file(block.file).module;
            let Expr::Config(items) = &module[block.config].kind else { continue };
            let origin_base = self.files[block.file.0 as usize].origin_base;
            for (item_idx, item) in items.iter().enumerate() {
                let origin = Origin(origin_base + item.value.0);
                let name = entry_name(module, item);
                buckets.add(self, name, item.op, (block_idx, item_idx), origin);
            }
        }
        let mut locals: Vec<Vec<Value>> = Vec::with_capacity(blocks.len());
        for block in blocks {
            locals.push(vec![Value::Undefined; self.unit(block.file, block.stmt) as usize]);
        }
        let entries = buckets.into_order();
        let mut dict = Value::dict(Dict::with_capacity(entries.len()));
        for ((block_idx, item_idx), beaten) in entries {
            let block = &blocks[block_idx];
            let frame = self.file_frame(block.file);
            let slots = &mut locals[block_idx];
            self.in_frame(frame, slots.len(), |this| {
                let Expr::Config(items) = &this.frame.module[block.config].kind else {
                    return Ok(());
                };
                let base = this.frame.base;
                this.stack[base..base + slots.len()].swap_with_slice(slots);
                this.load_merged_keys(block.config, &dict);
                this.eval_entry(&mut dict, &items[item_idx], true, beaten)?;
                this.stack[base..base + slots.len()].swap_with_slice(slots);
                Ok(())
            })?;
        }
        Ok(dict)
    }
}

impl Evaluator<'_> {
    /// Puts the keys of other blocks that a block reads into its slots.
    fn load_merged_keys(&mut self, config: ExprId, dict: &Value) {
        let names = &self.files[self.frame.file.0 as usize].names;
        for (slot, name) in names.merged_keys.get(&config).into_iter().flatten() {
            let value = dict.as_config().and_then(|dict| dict.get(name.as_str()));
            self.stack[self.frame.base + *slot as usize] = value.cloned().unwrap_or_default();
        }
    }

    /// Where a missing attribute of an instance is reported: at the first key of its config,
    /// where that is written last; at the instance itself if it has no keys.
    pub(crate) fn first_entry(&self, instance: Origin) -> Origin {
        let Some((file, expr)) = self.expr_at(instance) else { return instance };
        let module = &self.program.file(file).module;
        let Expr::Schema(schema) = &module[expr].kind else { return instance };
        let own = [Block { file, stmt: StmtId(0), config: schema.config }];
        let merged = self.merges.blocks.values().find(|blocks| {
            blocks.last().is_some_and(|last| last.file == file && last.config == schema.config)
        });
        let mut first: Option<(FileId, Option<Name>, ExprId)> = None;
        for block in merged.map_or(&own[..], |blocks| &blocks[..]) {
            let module = &self.program.file(block.file).module;
            let Expr::Config(items) = &module[block.config].kind else { continue };
            for item in items {
                let Some(key) = item.key else { continue };
                let name = entry_name(module, item);
                match first {
                    None => first = Some((block.file, name, key)),
                    Some((_, have, _)) if name.is_some() && have == name => {
                        first = Some((block.file, name, key));
                    }
                    Some(_) => {}
                }
            }
        }
        first.map_or(instance, |(file, _, key)| {
            Origin(self.files[file.0 as usize].origin_base + key.0)
        })
    }
}

/// Whether all entries of a short config have keys of their own, so that none meets another.
fn has_distinct_keys(module: &Module, items: &[ConfigEntry]) -> bool {
    const SHORT: usize = 16;
    if items.len() > SHORT {
        return false;
    }
    let mut names = [None; SHORT];
    for (at, item) in items.iter().enumerate() {
        let name = entry_name(module, item);
        if names[..at].contains(&name) {
            return false;
        }
        names[at] = name;
    }
    true
}

/// The entries of merged blocks in order, each with its origin and that of those it made void.
struct Buckets<T> {
    order: EntryOrder<(T, Origin, Origin)>,
}

impl<T> Default for Buckets<T> {
    fn default() -> Self {
        Self { order: EntryOrder::default() }
    }
}

impl<T> Buckets<T> {
    /// Adds the entry `item`, whose value is from `origin`.
    fn add(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        name: Option<Name>,
        op: ConfigOp,
        item: T,
        origin: Origin,
    ) {
        let void = self.order.add(name, op, (item, origin, Origin(0)));
        if !evaluator.options.keeps_contests() {
            return;
        }
        let mut beaten = Origin(0);
        for (_, origin, earlier) in void {
            let origin = evaluator.outvote(earlier, origin);
            beaten = evaluator.outvote(beaten, origin);
        }
        if let Some(entry) = self.order.last_mut(name) {
            entry.2 = beaten;
        }
    }

    /// The entries that count, in order, each with the origin of those it made void.
    fn into_order(self) -> Vec<(T, Origin)> {
        self.order.into_entries().map(|(item, _, beaten)| (item, beaten)).collect()
    }
}
