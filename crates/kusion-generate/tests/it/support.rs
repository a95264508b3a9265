//! Stacks in memory.

use base_system::MemorySystem;
use kusion_generate::{CompileOptions, Compiled, compile};
use kusion_model::{FieldPath, Resource, ResourceId};
use serde_json::Value;
use testkit::Fixture;

/// Makes the files of a text, each behind a line `#- /path`.
pub(crate) fn files(text: &str) -> MemorySystem {
    Fixture::parse(text)
        .files
        .into_iter()
        .fold(MemorySystem::new(), |system, file| system.with_file(&file.path, file.text))
}

/// Compiles the folders of a system.
pub(crate) fn compile_all(system: &MemorySystem, folder: &str) -> Result<Vec<Compiled>, String> {
    let options =
        CompileOptions { work_dir: Some(folder.into()), threads: 2, ..CompileOptions::default() };
    compile(system, &options).map_err(|error| error.to_string())
}

/// Compiles one program as the stack `dev` of the project `shop`.
pub(crate) fn stack(program: &str) -> Result<Compiled, String> {
    let system = MemorySystem::new()
        .with_file("/shop/project.yaml", "name: shop\n")
        .with_file("/shop/dev/stack.yaml", "name: dev\n")
        .with_file("/shop/dev/main.k", program);
    let mut compiled = compile_all(&system, "/shop/dev")?;
    assert_eq!(compiled.len(), 1);
    Ok(compiled.remove(0))
}

/// Shows the resources of a program: `id` or `id <- what it needs`, one on a line.
pub(crate) fn shown(program: &str) -> String {
    match stack(program) {
        Ok(compiled) => lines(&compiled.spec.resources),
        Err(error) => format!("error: {error}"),
    }
}

pub(crate) fn lines(resources: &[Resource]) -> String {
    let line = |resource: &Resource| {
        let needs: Vec<&str> = resource.depends_on.iter().map(ResourceId::as_str).collect();
        match needs.as_slice() {
            [] => resource.id.to_string(),
            needs => format!("{} <- {}", resource.id, needs.join(", ")),
        }
    };
    resources.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A Kubernetes object in KCL.
pub(crate) fn object(version: &str, kind: &str, namespace: &str, name: &str, more: &str) -> String {
    let namespace = match namespace {
        "" => String::new(),
        namespace => format!(", namespace = \"{namespace}\""),
    };
    format!(
        "{{apiVersion = \"{version}\", kind = \"{kind}\", \
         metadata = {{name = \"{name}\"{namespace}}}, {more}}}"
    )
}

/// The paths of all leaves of a resource.
pub(crate) fn leaves(resource: &Resource) -> Vec<FieldPath> {
    let mut paths = Vec::new();
    add_paths(&resource.attributes, &FieldPath::default(), &mut paths);
    paths
}

fn add_paths(value: &Value, path: &FieldPath, paths: &mut Vec<FieldPath>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| add_paths(value, &path.key(key), paths));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(at, value)| add_paths(value, &path.index(at), paths));
        }
        _ => paths.push(path.clone()),
    }
}
