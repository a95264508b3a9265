//! Small programs that are mostly well typed, so that most of them reach evaluation.
//!
//! Types are chosen first, then an expression of that type is written. Now and then a rule is
//! broken on purpose: a wrong type, an unknown name, a damaged text.

mod expr;
mod schema;
mod stmt;

use crate::mutate;
use testkit::Rng;

/// The types that the generator keeps track of.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Type {
    Int,
    Float,
    Str,
    Bool,
    List(Box<Type>),
    Dict(Box<Type>),
    /// The schema with this number.
    Schema(usize),
}

/// A schema that has been written.
#[derive(Clone, Debug)]
struct Schema {
    name: String,
    /// Types of its parameters.
    params: Vec<Type>,
    attributes: Vec<Attribute>,
    /// Whether other attributes are allowed.
    open: bool,
}

/// An attribute of a schema, own or inherited.
#[derive(Clone, Debug)]
struct Attribute {
    name: String,
    ty: Type,
    /// Whether an instance must give it.
    required: bool,
}

/// A function that has been written.
#[derive(Clone, Debug)]
struct Lambda {
    name: String,
    params: Vec<Type>,
    result: Type,
}

/// What has been written so far, and what may be used in it.
struct Generator<'r> {
    rng: &'r mut Rng,
    out: String,
    schemas: Vec<Schema>,
    lambdas: Vec<Lambda>,
    /// Names that can be read here, the innermost last.
    names: Vec<(String, Type)>,
    n_names: usize,
    /// Whether the system modules are imported.
    modules: bool,
    /// How many more nodes may be written; keeps programs small.
    budget: usize,
}

/// Writes program number `index` of a campaign.
pub(crate) fn program(rng: &mut Rng) -> String {
    if rng.one_in(400) {
        return deep(rng);
    }
    let damaged = rng.one_in(12);
    let mut generator = Generator {
        rng,
        out: String::with_capacity(512),
        schemas: Vec::new(),
        lambdas: Vec::new(),
        names: Vec::new(),
        n_names: 0,
        modules: false,
        budget: 60,
    };
    generator.module();
    let text = generator.out;
    if damaged { mutate::tokens(rng, text) } else { text }
}

/// Programs that nest or repeat until a limit must step in.
fn deep(rng: &mut Rng) -> String {
    let n = 1 << rng.below(11);
    match rng.below(9) {
        0 => "f = lambda n: int -> int { f(n + 1) }\na = f(0)\n".into(),
        1 => "f = lambda n { g(n) }\ng = lambda n { f(n) }\na = g(1)\n".into(),
        2 => "schema A:\n    b: B = B {}\nschema B:\n    a: A = A {}\nx = A {}\n".into(),
        3 => "schema A:\n    a?: A\n    n: int = a.n if a else 0\nx = A {a: A {a: A {}}}\n".into(),
        4 => format!("a = {}1{}\n", "{b = ".repeat(n), "}".repeat(n)),
        5 => format!("f = lambda n {{ 1 if n == 0 else f(n - 1) + 1 }}\na = f({n})\n"),
        6 => "a = b\nb = c\nc = a\n".into(),
        7 => {
            let chain =
                (1..n.min(200)).map(|i| format!("schema S{i}(S{}):\n    a{i} = {i}\n", i - 1));
            format!(
                "schema S0:\n    a0 = 0\n{}x = S{} {{}}\n",
                chain.collect::<String>(),
                n.min(200) - 1
            )
        }
        _ => {
            format!("a = {}[]{}\nb = str(a)\nc = a == a\nd = a + a\n", "[".repeat(n), "]".repeat(n))
        }
    }
}

impl Generator<'_> {
    fn write(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.n_names += 1;
        format!("{prefix}{}", self.n_names)
    }

    /// Takes one unit of the budget; false when there is none left.
    fn spend(&mut self) -> bool {
        let left = self.budget > 0;
        self.budget = self.budget.saturating_sub(1);
        left
    }

    fn scalar(&mut self) -> Type {
        match self.rng.below(7) {
            0..3 => Type::Int,
            3 => Type::Float,
            4 | 5 => Type::Str,
            _ => Type::Bool,
        }
    }

    fn any_type(&mut self) -> Type {
        match self.rng.below(10) {
            5 | 6 => Type::List(Box::new(self.scalar())),
            7 => Type::Dict(Box::new(self.scalar())),
            8 if !self.schemas.is_empty() => Type::Schema(self.rng.below(self.schemas.len())),
            9 if self.rng.one_in(3) => Type::List(Box::new(Type::List(Box::new(self.scalar())))),
            _ => self.scalar(),
        }
    }

    /// Writes a type as KCL does.
    fn type_text(&self, ty: &Type) -> String {
        match ty {
            Type::Int => "int".into(),
            Type::Float => "float".into(),
            Type::Str => "str".into(),
            Type::Bool => "bool".into(),
            Type::List(item) => format!("[{}]", self.type_text(item)),
            Type::Dict(item) => format!("{{str:{}}}", self.type_text(item)),
            Type::Schema(idx) => self.schemas[*idx].name.clone(),
        }
    }
}
