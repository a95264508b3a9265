//! Random programs: first what is set where, then what may be read there.

use super::{Cond, Expr, Kind, Program, Stmt, VARIABLES, Variable};
use testkit::Rng;

impl Program {
    /// Makes a program.
    pub fn new(rng: &mut Rng) -> Self {
        let mut stmts: Vec<Stmt> = Vec::new();
        for (at, (_, kind)) in VARIABLES.iter().enumerate() {
            let first = match kind {
                Kind::Int => Expr::Int(rng.below(4) as i64),
                Kind::Text if rng.one_in(2) => Expr::None,
                Kind::Text => Expr::Text("x"),
                Kind::List => Expr::One(rng.below(9) as i64),
                Kind::Maybe => continue,
            };
            stmts.push(Stmt::Set(vec![at], first));
        }
        let n_first = stmts.len();
        let mut n_public = 0;
        for _ in 0..2 + rng.below(5) {
            stmts.push(skeleton(rng, 0, &mut n_public));
        }
        let mut n_sets = [0; VARIABLES.len()];
        count_sets(&stmts, &mut n_sets);
        for at in (0..VARIABLES.len()).filter(|at| n_sets[*at] > 0) {
            stmts.push(Stmt::Public(n_public, Expr::Variable(at)));
            n_public += 1;
        }
        let mut left = [0; VARIABLES.len()];
        count_sets(&stmts[n_first..], &mut left);
        let mut filler = Filler { rng, n_sets, left };
        filler.fill(&mut stmts[n_first..]);
        let forward = (0..n_public).filter(|_| rng.one_in(4)).enumerate().collect();
        Self { forward, stmts }
    }
}

/// A statement whose expressions are still missing.
fn skeleton(rng: &mut Rng, depth: usize, n_public: &mut usize) -> Stmt {
    match rng.below(if depth > 2 { 6 } else { 11 }) {
        0..=2 => Stmt::Set(vec![rng.below(VARIABLES.len())], Expr::None),
        3 => {
            let both = [rng.below(3), rng.below(3)];
            Stmt::Set(if both[0] == both[1] { vec![both[0]] } else { both.into() }, Expr::None)
        }
        4 => Stmt::Add(*rng.pick(&[0, 1, 2, 5]), Expr::None),
        5 => {
            *n_public += 1;
            if rng.one_in(2) {
                Stmt::Print(*n_public - 1)
            } else {
                Stmt::Public(*n_public - 1, Expr::None)
            }
        }
        _ => {
            let n_branches = 1 + rng.below(3);
            let mut block = |rng: &mut Rng| -> Vec<Stmt> {
                (0..=rng.below(3)).map(|_| skeleton(rng, depth + 1, n_public)).collect()
            };
            let branches = (0..n_branches).map(|_| (Cond::Always(true), block(rng))).collect();
            let orelse = if rng.one_in(2) { block(rng) } else { Vec::new() };
            Stmt::If(branches, orelse)
        }
    }
}

/// Counts how often each variable is set.
fn count_sets(stmts: &[Stmt], counts: &mut [usize; VARIABLES.len()]) {
    for stmt in stmts {
        match stmt {
            Stmt::Set(variables, _) => variables.iter().for_each(|at| counts[*at] += 1),
            Stmt::Add(at, _) => counts[*at] += 1,
            Stmt::If(branches, orelse) => {
                for (_, body) in branches {
                    count_sets(body, counts);
                }
                count_sets(orelse, counts);
            }
            Stmt::Public(..) | Stmt::Print(_) => {}
        }
    }
}

struct Filler<'a> {
    rng: &'a mut Rng,
    /// How often each variable is set at all.
    n_sets: [usize; VARIABLES.len()],
    /// How often each variable will still be set.
    left: [usize; VARIABLES.len()],
}

impl Filler<'_> {
    fn fill(&mut self, stmts: &mut [Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Set(variables, value) => {
                    let own: Vec<Variable> = variables.clone();
                    *value = self.value(VARIABLES[own[0]].1, &own);
                    for at in own {
                        self.left[at] -= 1;
                    }
                }
                Stmt::Add(at, value) => {
                    *value = match VARIABLES[*at].1 {
                        Kind::List => Expr::One(self.rng.below(9) as i64),
                        kind => self.value(kind, &[*at]),
                    };
                    self.left[*at] -= 1;
                }
                Stmt::Public(_, value) => {
                    if matches!(value, Expr::None) {
                        *value = self.value(Kind::Int, &[]);
                    }
                }
                Stmt::If(branches, orelse) => {
                    let mut changed = [0; VARIABLES.len()];
                    for (_, body) in branches.iter() {
                        count_sets(body, &mut changed);
                    }
                    count_sets(orelse, &mut changed);
                    let own: Vec<Variable> =
                        (0..VARIABLES.len()).filter(|at| changed[*at] > 0).collect();
                    for (cond, body) in branches {
                        *cond = self.cond(&own, 0);
                        self.fill(body);
                    }
                    self.fill(orelse);
                }
                Stmt::Print(_) => {}
            }
        }
    }

    /// A variable of some kind that may be read here: one of `own`, or one that is not set
    /// any more.
    fn readable(&mut self, kind: Kind, own: &[Variable]) -> Option<Variable> {
        let fits = |at: &Variable| {
            let is_read = own.contains(at) || self.left[*at] == 0;
            VARIABLES[*at].1 == kind && self.n_sets[*at] > 0 && is_read
        };
        let found: Vec<Variable> = (0..VARIABLES.len()).filter(fits).collect();
        (!found.is_empty()).then(|| *self.rng.pick(&found))
    }

    fn value(&mut self, kind: Kind, own: &[Variable]) -> Expr {
        let n = self.rng.below(7) as i64;
        match kind {
            Kind::Int | Kind::Maybe => {
                let (a, b) = (self.readable(Kind::Int, own), self.readable(Kind::Int, own));
                match (self.rng.below(4), a, b) {
                    (0, Some(a), _) => Expr::Variable(a),
                    (1, Some(a), _) => Expr::Mix(a, n),
                    (2, Some(a), Some(b)) => Expr::Sum(a, b),
                    _ => Expr::Int(n),
                }
            }
            Kind::Text => match (self.rng.below(4), self.readable(Kind::Text, own)) {
                (0, Some(at)) => Expr::Variable(at),
                (1, Some(at)) => Expr::Join(at, "y"),
                (2, _) => Expr::None,
                _ => Expr::Text(self.rng.pick::<&str>(&["", "x", "z"])),
            },
            Kind::List => match self.readable(Kind::List, own) {
                Some(at) if self.rng.one_in(2) => Expr::Each(at, n),
                _ => Expr::One(n),
            },
        }
    }

    fn cond(&mut self, own: &[Variable], depth: usize) -> Cond {
        if depth < 2 && self.rng.one_in(4) {
            let (a, b) = (self.cond(own, depth + 1), self.cond(own, depth + 1));
            return Cond::Both(Box::new(a), Box::new(b));
        }
        let kind = *self.rng.pick(&[Kind::Int, Kind::Int, Kind::Text, Kind::List, Kind::Maybe]);
        let Some(at) = self.readable(kind, own) else {
            return Cond::Always(self.rng.one_in(2));
        };
        match (kind, self.rng.below(3)) {
            (Kind::Int, 0) => Cond::Less(at, self.rng.below(7) as i64),
            (Kind::Int, 1) => Cond::Even(at),
            (Kind::Text, 0) => Cond::Is(at, "x"),
            _ => Cond::Not(at),
        }
    }
}
