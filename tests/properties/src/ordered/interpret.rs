//! Runs the statements of a program one after the other.

use super::{Cond, Expr, Program, Stmt, VARIABLES};
use std::collections::BTreeMap;
use std::fmt;

/// What a program gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The public names that have a value, as JSON texts.
    pub names: BTreeMap<String, String>,
    /// The marks that were printed.
    pub printed: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Undefined,
    None,
    Int(i64),
    Text(String),
    List(Vec<i64>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => f.write_str("Undefined"),
            Self::None => f.write_str("null"),
            Self::Int(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::List(items) => write!(f, "{items:?}"),
        }
    }
}

struct Machine {
    variables: Vec<Value>,
    names: BTreeMap<String, Value>,
    printed: Vec<String>,
}

impl Program {
    /// Runs the program, statement by statement.
    pub fn run(&self) -> Outcome {
        let mut machine = Machine {
            variables: vec![Value::Undefined; VARIABLES.len()],
            names: BTreeMap::new(),
            printed: Vec::new(),
        };
        machine.run(&self.stmts);
        for (forward, public) in &self.forward {
            let value = machine.names.get(&format!("p{public}")).cloned();
            machine.names.insert(format!("f{forward}"), value.unwrap_or(Value::Undefined));
        }
        let defined = machine.names.into_iter().filter(|(_, value)| *value != Value::Undefined);
        let names = defined.map(|(name, value)| (name, value.to_string())).collect();
        Outcome { names, printed: machine.printed }
    }
}

impl Machine {
    fn run(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Set(variables, value) => {
                    let value = self.eval(value);
                    for at in variables {
                        self.variables[*at] = value.clone();
                    }
                }
                Stmt::Add(at, value) => {
                    let value = self.eval(value);
                    self.variables[*at] = match (self.variables[*at].clone(), value) {
                        (Value::Int(a), Value::Int(b)) => Value::Int(a + b),
                        (Value::List(mut a), Value::List(b)) => {
                            a.extend(b);
                            Value::List(a)
                        }
                        (before, _) => before,
                    };
                }
                Stmt::If(branches, orelse) => {
                    let taken = branches.iter().find(|(cond, _)| self.holds(cond));
                    self.run(taken.map_or(orelse, |(_, body)| body));
                }
                Stmt::Public(at, value) => {
                    let value = self.eval(value);
                    self.names.insert(format!("p{at}"), value);
                }
                Stmt::Print(at) => self.printed.push(format!("mark {at}")),
            }
        }
    }

    fn int(&self, at: usize) -> i64 {
        match self.variables[at] {
            Value::Int(number) => number,
            _ => 0,
        }
    }

    fn eval(&self, value: &Expr) -> Value {
        match value {
            Expr::Int(number) => Value::Int(*number),
            Expr::Text(text) => Value::Text((*text).to_owned()),
            Expr::None => Value::None,
            Expr::Variable(at) => self.variables[*at].clone(),
            Expr::Mix(at, n) => Value::Int((self.int(*at) * 2 + n) % 11),
            Expr::Sum(a, b) => Value::Int(self.int(*a) + self.int(*b)),
            Expr::Join(at, text) => Value::Text(match &self.variables[*at] {
                Value::Text(before) => format!("{before}-{text}"),
                _ => format!("None-{text}"),
            }),
            Expr::One(number) => Value::List(vec![*number]),
            Expr::Each(at, n) => Value::List(match &self.variables[*at] {
                Value::List(items) => items.iter().map(|item| item + n).collect(),
                _ => Vec::new(),
            }),
        }
    }

    fn holds(&self, cond: &Cond) -> bool {
        match cond {
            Cond::Always(holds) => *holds,
            Cond::Less(at, n) => self.int(*at) < *n,
            Cond::Even(at) => self.int(*at) % 2 == 0,
            Cond::Not(at) => match &self.variables[*at] {
                Value::Undefined | Value::None | Value::Int(0) => true,
                Value::Int(_) => false,
                Value::Text(text) => text.is_empty(),
                Value::List(items) => items.is_empty(),
            },
            Cond::Is(at, text) => self.variables[*at] == Value::Text((*text).to_owned()),
            Cond::Both(a, b) => self.holds(a) && self.holds(b),
        }
    }
}
