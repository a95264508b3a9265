//! What there is to say about schemas.

/// The schemas of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Docs {
    /// The packages that have schemas: the main package first, then by path.
    pub packages: Vec<PackageDoc>,
    /// The names of the main package that stand for a schema or for an instance of one: package and
    /// name of the schema.
    pub typed_names: Vec<(String, (String, String))>,
}

/// The schemas of a package.
#[derive(Clone, Debug, PartialEq)]
pub struct PackageDoc {
    /// Its path; `__main__` for the main package.
    pub path: String,
    /// Its schemas in the order of their definition.
    pub schemas: Vec<SchemaDoc>,
}

/// What a declaration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaKind {
    /// `schema`
    Schema,
    /// `mixin`
    Mixin,
    /// `protocol`
    Protocol,
    /// `rule`
    Rule,
}

impl SchemaKind {
    /// The keyword.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Mixin => "mixin",
            Self::Protocol => "protocol",
            Self::Rule => "rule",
        }
    }
}

/// One schema, mixin, protocol or rule.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaDoc {
    /// What it is.
    pub kind: SchemaKind,
    /// Its name.
    pub name: String,
    /// The path of its package.
    pub package: String,
    /// The first part of its docstring, as written; lines are kept.
    pub description: String,
    /// The examples of its docstring, as written.
    pub examples: String,
    /// Its base: package and name.
    pub base: Option<(String, String)>,
    /// Its mixins: packages and names.
    pub mixins: Vec<(String, String)>,
    /// Its attributes: its own, then those of mixins, then those of bases.
    pub attributes: Vec<AttributeDoc>,
    /// Its own `check` rules.
    pub checks: Vec<CheckDoc>,
    /// Which further keys are allowed.
    pub index_signature: Option<IndexDoc>,
    /// Why it should no longer be used.
    pub deprecated: Option<String>,
    /// Its decorators.
    pub decorators: Vec<DecoratorDoc>,
}

/// Which keys an instance may have beside its attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDoc {
    /// The name of the key in the body of the schema.
    pub key_name: Option<String>,
    /// The type of keys.
    pub key: TypeDoc,
    /// The type of values.
    pub value: TypeDoc,
    /// Whether attributes need not have the type of values.
    pub any_other: bool,
}

/// A decorator, such as `@info(hidden=True)`, as source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecoratorDoc {
    /// Its name.
    pub name: String,
    /// Positional arguments.
    pub args: Vec<String>,
    /// Named arguments.
    pub kwargs: Vec<(String, String)>,
}

/// One attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeDoc {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeDoc,
    /// Whether it may be left out without a default.
    pub is_optional: bool,
    /// Its default as source, on as many lines as written.
    pub default: Option<String>,
    /// Its default as JSON, if it is written as a constant.
    pub default_value: Option<serde_json::Value>,
    /// What the docstring says about it; lines are kept.
    pub description: String,
    /// Why it should no longer be used.
    pub deprecated: Option<String>,
    /// Its decorators.
    pub decorators: Vec<DecoratorDoc>,
    /// The schema that declares it: package and name.
    pub declared_by: (String, String),
}

/// One rule of a `check` block, as source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckDoc {
    /// What must hold.
    pub condition: String,
    /// When it must hold.
    pub when: Option<String>,
    /// What is said if it does not.
    pub message: Option<String>,
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeDoc {
    /// Anything.
    Any,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `str`
    Str,
    /// `True`
    BoolLit(bool),
    /// `1`
    IntLit(i64),
    /// `1.5`
    FloatLit(f64),
    /// `"a"`
    StrLit(String),
    /// `[T]`
    List(Box<TypeDoc>),
    /// `{K:V}`
    Dict(Box<TypeDoc>, Box<TypeDoc>),
    /// `A | B`
    Union(Vec<TypeDoc>),
    /// A schema: package, name and description.
    Schema {
        /// The path of its package.
        package: String,
        /// Its name.
        name: String,
    },
    /// `units.NumberMultiplier`
    Multiplier,
    /// `1Ki`
    MultiplierLit(String),
    /// A function: names and types of parameters, and the type of the result.
    Function(Vec<(String, TypeDoc)>, Box<TypeDoc>),
}

impl Docs {
    /// All schemas with their packages, in order.
    pub fn schemas(&self) -> impl Iterator<Item = &SchemaDoc> {
        self.packages.iter().flat_map(|package| &package.schemas)
    }

    /// A schema by package and name.
    pub fn find(&self, package: &str, name: &str) -> Option<&SchemaDoc> {
        self.schemas().find(|schema| schema.package == package && schema.name == name)
    }

    /// Leaves out what is deprecated.
    #[must_use]
    pub fn without_deprecated(mut self) -> Self {
        for package in &mut self.packages {
            package.schemas.retain(|schema| schema.deprecated.is_none());
            for schema in &mut package.schemas {
                schema.attributes.retain(|attribute| attribute.deprecated.is_none());
            }
        }
        self.packages.retain(|package| !package.schemas.is_empty());
        self
    }
}

impl SchemaDoc {
    /// The attributes by name.
    pub fn sorted(&self) -> Vec<&AttributeDoc> {
        let mut sorted: Vec<&AttributeDoc> = self.attributes.iter().collect();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        sorted
    }

    /// The description on one line.
    pub fn summary(&self) -> String {
        self.description.replace('\n', " ")
    }
}
