//! Makes the table of protobuf field numbers of the built-in kinds.
//!
//! `cargo xtask k8s-proto` reads the published `generated.proto` files in the module cache
//! (`GOMODCACHE`). Kept are the messages that kinds of the API reach.

use crate::go_modules::kubernetes_module;
use anyhow::Context as _;
use kusion_k8s_schema::{Type, builtin, version};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

const FILE: &str = "crates/kusion-k8s-schema/data/k8s-v1.36.proto.zst";
const LEVEL: i32 = 19;
const MODULES: [&str; 4] = ["api", "apimachinery", "apiextensions-apiserver", "kube-aggregator"];

/// A field: number, name, label (`1`, `*` for lists, `m` for maps) and type.
type Field = (u32, String, char, String);

/// Writes the table and returns what it did, in a sentence.
pub(crate) fn generate() -> anyhow::Result<String> {
    let mut messages = BTreeMap::new();
    for module in MODULES {
        visit(&kubernetes_module(module, version()), &mut messages)?;
    }
    let kept = reachable(&messages);
    let mut text = String::new();
    for name in &kept {
        writeln!(text, "{name}")?;
        for (number, field, label, ty) in &messages[name] {
            writeln!(text, " {number} {field} {label} {ty}")?;
        }
    }
    let bytes = zstd::encode_all(text.as_bytes(), LEVEL)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    std::fs::write(root.join(FILE), &bytes).with_context(|| format!("writing {FILE}"))?;
    Ok(format!("{FILE}: {} messages, {} bytes", kept.len(), bytes.len()))
}

fn visit(folder: &Path, messages: &mut BTreeMap<String, Vec<Field>>) -> anyhow::Result<()> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            visit(&path, messages)?;
        } else if path.file_name().is_some_and(|name| name == "generated.proto") {
            read(&std::fs::read_to_string(&path)?, messages);
        }
    }
    Ok(())
}

fn read(text: &str, messages: &mut BTreeMap<String, Vec<Field>>) {
    let (mut package, mut current) = (String::new(), None);
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("package ") {
            name.trim_end_matches(';').clone_into(&mut package);
        } else if let Some(name) = line.strip_prefix("message ") {
            let name = format!("{package}.{}", name.trim_end_matches('{').trim());
            messages.insert(name.clone(), Vec::new());
            current = Some(name);
        } else if let (Some(name), Some(field)) = (&current, field(&package, line)) {
            messages.entry(name.clone()).or_default().push(field);
        }
    }
}

fn field(package: &str, line: &str) -> Option<Field> {
    let (left, number) = line.strip_suffix(';')?.rsplit_once('=')?;
    let number = number.trim().parse().ok()?;
    let (label, rest) = if let Some(rest) = left.strip_prefix("optional ") {
        ('1', rest)
    } else if let Some(rest) = left.strip_prefix("repeated ") {
        ('*', rest)
    } else {
        ('m', left.strip_prefix("map<string, ")?)
    };
    let (ty, name) = rest.trim().rsplit_once(' ')?;
    let ty = ty.trim().trim_end_matches('>');
    let single = ["string", "bytes", "bool", "int32", "int64", "uint32", "uint64", "double"];
    let ty = match ty.strip_prefix('.') {
        Some(full) => full.to_owned(),
        None if single.contains(&ty) => ty.to_owned(),
        None => format!("{package}.{ty}"),
    };
    Some((number, name.to_owned(), label, ty))
}

fn reachable(messages: &BTreeMap<String, Vec<Field>>) -> BTreeSet<String> {
    let api = builtin();
    let mut kept = BTreeSet::new();
    let mut open: Vec<String> = api
        .resources
        .iter()
        .flat_map(|it| std::iter::once(it.ty).chain(it.subresources.iter().map(|sub| sub.ty)))
        .filter_map(|ty| match api.types.get(ty) {
            Type::Struct(shape) => shape.name.strip_prefix("io.k8s."),
            _ => None,
        })
        .map(|name| format!("k8s.io.{}", name.replace('-', "_")))
        .collect();
    open.push("k8s.io.apimachinery.pkg.apis.meta.v1.DeleteOptions".to_owned());
    while let Some(name) = open.pop() {
        let Some(fields) = messages.get(&name) else { continue };
        if kept.insert(name) {
            open.extend(fields.iter().map(|(.., ty)| ty.clone()));
        }
    }
    kept
}
