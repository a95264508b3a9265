//! Attributes that depend on each other, without cycles, in no particular order.

use testkit::Rng;

/// Declarations, each set once, that may be written in any order.
#[derive(Clone, Debug)]
pub struct Attributes {
    /// Names of the attributes.
    pub names: Vec<String>,
    /// One line of KCL for each.
    pub lines: Vec<String>,
    /// Values that an instance gives to some of them.
    pub overrides: Vec<String>,
    /// Whether an attribute uses only others of which this holds too.
    in_base: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Int,
    Str,
    List,
}

impl Attributes {
    /// Makes `n` attributes; each may use any that comes later in a hidden order.
    pub fn new(rng: &mut Rng, n: usize) -> Self {
        // The name does not tell the order: `a2` may well depend on `a0`.
        let mut order: Vec<usize> = (0..n).collect();
        for idx in (1..n).rev() {
            order.swap(idx, rng.below(idx + 1));
        }
        let types: Vec<Type> =
            (0..n).map(|_| *rng.pick(&[Type::Int, Type::Int, Type::Str, Type::List])).collect();
        let mut attributes = Self {
            names: (0..n).map(|idx| format!("a{idx}")).collect(),
            lines: vec![String::new(); n],
            overrides: Vec::new(),
            in_base: vec![false; n],
        };
        for at in 0..n {
            let own = order[at];
            attributes.in_base[own] = at >= n / 2;
            let usable: Vec<usize> = order[at + 1..].to_vec();
            let value = value(rng, types[own], &usable, &types);
            let declared = match types[own] {
                Type::Int => "int",
                Type::Str => "str",
                Type::List => "[int]",
            };
            attributes.lines[own] = format!("a{own}: {declared} = {value}");
            if rng.one_in(4) {
                let value = match types[own] {
                    Type::Int => format!("{}", 20 + rng.below(9)),
                    Type::Str => "\"given\"".into(),
                    Type::List => "[7, 8, 9]".into(),
                };
                attributes.overrides.push(format!("a{own} = {value}"));
            }
        }
        attributes
    }

    /// Writes a schema with the attributes in this order, and one instance of it.
    pub fn schema(&self, order: &[usize]) -> String {
        format!("schema S:\n{}{}", self.body(order), self.instance())
    }

    /// Writes a base schema with attributes that need no others, and a derived one with the rest.
    pub fn inherited(&self, order: &[usize]) -> String {
        let (base, derived): (Vec<usize>, Vec<usize>) =
            order.iter().partition(|idx| self.in_base[**idx]);
        format!(
            "schema B:\n    zero = 0\n{}schema S(B):\n    one = 1\n{}{}",
            self.body(&base),
            self.body(&derived),
            self.instance()
        )
    }

    /// Writes the attributes as globals.
    pub fn globals(&self, order: &[usize]) -> String {
        order.iter().flat_map(|idx| [self.lines[*idx].as_str(), "\n"]).collect()
    }

    /// Writes an instance whose given attributes stand in blocks of their own.
    pub fn blocks(&self, order: &[usize]) -> String {
        let given = |idx: &usize| self.overrides.get(*idx).map_or("", String::as_str);
        let blocks = order.iter().flat_map(|idx| ["x: S {", given(idx), "}\n"]);
        let in_turn: Vec<usize> = (0..self.lines.len()).collect();
        format!("schema S:\n{}{}", self.body(&in_turn), blocks.collect::<String>())
    }

    fn body(&self, order: &[usize]) -> String {
        order.iter().flat_map(|idx| ["    ", self.lines[*idx].as_str(), "\n"]).collect()
    }

    fn instance(&self) -> String {
        format!("x = S {{{}}}\n", self.overrides.join(", "))
    }
}

fn value(rng: &mut Rng, ty: Type, usable: &[usize], types: &[Type]) -> String {
    let fitting = |want: Type| -> Vec<usize> {
        usable.iter().copied().filter(|idx| types[*idx] == want).collect()
    };
    let (ints, strings, lists) = (fitting(Type::Int), fitting(Type::Str), fitting(Type::List));
    let int = |rng: &mut Rng| match rng.below(4) {
        0 if !lists.is_empty() => format!("len(a{})", rng.pick(&lists)),
        1 if !strings.is_empty() => format!("len(a{})", rng.pick(&strings)),
        2 | 3 if !ints.is_empty() => format!("a{}", rng.pick(&ints)),
        _ => rng.below(9).to_string(),
    };
    let (left, right) = (int(rng), int(rng));
    match ty {
        Type::Int => match rng.below(4) {
            0 => left,
            1 => format!("{left} * 2 - {right}"),
            2 => format!("{left} + {right}"),
            _ => format!("{left} if {right} > 3 else 1"),
        },
        Type::Str if !strings.is_empty() && rng.one_in(2) => {
            format!("a{} + \"-${{{left}}}\"", rng.pick(&strings))
        }
        Type::Str => format!("\"<${{{left}}} ${{{right}}}>\""),
        Type::List if !lists.is_empty() && rng.one_in(2) => {
            format!("[i + {left} for i in a{}]", rng.pick(&lists))
        }
        Type::List => format!("[{left}, {right}]"),
    }
}
