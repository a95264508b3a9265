//! Modules and their statements.

use super::{Generator, Lambda, Type};

impl Generator<'_> {
    /// Writes a whole module.
    pub(super) fn module(&mut self) {
        if self.rng.one_in(5) {
            self.modules = true;
            self.write("import base64\nimport crypto\nimport json\nimport math\nimport regex\nimport yaml\n");
        }
        for _ in 0..self.rng.below(3) {
            self.schema();
        }
        if self.rng.one_in(3) {
            self.lambda();
        }
        for _ in 0..=self.rng.below(5) {
            match self.rng.below(16) {
                0 => self.if_statement(),
                1 => self.reassigned(),
                2 => self.list_append(),
                3 if !self.schemas.is_empty() => self.merged_instance(),
                4 => self.assertion(),
                5 => self.config_merge(),
                6 => self.nested_config(),
                7 => self.union_typed(),
                _ => self.variable(),
            }
        }
    }

    fn variable(&mut self) {
        let name = if self.rng.one_in(6) { self.fresh("_g") } else { self.fresh("g") };
        let ty = self.any_type();
        self.write(&name);
        if self.rng.one_in(3) {
            let text = self.type_text(&ty);
            self.write(&format!(": {text}"));
        }
        self.write(" = ");
        self.expr(&ty, 3);
        self.write("\n");
        self.names.push((name, ty));
    }

    fn lambda(&mut self) {
        let name = self.fresh("f");
        let params: Vec<(String, Type)> =
            (0..=self.rng.below(2)).map(|_| (self.fresh("p"), self.scalar())).collect();
        let result = self.scalar();
        self.write(&format!("{name} = lambda "));
        for (n, (param, ty)) in params.iter().enumerate() {
            let text = self.type_text(ty);
            self.write(&format!("{}{param}: {text}", if n > 0 { ", " } else { "" }));
        }
        let text = self.type_text(&result);
        self.write(&format!(" -> {text} {{\n    "));
        let n_outer = self.names.len();
        self.names.extend(params.iter().cloned());
        if self.rng.one_in(3) {
            let local = self.fresh("l");
            self.write(&format!("{local} = "));
            let ty = self.scalar();
            self.expr(&ty, 2);
            self.write("\n    ");
            self.names.push((local, ty));
        }
        self.expr(&result, 2);
        self.names.truncate(n_outer);
        self.write("\n}\n");
        let params = params.into_iter().map(|it| it.1).collect();
        self.lambdas.push(Lambda { name, params, result });
    }

    fn if_statement(&mut self) {
        let name = self.fresh("_i");
        let ty = self.scalar();
        self.write("if ");
        self.expr(&Type::Bool, 2);
        self.write(&format!(":\n    {name} = "));
        self.expr(&ty, 2);
        if self.rng.one_in(2) {
            self.write("\nelif ");
            self.expr(&Type::Bool, 1);
            self.write(&format!(":\n    {name} = "));
            self.expr(&ty, 1);
        }
        self.write(&format!("\nelse:\n    {name} = "));
        self.expr(&ty, 2);
        self.write("\n");
        self.names.push((name, ty));
    }

    fn reassigned(&mut self) {
        let name = self.fresh("_r");
        let ty = self.scalar();
        for _ in 0..2 {
            self.write(&format!("{name} = "));
            self.expr(&ty, 2);
            self.write("\n");
        }
        self.names.push((name, ty));
    }

    fn list_append(&mut self) {
        let name = self.fresh("_l");
        let item = self.scalar();
        let ty = Type::List(Box::new(item));
        self.write(&format!("{name} = "));
        self.expr(&ty, 1);
        self.write(&format!("\n{name} += "));
        self.expr(&ty, 1);
        self.write("\n");
        self.names.push((name, ty));
    }

    /// Writes two blocks of one instance, as in a base and a stack.
    fn merged_instance(&mut self) {
        let idx = self.rng.below(self.schemas.len());
        let schema = self.schemas[idx].clone();
        if !schema.params.is_empty() {
            return self.variable();
        }
        let name = self.fresh("g");
        for block in 0..2 {
            self.write(&format!("{name}: {} {{", schema.name));
            let mut separator = "";
            for (n, attribute) in schema.attributes.iter().enumerate() {
                let here = if attribute.required { n % 2 == block } else { self.rng.one_in(4) };
                if here {
                    let is_list = matches!(attribute.ty, Type::List(_));
                    let operator = match self.rng.below(4) {
                        0 if is_list => " +=",
                        0 | 1 => ":",
                        _ => " =",
                    };
                    self.write(&format!("{separator}{}{operator} ", attribute.name));
                    self.expr(&attribute.ty, 1);
                    separator = ", ";
                }
            }
            self.write("}\n");
        }
        self.names.push((name, Type::Schema(idx)));
    }

    /// Writes a union of configs that meet in the same keys.
    fn overlay(&mut self) {
        let name = self.fresh("g");
        self.write(&format!("{name} = "));
        for block in 0..=1 + self.rng.below(2) {
            self.write(if block > 0 { " | {" } else { "{" });
            for n in 0..=self.rng.below(3) {
                self.write(if n > 0 { ", " } else { "" });
                match self.rng.below(7) {
                    0 => self.keyed("k", &Type::Int),
                    1 => self.keyed("l", &Type::List(Box::new(Type::Int))),
                    2 => self.keyed("d", &Type::Dict(Box::new(Type::Int))),
                    3 => self.keyed("d.x", &Type::Int),
                    4 => self.keyed("l[0]", &Type::Int),
                    5 if !self.schemas.is_empty() => {
                        let idx = self.rng.below(self.schemas.len());
                        self.keyed(&format!("s{idx}"), &Type::Schema(idx));
                    }
                    _ => self.keyed("n", &Type::Str),
                }
            }
            self.write("}");
        }
        self.write("\n");
    }

    /// Writes a key, any operator and a value.
    fn keyed(&mut self, key: &str, ty: &Type) {
        let is_list = matches!(ty, Type::List(_));
        let operator = match self.rng.below(5) {
            0 if is_list => " += ",
            1 | 2 => " = ",
            _ => ": ",
        };
        self.write(key);
        self.write(operator);
        self.expr(ty, 1);
    }

    fn config_merge(&mut self) {
        if self.rng.one_in(2) {
            return self.overlay();
        }
        let name = self.fresh("g");
        let ty = Type::Dict(Box::new(Type::Int));
        self.write(&format!("{name} = "));
        self.expr(&ty, 2);
        self.write(" | {");
        let key = *self.rng.pick(&["u", "k", "x", "name"]);
        self.keyed(key, &Type::Int);
        self.write("}\n");
        self.names.push((name, ty));
    }

    /// Writes a config with paths as keys, and reads it back.
    fn nested_config(&mut self) {
        let (name, read) = (self.fresh("g"), self.fresh("g"));
        let ty = self.scalar();
        self.write(&format!("{name} = {{\n    a.b.c = "));
        self.expr(&ty, 2);
        self.write("\n    a.b: {d = ");
        self.expr(&Type::Int, 1);
        self.write("}\n    e: [");
        self.expr(&Type::Int, 1);
        self.write("]\n    e += [");
        self.expr(&Type::Int, 1);
        self.write(&format!("]\n}}\n{read} = {name}.a.b.c\n"));
        self.names.push((read, ty));
    }

    /// Writes a variable of a union, alias or literal type.
    fn union_typed(&mut self) {
        let name = self.fresh("g");
        match self.rng.below(4) {
            0 => {
                let ty = if self.rng.one_in(2) { Type::Int } else { Type::Str };
                self.write(&format!("{name}: int | str = "));
                self.expr(&ty, 2);
            }
            1 => {
                let text = *self.rng.pick(&["a", "a", "b", "b", "c"]);
                self.write(&format!("{name}: \"a\" | \"b\" = \"{text}\""));
            }
            2 => {
                let alias = self.fresh("T");
                let ty = self.any_type();
                let text = self.type_text(&ty);
                self.write(&format!("type {alias} = {text}\n{name}: {alias} = "));
                self.expr(&ty, 2);
                self.names.push((name.clone(), ty));
            }
            _ => {
                let ty = self.scalar();
                self.write(&format!("{name}: any = "));
                self.expr(&ty, 2);
                let (cast, text) = (self.fresh("g"), self.type_text(&ty));
                self.write(&format!("\n{cast} = {name} as {text}"));
                self.names.push((cast, ty));
            }
        }
        self.write("\n");
    }

    fn assertion(&mut self) {
        self.write("assert True or ");
        self.expr(&Type::Bool, 2);
        if self.rng.one_in(2) {
            self.write(" if ");
            self.expr(&Type::Bool, 1);
        }
        self.write(", \"asserted\"\n");
    }
}
