//! `kusion ls`.

use crate::failure::Failure;
use crate::view::{self, Output};
use base_system::OsSystem;
use kusion_generate::{Stack, find};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Where projects and stacks are looked for.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder; without one, the working folder
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Form of the result
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
}

/// Shows which projects and stacks there are.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let stacks = find(&OsSystem, &args.folder, &[])?;
    let current = std::env::current_dir().unwrap_or_default();
    // Stacks of one project need not stand together in the order of paths.
    let mut projects: Vec<(&Path, Vec<&Stack>)> = Vec::new();
    for stack in &stacks {
        let folder = stack.project.folder.as_path();
        match projects.iter_mut().find(|(known, _)| *known == folder) {
            Some((_, stacks)) => stacks.push(stack),
            None => projects.push((folder, vec![stack])),
        }
    }
    view::result(&match args.output {
        Output::Json => json(&projects, &current),
        Output::Text => text(&projects, &current),
    })
}

fn text(projects: &[(&Path, Vec<&Stack>)], current: &Path) -> String {
    let mut text = String::new();
    for (folder, stacks) in projects {
        let name = stacks.first().map_or("", |stack| stack.project.name.as_str());
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name}  {}", shown(folder, current));
        let width = stacks.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
        for stack in stacks {
            let _ = writeln!(text, "  {:width$}  {}", stack.name, shown(&stack.folder, current));
        }
    }
    text
}

fn json(projects: &[(&Path, Vec<&Stack>)], current: &Path) -> String {
    let projects: Vec<Value> = projects
        .iter()
        .map(|(folder, stacks)| {
            let mut fields = Map::new();
            if let Some(stack) = stacks.first() {
                let file = &stack.project.file;
                fields.insert("name".to_owned(), json!(stack.project.name));
                put(&mut fields, "tenant", json!(file.tenant));
                put(&mut fields, "description", json!(file.description));
                put(&mut fields, "labels", json!(file.labels));
            }
            fields.insert("folder".to_owned(), json!(shown(folder, current)));
            let stacks = stacks.iter().map(|stack| {
                let mut fields = Map::new();
                fields.insert("name".to_owned(), json!(stack.name));
                fields.insert("folder".to_owned(), json!(shown(&stack.folder, current)));
                put(&mut fields, "description", json!(stack.file.description));
                put(&mut fields, "labels", json!(stack.file.labels));
                Value::Object(fields)
            });
            fields.insert("stacks".to_owned(), stacks.collect());
            Value::Object(fields)
        })
        .collect();
    format!("{:#}\n", json!({"version": 1, "projects": projects}))
}

fn put(fields: &mut Map<String, Value>, key: &str, value: Value) {
    if !value.is_null() {
        fields.insert(key.to_owned(), value);
    }
}

fn shown(path: &Path, current: &Path) -> String {
    match path.strip_prefix(current) {
        Ok(inner) if inner.as_os_str().is_empty() => ".".to_owned(),
        Ok(inner) => inner.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}
