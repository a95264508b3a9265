//! JSON Schema, and the forms that are built on it, as schemas of KCL.

use crate::ImportError;
use crate::checks::{checks, fits, literal};
use crate::model::{Attribute, Model, Schema, Ty};
use crate::names::{file_name, package_name, pascal, schema_name, unique};
use kcl_data::{Data, Node};
use std::collections::{HashMap, HashSet};

/// References from one alias to the next are followed this far.
const MAX_ALIASES: usize = 32;

/// Reads documents whose definitions are below `$defs` or `definitions`, and which may be schemas
/// themselves.
pub(crate) fn read(documents: &[Node], stem: &str, model: &mut Model) -> Result<(), ImportError> {
    for document in documents {
        let mut reader = Reader::new(document, model);
        for section in ["$defs", "definitions"] {
            reader.define(&format!("#/{section}/"), document.get(section));
        }
        if is_object(document) || document.get("allOf").is_some() {
            let title = document.str_of("title").unwrap_or(stem);
            let target = reader.target(Vec::new(), title, document);
            reader.targets.insert("#".to_owned(), target);
            reader.order.push("#".to_owned());
        }
        if reader.order.is_empty() {
            let message = "there are no schemas: expected `properties`, `$defs` or `definitions`";
            return Err(ImportError::Whole(message.into()));
        }
        reader.write();
    }
    Ok(())
}

/// A definition that becomes a schema of its own.
#[derive(Clone)]
struct Target<'d> {
    package: Vec<String>,
    name: String,
    file: String,
    node: &'d Node,
}

/// Where nested objects become schemas.
struct Place {
    package: Vec<String>,
    file: String,
    /// The name that they start with.
    prefix: String,
}

impl Place {
    fn inner(&self, word: &str) -> Place {
        Place {
            package: self.package.clone(),
            file: self.file.clone(),
            prefix: format!("{}{}", self.prefix, pascal(word)),
        }
    }
}

/// Reads the definitions of one document.
pub(crate) struct Reader<'d> {
    root: &'d Node,
    /// Definitions that become schemas, by their references.
    targets: HashMap<String, Target<'d>>,
    /// All definitions by their references.
    all: HashMap<String, &'d Node>,
    /// The references of targets in order.
    order: Vec<String>,
    /// Schemas in the order in which they are made.
    made: Vec<(Vec<String>, Schema)>,
    model: &'d mut Model,
}

impl<'d> Reader<'d> {
    pub(crate) fn new(root: &'d Node, model: &'d mut Model) -> Self {
        Self {
            root,
            targets: HashMap::new(),
            all: HashMap::new(),
            order: Vec::new(),
            made: Vec::new(),
            model,
        }
    }

    /// Notes the definitions of a section, which references name with a prefix.
    pub(crate) fn define(&mut self, prefix: &str, section: Option<&'d Node>) {
        let Some(section) = section else { return };
        for entry in section.entries() {
            let reference = format!("{prefix}{}", entry.key);
            self.all.insert(reference.clone(), &entry.value);
            if is_object(&entry.value) || is_composed(&entry.value) {
                let (package, name) = split_name(&entry.key);
                let target = self.target(package, name, &entry.value);
                self.targets.insert(reference.clone(), target);
                self.order.push(reference);
            }
        }
    }

    fn target(&mut self, package: Vec<String>, name: &str, node: &'d Node) -> Target<'d> {
        let name = self.model.unique(&package, &schema_name(name));
        Target { package, file: file_name(&name), name, node }
    }

    /// Makes a schema of the root, under a name that was marked as used before, and lets it be
    /// changed.
    pub(crate) fn build_root(
        &mut self,
        package: &[String],
        name: &str,
        change: impl FnOnce(&mut Schema),
    ) {
        let (package, name) = (package.to_vec(), name.to_owned());
        let at = self.made.len();
        self.build(&Target { package, file: file_name(&name), name, node: self.root });
        change(&mut self.made[at].1);
    }

    /// Makes all schemas and adds them to the model. Packages that import each other in a circle
    /// become one.
    pub(crate) fn write(mut self) {
        for reference in self.order.clone() {
            if let Some(target) = self.targets.get(&reference).cloned() {
                self.build(&target);
            }
        }
        if has_circle(&self.made) {
            flatten(&mut self.made);
        }
        for (package, schema) in self.made {
            self.model.add(&package, schema);
        }
    }

    fn build(&mut self, target: &Target<'d>) {
        let at = self.made.len();
        let place = Place {
            package: target.package.clone(),
            file: target.file.clone(),
            prefix: target.name.clone(),
        };
        // The schema comes before those that it needs.
        self.made.push((target.package.clone(), Schema::default()));
        let mut schema = self.object(target.node, &place);
        schema.name.clone_from(&target.name);
        schema.file.clone_from(&target.file);
        self.made[at].1 = schema;
    }

    /// Turns an object into a schema without a name.
    fn object(&mut self, node: &'d Node, place: &Place) -> Schema {
        let mut parts = Parts::default();
        self.collect(node, true, 0, &mut parts);
        let mut schema = Schema { doc: description(node).to_owned(), ..Schema::default() };
        let kinds = kinds(node);
        let mut seen = HashSet::new();
        for (name, property) in &parts.properties {
            if !seen.insert(name.as_str()) {
                continue;
            }
            let fixed = kinds.as_ref().and_then(|(version, kind)| match name.as_str() {
                "apiVersion" => Some(version),
                "kind" => Some(kind),
                _ => None,
            });
            if let Some(text) = fixed {
                schema.attributes.push(constant(name, text, description(property)));
                continue;
            }
            let ty = self.ty(property, &place.inner(name), 0);
            let default = property.get("default").filter(|it| fits(it, &ty)).and_then(literal);
            let is_optional = !parts.required.contains(name.as_str()) || is_nullable(property);
            schema.checks.extend(checks(name, self.resolved(property), &ty, is_optional));
            schema.attributes.push(Attribute {
                name: name.clone(),
                ty,
                is_optional,
                default,
                doc: description(property).to_owned(),
            });
        }
        schema.other = match parts.other {
            Other::None => None,
            // Keys that are declared have types of their own.
            Other::Typed(node) if schema.attributes.is_empty() => {
                Some(self.ty(node, &place.inner("Value"), 0))
            }
            Other::Typed(_) | Other::Any => Some(Ty::Any),
        };
        schema
    }

    /// Collects the properties of an object and of the objects that it consists of.
    fn collect(&self, node: &'d Node, is_required: bool, depth: usize, parts: &mut Parts<'d>) {
        if depth > MAX_ALIASES {
            return;
        }
        if let Some(target) = node.str_of("$ref").and_then(|reference| self.find(reference)) {
            self.collect(target, is_required, depth + 1, parts);
        }
        for entry in node.get("properties").map_or(&[][..], Node::entries) {
            parts.properties.push((entry.key.clone(), &entry.value));
        }
        if is_required {
            let required = node.get("required").map_or(&[][..], Node::items);
            parts.required.extend(required.iter().filter_map(Node::as_str));
        }
        match node.get("additionalProperties") {
            Some(Node { data: Data::Bool(true), .. }) => parts.other = Other::Any,
            Some(other @ Node { data: Data::Dict(_), .. }) => parts.other = Other::Typed(other),
            _ => {}
        }
        if node.is_true("x-kubernetes-preserve-unknown-fields")
            || node.get("patternProperties").is_some()
        {
            parts.other = Other::Any;
        }
        for part in node.get("allOf").map_or(&[][..], Node::items) {
            self.collect(part, is_required, depth + 1, parts);
        }
        for key in ["oneOf", "anyOf"] {
            for part in node.get(key).map_or(&[][..], Node::items) {
                self.collect(part, false, depth + 1, parts);
            }
        }
    }

    fn find(&self, reference: &str) -> Option<&'d Node> {
        match self.all.get(reference) {
            Some(node) => Some(node),
            None if reference == "#" => Some(self.root),
            None => {
                let mut node = self.root;
                for part in reference.strip_prefix("#/")?.split('/') {
                    node = node.get(&part.replace("~1", "/").replace("~0", "~"))?;
                }
                Some(node)
            }
        }
    }

    /// What a reference stands for, if it becomes no schema of its own.
    fn resolved(&self, node: &'d Node) -> &'d Node {
        let mut node = node;
        for _ in 0..MAX_ALIASES {
            match node.str_of("$ref") {
                Some(reference) if !self.targets.contains_key(reference) => {
                    match self.find(reference) {
                        Some(target) => node = target,
                        None => return node,
                    }
                }
                _ => return node,
            }
        }
        node
    }

    fn ty(&mut self, node: &'d Node, place: &Place, depth: usize) -> Ty {
        if depth > MAX_ALIASES {
            return Ty::Any;
        }
        if let Some(reference) = node.str_of("$ref") {
            if let Some(target) = self.targets.get(reference) {
                return Ty::Ref(target.package.clone(), target.name.clone());
            }
            return match self.find(reference) {
                Some(target) => self.ty(target, place, depth + 1),
                None => {
                    let message = format!("`{reference}` is not in the document: any value");
                    self.model.warnings.push(message);
                    Ty::Any
                }
            };
        }
        if node.is_true("x-kubernetes-int-or-string")
            || node.str_of("format") == Some("int-or-string")
        {
            return Ty::Union(vec![Ty::Int, Ty::Str]);
        }
        if let Some(constant) = node.get("const") {
            return constant_type(constant);
        }
        if let Some(values) = node.get("enum") {
            let types: Vec<Ty> = values
                .items()
                .iter()
                .filter(|value| value.data != Data::Null)
                .map(constant_type)
                .collect();
            return Ty::union(types);
        }
        if is_object(node) {
            return self.nested(node, place);
        }
        if let [part] = node.get("allOf").map_or(&[][..], Node::items) {
            return self.ty(part, place, depth + 1);
        }
        if is_composed(node) && node.get("allOf").is_some() {
            return self.nested(node, place);
        }
        for key in ["oneOf", "anyOf"] {
            let branches = node.get(key).map_or(&[][..], Node::items);
            // Branches that only say what is required are no types.
            if branches.is_empty() || !branches.iter().all(has_type) {
                continue;
            }
            let types = branches
                .iter()
                .enumerate()
                .filter(|(_, branch)| branch.str_of("type") != Some("null"))
                .map(|(at, branch)| {
                    self.ty(branch, &place.inner(&format!("Option{}", at + 1)), depth + 1)
                })
                .collect();
            return Ty::union(types);
        }
        let types: Vec<&str> = type_names(node);
        let types = types.iter().map(|name| self.named_type(name, node, place, depth)).collect();
        Ty::union(types)
    }

    fn named_type(&mut self, name: &str, node: &'d Node, place: &Place, depth: usize) -> Ty {
        match name {
            "string" => Ty::Str,
            "integer" => Ty::Int,
            "number" => Ty::Float,
            "boolean" => Ty::Bool,
            "array" => match node.get("items") {
                Some(items) => Ty::List(Box::new(self.ty(items, &place.inner("Item"), depth + 1))),
                None => Ty::List(Box::new(Ty::Any)),
            },
            "object" => match node.get("additionalProperties") {
                Some(value @ Node { data: Data::Dict(_), .. }) => {
                    Ty::Dict(Box::new(self.ty(value, &place.inner("Value"), depth + 1)))
                }
                _ => Ty::Dict(Box::new(Ty::Any)),
            },
            _ => Ty::Any,
        }
    }

    /// Makes a schema of an object inside of another one.
    fn nested(&mut self, node: &'d Node, place: &Place) -> Ty {
        let name = self.model.unique(&place.package, &schema_name(&place.prefix));
        let at = self.made.len();
        self.made.push((place.package.clone(), Schema::default()));
        let inner = Place {
            package: place.package.clone(),
            file: place.file.clone(),
            prefix: name.clone(),
        };
        let mut schema = self.object(node, &inner);
        schema.name.clone_from(&name);
        schema.file.clone_from(&place.file);
        self.made[at].1 = schema;
        Ty::Ref(place.package.clone(), name)
    }
}

/// Which keys an object may have beside its properties.
#[derive(Clone, Copy, Default)]
enum Other<'d> {
    #[default]
    None,
    /// Those with values of a type.
    Typed(&'d Node),
    Any,
}

/// What an object consists of.
#[derive(Default)]
struct Parts<'d> {
    properties: Vec<(String, &'d Node)>,
    required: HashSet<&'d str>,
    /// Further keys.
    other: Other<'d>,
}

fn description(node: &Node) -> &str {
    node.str_of("description").unwrap_or_default()
}

/// An attribute with one value.
pub(crate) fn constant(name: &str, text: &str, doc: &str) -> Attribute {
    let text = kcl_data::string_text(text);
    Attribute {
        name: name.to_owned(),
        ty: Ty::Lit(text.clone()),
        is_optional: false,
        default: Some(text),
        doc: doc.to_owned(),
    }
}

/// The version and kind of a Kubernetes resource.
fn kinds(node: &Node) -> Option<(String, String)> {
    let [kind] = node.get("x-kubernetes-group-version-kind")?.items() else { return None };
    let version = kind.str_of("version")?;
    let version = match kind.str_of("group").unwrap_or_default() {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    };
    Some((version, kind.str_of("kind")?.to_owned()))
}

/// Whether a schema is an object with properties.
fn is_object(node: &Node) -> bool {
    node.get("properties").is_some_and(|it| !it.entries().is_empty()) && node.get("enum").is_none()
}

/// Whether a schema is made of several objects.
fn is_composed(node: &Node) -> bool {
    let parts = node.get("allOf").map_or(&[][..], Node::items);
    parts.len() > 1
        && parts.iter().any(|part| is_object(part) || part.get("$ref").is_some())
        && node.get("enum").is_none()
}

fn has_type(node: &Node) -> bool {
    ["type", "$ref", "enum", "const", "allOf", "oneOf", "anyOf", "properties"]
        .iter()
        .any(|key| node.get(key).is_some())
}

/// The names of types, without `null`.
fn type_names(node: &Node) -> Vec<&str> {
    let names: Vec<&str> = match node.get("type") {
        Some(Node { data: Data::Str(name), .. }) => vec![name],
        Some(types) => types.items().iter().filter_map(Node::as_str).collect(),
        None if node.get("items").is_some() => vec!["array"],
        None if node.get("additionalProperties").is_some() => vec!["object"],
        None => Vec::new(),
    };
    names.into_iter().filter(|name| *name != "null").collect()
}

fn is_nullable(node: &Node) -> bool {
    let is_null = |it: &Node| it.as_str() == Some("null");
    node.is_true("nullable")
        || node.get("type").is_some_and(|types| types.items().iter().any(is_null))
}

/// The type of a constant; that of its kind if it can't be written as a type.
fn constant_type(node: &Node) -> Ty {
    let is_plain = |text: &str| {
        !text.is_empty() && !text.contains(|it: char| it.is_control() || "\"\\$'".contains(it))
    };
    match &node.data {
        Data::Str(text) if is_plain(text) => Ty::Lit(kcl_data::string_text(text)),
        Data::Str(_) => Ty::Str,
        Data::Int(number @ 0..) => Ty::Lit(number.to_string()),
        Data::Int(_) | Data::Large(_) => Ty::Int,
        Data::Bool(true) => Ty::Lit("True".into()),
        Data::Bool(false) => Ty::Lit("False".into()),
        Data::Float(_) => Ty::Float,
        Data::List(_) => Ty::List(Box::new(Ty::Any)),
        Data::Dict(_) => Ty::Dict(Box::new(Ty::Any)),
        Data::Null => Ty::Any,
    }
}

/// Splits the name of a definition into package and name. Dotted names with a capital letter at
/// the last part have packages: `io.k8s.api.apps.v1.Deployment` is in `api.apps.v1`.
fn split_name(key: &str) -> (Vec<String>, &str) {
    let Some((package, name)) = key.rsplit_once('.') else { return (Vec::new(), key) };
    let is_part = |part: &str| {
        part.starts_with(|it: char| it.is_ascii_lowercase())
            && part.chars().all(|it| it.is_ascii_alphanumeric() || it == '-' || it == '_')
    };
    if !name.starts_with(|it: char| it.is_ascii_uppercase()) || !package.split('.').all(is_part) {
        return (Vec::new(), key);
    }
    let package = package.strip_prefix("io.k8s.").unwrap_or(package);
    (package.split('.').map(package_name).collect(), name)
}

/// Whether packages import each other in a circle.
fn has_circle(made: &[(Vec<String>, Schema)]) -> bool {
    let mut edges: HashMap<&[String], HashSet<&[String]>> = HashMap::new();
    for (package, schema) in made {
        let mut used = Vec::new();
        schema.attributes.iter().for_each(|attribute| attribute.ty.packages(&mut used));
        schema.other.iter().for_each(|ty| ty.packages(&mut used));
        let others = used.into_iter().map(Vec::as_slice).filter(|it| *it != package.as_slice());
        edges.entry(package).or_default().extend(others);
    }
    // Packages that import none that is left are taken away until nothing changes.
    loop {
        let free: Vec<&[String]> = edges
            .iter()
            .filter(|(_, used)| used.iter().all(|it| !edges.contains_key(it)))
            .map(|(package, _)| *package)
            .collect();
        if free.is_empty() {
            return !edges.is_empty();
        }
        for package in free {
            edges.remove(package);
        }
    }
}

/// Moves all schemas to one package; names that are there twice get those of their packages.
fn flatten(made: &mut [(Vec<String>, Schema)]) {
    let mut used = HashSet::new();
    let mut renamed: HashMap<(Vec<String>, String), String> = HashMap::new();
    for (package, schema) in made.iter() {
        let wanted = if used.contains(&schema.name.to_ascii_lowercase()) {
            format!("{}{}", pascal(&package.join("_")), schema.name)
        } else {
            schema.name.clone()
        };
        let name = unique(&wanted, &mut used);
        renamed.insert((package.clone(), schema.name.clone()), name);
    }
    for (package, schema) in made {
        if let Some(new) = renamed.get(&(package.clone(), schema.name.clone())) {
            schema.name.clone_from(new);
        }
        schema.attributes.iter_mut().for_each(|attribute| rename(&mut attribute.ty, &renamed));
        schema.other.iter_mut().for_each(|ty| rename(ty, &renamed));
        let folder = package.last().map(|part| format!("{part}_")).unwrap_or_default();
        schema.file = format!("{folder}{}", schema.file);
        package.clear();
    }
}

/// Gives the schemas of a type their new names.
fn rename(ty: &mut Ty, renamed: &HashMap<(Vec<String>, String), String>) {
    match ty {
        Ty::List(inner) | Ty::Dict(inner) => rename(inner, renamed),
        Ty::Union(types) => types.iter_mut().for_each(|ty| rename(ty, renamed)),
        Ty::Ref(package, name) => {
            if let Some(new) = renamed.get(&(package.clone(), name.clone())) {
                name.clone_from(new);
            }
            package.clear();
        }
        _ => {}
    }
}
