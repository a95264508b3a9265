//! What the published Go types say about fields: when they are written, and their type names.

use crate::go_modules::{kubernetes_module, written_files};
use anyhow::{Context as _, ensure};
use kusion_k8s_schema::Presence;
use kusion_k8s_schema::table::{Definition, FieldRecord, Shape};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One field of a Go struct.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GoField {
    ty: String,
    omit_empty: bool,
    omit_zero: bool,
}

/// The fields of a Go struct by their JSON names, and the structs it embeds.
#[derive(Debug, Default, PartialEq, Eq)]
struct GoStruct {
    fields: BTreeMap<String, GoField>,
    embedded: Vec<String>,
}

type Package = BTreeMap<String, GoStruct>;

/// Fills in presence and Go types of all fields of definitions that are Go structs.
pub(super) fn mark_presence(definitions: &mut [Definition], version: &str) -> anyhow::Result<()> {
    let mut packages: BTreeMap<PathBuf, Package> = BTreeMap::new();
    let single: Vec<Single> = definitions.iter().map(Single::of).collect();
    for definition in definitions {
        let Shape::Struct(fields) = &mut definition.node.shape else { continue };
        let Some((folder, name)) = folder_of(&definition.name, version) else { continue };
        if !packages.contains_key(&folder) {
            packages.insert(folder.clone(), read_package(&folder)?);
        }
        let package = &packages[&folder];
        for field in fields {
            let go = find(package, name, &field.name, 0).with_context(|| {
                format!("{}.{} is not in {}", name, field.name, folder.display())
            })?;
            mark(field, go, &single);
        }
    }
    Ok(())
}

/// What a definition is in Go, as far as zero values are concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Single {
    /// A struct: never empty.
    Struct,
    /// Something with an empty value.
    Other,
}

impl Single {
    fn of(definition: &Definition) -> Self {
        let short = definition.name.rsplit('.').next().unwrap_or_default();
        match (&definition.node.shape, short) {
            (Shape::Struct(_), _)
            | (
                _,
                "Time" | "MicroTime" | "Quantity" | "IntOrString" | "RawExtension" | "Duration",
            ) => Self::Struct,
            _ => Self::Other,
        }
    }
}

fn mark(field: &mut FieldRecord, go: &GoField, single: &[Single]) {
    field.go_type.clone_from(&go.ty);
    let pointer = field.go_type.starts_with('*');
    if pointer {
        field.go_type.remove(0);
    }
    let is_struct =
        matches!(field.node.shape, Shape::Ref(at) if single[at as usize] == Single::Struct);
    field.presence = if go.omit_zero {
        Presence::UnlessZero
    } else if !go.omit_empty {
        let is_nil = pointer || go.ty.starts_with("[]") || go.ty.starts_with("map[");
        if is_nil { Presence::OrNull } else { Presence::Always }
    } else if pointer {
        Presence::WhenSet
    } else if is_struct {
        Presence::Always
    } else {
        Presence::UnlessZero
    };
    // What messages say can be told from the schema unless the type has a name of its own.
    if matches!(field.node.shape, Shape::Ref(_)) {
        field.go_type.clear();
    }
}

fn find<'a>(package: &'a Package, name: &str, field: &str, depth: usize) -> Option<&'a GoField> {
    let found = package.get(name)?;
    if let Some(field) = found.fields.get(field) {
        return Some(field);
    }
    if depth > 8 {
        return None;
    }
    found.embedded.iter().find_map(|inner| find(package, inner, field, depth + 1))
}

/// Returns the folder in the module cache and the type name of a definition.
fn folder_of<'a>(definition: &'a str, version: &str) -> Option<(PathBuf, &'a str)> {
    let rest = definition.strip_prefix("io.k8s.")?;
    let (path, name) = rest.rsplit_once('.')?;
    let (module, path) = path.split_once('.')?;
    Some((kubernetes_module(module, version).join(path.replace('.', "/")), name))
}

fn read_package(folder: &Path) -> anyhow::Result<Package> {
    let mut package = Package::new();
    // Embedded type metadata has the same two fields everywhere.
    let meta = "type TypeMeta struct {\n\tKind string `json:\"kind,omitempty\"`\n\tAPIVersion string `json:\"apiVersion,omitempty\"`\n}\n";
    read_structs(meta, "v1", &mut package);
    let own = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for text in written_files(folder)? {
        read_structs(&text, &own, &mut package);
    }
    ensure!(package.len() > 1, "{} has no structs", folder.display());
    Ok(package)
}

/// Reads the structs of a Go file; `own` is the name of its package.
fn read_structs(text: &str, own: &str, package: &mut Package) {
    let mut current: Option<(String, GoStruct)> = None;
    for line in text.lines() {
        let line = line.trim();
        match &mut current {
            None => {
                let name =
                    line.strip_prefix("type ").and_then(|rest| rest.strip_suffix(" struct {"));
                if let Some(name) = name {
                    current = Some((name.to_owned(), GoStruct::default()));
                }
            }
            Some((_, body)) if line != "}" => read_field(line, own, body),
            Some(_) => package.extend(current.take()),
        }
    }
}

fn read_field(line: &str, own: &str, body: &mut GoStruct) {
    let Some((declaration, tag)) = line.split_once('`') else { return };
    let Some((_, json)) = tag.split_once("json:\"") else { return };
    let mut words = json.split('"').next().unwrap_or_default().split(',');
    let name = words.next().unwrap_or_default();
    let options: Vec<&str> = words.collect();
    let mut declaration = declaration.split_whitespace();
    let (first, ty) = (declaration.next().unwrap_or_default(), declaration.next());
    if name.is_empty() {
        let ty = ty.unwrap_or(first).trim_start_matches('*');
        body.embedded.push(ty.rsplit('.').next().unwrap_or(ty).to_owned());
        return;
    }
    let field = GoField {
        ty: qualify(ty.unwrap_or(first), own),
        omit_empty: options.contains(&"omitempty"),
        omit_zero: options.contains(&"omitzero"),
    };
    body.fields.insert(name.to_owned(), field);
}

/// Writes a Go type as messages name it: with the name of its package, not an alias.
fn qualify(ty: &str, own: &str) -> String {
    for prefix in ["*", "[]"] {
        if let Some(rest) = ty.strip_prefix(prefix) {
            return format!("{prefix}{}", qualify(rest, own));
        }
    }
    if let Some((key, value)) = ty.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
        return format!("map[{}]{}", qualify(key, own), qualify(value, own));
    }
    match ty.split_once('.') {
        Some(("metav1" | "corev1" | "apiv1" | "v1", name)) => format!("v1.{name}"),
        None if ty == "byte" => "uint8".to_owned(),
        None if ty.starts_with(char::is_uppercase) => format!("{own}.{ty}"),
        _ => ty.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_embedded_structs_are_read() {
        let text = "type A struct {\n\tB `json:\",inline\"`\n\t// C is a thing.\n\tC *int32 `json:\"c,omitempty\" protobuf:\"x\"`\n\tD []E `json:\"d\"`\n}\ntype B struct {\n\tX metav1.Time `json:\"x,omitempty,omitzero\"`\n}\n";
        let mut package = Package::new();
        read_structs(text, "v1", &mut package);
        let field = |name| find(&package, "A", name, 0).expect("a field");
        assert_eq!(field("c").ty, "*int32");
        assert!(field("c").omit_empty && !field("d").omit_empty);
        assert_eq!(field("d").ty, "[]v1.E");
        assert!(field("x").omit_zero);
        assert_eq!(field("x").ty, "v1.Time");
    }

    #[test]
    fn definitions_have_folders() {
        let (folder, name) = folder_of("io.k8s.api.core.v1.Pod", "v1.36.3").expect("a name");
        assert!(folder.ends_with("k8s.io/api@v0.36.3/core/v1"), "{}", folder.display());
        assert_eq!(name, "Pod");
    }
}
