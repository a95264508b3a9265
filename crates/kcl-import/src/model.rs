//! Packages of schemas, before they are written.

use crate::names::unique;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What is imported.
#[derive(Debug, Default)]
pub(crate) struct Model {
    /// The packages by their paths below the package of the import.
    pub(crate) packages: BTreeMap<Vec<String>, Package>,
    /// The names of schemas that packages have, or will have.
    pub(crate) used: HashMap<Vec<String>, HashSet<String>>,
    /// What could not be said.
    pub(crate) warnings: Vec<String>,
}

/// One package.
#[derive(Debug, Default)]
pub(crate) struct Package {
    /// The schemas; those with the same file stand together, in order.
    pub(crate) schemas: Vec<Schema>,
}

/// One schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    /// The file, without its ending.
    pub(crate) file: String,
    /// The name, which is one in KCL.
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) attributes: Vec<Attribute>,
    /// The type of further keys.
    pub(crate) other: Option<Ty>,
    pub(crate) checks: Vec<Check>,
}

/// One attribute.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    /// The name as the data has it.
    pub(crate) name: String,
    pub(crate) ty: Ty,
    pub(crate) is_optional: bool,
    /// The default as source.
    pub(crate) default: Option<String>,
    pub(crate) doc: String,
}

/// One rule of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    /// The attribute that it is about.
    pub(crate) attribute: String,
    /// What must hold, with [`SELF`] for the attribute and [`REGEX`] for the module.
    pub(crate) condition: String,
    /// Whether the attribute may be missing.
    pub(crate) is_optional: bool,
    /// What is said if it does not hold.
    pub(crate) message: String,
}

/// Stands for the attribute in a condition.
pub(crate) const SELF: &str = "\u{1}";
/// Stands for the module `regex` in a condition.
pub(crate) const REGEX: &str = "\u{2}";

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ty {
    Any,
    Bool,
    Int,
    Float,
    Str,
    /// A constant, as source.
    Lit(String),
    List(Box<Ty>),
    Dict(Box<Ty>),
    Union(Vec<Ty>),
    /// A schema of a package.
    Ref(Vec<String>, String),
}

impl Ty {
    /// The union of types: none twice, and not more than one if any of them is `any`.
    pub(crate) fn union(types: Vec<Ty>) -> Ty {
        let mut flat: Vec<Ty> = Vec::new();
        for ty in types {
            match ty {
                Ty::Union(inner) => flat.extend(inner),
                ty => flat.push(ty),
            }
        }
        let mut unique: Vec<Ty> = Vec::new();
        for ty in flat {
            if !unique.contains(&ty) {
                unique.push(ty);
            }
        }
        if unique.contains(&Ty::Any) || unique.is_empty() {
            return Ty::Any;
        }
        if unique.len() == 1 { unique.swap_remove(0) } else { Ty::Union(unique) }
    }

    /// The schemas that the type names.
    pub(crate) fn packages<'t>(&'t self, out: &mut Vec<&'t Vec<String>>) {
        match self {
            Ty::List(inner) | Ty::Dict(inner) => inner.packages(out),
            Ty::Union(types) => types.iter().for_each(|ty| ty.packages(out)),
            Ty::Ref(package, _) => out.push(package),
            _ => {}
        }
    }
}

impl Model {
    /// Returns a name that no schema of a package has, and marks it as used.
    pub(crate) fn unique(&mut self, package: &[String], name: &str) -> String {
        unique(name, self.used.entry(package.to_vec()).or_default())
    }

    /// Adds a schema to a package.
    pub(crate) fn add(&mut self, package: &[String], schema: Schema) {
        self.packages.entry(package.to_vec()).or_default().schemas.push(schema);
    }
}
