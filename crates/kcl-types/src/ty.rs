//! Types of values, as the checker sees them.

use base_text::{FileSpan, Name};
use kcl_hir::{ImportTarget, PackageId};
use kcl_syntax::ast::Unit;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

pub use crate::union::UnionType;
pub use kcl_hir::names::NameMap;

/// Stands for one schema, mixin, protocol or rule of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SchemaId(pub u32);

/// The type of a value. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Anything.
    Any,
    /// `None` and `Undefined`.
    None,
    /// No value at all: the union of no types.
    Void,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `str`
    Str,
    /// `True` or `False`
    BoolLit(bool),
    /// An integer such as `1`.
    IntLit(i64),
    /// A float such as `1.5`.
    FloatLit(f64),
    /// A string such as `"a"`.
    StrLit(Text),
    /// `[T]`
    List(Arc<Type>),
    /// `{K:V}`
    Dict(Arc<DictType>),
    /// `A | B`
    Union(Arc<UnionType>),
    /// A schema or an instance of it.
    Schema(SchemaRef),
    /// `units.NumberMultiplier`, or one such number, `1Ki`.
    Multiplier(Option<(i64, Unit)>),
    /// `(A) -> B`
    Function(Arc<FunctionType>),
    /// An imported module.
    Module(Arc<ModuleType>),
}

/// The text of a string in a type.
#[derive(Clone, Debug)]
pub enum Text {
    /// An identifier.
    Name(Name),
    /// Any other text.
    Shared(Arc<str>),
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Name(name) => name.as_str(),
            Text::Shared(text) => text,
        }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Text::Name(a), Text::Name(b)) => a == b,
            _ => **self == **other,
        }
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

/// A schema in a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaRef {
    /// Which schema.
    pub id: SchemaId,
    /// Its name.
    pub name: Name,
    /// Whether the value is an instance, not the schema itself.
    pub is_instance: bool,
}

/// The type of a dict.
#[derive(Clone, Debug, PartialEq)]
pub struct DictType {
    /// The type of keys.
    pub key: Type,
    /// The type of values.
    pub value: Type,
    /// What is known about single keys of a literal.
    pub attrs: Arc<NameMap<DictAttr>>,
}

/// One known key of a dict.
#[derive(Clone, Debug, PartialEq)]
pub struct DictAttr {
    /// The type of its value.
    pub ty: Type,
    /// Where it is defined.
    pub at: FileSpan,
    /// Whether it is written in the literal, where later entries see it; not if `**` brings
    /// it in.
    pub is_own: bool,
    /// Whether the type is declared by a schema, not that of the very value, `int(1)`.
    pub is_declared: bool,
    /// Whether the type still is that of the very value, though the name stands for a
    /// variable.
    pub is_narrow: bool,
}

/// The type of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionType {
    /// The parameters in order.
    pub params: Vec<Param>,
    /// The type of results.
    pub ret: Type,
    /// Whether further arguments are accepted.
    pub is_variadic: bool,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name; empty in a written function type.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// Whether it may be left out.
    pub has_default: bool,
    /// Where it is declared; `None` for built-in functions.
    pub at: Option<FileSpan>,
}

/// The type of an imported module.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleType {
    /// The package path.
    pub path: String,
    /// What the path stands for.
    pub target: ImportTarget,
}

/// What is known about a schema, mixin, protocol or rule.
#[derive(Clone, Debug)]
pub struct SchemaType {
    /// Its name.
    pub name: Name,
    /// The package it belongs to.
    pub package: PackageId,
    /// Whether it is a mixin.
    pub is_mixin: bool,
    /// Whether it is a protocol.
    pub is_protocol: bool,
    /// Whether it is a rule.
    pub is_rule: bool,
    /// Whether its body computes attributes: `if`, assignments and the like.
    pub has_statements: bool,
    /// The base schema.
    pub base: Option<SchemaId>,
    /// The protocol of a mixin or rule.
    pub protocol: Option<SchemaId>,
    /// Mixins, or the parents of a rule.
    pub mixins: Vec<SchemaId>,
    /// Its own attributes and those of its mixins.
    pub attrs: NameMap<SchemaAttr>,
    /// What it takes as arguments.
    pub func: Arc<FunctionType>,
    /// `[key: str]: T`
    pub index_signature: Option<Arc<IndexSignature>>,
}

/// One attribute of a schema.
#[derive(Clone, Debug)]
pub struct SchemaAttr {
    /// The declared type.
    pub ty: Type,
    /// Whether it may be left out.
    pub is_optional: bool,
    /// Whether it has a default.
    pub has_default: bool,
    /// Where it is declared.
    pub at: FileSpan,
}

/// `[name: K]: V` of a schema.
#[derive(Clone, Debug)]
pub struct IndexSignature {
    /// The name of the key.
    pub key_name: Option<Name>,
    /// The type of keys.
    pub key: Type,
    /// The type of values.
    pub value: Type,
    /// Whether declared attributes need not fit.
    pub any_other: bool,
}

impl Type {
    /// The list of such items.
    pub fn list(item: Type) -> Type {
        Type::List(Arc::new(item))
    }

    /// The dict of such keys and values.
    pub fn dict(key: Type, value: Type) -> Type {
        Type::dict_with(key, value, NameMap::default())
    }

    /// The dict of such keys and values, of which some keys are known.
    pub fn dict_with(key: Type, value: Type, attrs: NameMap<DictAttr>) -> Type {
        Type::Dict(Arc::new(DictType { key, value, attrs: Arc::new(attrs) }))
    }

    /// The type of one string.
    pub fn str_lit(text: &Arc<str>) -> Type {
        Type::StrLit(Text::Shared(Arc::clone(text)))
    }

    /// The type of a string that is a name.
    pub fn name_lit(name: Name) -> Type {
        Type::StrLit(Text::Name(name))
    }

    /// The union of types, as they are.
    pub fn union(types: Vec<Type>) -> Type {
        Type::Union(Arc::new(types.into()))
    }

    /// Whether this is `any`.
    pub fn is_any(&self) -> bool {
        matches!(self, Type::Any)
    }

    /// Whether this is the type of `None`.
    pub fn is_none(&self) -> bool {
        matches!(self, Type::None)
    }

    /// Whether this is `int` or an integer.
    pub fn is_int(&self) -> bool {
        matches!(self, Type::Int | Type::IntLit(_))
    }

    /// Whether this is `float` or a float.
    pub fn is_float(&self) -> bool {
        matches!(self, Type::Float | Type::FloatLit(_))
    }

    /// Whether this is `bool` or a truth value.
    pub fn is_bool(&self) -> bool {
        matches!(self, Type::Bool | Type::BoolLit(_))
    }

    /// Whether this is `str` or a string.
    pub fn is_str(&self) -> bool {
        matches!(self, Type::Str | Type::StrLit(_))
    }

    /// Whether this is a number: `int` or `float`.
    pub fn is_number(&self) -> bool {
        self.is_int() || self.is_float()
    }

    /// Whether this is the type of one value.
    pub fn is_literal(&self) -> bool {
        matches!(self, Type::BoolLit(_) | Type::IntLit(_) | Type::FloatLit(_) | Type::StrLit(_))
    }

    /// Whether this is `bool`, `int`, `float` or `str`.
    pub fn is_primitive(&self) -> bool {
        matches!(self, Type::Bool | Type::Int | Type::Float | Type::Str)
    }

    /// Whether this is a list.
    pub fn is_list(&self) -> bool {
        matches!(self, Type::List(_))
    }

    /// Whether this is a dict or schema.
    pub fn is_config(&self) -> bool {
        matches!(self, Type::Dict(_) | Type::Schema(_))
    }

    /// Whether loops can walk it.
    pub fn is_iterable(&self) -> bool {
        self.is_str() || self.is_list() || self.is_config()
    }

    /// Whether it can be a key of a dict.
    pub fn is_key(&self) -> bool {
        match self {
            Type::Str | Type::StrLit(_) => true,
            Type::Union(types) => types.iter().all(Type::is_key),
            _ => false,
        }
    }

    /// Whether this type, or each type of a union, passes `test`.
    pub fn all(&self, test: impl Fn(&Type) -> bool) -> bool {
        match self {
            Type::Union(types) => types.iter().all(test),
            _ => test(self),
        }
    }

    /// The same type, of an instance if it is a schema.
    #[must_use]
    pub fn as_instance(&self) -> Type {
        match self {
            Type::Schema(schema) => Type::Schema(SchemaRef { is_instance: true, ..*schema }),
            _ => self.clone(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Any => f.write_str("any"),
            Type::None => f.write_str("NoneType"),
            Type::Void => f.write_str("void"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Float => f.write_str("float"),
            Type::Str => f.write_str("str"),
            Type::BoolLit(true) => f.write_str("bool(True)"),
            Type::BoolLit(false) => f.write_str("bool(False)"),
            Type::IntLit(value) => write!(f, "int({value})"),
            Type::FloatLit(value) => write!(f, "float({value})"),
            Type::StrLit(value) => write!(f, "str({})", &**value),
            Type::List(item) => write!(f, "[{item}]"),
            Type::Dict(dict) => write!(f, "{{{}:{}}}", dict.key, dict.value),
            Type::Union(types) => write_joined(f, types.iter(), " | "),
            Type::Schema(schema) => f.write_str(schema.name.as_str()),
            Type::Multiplier(None) => f.write_str("number_multiplier"),
            Type::Multiplier(Some((value, unit))) => {
                write!(f, "number_multiplier({value}{})", unit.as_str())
            }
            Type::Function(function) => {
                f.write_str("(")?;
                write_joined(f, function.params.iter().map(|param| &param.ty), ", ")?;
                write!(f, ") -> {}", function.ret)
            }
            Type::Module(module) => write!(f, "module '{}'", module.path),
        }
    }
}

fn write_joined<'t>(
    f: &mut fmt::Formatter<'_>,
    types: impl Iterator<Item = &'t Type>,
    separator: &str,
) -> fmt::Result {
    for (index, ty) in types.enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        write!(f, "{ty}")?;
    }
    Ok(())
}

impl fmt::Display for IndexSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        if let Some(name) = self.key_name {
            write!(f, "{name}: ")?;
        }
        let dots = if self.any_other { "..." } else { "" };
        write!(f, "{dots}{}]: {}", self.key, self.value)
    }
}
