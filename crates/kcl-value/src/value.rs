//! The value type and its parts.

use crate::{Dict, Str};
use std::any::Any;
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

/// A KCL value: two words; cloning costs at most one counter.
///
/// The tag takes a word of its own, so that values move as whole words: a small tag is copied in
/// pieces, and a load that follows at once waits for all of them.
#[derive(Clone, Debug, Default)]
#[repr(u64)]
pub enum Value {
    /// `Undefined`: not there; dropped from output.
    #[default]
    Undefined,
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A 64-bit float.
    Float(f64),
    /// A number with a unit, `1Ki`.
    Unit(Rc<UnitNumber>),
    /// A string.
    Str(Str),
    /// A list.
    List(Rc<List>),
    /// A dict or config.
    Dict(Rc<Dict>),
    /// A schema instance.
    Schema(Rc<SchemaValue>),
    /// A function, or a schema or rule used as a value.
    Func(Rc<Func>),
}

const _: () = assert!(size_of::<Value>() == 16);

/// A number with a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitNumber {
    /// The product, `1024.0` for `1Ki`.
    pub value: f64,
    /// The number before the unit.
    pub raw: i64,
    /// The unit, `Ki`.
    pub unit: &'static str,
}

/// Where a leaf came from: a node of the program or another named source.
///
/// The evaluator gives the numbers their meaning; 0 means "nothing known".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Origin(pub u32);

/// The items of a list.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// The items.
    pub items: Vec<Value>,
    /// Where items came from; empty unless provenance is asked for.
    pub origins: Vec<Origin>,
}

impl List {
    /// Makes a list without origins.
    pub fn new(items: Vec<Value>) -> Self {
        Self { items, origins: Vec::new() }
    }
}

/// What all instances of one schema share.
#[derive(Debug)]
pub struct SchemaInfo {
    /// The schema's name.
    pub name: Str,
    /// The package path, `__main__` for the main package.
    pub package: Str,
    /// The evaluator's number for the schema.
    pub id: u32,
}

impl SchemaInfo {
    /// The name with its package in front, but for the main package: `a.b.Name`.
    pub fn full_name(&self) -> String {
        match self.package.as_str() {
            "" | "__main__" => self.name.to_string(),
            package => format!("{}.{}", package.trim_start_matches('@'), self.name),
        }
    }
}

/// Arguments as passed.
#[derive(Clone, Debug, Default)]
pub struct CallArgs {
    /// Positional arguments.
    pub positional: Vec<Value>,
    /// Named arguments.
    pub named: Vec<(Str, Value)>,
}

/// A note that an instance was found to lack nothing. A copy, which is made in order to be
/// changed, does not carry it.
#[derive(Debug, Default)]
pub struct Whole(Cell<bool>);

impl Whole {
    /// Makes a note that says so or does not.
    pub fn new(is_whole: bool) -> Self {
        Self(Cell::new(is_whole))
    }

    /// Whether the instance is known to lack nothing.
    pub fn get(&self) -> bool {
        self.0.get()
    }

    /// Notes that the instance lacks nothing.
    pub fn set(&self) {
        self.0.set(true);
    }
}

impl Clone for Whole {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// A schema instance.
#[derive(Clone, Debug)]
pub struct SchemaValue {
    /// The schema.
    pub info: Rc<SchemaInfo>,
    /// The attributes.
    pub attrs: Dict,
    /// The keys that the instance's config wrote.
    pub config_keys: Rc<[Str]>,
    /// Attributes that may be missing, and those that may not: `(name, is_optional)`.
    pub optional: Rc<[(Str, bool)]>,
    /// The arguments it was made with.
    pub args: Rc<CallArgs>,
    /// Where it was written.
    pub origin: Origin,
    /// Whether it is known to lack nothing; whoever changes the attributes resets it.
    pub whole: Whole,
}

/// A callable. What it does is the evaluator's business.
pub struct Func {
    /// For messages: the name of a built-in, `lambda`, or a schema.
    pub name: Str,
    /// Whether it is a schema or rule.
    pub is_type: bool,
    /// The evaluator's data.
    pub body: Box<dyn Any>,
}

impl fmt::Debug for Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Func({})", self.name)
    }
}

impl Value {
    /// Makes a string value.
    pub fn str(text: impl Into<Box<str>>) -> Self {
        Self::Str(Str::new(text))
    }

    /// Makes a list value.
    pub fn list(items: Vec<Value>) -> Self {
        Self::List(Rc::new(List::new(items)))
    }

    /// Makes a dict value.
    pub fn dict(dict: Dict) -> Self {
        Self::Dict(Rc::new(dict))
    }

    /// Whether this is `None` or `Undefined`.
    pub fn is_none_or_undefined(&self) -> bool {
        matches!(self, Self::None | Self::Undefined)
    }

    /// Whether this is a dict or a schema instance.
    pub fn is_config(&self) -> bool {
        matches!(self, Self::Dict(_) | Self::Schema(_))
    }

    /// The entries of a dict or schema instance.
    pub fn as_config(&self) -> Option<&Dict> {
        match self {
            Self::Dict(dict) => Some(dict),
            Self::Schema(schema) => Some(&schema.attrs),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(list) => Some(&list.items),
            _ => None,
        }
    }

    /// The kind of value as messages name it: `int`, `str`, `dict`, a schema's name …
    pub fn type_name(&self) -> &str {
        match self {
            Self::Undefined => "UndefinedType",
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Unit(_) => "number_multiplier",
            Self::Str(_) => "str",
            Self::List(_) => "list",
            Self::Dict(_) => "dict",
            Self::Schema(schema) => &schema.info.name,
            Self::Func(func) if func.is_type => "type",
            Self::Func(_) => "function",
        }
    }

    /// The type as messages of operators name it: like [`Value::type_name`], with the
    /// number for unit numbers, `number_multiplier(1Ki)`.
    pub fn type_text(&self) -> Cow<'_, str> {
        match self {
            Self::Unit(number) => {
                Cow::Owned(format!("number_multiplier({}{})", number.raw, number.unit))
            }
            _ => Cow::Borrowed(self.type_name()),
        }
    }

    /// Whether a condition holds: empty, zero, `None` and `Undefined` do not.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Undefined | Self::None => false,
            Self::Bool(flag) => *flag,
            Self::Int(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Unit(number) => number.value != 0.0,
            Self::Str(text) => !text.is_empty(),
            Self::List(list) => !list.items.is_empty(),
            Self::Dict(dict) => !dict.is_empty(),
            Self::Schema(schema) => !schema.attrs.is_empty(),
            Self::Func(_) => true,
        }
    }
}
