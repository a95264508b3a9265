//! The layers of one stack, and what they change in its program.

use super::folder::LayerReader;
use super::kcl::Shown;
use super::{Dims, wrong};
use crate::GenerateError;
use crate::find::Stack;
use crate::origins::shown;
use kcl_driver::{Change, RunOptions};
use kusion_cells::{Cell, Layer, LeafPath, Node, Problem, Resolver, Selector};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Starts the label of a change that a layer makes.
const LABEL: &str = "layer\u{1}";

/// The layers of a stack. The first one is its program: what the program sets, for all cells.
#[derive(Debug)]
pub struct StackLayers {
    /// The axes.
    pub dims: Arc<Dims>,
    /// The layers.
    pub layers: Vec<Arc<Layer>>,
}

/// The place of the program among the layers.
const PROGRAM: usize = 0;

impl StackLayers {
    /// Reads the layers of a stack with cells. `program` says how its program is run; its roots are
    /// evaluated in addition to the variables that layers set.
    ///
    /// # Errors
    ///
    /// If a layer, or what the program sets, cannot be read, or a layer of the project sets a
    /// variable that the program does not have.
    pub fn read(
        reader: &LayerReader<'_>,
        dims: &Arc<Dims>,
        stack: &Stack,
        program: &RunOptions,
    ) -> Result<Self, GenerateError> {
        let found = found_layers(reader, dims, stack)?;
        let mut roots: BTreeSet<String> =
            found.iter().flat_map(|layer| layer.entries.keys().cloned()).collect();
        roots.extend(program.roots.iter().cloned());
        let shown_folder = shown(reader.work_dir, &stack.folder);
        let fallback = reader.origin(&stack.folder, 0, 0);
        let mut own = BTreeMap::new();
        if !roots.is_empty() {
            let options = RunOptions { roots: roots.iter().cloned().collect(), ..program.clone() };
            let entries =
                reader.program_entries(&options).map_err(|error| GenerateError::Program {
                    stack: shown_folder.to_owned(),
                    findings: error.into_findings(),
                })?;
            let shower = Shown { work_dir: reader.work_dir, fallback: &fallback };
            let nodes = shower.nodes(&entries);
            own = nodes.map_err(|message| wrong(shown_folder, None, message))?;
        }
        let project_scope = scope_of(dims, &stack.project.folder);
        let mut layers = Vec::with_capacity(found.len() + 1);
        let known: BTreeSet<String> = own.keys().cloned().collect();
        let mut base = Layer::new(Selector::all(&dims.axes), own, fallback);
        base.scope = scope_of(dims, &stack.folder);
        layers.push(Arc::new(base));
        for mut layer in found {
            if let Some(unknown) = layer.entries.keys().find(|key| !known.contains(*key)) {
                if layer.scope >= project_scope {
                    return Err(unknown_variable(&layer, unknown, &known, shown_folder));
                }
                // A layer of the repository is for the programs that have its variables.
                layer.entries.retain(|key, _| known.contains(key));
            }
            if !layer.entries.is_empty() || !layer.lock.is_empty() {
                layers.push(Arc::new(layer));
            }
        }
        Ok(Self { dims: Arc::clone(dims), layers })
    }

    /// Returns the conflicts at cells, each once, with the cell that shows it.
    pub fn problems(&self, cells: &Selector) -> Vec<Problem> {
        Resolver::new(&self.dims.axes, &self.layers).check_within(cells)
    }

    /// Returns the message of a problem, with its code.
    pub fn message(&self, problem: &Problem) -> String {
        let text = problem.message(&self.dims.axes, &self.layers);
        format!("error[{}]: {text}", problem.kind.code())
    }

    /// Returns the changes of the program at a cell. Values in conflict are left out: see
    /// [`StackLayers::problems`].
    pub fn changes(&self, cell: &Cell) -> Vec<Change> {
        let resolver = Resolver::new(&self.dims.axes, &self.layers);
        let mut changes = Vec::new();
        let mut removed: Vec<LeafPath> = Vec::new();
        let program = &self.layers[PROGRAM];
        for leaf in resolver.resolve(cell).leaves {
            let own = node_at(&program.entries, &leaf.path);
            if leaf.layers.contains(&PROGRAM) && leaf.layers.len() == 1 {
                continue;
            }
            if leaf.value.is_some() && own.and_then(value_of).as_ref() == leaf.value.as_ref() {
                continue;
            }
            let Some(&winner) = leaf.layers.last() else { continue };
            let label = self.label(&resolver, &leaf.path, cell, winner);
            match leaf.value {
                None if own.is_none() => continue,
                Some(Value::Object(_)) if matches!(own, Some(Node::Map { .. })) => continue,
                Some(_) => {
                    // A value around it has another form: it makes room for the map.
                    if let Some(around) = leaf_around(&program.entries, &leaf.path)
                        && !removed.contains(&around)
                    {
                        removed.push(around.clone());
                        let label = Arc::clone(&label);
                        changes.push(Change { path: around.0, value: None, label });
                    }
                }
                None => {}
            }
            changes.push(Change { path: leaf.path.0, value: leaf.value, label });
        }
        changes
    }

    /// Names the line of a layer that sets a value.
    fn label(
        &self,
        resolver: &Resolver<'_>,
        path: &LeafPath,
        cell: &Cell,
        layer: usize,
    ) -> Arc<str> {
        let explained = resolver.explain(path, cell);
        let winner = explained.and_then(|it| it.winners.into_iter().find(|it| it.layer == layer));
        let layer = &self.layers[layer];
        let origin = winner.map_or_else(|| layer.origin.clone(), |it| it.origin);
        let (line, column) = (origin.line, origin.column);
        let when = layer.when.text(&self.dims.axes);
        format!("{LABEL}{line}\u{1}{column}\u{1}{when}\u{1}{}", origin.file).into()
    }
}

/// Returns the place of a change that a layer made, from its label.
pub(crate) fn layer_of_label(label: &str) -> Option<kusion_model::Origin> {
    let mut parts = label.strip_prefix(LABEL)?.splitn(4, '\u{1}');
    let (line, column) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let layer = Some(parts.next()?.into());
    Some(kusion_model::Origin { layer, ..kusion_model::Origin::new(parts.next()?, line, column) })
}

/// Returns the layers of the folders from that of `dims.k` to that of the stack, and of the shared
/// folders of the project.
fn found_layers(
    reader: &LayerReader<'_>,
    dims: &Dims,
    stack: &Stack,
) -> Result<Vec<Layer>, GenerateError> {
    let mut folders: Vec<(PathBuf, u32)> = Vec::new();
    for folder in stack.folder.ancestors().take_while(|it| it.starts_with(&dims.folder)) {
        folders.push((folder.to_owned(), scope_of(dims, folder)));
    }
    folders.reverse();
    for shared in &stack.project.file.layers {
        let path = stack.project.folder.join(shared);
        let real = reader.system.canonicalize(&path).ok();
        let inside = real.filter(|real| real.starts_with(&dims.folder));
        let Some(folder) = inside.filter(|folder| reader.system.is_dir(folder)) else {
            let file = stack.project.folder.join("project.yaml");
            let message = format!(
                "`layers`: {shared} is not a folder below {}",
                shown(reader.work_dir, &dims.folder).display()
            );
            return Err(wrong(shown(reader.work_dir, &file), None, message));
        };
        if !folders.iter().any(|(known, _)| *known == folder) {
            folders.push((folder, 1));
        }
    }
    let mut layers = Vec::new();
    for (folder, scope) in folders {
        for layer in reader.layers(dims, &folder)?.iter() {
            layers.push(Layer { scope, ..layer.clone() });
        }
    }
    Ok(layers)
}

/// Returns the scope of a folder: 0 for that of `dims.k`, 1 for shared folders, then by depth.
fn scope_of(dims: &Dims, folder: &Path) -> u32 {
    match folder.strip_prefix(&dims.folder) {
        Ok(inner) if inner.as_os_str().is_empty() => 0,
        Ok(inner) => inner.components().count() as u32 + 1,
        Err(_) => 0,
    }
}

fn unknown_variable(
    layer: &Layer,
    unknown: &str,
    known: &BTreeSet<String>,
    stack: &Path,
) -> GenerateError {
    let hint = base_text::nearest(unknown, known.iter().map(String::as_str));
    let hint = hint.map_or(String::new(), |it| format!(" (did you mean `{it}`?)"));
    let message = format!(
        "the layer sets `{unknown}`, but the program of the stack {} has no such variable{hint}",
        stack.display()
    );
    let line = Some(layer.origin.line).filter(|line| *line > 0);
    wrong(Path::new(&*layer.origin.file), line, message)
}

fn node_at<'n>(entries: &'n BTreeMap<String, Node>, path: &LeafPath) -> Option<&'n Node> {
    let (first, rest) = path.0.split_first()?;
    let mut node = entries.get(first)?;
    for key in rest {
        let Node::Map { entries, .. } = node else { return None };
        node = entries.get(key)?;
    }
    Some(node)
}

/// Returns the path of a value of the program that is around another path.
fn leaf_around(entries: &BTreeMap<String, Node>, path: &LeafPath) -> Option<LeafPath> {
    (1..path.0.len())
        .map(|len| LeafPath(path.0[..len].to_vec()))
        .find(|around| matches!(node_at(entries, around), Some(Node::Leaf(..) | Node::Append(..))))
}

fn value_of(node: &Node) -> Option<Value> {
    match node {
        Node::Leaf(value, _) => Some(value.clone()),
        Node::Append(items, _) => Some(Value::Array(items.clone())),
        Node::Unset(_) | Node::Map { .. } => None,
    }
}
