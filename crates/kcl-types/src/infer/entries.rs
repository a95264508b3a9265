//! The type of a config from its entries.

use super::config::{item_name, plain_name};
use crate::assignable::UnionBuilder;
use crate::checker::Checker;
use crate::diagnostics;
use crate::merge::PlacedEntry;
use crate::ty::{DictAttr, Type};
use base_text::{FileSpan, Name};
use kcl_syntax::ast::{ConfigEntry, ConfigOp, Expr, ExprId, Module};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The types of a config so far.
#[derive(Default)]
struct Gathered {
    /// Keys known to differ.
    names: Vec<Name>,
    /// All keys, once some may not differ.
    keys: Option<UnionBuilder>,
    values: UnionBuilder,
    /// Whether nobody asks for the type.
    is_unwanted: bool,
}

impl Gathered {
    fn add_key(&mut self, key: Type) {
        if self.is_unwanted {
            return;
        }
        let names = &mut self.names;
        let keys = self.keys.get_or_insert_with(|| {
            let mut keys = UnionBuilder::default();
            names.drain(..).for_each(|name| keys.add(Type::name_lit(name)));
            keys
        });
        keys.add(key);
    }

    fn add_value(&mut self, value: &Type) {
        if !self.is_unwanted {
            self.values.add(value.clone());
        }
    }

    fn add_new_name(&mut self, name: Name) {
        if self.is_unwanted {
            return;
        }
        match &mut self.keys {
            Some(keys) => keys.add(Type::name_lit(name)),
            None => self.names.push(name),
        }
    }
}

/// Names set by several entries with the same key.
type SetTogether = FxHashMap<Name, Rc<FxHashSet<Name>>>;

impl<'p> Checker<'p> {
    /// The type of a config expression.
    pub(super) fn config(&mut self, id: ExprId, entries: &'p [ConfigEntry]) -> Type {
        let gathered = self.walk_config(id, entries, true);
        self.gathered_type(gathered)
    }

    /// Walks a config of whose type there is no need.
    pub(super) fn check_config(&mut self, id: ExprId, entries: &'p [ConfigEntry]) {
        self.walk_config(id, entries, false);
        self.blocks.leave();
    }

    /// The type of a config with these entries.
    pub(super) fn entries(&mut self, entries: &'p [ConfigEntry]) -> Type {
        let gathered = self.walk_entries(entries, true);
        self.gathered_type(gathered)
    }

    /// Walks a config; its block is open afterwards.
    fn walk_config(&mut self, id: ExprId, entries: &'p [ConfigEntry], is_wanted: bool) -> Gathered {
        match self.merges.entries(self.file, id) {
            Some(placed) => {
                let placed = placed.to_vec();
                self.walk_placed_entries(&placed)
            }
            None => self.walk_entries(entries, is_wanted),
        }
    }

    fn walk_entries(&mut self, entries: &'p [ConfigEntry], is_wanted: bool) -> Gathered {
        self.blocks.enter(entries.len());
        let mut gathered = Gathered { is_unwanted: !is_wanted, ..Gathered::default() };
        if is_wanted {
            gathered.names.reserve(entries.len());
        }
        let together = set_together(entries.iter().map(|entry| (self.module, entry)));
        for entry in entries {
            self.entry(entry, &mut gathered, &together);
        }
        gathered
    }

    fn walk_placed_entries(&mut self, entries: &[PlacedEntry<'p>]) -> Gathered {
        self.blocks.enter(0);
        let file = self.file;
        let mut gathered = Gathered::default();
        let program = self.program;
        let module = |file| &*program.file(file).module;
        let together = set_together(entries.iter().map(|(file, entry)| (module(*file), *entry)));
        for (file, entry) in entries {
            self.enter_file(*file);
            self.entry(entry, &mut gathered, &together);
        }
        self.enter_file(file);
        gathered
    }

    /// Closes the block of a config and returns the config's type.
    fn gathered_type(&mut self, gathered: Gathered) -> Type {
        let attrs = self.blocks.leave();
        let Gathered { names, keys, values, .. } = gathered;
        let key = match (keys, names.as_slice()) {
            (Some(keys), _) => self.types().finish(keys),
            (None, []) => Type::Any,
            (None, [name]) => Type::name_lit(*name),
            (None, names) => Type::union(names.iter().copied().map(Type::name_lit).collect()),
        };
        let value = self.types().finish(values);
        Type::dict_with(key, value, attrs)
    }

    fn entry(&mut self, entry: &'p ConfigEntry, gathered: &mut Gathered, together: &SetTogether) {
        let key_name = entry.key.and_then(|key| plain_name_if(&self.module[key].kind, together));
        let beside = key_name.and_then(|name| together.get(&name).cloned());
        let outer_beside = std::mem::replace(&mut self.set_beside, beside);
        let walked = self.check_entry(entry.key, entry.value);
        // What was walked already needs no place among what is expected.
        let depth = if walked.is_some() { 0 } else { self.push_key(entry.key) };
        let ty = match entry.key {
            Some(key) => self.keyed_entry(key, entry, walked, gathered),
            None => self.unpacked_entry(entry.value, walked, gathered),
        };
        if entry.op == ConfigOp::Insert && !ty.is_any() && !ty.is_list() {
            let at = self.at(self.module[entry.value].span);
            self.report(diagnostics::insert_of_no_list(at, &ty));
        }
        self.pop_expected(depth);
        self.set_beside = outer_beside;
    }

    fn keyed_entry(
        &mut self,
        key: ExprId,
        entry: &'p ConfigEntry,
        walked: Option<Type>,
        gathered: &mut Gathered,
    ) -> Type {
        let module = self.module;
        let at = self.at(module[key].span);
        match &module[key].kind {
            Expr::Ident(path) if !path.names.is_empty() => {
                let ty = walked.unwrap_or_else(|| self.expr(entry.value));
                let name = path.names[0].name;
                if self.is_variable_key(key) {
                    let key_ty = self.key_expr(key);
                    self.check_key(&key_ty, at);
                    gathered.add_key(key_ty);
                    self.gather(key, name, &ty, at);
                } else if self.gather(key, name, &ty, at) {
                    gathered.add_new_name(name);
                }
                gathered.add_value(&ty);
                ty
            }
            Expr::Subscript(subscript) if item_name(module, subscript, true).is_some() => {
                let ty = walked.unwrap_or_else(|| self.expr(entry.value));
                gathered.add_key(Type::Str);
                gathered.add_value(&match entry.op {
                    ConfigOp::Insert => ty.clone(),
                    _ => Type::list(ty.clone()),
                });
                ty
            }
            Expr::String(text) => {
                let ty = walked.unwrap_or_else(|| self.expr(entry.value));
                let name = Name::new(&text.value);
                if self.gather(key, name, &ty, at) {
                    gathered.add_new_name(name);
                }
                gathered.add_value(&ty);
                ty
            }
            _ => {
                let key_ty = self.key_expr(key);
                let ty = walked.unwrap_or_else(|| self.expr(entry.value));
                self.check_key(&key_ty, at);
                gathered.add_key(key_ty);
                gathered.add_value(&ty);
                ty
            }
        }
    }

    /// Whether a key stands for the value of a loop variable.
    fn is_variable_key(&self, key: ExprId) -> bool {
        // Loops resolve the names of their statement.
        self.unit.is_none() && self.locals[self.file.0 as usize].names.is_variable_key(key)
    }

    fn key_expr(&mut self, key: ExprId) -> Type {
        self.expected.push(None);
        let ty = self.expr(key);
        self.expected.pop();
        ty
    }

    /// Notes a known key, which later entries can read as a variable; `false` if it was
    /// known before.
    fn gather(&mut self, key: ExprId, name: Name, ty: &Type, at: FileSpan) -> bool {
        let known = self.own(name);
        let is_new = known.is_none_or(|known| !known.is_own);
        let ty = match known {
            Some(known) => self.join2(self.types().attr_type(known), ty.clone()),
            None => ty.clone(),
        };
        if self.unit.is_none() {
            let scope = &mut self.locals[self.file.0 as usize];
            if let Some(definition) = scope.names.key(key, at.span) {
                let ty = ty.clone();
                scope.set(
                    definition,
                    DictAttr { ty, at, is_own: true, is_declared: false, is_narrow: false },
                );
            }
        }
        self.define(name, ty, at);
        is_new
    }

    /// Notes a key that comes from elsewhere.
    fn gather_unpacked(&mut self, name: Name, attr: DictAttr) {
        // What is written here as well can still be read by its name.
        let is_own = self.own(name).is_some_and(|known| known.is_own);
        self.scope_mut().insert(name, DictAttr { is_own, ..attr });
    }

    fn unpacked_entry(
        &mut self,
        value: ExprId,
        walked: Option<Type>,
        gathered: &mut Gathered,
    ) -> Type {
        let ty = walked.unwrap_or_else(|| self.expr(value));
        match &ty {
            Type::None | Type::Any => {
                gathered.add_value(&ty);
                return ty;
            }
            Type::Dict(dict) => {
                for (name, attr) in dict.attrs.iter() {
                    self.gather_unpacked(name, attr.clone());
                }
            }
            Type::Schema(schema) => {
                let attrs: Vec<(Name, DictAttr)> = self
                    .schema_type(schema.id)
                    .attrs
                    .iter()
                    .map(|(name, attr)| {
                        let (ty, at) = (attr.ty.clone(), attr.at);
                        (
                            name,
                            DictAttr { ty, at, is_own: false, is_declared: true, is_narrow: false },
                        )
                    })
                    .collect();
                for (name, attr) in attrs {
                    self.gather_unpacked(name, attr);
                }
            }
            _ => {}
        }
        if let Some((key, value)) = self.unpacked(&ty) {
            gathered.add_key(key);
            gathered.add_value(&value);
        } else {
            let at = self.at(self.module[value].span);
            self.report(diagnostics::cannot_unpack_entries(at, &ty));
        }
        ty
    }
}

/// Whether a schema expression may stand in a value, not counting those in inner configs.
fn may_hold_schema(value: &Expr) -> bool {
    !matches!(
        value,
        Expr::Number(_)
            | Expr::String(_)
            | Expr::Constant(_)
            | Expr::Ident(_)
            | Expr::Joined(_)
            | Expr::Config(_)
    )
}

/// The name of a key, looked up only if it can matter.
fn plain_name_if(key: &Expr, together: &SetTogether) -> Option<Name> {
    if together.is_empty() { None } else { plain_name(key) }
}

/// What configs and schemas under a repeated key set, by that key.
fn set_together<'p>(
    entries: impl Iterator<Item = (&'p Module, &'p ConfigEntry)> + Clone,
) -> SetTogether {
    let mut together = SetTogether::default();
    if !entries.clone().any(|(module, entry)| may_hold_schema(&module[entry.value].kind)) {
        return together;
    }
    let key = |module: &Module, entry: &ConfigEntry| plain_name(&module[entry.key?].kind);
    let mut seen = FxHashSet::default();
    let keys = entries.clone().filter_map(|(module, entry)| key(module, entry));
    let repeated: FxHashSet<Name> = keys.filter(|name| !seen.insert(*name)).collect();
    if repeated.is_empty() {
        return together;
    }
    let mut sets: FxHashMap<Name, FxHashSet<Name>> = FxHashMap::default();
    for (module, entry) in entries {
        let Some(name) = key(module, entry).filter(|name| repeated.contains(name)) else {
            continue;
        };
        let config = match &module[entry.value].kind {
            Expr::Schema(schema) => schema.config,
            _ => entry.value,
        };
        if let Expr::Config(inner) = &module[config].kind {
            let names = inner.iter().filter_map(|entry| key(module, entry));
            sets.entry(name).or_default().extend(names);
        }
    }
    for (name, set) in entries_of(sets) {
        together.insert(name, Rc::new(set));
    }
    together
}

#[expect(clippy::iter_over_hash_type, reason = "the order does not reach any output")]
fn entries_of<K, V>(map: FxHashMap<K, V>) -> Vec<(K, V)> {
    let mut list = Vec::with_capacity(map.len());
    for entry in map {
        list.push(entry);
    }
    list
}
