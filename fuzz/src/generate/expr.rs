//! Expressions of a given type.

use super::{Generator, Type};

const STRINGS: &[&str] = &[
    "a", "", "web", "x y", "1", "true", "null", "-d", "\\n", "é", "10Gi", "a: b", "# c", "0x1F",
    "y",
];
const KEYS: &[&str] = &["k", "x", "name", "a-b", "0", "if"];

impl Generator<'_> {
    /// Writes an expression of type `ty`.
    pub(super) fn expr(&mut self, ty: &Type, depth: usize) {
        if depth == 0 || !self.spend() {
            return self.leaf(ty);
        }
        if self.rng.one_in(150) {
            let wrong = self.any_type();
            return self.leaf(&wrong);
        }
        match self.rng.below(12) {
            0..3 => self.leaf(ty),
            3 => self.conditional(ty, depth),
            4 if self.call(ty, depth) => {}
            5 if self.attribute(ty) => {}
            6 => {
                self.write("(");
                self.expr(ty, depth - 1);
                self.write(")");
            }
            7 if self.rng.one_in(3) => self.element(ty, depth - 1),
            8 if self.modules && self.module_call(ty, depth - 1) => {}
            _ => self.composed(ty, depth - 1),
        }
    }

    fn composed(&mut self, ty: &Type, depth: usize) {
        match ty {
            Type::Int => self.int(depth),
            Type::Float => self.float(depth),
            Type::Str => self.string(depth),
            Type::Bool => self.boolean(depth),
            Type::List(item) => self.list(item, depth),
            Type::Dict(item) => self.dict(item, depth),
            Type::Schema(idx) => self.instance(*idx, depth),
        }
    }

    /// Writes a name in scope or a literal.
    fn leaf(&mut self, ty: &Type) {
        let fitting: Vec<usize> =
            (0..self.names.len()).filter(|idx| self.names[*idx].1 == *ty).collect();
        if !fitting.is_empty() && !self.rng.one_in(3) {
            let idx = *self.rng.pick(&fitting);
            let name = self.names[idx].0.clone();
            return self.write(&name);
        }
        if self.rng.one_in(400) {
            let odd = *self.rng.pick(&["nope", "None", "Undefined", "[]", "{}"]);
            return self.write(odd);
        }
        match ty {
            Type::Int => self.int_literal(),
            Type::Float if self.rng.one_in(40) => self.write("1Ki"),
            Type::Float => {
                let text = *self
                    .rng
                    .pick(&["0.5", "1.0", "2.25", "-1.5", "1e3", "1e16", "0.00001", "3.14"]);
                self.write(text);
            }
            Type::Str => {
                let text = *self.rng.pick(STRINGS);
                self.write(&format!("\"{text}\""));
            }
            Type::Bool => {
                let text = *self.rng.pick(&["True", "False"]);
                self.write(text);
            }
            Type::List(item) => {
                self.write("[");
                for n in 0..self.rng.below(3) {
                    self.write(if n > 0 { ", " } else { "" });
                    self.leaf(item);
                }
                self.write("]");
            }
            Type::Dict(item) => {
                let key = *self.rng.pick(KEYS);
                self.write(&format!("{{\"{key}\" = "));
                self.leaf(item);
                self.write("}");
            }
            Type::Schema(idx) => self.instance(*idx, 0),
        }
    }

    fn int_literal(&mut self) {
        let text = match self.rng.below(12) {
            0 => "9223372036854775807".into(),
            1 => "0x1F".into(),
            2 => "-1".into(),
            3 => "0b11".into(),
            4 => "0o17".into(),
            _ => self.rng.below(10).to_string(),
        };
        self.write(&text);
    }

    fn binary(&mut self, left: &Type, operator: &str, right: &Type, depth: usize) {
        self.write("(");
        self.expr(left, depth);
        self.write(&format!(" {operator} "));
        self.expr(right, depth);
        self.write(")");
    }

    fn conditional(&mut self, ty: &Type, depth: usize) {
        self.write("(");
        self.expr(ty, depth - 1);
        self.write(" if ");
        self.expr(&Type::Bool, depth - 1);
        self.write(" else ");
        self.expr(ty, depth - 1);
        self.write(")");
    }

    /// Takes an expression out of a literal that holds it.
    fn element(&mut self, ty: &Type, depth: usize) {
        let (before, after) = *self.rng.pick(&[
            ("[", "][0]"),
            ("[", "][-1]"),
            ("[", "]?[0]"),
            ("{k = ", "}.k"),
            ("{k = ", "}[\"k\"]"),
            ("{k: ", "}?.k"),
            ("(lambda { ", " })()"),
        ]);
        self.write(before);
        self.expr(ty, depth);
        self.write(after);
    }

    /// Calls a system module for a value of type `ty`; false if none gives one.
    fn module_call(&mut self, ty: &Type, depth: usize) -> bool {
        let any = self.any_type();
        match ty {
            Type::Str => match self.rng.below(4) {
                0 => self.wrap("json.encode(", &any, ")", depth),
                1 => self.wrap("yaml.encode(", &any, ")", depth),
                2 => self.wrap("base64.encode(", &Type::Str, ")", depth),
                _ => self.wrap("crypto.sha256(", &Type::Str, ")", depth),
            },
            Type::Bool => self.wrap("regex.match(", &Type::Str, ", \"^[a-z]+\")", depth),
            Type::Int => self.wrap("math.ceil(", &Type::Float, ")", depth),
            Type::Float => self.wrap("math.sqrt(abs(", &Type::Float, "))", depth),
            _ => return false,
        }
        true
    }

    /// Calls a function that gives `ty`; false if there is none.
    fn call(&mut self, ty: &Type, depth: usize) -> bool {
        let fitting: Vec<usize> =
            (0..self.lambdas.len()).filter(|idx| self.lambdas[*idx].result == *ty).collect();
        if fitting.is_empty() {
            return false;
        }
        let idx = *self.rng.pick(&fitting);
        let lambda = self.lambdas[idx].clone();
        self.write(&format!("{}(", lambda.name));
        for (n, param) in lambda.params.iter().enumerate() {
            self.write(if n > 0 { ", " } else { "" });
            self.expr(param, depth - 1);
        }
        self.write(")");
        true
    }

    /// Reads an attribute of type `ty` from an instance in scope; false if there is none.
    fn attribute(&mut self, ty: &Type) -> bool {
        let mut fitting = Vec::new();
        for (name, of) in &self.names {
            let Type::Schema(idx) = of else { continue };
            let attributes = self.schemas[*idx].attributes.iter();
            fitting.extend(
                attributes.filter(|it| it.ty == *ty).map(|it| (name.clone(), it.name.clone())),
            );
        }
        if fitting.is_empty() {
            return false;
        }
        let (name, attribute) = self.rng.pick(&fitting).clone();
        let dot = if self.rng.one_in(4) { "?." } else { "." };
        self.write(&format!("{name}{dot}{attribute}"));
        true
    }

    fn int(&mut self, depth: usize) {
        match self.rng.below(14) {
            0..3 => {
                let operator = *self.rng.pick(&["+", "-", "*", "&", "|", "^"]);
                self.binary(&Type::Int, operator, &Type::Int, depth);
            }
            3 | 4 => {
                let operator = *self.rng.pick(&["//", "%", "**", "<<", ">>"]);
                let n = 1 + self.rng.below(5);
                self.write("(");
                self.expr(&Type::Int, depth);
                self.write(&format!(" {operator} {n})"));
            }
            5 => {
                let operator = *self.rng.pick(&["-", "~", "+"]);
                self.write(operator);
                self.expr(&Type::Int, depth);
            }
            6 | 7 => {
                let of =
                    [Type::Str, Type::List(Box::new(Type::Int)), Type::Dict(Box::new(Type::Int))];
                let of = self.rng.pick(&of).clone();
                self.wrap("len(", &of, ")", depth);
            }
            8 => self.wrap("sum(", &Type::List(Box::new(Type::Int)), ")", depth),
            9 => self.wrap("abs(", &Type::Int, ")", depth),
            10 => self.wrap("int(", &Type::Float, ")", depth),
            11 => {
                let function = *self.rng.pick(&["min(", "max("]);
                self.write(function);
                self.expr(&Type::Int, depth);
                self.write(", ");
                self.expr(&Type::Int, depth);
                self.write(")");
            }
            12 => self.wrap("", &Type::Str, ".count(\"a\")", depth),
            _ => self.wrap("int(", &Type::Bool, ")", depth),
        }
    }

    fn wrap(&mut self, before: &str, ty: &Type, after: &str, depth: usize) {
        self.write(before);
        if before.is_empty() {
            self.write("(");
        }
        self.expr(ty, depth);
        if before.is_empty() {
            self.write(")");
        }
        self.write(after);
    }

    fn float(&mut self, depth: usize) {
        match self.rng.below(5) {
            0 | 1 => {
                let operator = *self.rng.pick(&["+", "-", "*"]);
                self.binary(&Type::Float, operator, &Type::Float, depth);
            }
            2 => self.wrap("float(", &Type::Int, ")", depth),
            3 => self.wrap("", &Type::Int, " / 4", depth),
            _ => self.wrap("round(", &Type::Float, ", 1)", depth),
        }
    }

    fn string(&mut self, depth: usize) {
        let any = self.any_type();
        match self.rng.below(11) {
            0 | 1 => self.binary(&Type::Str, "+", &Type::Str, depth),
            2 => self.wrap("str(", &any, ")", depth),
            3 | 4 => {
                // Only names: quotes may not nest inside an interpolation.
                let name = self.names.last().map_or_else(|| "1 + 1".to_owned(), |it| it.0.clone());
                let spec = *self.rng.pick(&["", "", ": #json", ": #yaml"]);
                self.write(&format!("\"<${{{name}{spec}}}>\""));
            }
            5 | 6 => {
                let method = *self.rng.pick(&[
                    ".upper()",
                    ".lower()",
                    ".strip()",
                    ".capitalize()",
                    ".title()",
                    ".replace(\"a\", \"bb\")",
                    "[:2]",
                    "[::-1]",
                    "[0:1]",
                ]);
                self.wrap("", &Type::Str, method, depth);
            }
            7 => self.wrap("\"{} {}\".format(1, ", &any, ")", depth),
            8 => self.wrap("\", \".join(", &Type::List(Box::new(Type::Str)), ")", depth),
            9 => {
                let function = *self.rng.pick(&["typeof(", "hex(", "bin("]);
                self.wrap(function, &Type::Int, ")", depth);
            }
            _ => self.wrap("", &Type::Str, " * 2", depth),
        }
    }

    fn boolean(&mut self, depth: usize) {
        match self.rng.below(9) {
            0 | 1 => {
                // Texts have no order in KCL.
                let ty = if self.rng.one_in(3) { Type::Float } else { Type::Int };
                let operator = *self.rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
                self.binary(&ty, operator, &ty, depth);
            }
            2 => {
                let ty = self.any_type();
                let operator = *self.rng.pick(&["==", "!="]);
                self.binary(&ty, operator, &ty, depth);
            }
            3 | 4 => {
                let operator = *self.rng.pick(&["and", "or"]);
                self.binary(&Type::Bool, operator, &Type::Bool, depth);
            }
            5 => self.wrap("(not ", &Type::Bool, ")", depth),
            6 => {
                let operator = *self.rng.pick(&["in", "not in"]);
                self.binary(&Type::Int, operator, &Type::List(Box::new(Type::Int)), depth);
            }
            7 => {
                let quantifier = *self.rng.pick(&["all", "any"]);
                self.quantifier(quantifier, &Type::Int, &Type::Bool, depth);
            }
            _ => self.wrap("", &Type::Str, ".startswith(\"a\")", depth),
        }
    }

    /// Writes `all x in list { body }`.
    fn quantifier(&mut self, word: &str, item: &Type, body: &Type, depth: usize) {
        let name = self.fresh("q");
        self.write(&format!("({word} {name} in "));
        // The grammar takes a name or a literal here.
        self.leaf(&Type::List(Box::new(item.clone())));
        self.write(" { ");
        self.names.push((name, item.clone()));
        self.expr(body, depth);
        self.names.pop();
        self.write(" })");
    }

    fn list(&mut self, item: &Type, depth: usize) {
        let own = Type::List(Box::new(item.clone()));
        match self.rng.below(9) {
            0 | 1 => self.list_literal(item, depth),
            2 | 3 => {
                let from = self.scalar();
                let name = self.fresh("v");
                let at = self.out.len();
                // The element stands before the name it uses, so the source is written first.
                self.expr(&Type::List(Box::new(from.clone())), depth);
                let source = self.out.split_off(at);
                self.names.push((name.clone(), from));
                self.write("[");
                self.expr(item, depth);
                self.write(&format!(" for {name} in {source}"));
                if self.rng.one_in(3) {
                    self.write(" if ");
                    self.expr(&Type::Bool, depth);
                }
                self.write("]");
                self.names.pop();
            }
            4 => self.binary(&own, "+", &own, depth),
            5 => {
                let slice = *self.rng.pick(&["[:1]", "[1:]", "[::-1]", "[-1:]"]);
                self.wrap("", &own, slice, depth);
            }
            6 => self.quantifier("map", &Type::Int, item, depth),
            7 => self.quantifier("filter", item, &Type::Bool, depth),
            _ if *item == Type::Int => {
                let n = self.rng.below(6);
                self.write(&format!("[i for i in range({n})]"));
            }
            _ => self.wrap("sorted(", &own, ")", depth),
        }
    }

    fn list_literal(&mut self, item: &Type, depth: usize) {
        self.write("[");
        for n in 0..self.rng.below(4) {
            self.write(if n > 0 { ", " } else { "" });
            if self.rng.one_in(6) {
                self.write("*");
                self.leaf(&Type::List(Box::new(item.clone())));
            } else {
                self.expr(item, depth);
            }
        }
        self.write("]");
    }

    fn dict(&mut self, item: &Type, depth: usize) {
        let own = Type::Dict(Box::new(item.clone()));
        match self.rng.below(8) {
            0..4 => self.dict_literal(item, depth),
            4 => self.binary(&own, "|", &own, depth),
            5 => {
                let name = self.fresh("s");
                self.write(&format!("{{{name}: "));
                self.names.push((name.clone(), Type::Str));
                self.expr(item, depth);
                self.names.pop();
                self.write(&format!(" for {name} in "));
                self.expr(&Type::List(Box::new(Type::Str)), depth);
                self.write("}");
            }
            6 => {
                self.write("{**");
                self.leaf(&own);
                self.write(", z = ");
                self.expr(item, depth);
                self.write("}");
            }
            _ => {
                self.write("{if ");
                self.expr(&Type::Bool, depth);
                self.write(": w = ");
                self.expr(item, depth);
                self.write("}");
            }
        }
    }

    fn dict_literal(&mut self, item: &Type, depth: usize) {
        self.write("{");
        for n in 0..self.rng.below(4) {
            self.write(if n > 0 { ", " } else { "" });
            let key = *self.rng.pick(KEYS);
            let operator = if self.rng.one_in(3) { ":" } else { " =" };
            self.write(&format!("\"{key}\"{operator} "));
            self.expr(item, depth);
        }
        self.write("}");
    }

    /// Writes an instance of a schema with all it requires and some of the rest.
    pub(super) fn instance(&mut self, idx: usize, depth: usize) {
        let schema = self.schemas[idx].clone();
        self.write(&schema.name);
        if !schema.params.is_empty() {
            self.write("(");
            for (n, param) in schema.params.iter().enumerate() {
                self.write(if n > 0 { ", " } else { "" });
                self.leaf(param);
            }
            self.write(")");
        }
        self.write(" {");
        let mut separator = "";
        for attribute in &schema.attributes {
            let wanted = attribute.required && !self.rng.one_in(60);
            if !wanted && (depth == 0 || !self.rng.one_in(3)) {
                continue;
            }
            let operator = if self.rng.one_in(3) { ":" } else { " =" };
            self.write(&format!("{separator}{}{operator} ", attribute.name));
            self.expr(&attribute.ty, depth.saturating_sub(1));
            separator = ", ";
        }
        if schema.open && self.rng.one_in(2) || self.rng.one_in(200) {
            self.write(&format!("{separator}extra = "));
            self.leaf(&Type::Int);
        }
        self.write("}");
    }
}
