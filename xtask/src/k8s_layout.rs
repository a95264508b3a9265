//! Makes the table of the Go types that pod templates consist of.
//!
//! `cargo xtask k8s-layout` reads the published Go types in the module cache (`GOMODCACHE`). The real
//! controllers name a template by the hash of its Go value as text; the table has what that text shows:
//! names, order and types of fields.

use crate::go_modules::{kubernetes_module, written_files};
use anyhow::{Context as _, ensure};
use kusion_k8s_schema::version;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const FILE: &str = "crates/kusion-k8s-schema/data/k8s-v1.36.layout.zst";
const LEVEL: i32 = 19;
/// The packages, by the names that the packages themselves use for them: first the one whose types
/// are meant where no package is named.
const PACKAGES: [(&str, &str, &str); 3] = [
    ("core", "api", "core/v1"),
    ("meta", "apimachinery", "pkg/apis/meta/v1"),
    ("types", "apimachinery", "pkg/types"),
];
/// Types whose text is not made from their fields.
const SPECIAL: [&str; 4] =
    ["v1.Time", "resource.Quantity", "intstr.IntOrString", "v1.ManagedFieldsEntry"];
/// The type that all others are reached from.
const FIRST: (&str, &str) = ("core", "PodTemplateSpec");

/// What a type is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Declared {
    Struct(Vec<Field>),
    /// Another type.
    As(String),
}

/// Name in JSON (`-`: the fields of this one are in the object around it), name in Go, type.
type Field = (String, String, String);

type Package = BTreeMap<String, Declared>;

/// Writes the table and returns what it did, in a sentence.
pub(crate) fn generate() -> anyhow::Result<String> {
    let mut packages = BTreeMap::new();
    for (name, module, folder) in PACKAGES {
        let folder = kubernetes_module(module, version()).join(folder);
        packages.insert(name, read_package(&folder)?);
    }
    let text = table(&packages)?;
    let bytes = zstd::encode_all(text.as_bytes(), LEVEL)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    std::fs::write(root.join(FILE), &bytes).with_context(|| format!("writing {FILE}"))?;
    let n_types = text.lines().filter(|line| !line.starts_with(' ')).count();
    Ok(format!("{FILE}: {n_types} types, {} bytes", bytes.len()))
}

/// Writes all types that the first one reaches: a line for each, those of fields start with a space.
fn table(packages: &BTreeMap<&str, Package>) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut waiting = vec![(FIRST.0.to_owned(), FIRST.1.to_owned())];
    let mut done: BTreeMap<String, String> = BTreeMap::new();
    while let Some((package, name)) = waiting.pop() {
        let shown = shown(&package, &name);
        if let Some(other) = done.insert(shown.clone(), package.clone()) {
            ensure!(other == package, "{shown} is a type of {other} and of {package}");
            continue;
        }
        if SPECIAL.contains(&&*shown) {
            continue;
        }
        let declared = packages.get(&*package).and_then(|it| it.get(&name));
        let declared = declared.with_context(|| format!("no type {name} in {package}"))?;
        let mut write = |ty: &str| -> String {
            let mut found = Vec::new();
            let written = rewrite(ty, &package, &mut found);
            waiting.extend(found);
            written
        };
        match declared {
            Declared::As(ty) => writeln!(text, "{shown} {}", write(ty))?,
            Declared::Struct(fields) => {
                writeln!(text, "{shown}")?;
                for (json, name, ty) in fields {
                    writeln!(text, " {json} {name} {}", write(ty))?;
                }
            }
        }
    }
    Ok(text)
}

/// A type as programs print it: with the last part of the path of its package.
fn shown(package: &str, name: &str) -> String {
    match package {
        "core" | "meta" => format!("v1.{name}"),
        package => format!("{package}.{name}"),
    }
}

/// Writes a type with the names of packages, and collects the types in it.
fn rewrite(ty: &str, own: &str, found: &mut Vec<(String, String)>) -> String {
    for prefix in ["*", "[]"] {
        if let Some(rest) = ty.strip_prefix(prefix) {
            return format!("{prefix}{}", rewrite(rest, own, found));
        }
    }
    if let Some((key, value)) = ty.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
        return format!("map[{}]{}", rewrite(key, own, found), rewrite(value, own, found));
    }
    let (package, name) = match ty.split_once('.') {
        Some(("metav1", name)) => ("meta", name),
        Some((package, name)) => (package, name),
        None if ty.starts_with(char::is_uppercase) => (own, ty),
        None if ty == "byte" => return "uint8".to_owned(),
        None => return ty.to_owned(),
    };
    found.push((package.to_owned(), name.to_owned()));
    shown(package, name)
}

fn read_package(folder: &Path) -> anyhow::Result<Package> {
    let mut package = Package::new();
    for text in written_files(folder)? {
        read_types(&text, &mut package);
    }
    Ok(package)
}

/// Reads the types of a Go file.
fn read_types(text: &str, package: &mut Package) {
    let mut current: Option<(String, Vec<Field>)> = None;
    for line in text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()) {
        if let Some((_, fields)) = &mut current {
            if line == "}" {
                let done = current.take().map(|(name, fields)| (name, Declared::Struct(fields)));
                package.extend(done);
            } else {
                fields.extend(read_field(line));
            }
            continue;
        }
        let Some((name, rest)) = line.strip_prefix("type ").and_then(|it| it.split_once(' '))
        else {
            continue;
        };
        match rest {
            "struct {" => current = Some((name.to_owned(), Vec::new())),
            rest if !rest.contains(['{', '(', '=']) => {
                package.insert(name.to_owned(), Declared::As(rest.to_owned()));
            }
            _ => {}
        }
    }
}

fn read_field(line: &str) -> Option<Field> {
    let (declaration, tag) = line.split_once('`')?;
    let json = tag.split_once("json:\"")?.1.split(['"', ',']).next()?;
    let mut words = declaration.split_whitespace();
    let (first, second) = (words.next()?, words.next());
    let ty = second.unwrap_or(first);
    let name = if second.is_some() { first } else { first.rsplit('.').next()? };
    let json = if json.is_empty() { "-" } else { json };
    Some((json.to_owned(), name.to_owned(), ty.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_reached_from_the_first_one() {
        let text = "type PodTemplateSpec struct {\n\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n\
                    \tSource `json:\",inline\"` // both\n\tLimits ResourceList `json:\"limits\"`\n}\n\
                    type Source struct {\n}\ntype Unused string\n\
                    type ResourceList map[Name]resource.Quantity\ntype Name string\n";
        let mut core = Package::new();
        read_types(text, &mut core);
        let mut meta = Package::new();
        read_types("type ObjectMeta struct {\n\tT *Time `json:\"t\"`\n}\n", &mut meta);
        let packages = BTreeMap::from([("core", core), ("meta", meta)]);
        let lines = table(&packages).unwrap();
        assert_eq!(
            lines,
            "v1.PodTemplateSpec\n metadata ObjectMeta v1.ObjectMeta\n - Source v1.Source\n limits \
             Limits v1.ResourceList\nv1.ResourceList map[v1.Name]resource.Quantity\nv1.Name \
             string\nv1.Source\nv1.ObjectMeta\n t T *v1.Time\n"
        );
    }
}
