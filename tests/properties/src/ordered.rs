//! Programs in which private variables change in `if` statements, and what they mean.
//!
//! Every read of a private variable stands after its last assignment, or in the condition or
//! on the right side of a statement that changes it. Such a program means what it says when its
//! statements are run one after the other, which is what [`Program::run`] does.

mod generate;
mod interpret;
mod write;

pub use interpret::Outcome;

/// A program: statements for one package or schema.
#[derive(Clone, Debug)]
pub struct Program {
    /// Public names that are read before they are set: `f0 = p0`.
    forward: Vec<(usize, usize)>,
    stmts: Vec<Stmt>,
}

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A number; set by the first statements.
    Int,
    /// A text or nothing; set by the first statements.
    Text,
    /// A list of numbers; set by the first statements.
    List,
    /// A number that is set in branches only.
    Maybe,
}

/// The private variables, with what they hold.
const VARIABLES: [(&str, Kind); 7] = [
    ("_a", Kind::Int),
    ("_b", Kind::Int),
    ("_c", Kind::Int),
    ("_s", Kind::Text),
    ("_t", Kind::Text),
    ("_l", Kind::List),
    ("_m", Kind::Maybe),
];

/// A private variable, by its place in [`VARIABLES`].
type Variable = usize;

#[derive(Clone, Debug)]
enum Stmt {
    /// `_a = _b = value`
    Set(Vec<Variable>, Expr),
    /// `_a += value`
    Add(Variable, Expr),
    /// `if …: … elif …: … else: …`
    If(Vec<(Cond, Vec<Stmt>)>, Vec<Stmt>),
    /// `p0 = value`
    Public(usize, Expr),
    /// `print("mark")`
    Print(usize),
}

#[derive(Clone, Debug)]
enum Expr {
    Int(i64),
    Text(&'static str),
    None,
    Variable(Variable),
    /// `(_a * 2 + n) % 11`
    Mix(Variable, i64),
    /// `_a + _b`
    Sum(Variable, Variable),
    /// `"${_s}-text"`
    Join(Variable, &'static str),
    /// `[n]`
    One(i64),
    /// `[item + n for item in _l]`
    Each(Variable, i64),
}

#[derive(Clone, Debug)]
enum Cond {
    Always(bool),
    Less(Variable, i64),
    Even(Variable),
    Not(Variable),
    Is(Variable, &'static str),
    Both(Box<Cond>, Box<Cond>),
}
