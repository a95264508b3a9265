//! What the changes since a commit do to the values of cells.

use crate::cells::{StackCell, StackLayers};
use crate::compile::Job;
use crate::compile_cells::LayeredStack;
use crate::find::unreadable;
use crate::git::Committed;
use crate::origins::shown;
use crate::{CompileOptions, GenerateError, layered_stacks};
use base_system::System;
use kusion_cells::{Cell, Layer, LeafPath, Node, Origin, Resolver};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Endings of the files that are compared.
const SOURCES: [&str; 4] = ["k", "yaml", "yml", "mod"];
/// Maximum number of files and folders of the work tree that are looked at.
const MAX_ENTRIES: usize = 1_000_000;

/// What the changes since a commit do.
#[derive(Debug, Default)]
pub struct Impact {
    /// The files that differ.
    pub files: Vec<ChangedFile>,
    /// The values that differ at cells.
    pub affected: Vec<AffectedValue>,
    /// Changed values of layers and programs that have no effect at cells that they are for.
    pub unaffected: Vec<UnaffectedValue>,
    /// The number of all cells.
    pub n_cells: usize,
    /// The number of cells with a value that differs.
    pub n_affected_cells: usize,
    /// Stacks that cannot be compared, and why.
    pub notes: Vec<String>,
}

/// A file that differs from the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The file, as messages show it.
    pub file: String,
    /// `added`, `removed` or `modified`.
    pub change: &'static str,
}

/// A value that differs at a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct AffectedValue {
    /// Project and stack.
    pub stack: String,
    /// The cell.
    pub cell: String,
    /// The path.
    pub path: String,
    /// The value at the commit; `None` if there was none.
    pub before: Option<Value>,
    /// The value now; `None` if there is none.
    pub after: Option<Value>,
    /// What sets it now, or set it at the commit.
    pub origin: Origin,
}

/// A changed value of a layer that has no effect at a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnaffectedValue {
    /// Project and stack.
    pub stack: String,
    /// The cell.
    pub cell: String,
    /// The path.
    pub path: String,
    /// The line that changed.
    pub origin: Origin,
    /// Why it has no effect.
    pub reason: String,
}

/// Compares the layers and programs of stacks with those at a revision of their repository. Stacks
/// are not compiled: the values are those of the configuration.
///
/// # Errors
///
/// If there is no repository, the revision cannot be read, or the files now are invalid.
pub fn impact(
    system: &(dyn System + Sync),
    options: &CompileOptions,
    revision: &str,
) -> Result<Impact, GenerateError> {
    let job = Job::new(system, options)?;
    let committed = Committed::open(system, &job.work_dir, revision).map_err(GenerateError::Git)?;
    let mut found = Impact { files: changed_files(&job, &committed)?, ..Impact::default() };
    let now = layered_stacks(system, options, &[])?;
    let before = match layered_stacks(&committed, options, &[]) {
        Ok(before) => before,
        Err(GenerateError::Find(_)) => Vec::new(),
        Err(error) => return Err(GenerateError::Git(format!("at `{revision}`: {error}"))),
    };
    let old: BTreeMap<&Path, &LayeredStack> =
        before.iter().map(|it| (it.cells[0].folder.as_path(), it)).collect();
    for stack in &now {
        found.n_cells += stack.cells.len();
        let old = old.get(stack.cells[0].folder.as_path());
        match (&stack.layers, old.map(|it| &it.layers)) {
            (Ok(layers), None) => found.compare(stack, layers, None),
            (Ok(layers), Some(Ok(_))) => found.compare(stack, layers, old.copied()),
            (Err(error), _) => found.notes.push(format!("cannot be compared: {}", error.named())),
            (_, Some(Err(error))) => {
                let (stack, error) = (stack.shown.display(), error.named());
                found.notes.push(format!("{stack} cannot be compared with `{revision}`: {error}"));
            }
        }
    }
    let is_here = |folder: &Path| now.iter().any(|it| it.cells[0].folder == folder);
    for stack in before.iter().filter(|it| !is_here(&it.cells[0].folder)) {
        found.notes.push(format!("{} is not a stack with cells any more", stack.shown.display()));
    }
    Ok(found)
}

/// The values that layers say something about at a cell, without maps.
fn values(layers: &StackLayers, cell: &Cell) -> BTreeMap<LeafPath, Value> {
    let resolver = Resolver::new(&layers.dims.axes, &layers.layers);
    let leaves = resolver.resolve(cell).leaves.into_iter();
    leaves.filter_map(|leaf| Some((leaf.path, leaf.value?))).collect()
}

/// What a layer says about a path, in a form that can be compared.
type Claims = BTreeMap<(String, String, LeafPath), (String, Origin)>;

impl Impact {
    /// Compares the cells of a stack, by their names.
    fn compare(&mut self, stack: &LayeredStack, now: &StackLayers, old: Option<&LayeredStack>) {
        let resolver = Resolver::new(&now.dims.axes, &now.layers);
        let old_layers = old.and_then(|it| it.layers.as_ref().ok());
        let changed = changed_claims(now, old_layers);
        let old_cells = old.map(|it| it.cells.as_slice()).unwrap_or_default();
        let old_cells: BTreeMap<&str, &StackCell> =
            old_cells.iter().filter_map(|it| Some((it.cell_name(), it.cell.as_ref()?))).collect();
        for one in &stack.cells {
            let Some(cell) = &one.cell else { continue };
            let after = values(now, &cell.cell);
            let before = match (old_layers, old_cells.get(cell.name.as_str())) {
                (Some(layers), Some(cell)) => values(layers, &cell.cell),
                _ => BTreeMap::new(),
            };
            let paths: BTreeSet<&LeafPath> = before.keys().chain(after.keys()).collect();
            let different: BTreeSet<&LeafPath> =
                paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).collect();
            self.n_affected_cells += usize::from(!different.is_empty());
            let (name, cell_name) = (one.qualified_name(), cell.name.clone());
            for path in &different {
                let explained = resolver.explain(path, &cell.cell);
                let winner = explained.and_then(|it| it.winners.into_iter().next());
                let old_origin = || changed.iter().find(|(at, _)| at.2 == **path).map(|it| &it.1.1);
                let origin = winner.map(|it| it.origin).or_else(|| old_origin().cloned());
                self.affected.push(AffectedValue {
                    stack: name.clone(),
                    cell: cell_name.clone(),
                    path: path.to_string(),
                    before: before.get(*path).cloned(),
                    after: after.get(*path).cloned(),
                    origin: origin.unwrap_or_default(),
                });
            }
            for ((_, _, path), (_, origin)) in &changed {
                let applies = now
                    .layers
                    .iter()
                    .any(|layer| layer.when.contains(&cell.cell) && claims_at(layer, path, origin));
                if applies && !different.contains(path) {
                    let reason = reason(&resolver, path, &cell.cell, origin);
                    self.unaffected.push(UnaffectedValue {
                        stack: name.clone(),
                        cell: cell_name.clone(),
                        path: path.to_string(),
                        origin: origin.clone(),
                        reason,
                    });
                }
            }
        }
    }
}

/// Whether a layer says something about a path at a place.
fn claims_at(layer: &Layer, path: &LeafPath, origin: &Origin) -> bool {
    node_at(&layer.entries, path).is_some_and(|node| node.origin() == origin)
}

/// Says why a changed value has no effect at a cell.
fn reason(resolver: &Resolver<'_>, path: &LeafPath, cell: &Cell, origin: &Origin) -> String {
    let Some(explained) = resolver.explain(path, cell) else {
        return "a value around it is replaced".to_owned();
    };
    let loss = explained.losses.iter().find(|loss| loss.candidate.origin == *origin);
    match (explained.winners.first(), loss) {
        (Some(winner), Some(loss)) => {
            format!("{} ({}) beats it, because {}", winner.says, winner.origin, loss.because)
        }
        _ => "the value is the same".to_owned(),
    }
}

/// Returns what layers say now and did not say before.
fn changed_claims(now: &StackLayers, old: Option<&StackLayers>) -> Claims {
    let before = old.map(claims).unwrap_or_default();
    let mut changed = claims(now);
    changed.retain(|at, (says, _)| before.get(at).is_none_or(|(old, _)| old != says));
    changed
}

fn claims(layers: &StackLayers) -> Claims {
    let mut found = Claims::new();
    for layer in &layers.layers {
        let when = layer.when.text(&layers.dims.axes);
        for path in layer.paths() {
            let Some(node) = node_at(&layer.entries, &path) else { continue };
            let says = match node {
                Node::Leaf(value, _) => value.to_string(),
                Node::Unset(_) => "unset".to_owned(),
                Node::Append(items, _) => format!("+= {}", Value::from(items.clone())),
                Node::Map { replaces, .. } => format!("map {replaces}"),
            };
            let origin = node.origin().clone();
            found.insert((origin.file.to_string(), when.clone(), path), (says, origin));
        }
    }
    found
}

fn node_at<'n>(entries: &'n BTreeMap<String, Node>, path: &LeafPath) -> Option<&'n Node> {
    let (first, rest) = path.0.split_first()?;
    rest.iter().try_fold(entries.get(first)?, |node, key| match node {
        Node::Map { entries, .. } => entries.get(key),
        _ => None,
    })
}

/// Returns the source files that differ from those of the commit.
fn changed_files(
    job: &Job<'_>,
    committed: &Committed<'_>,
) -> Result<Vec<ChangedFile>, GenerateError> {
    let root = committed.root();
    let is_source = |path: &Path| {
        path.extension().and_then(|it| it.to_str()).is_some_and(|it| SOURCES.contains(&it))
    };
    let here: BTreeSet<PathBuf> =
        work_tree(job.system, root)?.into_iter().filter(|it| is_source(it)).collect();
    let there: BTreeSet<&Path> = committed.files().filter(|it| is_source(it)).collect();
    let mut changed = BTreeMap::new();
    for path in &here {
        let full = root.join(path);
        if !there.contains(path.as_path()) {
            changed.insert(full, "added");
            continue;
        }
        let content = job.system.read(&full).map_err(unreadable(&full))?;
        if !committed.has_content(path, &content) {
            changed.insert(full, "modified");
        }
    }
    for path in there.into_iter().filter(|path| !here.contains(*path)) {
        changed.insert(root.join(path), "removed");
    }
    let file = |path: &Path| shown(&job.work_dir, path).display().to_string();
    Ok(changed.iter().map(|(path, change)| ChangedFile { file: file(path), change }).collect())
}

/// Returns the files below a folder, by their paths from it, without links and the folders of
/// git, cargo and npm.
fn work_tree(system: &dyn System, root: &Path) -> Result<Vec<PathBuf>, GenerateError> {
    let mut files = Vec::new();
    let mut open = vec![root.to_owned()];
    let mut n_entries = 0;
    while let Some(folder) = open.pop() {
        for path in system.read_dir(&folder).map_err(unreadable(&folder))? {
            n_entries += 1;
            if n_entries > MAX_ENTRIES {
                let message = format!("the work tree has more than {MAX_ENTRIES} files");
                return Err(GenerateError::Git(message));
            }
            let name = path.file_name().and_then(|it| it.to_str()).unwrap_or(".");
            let is_skipped = name == ".git" || name == "target" || name == "node_modules";
            let Ok(Some(facts)) = system.link_metadata(&path) else { continue };
            match facts.kind {
                base_system::FileKind::Directory if !is_skipped => open.push(path),
                base_system::FileKind::File => {
                    files.extend(path.strip_prefix(root).ok().map(Path::to_path_buf));
                }
                base_system::FileKind::Directory => {}
            }
        }
    }
    Ok(files)
}
