//! Types as the evaluator checks them.

use crate::evaluator::Evaluator;
use crate::layout::SchemaId;
use base_text::{FileId, Name};
use kcl_hir::{GlobalKind, ImportTarget, PackageId};
use kcl_syntax::ast::{BasicType, LiteralType, Module, Path, Stmt, Type, TypeId, Unit};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// A type and how messages name it.
#[derive(Debug)]
pub(crate) struct RuntimeType {
    pub(crate) kind: TypeKind,
    pub(crate) text: String,
}

/// What values a type admits.
#[derive(Debug)]
pub(crate) enum TypeKind {
    Any,
    Bool,
    Int,
    Float,
    Str,
    NumberMultiplier,
    Function,
    LitBool(bool),
    LitInt(i64),
    LitFloat(f64),
    LitStr(Box<str>),
    LitUnit(i64, Unit),
    List(Rc<RuntimeType>),
    Dict(Rc<RuntimeType>),
    Union(UnionType),
    Schema(SchemaId),
    /// A name that is no known schema.
    Other,
}

/// A choice of types.
#[derive(Debug)]
pub(crate) struct UnionType {
    pub(crate) types: Vec<Rc<RuntimeType>>,
    /// The strings among them, for a quick look.
    pub(crate) strings: FxHashSet<Box<str>>,
}

impl UnionType {
    fn new(types: Vec<Rc<RuntimeType>>) -> Self {
        let strings = types.iter().filter_map(|ty| match &ty.kind {
            TypeKind::LitStr(text) => Some(text.clone()),
            _ => None,
        });
        Self { strings: strings.collect(), types }
    }
}

/// How deep type aliases may refer to each other.
const ALIAS_LIMIT: u32 = 64;

impl<'p> Evaluator<'p> {
    /// The type of an annotation in the current file.
    pub(crate) fn runtime_type(&mut self, ty: TypeId) -> Rc<RuntimeType> {
        self.type_in(self.frame.file, ty, ALIAS_LIMIT)
    }

    /// The type of an annotation in any file.
    pub(crate) fn type_of_annotation(&mut self, file: FileId, ty: TypeId) -> Rc<RuntimeType> {
        self.type_in(file, ty, ALIAS_LIMIT)
    }

    fn type_in(&mut self, file: FileId, ty: TypeId, limit: u32) -> Rc<RuntimeType> {
        let types = &mut self.files[file.0 as usize].types;
        if let Some(Some(known)) = types.get(ty.index()) {
            return known.clone();
        }
        if types.is_empty() {
            types.resize(self.program.file(file).module.types.len(), None);
        }
        let made = self.make_type(file, ty, limit);
        self.files[file.0 as usize].types[ty.index()] = Some(made.clone());
        made
    }

    fn make_type(&mut self, file: FileId, ty: TypeId, limit: u32) -> Rc<RuntimeType> {
        let program = self.program;
        let module: &'p Module = &program.file(file).module;
        let (kind, text) = match &module[ty].kind {
            Type::Any | Type::Missing => (TypeKind::Any, "any".to_owned()),
            Type::Basic(BasicType::Bool) => (TypeKind::Bool, "bool".to_owned()),
            Type::Basic(BasicType::Int) => (TypeKind::Int, "int".to_owned()),
            Type::Basic(BasicType::Float) => (TypeKind::Float, "float".to_owned()),
            Type::Basic(BasicType::Str) => (TypeKind::Str, "str".to_owned()),
            Type::List(item) => match item {
                Some(item) => {
                    let item = self.type_in(file, *item, limit);
                    let text = format!("[{}]", item.text);
                    (TypeKind::List(item), text)
                }
                None => (TypeKind::List(any()), "[]".to_owned()),
            },
            Type::Dict { key, value } => {
                let key = key.map(|key| self.type_in(file, key, limit).text.clone());
                let value = value.map(|value| self.type_in(file, value, limit));
                let text = format!(
                    "{{{}:{}}}",
                    key.unwrap_or_default(),
                    value.as_ref().map_or("", |value| value.text.as_str())
                );
                (TypeKind::Dict(value.unwrap_or_else(any)), text)
            }
            Type::Union(types) => {
                let types: Vec<_> = types.iter().map(|ty| self.type_in(file, *ty, limit)).collect();
                let texts: Vec<_> = types.iter().map(|ty| ty.text.as_str()).collect();
                let text = texts.join(" | ");
                (TypeKind::Union(UnionType::new(types)), text)
            }
            Type::Literal(literal) => literal_type(literal),
            Type::Named(path) => return self.named_type(file, path, limit),
            Type::Function { .. } => (TypeKind::Function, "function".to_owned()),
        };
        Rc::new(RuntimeType { kind, text })
    }

    fn named_type(&mut self, file: FileId, path: &Path, limit: u32) -> Rc<RuntimeType> {
        let (name, prefix) = match path.names.as_slice() {
            [name] => (name.name, String::new()),
            [alias, name] => match self.program.import(file, alias.name) {
                Some(import) if import.target.package().is_some() => {
                    (name.name, format!("{}.", import.path))
                }
                Some(import)
                    if import.target == ImportTarget::System
                        && name.name.as_str() == "NumberMultiplier" =>
                {
                    let text = "units.NumberMultiplier".to_owned();
                    return Rc::new(RuntimeType { kind: TypeKind::NumberMultiplier, text });
                }
                _ => (name.name, format!("{}.", alias.name)),
            },
            names => {
                let text =
                    names.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join(".");
                return Rc::new(RuntimeType { kind: TypeKind::Other, text });
            }
        };
        let package = self.program.declared(file, path).map(|(package, _)| package);
        if let Some(package) = package {
            if let Some(id) = self.schema_ids.get(&(package, name)) {
                let text = format!("{prefix}{name}");
                return Rc::new(RuntimeType { kind: TypeKind::Schema(*id), text });
            }
            if let Some(alias) = self.type_alias(package, name, limit) {
                return alias;
            }
        }
        // What a variable is used as a type for is checked before the program runs.
        let is_variable = package.is_some_and(|package| {
            let global = self.program.package(package).globals.get(&name);
            global.is_some_and(|global| global.kind == GlobalKind::Variable)
        });
        let kind = match name.as_str() {
            "any" => TypeKind::Any,
            _ if is_variable => TypeKind::Any,
            _ => TypeKind::Other,
        };
        Rc::new(RuntimeType { kind, text: format!("{prefix}{name}") })
    }

    fn type_alias(
        &mut self,
        package: PackageId,
        name: Name,
        limit: u32,
    ) -> Option<Rc<RuntimeType>> {
        let global = self.program.package(package).globals.get(&name)?;
        if global.kind != GlobalKind::TypeAlias {
            return None;
        }
        let &(file, stmt) = global.definitions.last()?;
        let Stmt::TypeAlias(alias) = &self.program.file(file).module[stmt].kind else {
            return None;
        };
        if limit == 0 {
            return None;
        }
        Some(self.type_in(file, alias.ty, limit - 1))
    }
}

fn any() -> Rc<RuntimeType> {
    Rc::new(RuntimeType { kind: TypeKind::Any, text: "any".to_owned() })
}

fn literal_type(literal: &LiteralType) -> (TypeKind, String) {
    match literal {
        LiteralType::Bool(flag) => {
            (TypeKind::LitBool(*flag), if *flag { "True" } else { "False" }.to_owned())
        }
        LiteralType::Int(number) => (TypeKind::LitInt(*number), number.to_string()),
        LiteralType::Unit { value, unit } => {
            (TypeKind::LitUnit(*value, *unit), format!("{value}{}", unit.as_str()))
        }
        LiteralType::Float(number) => {
            let text = kcl_value::show(&kcl_value::Value::Float(*number));
            (TypeKind::LitFloat(*number), text)
        }
        LiteralType::Str(text) => (TypeKind::LitStr(text.clone()), format!("{text:?}")),
    }
}
