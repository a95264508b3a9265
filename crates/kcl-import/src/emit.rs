//! The model as source.

use crate::import::{Options, SourceFile};
use crate::model::{Attribute, Check, Model, Package, REGEX, SELF, Schema, Ty};
use kcl_data::{name_text, string_text};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Writes all packages: a file for each group of schemas.
pub(crate) fn emit(model: &Model, options: &Options) -> Vec<SourceFile> {
    let root: Vec<&str> = options.package.split('.').collect();
    let mut files = Vec::new();
    for (path, Package { schemas }) in &model.packages {
        let mut groups: BTreeMap<&str, Vec<&Schema>> = BTreeMap::new();
        for schema in schemas {
            groups.entry(&schema.file).or_default().push(schema);
        }
        let folder: Vec<&str> =
            root.iter().copied().chain(path.iter().map(String::as_str)).collect();
        for (file, schemas) in groups {
            let text = File::new(path, &schemas).text(&schemas, options.docs);
            files.push(SourceFile { path: format!("{}/{file}.k", folder.join("/")), text });
        }
    }
    files
}

/// What a file knows about names outside of it.
struct File<'m> {
    package: &'m [String],
    /// The names of imported packages.
    aliases: BTreeMap<&'m [String], String>,
    /// The name of the module `regex`, if it is needed.
    regex: Option<String>,
}

impl<'m> File<'m> {
    fn new(package: &'m [String], schemas: &[&'m Schema]) -> Self {
        let mut attributes: BTreeSet<&str> = BTreeSet::new();
        let mut used = Vec::new();
        for schema in schemas {
            attributes.extend(schema.attributes.iter().map(|attribute| attribute.name.as_str()));
            schema.attributes.iter().for_each(|attribute| attribute.ty.packages(&mut used));
            schema.other.iter().for_each(|ty| ty.packages(&mut used));
        }
        // An attribute hides an import of its name.
        let free = |name: String| {
            let mut name = name;
            while attributes.contains(name.as_str()) {
                name.push('_');
            }
            name
        };
        let aliases = used
            .into_iter()
            .filter(|it| it.as_slice() != package)
            .map(|it| {
                let name = if it.is_empty() { "root".to_owned() } else { it.join("_") };
                (it.as_slice(), free(name))
            })
            .collect();
        let needs_regex =
            schemas.iter().flat_map(|it| &it.checks).any(|check| check.condition.contains(REGEX));
        Self { package, aliases, regex: needs_regex.then(|| free("regex".into())) }
    }

    fn text(&self, schemas: &[&Schema], docs: bool) -> String {
        let mut out = String::new();
        if let Some(name) = &self.regex {
            out.push_str("import regex");
            if name != "regex" {
                let _ = write!(out, " as {name}");
            }
            out.push('\n');
        }
        for (path, alias) in &self.aliases {
            let common = path.iter().zip(self.package).take_while(|(a, b)| a == b).count();
            // One dot is the folder of the file, each further one the folder above.
            let dots = ".".repeat(1 + self.package.len() - common);
            let _ = writeln!(out, "import {dots}{} as {alias}", path[common..].join("."));
        }
        for (at, schema) in schemas.iter().enumerate() {
            if at > 0 || !out.is_empty() {
                out.push('\n');
            }
            self.schema(&mut out, schema, docs);
        }
        out
    }

    fn schema(&self, out: &mut String, schema: &Schema, docs: bool) {
        let _ = writeln!(out, "schema {}:", schema.name);
        if docs {
            self.docstring(out, schema);
        }
        let attributes: Vec<(Option<String>, &Attribute)> =
            schema.attributes.iter().map(|it| (attribute_text(&it.name), it)).collect();
        // A schema has a body, and takes keys that it can't declare.
        let is_open = attributes.is_empty() || attributes.iter().any(|(name, _)| name.is_none());
        if let Some(ty) = schema.other.as_ref().or(is_open.then_some(&Ty::Any)) {
            let _ = writeln!(out, "    [...str]: {}", self.ty(ty));
        }
        for (name, attribute) in attributes {
            let Some(name) = name else { continue };
            let mark = if attribute.is_optional { "?" } else { "" };
            let _ = write!(out, "    {name}{mark}: {}", self.ty(&attribute.ty));
            if let Some(default) = &attribute.default {
                let _ = write!(out, " = {default}");
            }
            out.push('\n');
        }
        let checks: Vec<String> =
            schema.checks.iter().filter_map(|check| self.check(schema, check)).collect();
        if !checks.is_empty() {
            let _ = write!(out, "\n    check:\n{}", checks.concat());
        }
    }

    /// A rule; `None` if the attribute can't be named in it.
    fn check(&self, schema: &Schema, check: &Check) -> Option<String> {
        let name = name_text(&check.attribute)?;
        // An attribute hides a function of its name.
        let is_hidden = |function: &str| {
            check.condition.contains(&format!("{function}("))
                && schema.attributes.iter().any(|attribute| attribute.name == function)
        };
        if ["len", "isunique", "multiplyof"].iter().any(|function| is_hidden(function)) {
            return None;
        }
        let regex = self.regex.as_deref().unwrap_or("regex");
        let condition = check.condition.replace(SELF, &name).replace(REGEX, regex);
        let when = if check.is_optional {
            format!(" if {name} not in [None, Undefined]")
        } else {
            String::new()
        };
        Some(format!("        {condition}{when}, {}\n", string_text(&check.message)))
    }

    fn docstring(&self, out: &mut String, schema: &Schema) {
        let described: Vec<&Attribute> =
            schema.attributes.iter().filter(|attribute| !attribute.doc.is_empty()).collect();
        if schema.doc.is_empty() && described.is_empty() {
            return;
        }
        out.push_str("    r\"\"\"\n");
        doc_lines(out, &schema.doc, "    ");
        if !described.is_empty() {
            if !schema.doc.is_empty() {
                out.push('\n');
            }
            out.push_str("    Attributes\n    ----------\n");
        }
        for attribute in described {
            let presence = if attribute.is_optional { "optional" } else { "required" };
            let name = doc_text(&attribute.name);
            let ty = doc_text(&self.ty(&attribute.ty));
            let default = attribute.default.as_deref().filter(|it| !it.contains('\n'));
            let default = default.map(|it| format!(", default is {}", doc_text(it)));
            let default = default.unwrap_or_default();
            let _ = writeln!(out, "    {name} : {ty}{default}, {presence}");
            doc_lines(out, &attribute.doc, "        ");
        }
        out.push_str("    \"\"\"\n");
    }

    fn ty(&self, ty: &Ty) -> String {
        match ty {
            Ty::Any => "any".into(),
            Ty::Bool => "bool".into(),
            Ty::Int => "int".into(),
            Ty::Float => "float".into(),
            Ty::Str => "str".into(),
            Ty::Lit(text) => text.clone(),
            Ty::List(item) => format!("[{}]", self.ty(item)),
            Ty::Dict(value) => format!("{{str:{}}}", self.ty(value)),
            Ty::Union(types) => types.iter().map(|ty| self.ty(ty)).collect::<Vec<_>>().join(" | "),
            Ty::Ref(package, name) => match self.aliases.get(package.as_slice()) {
                Some(alias) => format!("{alias}.{name}"),
                None => name.clone(),
            },
        }
    }
}

/// An attribute as it is declared: a name, with `$` before a keyword, or a string. `None` for the
/// few that have no form.
fn attribute_text(name: &str) -> Option<String> {
    if let Some(text) = name_text(name) {
        return Some(text);
    }
    let is_raw = !name.contains(|it: char| it.is_control() || it == '"' || it == '\\');
    match name.contains("${") {
        false => Some(string_text(name)),
        true if is_raw => Some(format!("r\"{name}\"")),
        true => None,
    }
}

/// Text that can stand in a raw docstring.
fn doc_text(text: &str) -> String {
    let text = text.replace("\"\"\"", "'''");
    text.chars().map(|it| if it.is_control() && it != '\t' { ' ' } else { it }).collect()
}

fn doc_lines(out: &mut String, text: &str, indentation: &str) {
    for line in text.trim().lines() {
        let line = doc_text(line.trim());
        // A line of dashes would start a section.
        let is_rule = line.len() > 2 && line.chars().all(|it| it == '-');
        if line.is_empty() || is_rule {
            out.push('\n');
        } else {
            let _ = writeln!(out, "{indentation}{line}");
        }
    }
}
