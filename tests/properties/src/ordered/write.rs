//! Programs as KCL.

use super::{Cond, Expr, Program, Stmt, VARIABLES};
use std::fmt::Write as _;

impl Program {
    /// The statements as a file.
    pub fn globals(&self) -> String {
        let mut text = self.forward_reads("");
        block(&mut text, &self.stmts, 0);
        text
    }

    /// The statements as the body of a schema, and an instance of it.
    pub fn schema(&self) -> String {
        let mut text = String::from("schema Made:\n");
        text.push_str(&self.forward_reads("    "));
        block(&mut text, &self.stmts, 1);
        text.push_str("made = Made {}\n");
        text
    }

    /// The statements as the body of a base schema, and an instance of a derived one.
    pub fn base(&self) -> String {
        let base = self.schema().replace("Made", "Base").replace("made = Base {}\n", "");
        format!("{base}schema Made(Base):\n    own = 1\nmade = Made {{}}\n")
    }

    /// The statements as the body of a mixin, and an instance of a schema with it.
    pub fn mixin(&self) -> String {
        let mixin = self.schema().replace("Made", "PartMixin").replace("made = PartMixin {}\n", "");
        format!("{mixin}schema Made:\n    mixin [PartMixin]\n    own = 1\nmade = Made {{}}\n")
    }

    /// A file that reads the names of the outcome from a package `made`.
    pub fn importer(&self) -> String {
        let mut text = String::from("import made\n");
        for name in self.run().names.keys() {
            let _ = writeln!(text, "{name} = made.{name}");
        }
        text
    }

    fn forward_reads(&self, indent: &str) -> String {
        let line = |(forward, public): &(usize, usize)| {
            is_set(&self.stmts, *public).then(|| format!("{indent}f{forward} = p{public}\n"))
        };
        self.forward.iter().filter_map(line).collect()
    }
}

fn is_set(stmts: &[Stmt], public: usize) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Public(at, _) => *at == public,
        Stmt::If(branches, orelse) => {
            branches.iter().any(|(_, body)| is_set(body, public)) || is_set(orelse, public)
        }
        _ => false,
    })
}

fn block(text: &mut String, stmts: &[Stmt], level: usize) {
    let indent = "    ".repeat(level);
    for stmt in stmts {
        let _ = match stmt {
            Stmt::Set(variables, value) => {
                let targets: Vec<&str> = variables.iter().map(|at| VARIABLES[*at].0).collect();
                writeln!(text, "{indent}{} = {}", targets.join(" = "), expr(value))
            }
            Stmt::Add(at, value) => {
                writeln!(text, "{indent}{} += {}", VARIABLES[*at].0, expr(value))
            }
            Stmt::Public(at, value) => writeln!(text, "{indent}p{at} = {}", expr(value)),
            Stmt::Print(at) => writeln!(text, "{indent}print(\"mark {at}\")"),
            Stmt::If(branches, orelse) => {
                for (at, (condition, body)) in branches.iter().enumerate() {
                    let word = if at == 0 { "if" } else { "elif" };
                    let _ = writeln!(text, "{indent}{word} {}:", cond(condition));
                    block(text, body, level + 1);
                }
                if !orelse.is_empty() {
                    let _ = writeln!(text, "{indent}else:");
                    block(text, orelse, level + 1);
                }
                Ok(())
            }
        };
    }
}

fn expr(value: &Expr) -> String {
    let name = |at: &usize| VARIABLES[*at].0;
    match value {
        Expr::Int(number) => number.to_string(),
        Expr::Text(text) => format!("{text:?}"),
        Expr::None => "None".into(),
        Expr::Variable(at) => name(at).into(),
        Expr::Mix(at, n) => format!("({} * 2 + {n}) % 11", name(at)),
        Expr::Sum(a, b) => format!("{} + {}", name(a), name(b)),
        Expr::Join(at, text) => format!("\"${{{}}}-{text}\"", name(at)),
        Expr::One(number) => format!("[{number}]"),
        Expr::Each(at, n) => format!("[item + {n} for item in {}]", name(at)),
    }
}

fn cond(value: &Cond) -> String {
    let name = |at: &usize| VARIABLES[*at].0;
    match value {
        Cond::Always(holds) => if *holds { "True" } else { "False" }.into(),
        Cond::Less(at, n) => format!("{} < {n}", name(at)),
        Cond::Even(at) => format!("{} % 2 == 0", name(at)),
        Cond::Not(at) => format!("not {}", name(at)),
        Cond::Is(at, text) => format!("{} == {text:?}", name(at)),
        Cond::Both(a, b) => format!("{} and {}", cond(a), cond(b)),
    }
}
