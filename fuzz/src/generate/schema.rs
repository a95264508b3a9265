//! Schemas: attributes, bases, mixins, parameters, checks, index signatures.

use super::{Attribute, Generator, Schema, Type};

impl Generator<'_> {
    /// Writes a schema.
    pub(super) fn schema(&mut self) {
        let name = self.fresh("S");
        let base = (!self.schemas.is_empty() && self.rng.one_in(3))
            .then(|| self.rng.below(self.schemas.len()));
        // A base with parameters would have to be given arguments.
        let base = base.filter(|idx| self.schemas[*idx].params.is_empty());
        let param =
            (base.is_none() && self.rng.one_in(6)).then(|| (self.fresh("p"), self.scalar()));
        let mixin = self.rng.one_in(8).then(|| self.mixin());
        self.write(&format!("schema {name}"));
        if let Some((param, ty)) = &param {
            let text = self.type_text(ty);
            self.write(&format!("[{param}: {text}]"));
        }
        if let Some(base) = base {
            let text = self.schemas[base].name.clone();
            self.write(&format!("({text})"));
        }
        self.write(":\n");
        let mut attributes = base.map_or_else(Vec::new, |idx| self.schemas[idx].attributes.clone());
        let mut open = base.is_some_and(|idx| self.schemas[idx].open);
        if let Some(mixin) = mixin {
            self.write(&format!("    mixin [{mixin}]\n"));
        }
        let n_outer = self.names.len();
        self.names.extend(
            attributes.iter().filter(|it| it.required).map(|it| (it.name.clone(), it.ty.clone())),
        );
        self.names.extend(param.iter().cloned());
        if self.rng.one_in(10) && !open {
            self.write("    [...str]: int\n");
            open = true;
            attributes.retain(|it| it.ty == Type::Int);
        }
        for _ in 0..=self.rng.below(3) {
            let attribute = self.attribute_line(open);
            self.names.push((attribute.name.clone(), attribute.ty.clone()));
            attributes.push(attribute);
        }
        if let Some(base) = base.filter(|_| self.rng.one_in(3)) {
            self.overridden(base);
        }
        if self.rng.one_in(4) {
            self.body_if();
        }
        if self.rng.one_in(3) {
            self.checks();
        }
        self.names.truncate(n_outer);
        let params = param.into_iter().map(|it| it.1).collect();
        self.schemas.push(Schema { name, params, attributes, open });
    }

    fn mixin(&mut self) -> String {
        let name = self.fresh("M") + "Mixin";
        let attribute = self.fresh("m");
        self.write(&format!("mixin {name}:\n    {attribute}: int = "));
        self.expr(&Type::Int, 1);
        self.write("\n");
        name
    }

    fn attribute_line(&mut self, only_int: bool) -> Attribute {
        let name = self.fresh("a");
        let ty = if only_int { Type::Int } else { self.any_type() };
        let text = self.type_text(&ty);
        let required = self.rng.one_in(3);
        let optional = !required && self.rng.one_in(5);
        self.write(&format!("    {name}{}: {text}", if optional { "?" } else { "" }));
        if !required && !optional {
            self.write(" = ");
            self.expr(&ty, 2);
        }
        self.write("\n");
        Attribute { name, ty, required }
    }

    /// Gives an attribute of the base another value.
    fn overridden(&mut self, base: usize) {
        let idx = self.rng.below(self.schemas[base].attributes.len());
        let Some(attribute) = self.schemas[base].attributes.get(idx).cloned() else { return };
        let operator = *self.rng.pick(&[" = ", " = ", ": "]);
        if operator == ": " {
            let text = self.type_text(&attribute.ty);
            self.write(&format!("    {}: {text} = ", attribute.name));
        } else {
            self.write(&format!("    {} = ", attribute.name));
        }
        self.expr(&attribute.ty, 1);
        self.write("\n");
    }

    fn body_if(&mut self) {
        let name = self.fresh("_c");
        self.write("    if ");
        self.expr(&Type::Bool, 1);
        self.write(&format!(":\n        {name} = "));
        self.expr(&Type::Int, 1);
        self.write(&format!("\n    else:\n        {name} = "));
        self.expr(&Type::Int, 1);
        self.write("\n");
    }

    fn checks(&mut self) {
        self.write("    check:\n        ");
        if self.rng.one_in(3) {
            self.write("True or ");
        }
        self.expr(&Type::Bool, 2);
        if self.rng.one_in(4) {
            self.write(" if ");
            self.expr(&Type::Bool, 1);
        }
        if self.rng.one_in(2) {
            self.write(", \"does not hold\"");
        }
        self.write("\n");
    }
}
