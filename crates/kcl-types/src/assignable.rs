//! How types relate: what fits where, and what several types have in common.

use crate::ty::{DictAttr, DictType, FunctionType, SchemaId, SchemaType, Text, Type};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// How many different literals a union keeps apart; more become their basic types.
const MAX_LITERALS: usize = 4_096;

/// How many different lists, dicts and schemas a union keeps apart; more become `any`.
const MAX_COMPOSITES: usize = 128;

/// Answers questions about types that need the table of schemas.
#[derive(Clone, Copy)]
pub(crate) struct Relations<'s> {
    pub(crate) schemas: &'s [SchemaType],
}

impl Relations<'_> {
    /// Whether a value of type `ty` can be assigned to a place of type `expected`.
    pub(crate) fn is_assignable(self, ty: &Type, expected: &Type) -> bool {
        !matches!(ty, Type::Void | Type::Module(_)) && self.subsumes(ty, expected, true)
    }

    /// Whether `lower` fits into `upper`.
    pub(crate) fn is_upper_bound(self, upper: &Type, lower: &Type) -> bool {
        self.subsumes(lower, upper, false)
    }

    /// Whether `left` fits into `right`; `any` on the left fits if `any_fits`.
    fn subsumes(self, left: &Type, right: &Type, any_fits: bool) -> bool {
        match (left, right) {
            (Type::Any, _) if any_fits => true,
            (_, Type::Any) | (Type::None, _) => true,
            (Type::Union(left), Type::Union(right)) if Arc::ptr_eq(left, right) => true,
            (Type::Union(types), _) => types.iter().all(|ty| self.subsumes(ty, right, false)),
            (_, Type::Union(types)) => types.any_for(left, |ty| self.subsumes(left, ty, false)),
            (Type::Schema(left), Type::Schema(right)) => self.is_sub_schema(left.id, right.id),
            (Type::Multiplier(left), Type::Multiplier(right)) => {
                right.is_none() || left.is_some() && left == right
            }
            (Type::List(left), Type::List(right)) => self.subsumes(left, right, any_fits),
            (Type::Dict(left), Type::Dict(right)) => self.dict_subsumes(left, right, any_fits),
            (Type::Function(left), Type::Function(right)) => {
                self.function_subsumes(left, right, any_fits)
            }
            (
                Type::Schema(_)
                | Type::Dict(_)
                | Type::List(_)
                | Type::Function(_)
                | Type::Multiplier(_),
                _,
            ) => false,
            _ => scalar_subsumes(left, right),
        }
    }

    fn dict_subsumes(self, left: &DictType, right: &DictType, any_fits: bool) -> bool {
        self.subsumes(&left.key, &right.key, any_fits)
            && self.subsumes(&left.value, &right.value, any_fits)
    }

    fn function_subsumes(self, left: &FunctionType, right: &FunctionType, any_fits: bool) -> bool {
        left.params.len() == right.params.len()
            && left
                .params
                .iter()
                .zip(&right.params)
                .all(|(left, right)| self.subsumes(&right.ty, &left.ty, any_fits))
            && self.subsumes(&left.ret, &right.ret, any_fits)
    }

    /// Whether `sub` is `schema` or inherits from it.
    pub(crate) fn is_sub_schema(self, sub: SchemaId, schema: SchemaId) -> bool {
        let mut current = Some(sub);
        for _ in 0..=self.schemas.len() {
            match current {
                None => return false,
                Some(id) if id == schema => return true,
                Some(id) => current = self.schemas[id.0 as usize].base,
            }
        }
        false
    }

    /// The smallest type that holds all of `types`.
    pub(crate) fn join(self, types: impl IntoIterator<Item = Type>) -> Type {
        let mut union = UnionBuilder::default();
        for ty in types {
            union.add(ty);
        }
        self.finish(union)
    }

    /// Adds a type to another, as [`Relations::join`] does with two.
    pub(crate) fn join_into(self, ty: &mut Type, other: Type) {
        if let Type::Union(union) = ty
            && let Some(union) = Arc::get_mut(union)
            && union.push_literal(&other, MAX_LITERALS + MAX_COMPOSITES)
        {
            return;
        }
        let first = std::mem::replace(ty, Type::Any);
        *ty = self.join([first, other]);
    }

    /// The union of what was collected.
    pub(crate) fn finish(self, union: UnionBuilder) -> Type {
        let UnionBuilder { mut items, composites, has_any, .. } = union;
        if has_any {
            return Type::Any;
        }
        if items.is_empty() {
            return Type::Any;
        }
        if items.len() == 1 {
            return items.swap_remove(0);
        }
        let mut dropped = vec![false; items.len()];
        mark_subsumed_scalars(&items, &mut dropped);
        if composites > 1 {
            self.mark_subsumed_composites(&items, &mut dropped);
        }
        drop_marked(&mut items, dropped);
        if items.len() == 1 { items.swap_remove(0) } else { Type::union(items) }
    }

    fn mark_subsumed_composites(self, items: &[Type], dropped: &mut [bool]) {
        for i in 0..items.len() {
            if is_scalar(&items[i]) {
                continue;
            }
            for j in i + 1..items.len() {
                if is_scalar(&items[j]) {
                    continue;
                }
                if self.subsumes(&items[i], &items[j], false) {
                    dropped[i] = true;
                } else if self.subsumes(&items[j], &items[i], false) {
                    dropped[j] = true;
                }
            }
        }
    }

    /// The type of a variable that holds such a value: `1` becomes `int`, `None` `any`.
    pub(crate) fn widen(self, ty: &Type) -> Type {
        match ty {
            Type::None => Type::Any,
            Type::List(item) => Type::list(self.widen(item)),
            Type::Dict(dict) => Type::Dict(Arc::new(DictType {
                key: self.widen(&dict.key),
                value: self.widen(&dict.value),
                attrs: Arc::clone(&dict.attrs),
            })),
            Type::Union(types) => self.join(types.iter().map(|ty| self.widen(ty))),
            _ => basic(ty),
        }
    }

    /// The type of a known key, as a variable with its value would have it.
    pub(crate) fn attr_type(self, attr: &DictAttr) -> Type {
        if attr.is_declared { attr.ty.clone() } else { self.widen(&attr.ty) }
    }

    /// Widens the members of a union, and leaves other types alone.
    pub(crate) fn widen_union(self, ty: &Type) -> Type {
        match ty {
            Type::Union(_) => self.widen(ty),
            _ => ty.clone(),
        }
    }
}

/// Whether a basic type or literal fits into another.
fn scalar_subsumes(left: &Type, right: &Type) -> bool {
    if left.is_int() && right.is_float() {
        return true;
    }
    if left.is_literal() && right.is_primitive() {
        return match (left, right) {
            (Type::StrLit(_), Type::Str)
            | (Type::BoolLit(_), Type::Bool)
            | (Type::IntLit(_), Type::Int) => true,
            // The reference compares the texts of the types: `"int"` is taken for an `int`,
            // which is found out at run time.
            (Type::StrLit(text), _) => text.contains(right.to_string().as_str()),
            (_, Type::Float) => true,
            _ => false,
        };
    }
    match (left, right) {
        (Type::Str, Type::StrLit(_)) => true,
        _ => left == right,
    }
}

/// The type of variables for a literal.
fn basic(ty: &Type) -> Type {
    match ty {
        Type::BoolLit(_) => Type::Bool,
        Type::IntLit(_) => Type::Int,
        Type::FloatLit(_) => Type::Float,
        Type::StrLit(_) => Type::Str,
        _ => ty.clone(),
    }
}

fn is_scalar(ty: &Type) -> bool {
    ty.is_primitive() || ty.is_literal() || ty.is_none()
}

/// Whether two lists, dicts or schemas are plainly the same.
fn is_same_composite(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Schema(a), Type::Schema(b)) => a == b,
        (Type::List(a), Type::List(b)) => is_same_composite(a, b) || a == b,
        (Type::Dict(a), Type::Dict(b)) => a.key == b.key && a.value == b.value,
        _ => false,
    }
}

/// Marks scalars that another one of the items holds. Of `str` and a string, the later stays.
fn mark_subsumed_scalars(items: &[Type], dropped: &mut [bool]) {
    let has = |wanted: &Type| items.contains(wanted);
    let (has_bool, has_int, has_float) = (has(&Type::Bool), has(&Type::Int), has(&Type::Float));
    let has_float_lit = items.iter().any(|ty| matches!(ty, Type::FloatLit(_)));
    let str_idx = items.iter().position(|ty| *ty == Type::Str);
    let last_str_lit = items.iter().rposition(|ty| matches!(ty, Type::StrLit(_)));
    for (index, (ty, dropped)) in items.iter().zip(dropped).enumerate() {
        *dropped = match ty {
            Type::None => true,
            Type::BoolLit(_) => has_bool || has_float,
            Type::IntLit(_) => has_int || has_float || has_float_lit,
            Type::Int => has_float || has_float_lit,
            Type::FloatLit(_) => has_float,
            Type::StrLit(_) => str_idx.is_some_and(|str_idx| index < str_idx),
            Type::Str => last_str_lit.is_some_and(|lit_idx| index < lit_idx),
            _ => false,
        };
    }
}

/// Removes what is marked as the reference does: the last item moves into each gap.
fn drop_marked(items: &mut Vec<Type>, mut dropped: Vec<bool>) {
    while dropped.last() == Some(&true) {
        items.pop();
        dropped.pop();
    }
    let mut index = 0;
    while index < items.len() {
        if dropped[index] {
            items.swap_remove(index);
            dropped.swap_remove(index);
        } else {
            index += 1;
        }
    }
}

/// Collects types for a union: flat, without repeated ones.
#[derive(Default)]
pub(crate) struct UnionBuilder {
    items: Vec<Type>,
    seen_bits: FxHashSet<(u8, u64)>,
    seen_texts: FxHashSet<Text>,
    is_hashed: bool,
    is_wide: bool,
    composites: usize,
    has_any: bool,
}

impl UnionBuilder {
    /// Adds one type.
    pub(crate) fn add(&mut self, ty: Type) {
        match ty {
            _ if self.has_any => {}
            Type::Any => self.has_any = true,
            Type::Void => {}
            Type::Union(types) => types.iter().for_each(|ty| self.add(ty.clone())),
            ty if self.is_wide && ty.is_literal() => self.add_single(basic(&ty)),
            ty => self.add_single(ty),
        }
    }

    /// Replaces all literals by their basic types.
    fn go_wide(&mut self) {
        self.is_wide = true;
        self.seen_bits.clear();
        self.seen_texts.clear();
        self.is_hashed = false;
        for item in std::mem::take(&mut self.items) {
            if is_scalar(&item) {
                let item = basic(&item);
                if !self.items.contains(&item) {
                    self.items.push(item);
                }
            } else {
                self.items.push(item);
            }
        }
    }

    fn add_single(&mut self, ty: Type) {
        // A few items are compared one by one; hashing starts when there are more.
        const FEW: usize = 8;
        const MANY: usize = 16;
        if !is_scalar(&ty) {
            // Literals written at two places are two types, as long as there are few.
            let is_many = self.composites > MANY;
            let is_same = |item: &Type| *item == ty || is_many && is_same_composite(item, &ty);
            if self.items.iter().any(is_same) {
                return;
            }
            self.composites += 1;
            self.has_any = self.composites > MAX_COMPOSITES;
        } else if self.items.len() < FEW {
            if self.items.contains(&ty) {
                return;
            }
        } else {
            if !self.is_hashed {
                self.is_hashed = true;
                for item in std::mem::take(&mut self.items) {
                    self.mark(&item);
                    self.items.push(item);
                }
            }
            if !self.mark(&ty) {
                return;
            }
        }
        self.items.push(ty);
        if self.items.len() > MAX_LITERALS + MAX_COMPOSITES {
            self.go_wide();
        }
    }

    /// Notes a scalar; `false` if it was there before.
    fn mark(&mut self, ty: &Type) -> bool {
        match ty {
            Type::Bool => self.seen_bits.insert((0, 0)),
            Type::Int => self.seen_bits.insert((0, 1)),
            Type::Float => self.seen_bits.insert((0, 2)),
            Type::Str => self.seen_bits.insert((0, 3)),
            Type::None => self.seen_bits.insert((0, 4)),
            Type::BoolLit(value) => self.seen_bits.insert((1, u64::from(*value))),
            Type::IntLit(value) => self.seen_bits.insert((2, *value as u64)),
            Type::FloatLit(value) => self.seen_bits.insert((3, value.to_bits())),
            Type::StrLit(value) => self.seen_texts.insert(value.clone()),
            _ => true,
        }
    }
}
