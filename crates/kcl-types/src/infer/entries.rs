//! The type of a config from its entries.

use super::config::{item_name, plain_name};
use crate::assignable::UnionBuilder;
use crate::checker::Checker;
use crate::diagnostics;
use crate::merge::PlacedEntry;
use crate::ty::{DictAttr, NameMap, Type};
use base_text::{FileSpan, Name};
use kcl_syntax::ast::{ConfigEntry, ConfigOp, Expr, ExprId, Module};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What is known of a config so far.
#[derive(Default)]
struct Gathered {
    keys: UnionBuilder,
    values: UnionBuilder,
    attrs: NameMap<DictAttr>,
}

/// Names set by several entries with the same key.
type SetTogether = FxHashMap<Name, Rc<FxHashSet<Name>>>;

impl<'p> Checker<'p> {
    /// The type of a config expression.
    pub(super) fn config(&mut self, id: ExprId, entries: &'p [ConfigEntry]) -> Type {
        match self.merges.entries(self.file, id) {
            Some(placed) => {
                let placed = placed.to_vec();
                self.placed_entries(&placed)
            }
            None => self.entries(entries),
        }
    }

    /// The type of a config with these entries.
    pub(super) fn entries(&mut self, entries: &'p [ConfigEntry]) -> Type {
        self.enter_scope();
        let mut gathered = Gathered::default();
        let together = set_together(entries.iter().map(|entry| (self.module, entry)));
        for entry in entries {
            self.entry(entry, &mut gathered, &together);
        }
        self.leave_scope();
        self.gathered_type(gathered)
    }

    fn placed_entries(&mut self, entries: &[PlacedEntry<'p>]) -> Type {
        self.enter_scope();
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
        self.leave_scope();
        self.gathered_type(gathered)
    }

    fn gathered_type(&self, gathered: Gathered) -> Type {
        let key = self.types().finish(gathered.keys);
        let value = self.types().finish(gathered.values);
        Type::dict_with(key, value, gathered.attrs)
    }

    fn entry(&mut self, entry: &'p ConfigEntry, gathered: &mut Gathered, together: &SetTogether) {
        let key_name = entry.key.and_then(|key| plain_name_if(&self.module[key].kind, together));
        let beside = key_name.and_then(|name| together.get(&name).cloned());
        let outer_beside = std::mem::replace(&mut self.set_beside, beside);
        let walked = self.check_entry(entry.key, entry.value);
        let depth = self.push_key(entry.key);
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
                let key_ty = if self.local_vars.contains(&name) {
                    self.key_expr(key)
                } else {
                    Type::str_lit(name.as_str())
                };
                self.check_key(&key_ty, at);
                self.gather(name, &ty, at, gathered);
                gathered.keys.add(key_ty);
                gathered.values.add(ty.clone());
                ty
            }
            Expr::Subscript(subscript) if item_name(module, subscript, true).is_some() => {
                let ty = walked.unwrap_or_else(|| self.expr(entry.value));
                gathered.keys.add(Type::Str);
                gathered.values.add(match entry.op {
                    ConfigOp::Insert => ty.clone(),
                    _ => Type::list(ty.clone()),
                });
                ty
            }
            kind => {
                let key_ty = self.key_expr(key);
                let ty = walked.unwrap_or_else(|| self.expr(entry.value));
                self.check_key(&key_ty, at);
                if let Expr::String(text) = kind {
                    self.gather(Name::new(&text.value), &ty, at, gathered);
                }
                gathered.keys.add(key_ty);
                gathered.values.add(ty.clone());
                ty
            }
        }
    }

    fn key_expr(&mut self, key: ExprId) -> Type {
        self.expected.push(None);
        let ty = self.expr(key);
        self.expected.pop();
        ty
    }

    /// Notes a known key, which later entries can read as a variable.
    fn gather(&mut self, name: Name, ty: &Type, at: FileSpan, gathered: &mut Gathered) {
        let ty = match gathered.attrs.get(&name) {
            Some(attr) => self.join2(attr.ty.clone(), ty.clone()),
            None => ty.clone(),
        };
        let wide = self.types().widen(&ty);
        gathered.attrs.insert(name, DictAttr { ty: wide, at });
        self.define(name, ty, at);
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
                gathered.values.add(ty.clone());
                return ty;
            }
            Type::Dict(dict) => {
                let attrs = dict.attrs.iter().map(|(name, attr)| (*name, attr.clone()));
                gathered.attrs.extend(attrs);
            }
            Type::Schema(schema) => {
                for (name, attr) in &self.schema_type(schema.id).attrs {
                    let attr = DictAttr { ty: attr.ty.clone(), at: attr.at };
                    gathered.attrs.insert(*name, attr);
                }
            }
            _ => {}
        }
        if let Some((key, value)) = self.unpacked(&ty) {
            gathered.keys.add(key);
            gathered.values.add(value);
        } else {
            let at = self.at(self.module[value].span);
            self.report(diagnostics::cannot_unpack_entries(at, &ty));
        }
        ty
    }
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
