//! The schemas of a Terraform provider (`terraform providers schema -json`).

use crate::ImportError;
use crate::model::{Attribute, Check, Model, SELF, Schema, Ty};
use crate::names::{file_name, package_name, pascal, schema_name};
use kcl_data::{Data, Node};

/// Types and blocks are followed this deep.
const MAX_DEPTH: usize = 64;

/// Reads all providers: each becomes a package, with a schema for each resource and data source.
pub(crate) fn read(documents: &[Node], model: &mut Model) -> Result<(), ImportError> {
    let mut n_found = 0;
    for document in documents {
        let providers = document.get("provider_schemas").map_or(&[][..], Node::entries);
        for provider in providers {
            let name = provider.key.rsplit('/').next().unwrap_or(&provider.key);
            let package = vec![package_name(name)];
            let mut reader = Reader { package, model, made: Vec::new() };
            let sections = [("resource_schemas", ""), ("data_source_schemas", "Data")];
            for (section, prefix) in sections {
                for entry in provider.value.get(section).map_or(&[][..], Node::entries) {
                    n_found += 1;
                    let name = schema_name(&format!("{prefix}{}", pascal(&entry.key)));
                    let file = file_name(&name);
                    if let Some(block) = entry.value.get("block") {
                        reader.block(block, &name, &file, 0);
                    }
                }
            }
            let Reader { package, made, .. } = reader;
            for schema in made {
                model.add(&package, schema);
            }
        }
    }
    if n_found == 0 {
        let message = "there are no schemas of resources: expected `provider_schemas`";
        return Err(ImportError::Whole(message.into()));
    }
    Ok(())
}

struct Reader<'m> {
    package: Vec<String>,
    model: &'m mut Model,
    made: Vec<Schema>,
}

impl Reader<'_> {
    /// Makes a schema of a block; returns its name.
    fn block(&mut self, block: &Node, name: &str, file: &str, depth: usize) -> String {
        let name = self.model.unique(&self.package, name);
        let at = self.made.len();
        self.made.push(Schema::default());
        let mut schema = Schema {
            name: name.clone(),
            file: file.to_owned(),
            doc: block.str_of("description").unwrap_or_default().to_owned(),
            ..Schema::default()
        };
        for entry in block.get("attributes").map_or(&[][..], Node::entries) {
            let prefix = format!("{name}{}", pascal(&entry.key));
            let ty = match (entry.value.get("type"), entry.value.get("nested_type")) {
                (Some(ty), _) => self.ty(ty, &prefix, file, depth + 1),
                (None, Some(nested)) => {
                    let inner = self.block(nested, &prefix, file, depth + 1);
                    nesting(nested.str_of("nesting_mode"), Ty::Ref(self.package.clone(), inner))
                }
                (None, None) => Ty::Any,
            };
            schema.attributes.push(Attribute {
                name: entry.key.clone(),
                ty,
                is_optional: !entry.value.is_true("required"),
                default: None,
                doc: entry.value.str_of("description").unwrap_or_default().to_owned(),
            });
        }
        let blocks = block.get("block_types").map_or(&[][..], Node::entries);
        for entry in blocks.iter().filter(|_| depth < MAX_DEPTH) {
            let Some(inner) = entry.value.get("block") else { continue };
            let prefix = format!("{name}{}", pascal(&entry.key));
            let inner = self.block(inner, &prefix, file, depth + 1);
            let ty =
                nesting(entry.value.str_of("nesting_mode"), Ty::Ref(self.package.clone(), inner));
            let limit = |key: &str| match entry.value.get(key).map(|it| &it.data) {
                Some(Data::Int(n @ 1..)) => Some(*n),
                _ => None,
            };
            let is_optional = limit("min_items").is_none();
            let is_list = matches!(ty, Ty::List(_));
            for (key, operator, words) in
                [("min_items", ">=", "at least"), ("max_items", "<=", "at most")]
            {
                if let (true, Some(n)) = (is_list, limit(key)) {
                    schema.checks.push(Check {
                        attribute: entry.key.clone(),
                        condition: format!("len({SELF}) {operator} {n}"),
                        is_optional,
                        message: format!("{} must have {words} {n} items", entry.key),
                    });
                }
            }
            schema.attributes.push(Attribute {
                name: entry.key.clone(),
                ty,
                is_optional,
                default: None,
                doc: String::new(),
            });
        }
        self.made[at] = schema;
        name
    }

    fn ty(&mut self, node: &Node, prefix: &str, file: &str, depth: usize) -> Ty {
        if depth > MAX_DEPTH {
            return Ty::Any;
        }
        if let Some(name) = node.as_str() {
            return match name {
                "string" => Ty::Str,
                "number" => Ty::Float,
                "bool" => Ty::Bool,
                _ => Ty::Any,
            };
        }
        let [kind, inner] = node.items() else { return Ty::Any };
        match kind.as_str() {
            Some("list" | "set") => Ty::List(Box::new(self.ty(inner, prefix, file, depth + 1))),
            Some("map") => Ty::Dict(Box::new(self.ty(inner, prefix, file, depth + 1))),
            Some("tuple") => Ty::List(Box::new(Ty::Any)),
            Some("object") => {
                let name = self.model.unique(&self.package, prefix);
                let at = self.made.len();
                self.made.push(Schema::default());
                let mut schema =
                    Schema { name: name.clone(), file: file.to_owned(), ..Schema::default() };
                for entry in inner.entries() {
                    let prefix = format!("{name}{}", pascal(&entry.key));
                    schema.attributes.push(Attribute {
                        name: entry.key.clone(),
                        ty: self.ty(&entry.value, &prefix, file, depth + 1),
                        is_optional: true,
                        default: None,
                        doc: String::new(),
                    });
                }
                self.made[at] = schema;
                Ty::Ref(self.package.clone(), name)
            }
            _ => Ty::Any,
        }
    }
}

fn nesting(mode: Option<&str>, ty: Ty) -> Ty {
    match mode {
        Some("list" | "set") => Ty::List(Box::new(ty)),
        Some("map") => Ty::Dict(Box::new(ty)),
        _ => ty,
    }
}
