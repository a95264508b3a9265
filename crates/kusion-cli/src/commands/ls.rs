//! `kusion ls`.

use crate::failure::Failure;
use crate::view::{self, Output};
use base_system::OsSystem;
use kusion_app::wire::{ListedProject, ListedStack, ProjectsDocument};
use kusion_generate::{Stack, find};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of `kusion ls`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder to search
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
}

/// Lists projects and stacks.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut stacks = find(&OsSystem, &args.folder, &[])?;
    // Cells of one stack follow each other.
    stacks.dedup_by(|a, b| a.folder == b.folder);
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
    let listed = |stack: &&Stack| ListedStack {
        name: stack.name.clone(),
        folder: shown(&stack.folder, current),
        description: stack.file.description.clone(),
        labels: stack.file.labels.clone(),
    };
    let projects = projects.iter().filter_map(|(folder, stacks)| {
        let project = &stacks.first()?.project;
        Some(ListedProject {
            name: project.name.clone(),
            tenant: project.file.tenant.clone(),
            description: project.file.description.clone(),
            labels: project.file.labels.clone(),
            folder: shown(folder, current),
            stacks: stacks.iter().map(listed).collect(),
        })
    });
    ProjectsDocument::new(projects.collect()).text()
}

fn shown(path: &Path, current: &Path) -> String {
    match path.strip_prefix(current) {
        Ok(inner) if inner.as_os_str().is_empty() => ".".to_owned(),
        Ok(inner) => inner.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}
