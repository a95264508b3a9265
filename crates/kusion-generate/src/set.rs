//! Changes of configuration: the file that owns a value, and its text with another value.

use crate::cells::{LayerReader, StackLayers};
use crate::compile::Job;
use crate::find::{Stack, find_cells, unreadable};
use crate::origins::shown;
use crate::{CompileOptions, GenerateError, compile};
use base_system::{Overlay, System, root_of};
use kcl_driver::edit::{Action, ConfigOp, Override, path_at, quoted, set};
use kcl_driver::{PartialEntry, PartialValue, RunOptions, Session};
use kusion_cells::{LeafPath, Resolver, Selector};
use kusion_model::leaf_origins;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A value to set.
#[derive(Clone, Debug)]
pub struct SetRequest {
    /// The path of a value in the configuration (`app.replicas`), or of a field of a resource behind
    /// its id (`apps/v1:Deployment:shop:web.spec.replicas`).
    pub target: String,
    /// The value: data as JSON, an expression of KCL, or a text.
    pub value: String,
    /// Whether the value is appended to a list.
    pub append: bool,
    /// The cells, as a selector: the value is set in the layer for them.
    pub when: Option<String>,
    /// Why; recorded in the layer.
    pub why: Option<String>,
}

/// A file with a new content.
#[derive(Clone, Debug)]
pub struct FileEdit {
    /// The file.
    pub path: PathBuf,
    /// The file as messages show it.
    pub shown: PathBuf,
    /// The content before; empty for a new file.
    pub before: String,
    /// The new content.
    pub after: String,
    /// Where the value still differs, for users.
    pub notes: Vec<String>,
}

/// Finds the file that owns a value of a stack, and returns its text with another value. The stack
/// was compiled with it; nothing is written.
///
/// # Errors
///
/// If there is not one stack, the value is not known, several files own it, or the stack does not
/// compile with the new value.
pub fn edit_value(
    system: &(dyn System + Sync),
    options: &CompileOptions,
    request: &SetRequest,
) -> Result<FileEdit, GenerateError> {
    let job = Job::new(system, options)?;
    let cells = find_cells(system, &job.work_dir, &options.folders, None)?;
    let Some(stack) = cells.first() else {
        return Err(GenerateError::Set("there is no stack".to_owned()));
    };
    if cells.iter().any(|it| it.folder != stack.folder) {
        let mut folders: Vec<&Path> = cells.iter().map(|it| it.folder.as_path()).collect();
        folders.dedup();
        let n_stacks = folders.len();
        let message = format!("this command takes one stack, but {n_stacks} were found");
        return Err(GenerateError::Set(message));
    }
    let editor = Editor { job: &job, stack, cells: &cells, request };
    let (mut edit, path) = editor.edit()?;
    let changed = Overlay::new(system).with_file(&edit.path, &edit.after);
    let options = CompileOptions { folders: vec![stack.folder.clone()], ..options.clone() };
    compile(&changed, &options)?;
    if let Some(when) = &request.when {
        let job = Job::new(&changed, &options)?;
        let editor = Editor { job: &job, stack, cells: &cells, request };
        edit.notes = editor.beaten(&path, when, &edit.shown)?;
    }
    Ok(edit)
}

struct Editor<'a> {
    job: &'a Job<'a>,
    stack: &'a Stack,
    cells: &'a [Stack],
    request: &'a SetRequest,
}

/// A value before the change.
struct Found {
    path: LeafPath,
    /// The file that owns it; none if it belongs to a layer that does not exist yet.
    file: Option<PathBuf>,
    value: Option<Value>,
}

impl Editor<'_> {
    /// Returns the changed file, and the path of the value.
    fn edit(&self) -> Result<(FileEdit, LeafPath), GenerateError> {
        let (path, known_file) = self.path()?;
        let found = match (&self.request.when, known_file) {
            (None, Some(file)) => Found { path, file: Some(file), value: None },
            _ if self.stack.cell.is_some() => self.in_layers(path)?,
            (Some(_), _) => {
                let message = format!(
                    "`--when` needs a stack with cells, and {} has none: `cells` in stack.yaml \
                     names them",
                    self.stack.qualified_name()
                );
                return Err(GenerateError::Set(message));
            }
            (None, None) => self.in_program(path)?,
        };
        let file = match &self.request.when {
            Some(when) => self.layer_file(when)?,
            None => found.file.clone().ok_or_else(|| self.unknown(&found.path))?,
        };
        let edit = self.change(&file, &found)?;
        Ok((edit, found.path))
    }

    /// Returns the selected cells at which another file sets the value.
    fn beaten(
        &self,
        path: &LeafPath,
        when: &str,
        file: &Path,
    ) -> Result<Vec<String>, GenerateError> {
        let Some(first) = &self.stack.cell else { return Ok(Vec::new()) };
        let session = Session::new();
        let reader = self.reader(&session);
        let options = self.job.run_options(self.stack);
        let layers = StackLayers::read(&reader, &first.dims, self.stack, &options)?;
        let axes = &layers.dims.axes;
        let resolver = Resolver::new(axes, &layers.layers);
        let selector = Selector::parse(axes, when);
        let selector = selector.map_err(|error| GenerateError::Set(error.to_string()))?;
        let mut notes = Vec::new();
        for cell in self.cells.iter().filter_map(|it| it.cell.as_ref()) {
            if !selector.contains(&cell.cell) {
                continue;
            }
            let Some(explained) = resolver.explain(path, &cell.cell) else { continue };
            let is_own = |it: &kusion_cells::Candidate| Path::new(&*it.origin.file) == file;
            if let Some(winner) = explained.winners.first()
                && !explained.winners.iter().any(is_own)
            {
                let (cell, says, origin) = (&cell.name, &winner.says, &winner.origin);
                notes.push(format!("at {cell} it is still {says}: {origin} is more specific"));
            }
        }
        Ok(notes)
    }

    /// Returns the path of the value in the configuration; of a field of a resource, also the file.
    fn path(&self) -> Result<(LeafPath, Option<PathBuf>), GenerateError> {
        let target = &self.request.target;
        if !target.contains(':') {
            let path = target.parse::<LeafPath>();
            return Ok((path.map_err(|error| GenerateError::Set(error.to_string()))?, None));
        }
        let folders = vec![self.stack.folder.clone()];
        let options = CompileOptions { folders, ..self.job.options.clone() };
        let compiled = compile(self.job.system, &options)?;
        let mut found: Option<(LeafPath, PathBuf)> = None;
        for stack in &compiled {
            for leaf in leaf_origins(&stack.spec, &stack.origins) {
                let field =
                    target.strip_prefix(leaf.id.as_str()).and_then(|it| it.strip_prefix('.'));
                if field != Some(leaf.path.to_string().as_str()) {
                    continue;
                }
                let Some(origin) = leaf.origin.filter(|it| it.line > 0) else { continue };
                if !origin.inputs.is_empty() {
                    return Err(GenerateError::Set(format!(
                        "`{target}` is computed: {origin}; set what it is computed from"
                    )));
                }
                let file = self.job.work_dir.join(&*origin.file);
                let text = self.job.system.read_to_string(&file).map_err(unreadable(&file))?;
                let path = path_at(&text, origin.line, origin.column).ok_or_else(|| {
                    GenerateError::Set(format!(
                        "`{target}` is set at {origin}, which is not a value of a variable; edit \
                         the file"
                    ))
                })?;
                let one = (LeafPath(path), file);
                match &found {
                    Some(first) if *first != one => return Err(several(target, &[first, &one])),
                    _ => found = Some(one),
                }
            }
        }
        let (path, file) = found.ok_or_else(|| {
            GenerateError::Set(format!(
                "no resource of {} has the field `{target}`; `kusion compile` shows them",
                self.stack.qualified_name()
            ))
        })?;
        Ok((path, Some(file)))
    }

    /// Finds the file of the program that sets a value, or something around it.
    fn in_program(&self, path: LeafPath) -> Result<Found, GenerateError> {
        let session = Session::cached(self.job.system);
        let reader = self.reader(&session);
        let roots = path.0.first().cloned().into_iter().collect();
        let options = RunOptions { roots, ..self.job.run_options(self.stack) };
        let entries = reader.program_entries(&options).map_err(|error| GenerateError::Program {
            stack: shown(&self.job.work_dir, &self.stack.folder).to_owned(),
            findings: error.into_findings(),
        })?;
        let (file, value) = owner(&entries, &path.0);
        let file = file.map(PathBuf::from);
        Ok(Found { path, file, value })
    }

    /// Finds the file that sets a value at the cells of the stack.
    fn in_layers(&self, path: LeafPath) -> Result<Found, GenerateError> {
        let Some(first) = &self.stack.cell else { return self.in_program(path) };
        let session = Session::cached(self.job.system);
        let reader = self.reader(&session);
        let roots = path.0.first().cloned().into_iter().collect();
        let options = RunOptions { roots, ..self.job.run_options(self.stack) };
        let layers = StackLayers::read(&reader, &first.dims, self.stack, &options)?;
        let resolver = Resolver::new(&layers.dims.axes, &layers.layers);
        let mut value = None;
        let mut owners: Vec<(usize, String)> = Vec::new();
        for cell in self.cells.iter().filter_map(|it| it.cell.as_ref()) {
            let Some(explained) = resolver.explain(&path, &cell.cell) else { continue };
            value = value.or(explained.value);
            for winner in explained.winners {
                if !owners.iter().any(|(layer, _)| *layer == winner.layer) {
                    let place = winner.origin.to_string();
                    owners.push((winner.layer, format!("{place} at {}", cell.name)));
                }
            }
        }
        if self.request.when.is_some() {
            return Ok(Found { path, file: None, value });
        }
        match owners.as_slice() {
            [] | [(0, _)] => {
                let mut found = self.in_program(path)?;
                found.value = value.or(found.value);
                Ok(found)
            }
            [(layer, place)] => {
                let file = self.job.work_dir.join(&*layers.layers[*layer].origin.file);
                let name = file.file_name().and_then(|it| it.to_str()).unwrap_or_default();
                if name.starts_with('@') && name.contains('=') {
                    return Ok(Found { path, file: Some(file), value });
                }
                Err(GenerateError::Set(format!(
                    "`{path}` is set by a list of layers, {place}; edit that file, or pass \
                     `--when SELECTOR` for a layer in a file of its own"
                )))
            }
            several => {
                let places: Vec<&str> = several.iter().map(|(_, place)| place.as_str()).collect();
                Err(GenerateError::Set(format!(
                    "`{path}` is set by several layers: {}; pass `--when SELECTOR` to say for which \
                     cells",
                    places.join(", ")
                )))
            }
        }
    }

    fn reader<'r>(&'r self, session: &'r Session) -> LayerReader<'r> {
        let confinement = &self.job.options.confinement;
        LayerReader::new(self.job.system, session, confinement, &self.job.work_dir)
    }

    /// Returns the file of the layer for a selector, in the folder of the stack.
    fn layer_file(&self, when: &str) -> Result<PathBuf, GenerateError> {
        let fail = |message: String| GenerateError::Set(message);
        let Some(cell) = &self.stack.cell else { return Err(fail("no cells".to_owned())) };
        let axes = &cell.dims.axes;
        let selector = Selector::parse(axes, when).map_err(|error| fail(error.to_string()))?;
        if selector.is_all(axes) {
            return Err(fail(format!("`--when {when}` selects all cells; leave it out")));
        }
        if selector.intersection(&cell.covers).is_none() {
            let name = self.stack.qualified_name();
            return Err(fail(format!("`--when {when}` selects no cell of {name}")));
        }
        let folder = &self.stack.folder;
        for path in self.job.system.read_dir(folder).map_err(unreadable(folder))? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let name = name.strip_prefix('@').and_then(|it| it.strip_suffix(".k"));
            let known = name.filter(|it| it.contains('='));
            if known.is_some_and(|it| Selector::parse(axes, it).as_ref() == Ok(&selector)) {
                return Ok(path);
            }
        }
        Ok(folder.join(format!("@{}.k", selector.text(axes))))
    }

    /// Returns the changed text of a file.
    fn change(&self, file: &Path, found: &Found) -> Result<FileEdit, GenerateError> {
        let (system, work_dir) = (self.job.system, &self.job.work_dir);
        let shown = shown(work_dir, file).to_owned();
        let root = root_of(system, &self.stack.folder, &["kcl.mod", "project.yaml"], work_dir);
        if !file.starts_with(&root) || file.extension().is_none_or(|it| it != "k") {
            return Err(GenerateError::Set(format!(
                "`{}` is set in {}, which is not a KCL file of this repository",
                found.path,
                shown.display()
            )));
        }
        let before = if system.is_file(file) {
            system.read_to_string(file).map_err(unreadable(file))?
        } else {
            String::new()
        };
        let fail = |error: kcl_driver::edit::EditError| {
            GenerateError::Set(format!("cannot change {}: {error}", shown.display()))
        };
        let mut after = before.clone();
        if let Some(why) = &self.request.why {
            let action = Action::Set(ConfigOp::Override, quoted(why));
            after =
                set(&after, &Override { path: vec!["_why".to_owned()], action }).map_err(fail)?;
        }
        let op = if self.request.append { ConfigOp::Insert } else { ConfigOp::Override };
        let value = source(&self.request.value, found.value.as_ref());
        let action = Action::Set(op, value);
        after = set(&after, &Override { path: found.path.0.clone(), action }).map_err(fail)?;
        let notes = Vec::new();
        Ok(FileEdit { path: file.to_owned(), shown, before, after, notes })
    }

    fn unknown(&self, path: &LeafPath) -> GenerateError {
        GenerateError::Set(format!(
            "the program of {} has no variable `{}`",
            self.stack.qualified_name(),
            path.0.first().map_or("", String::as_str)
        ))
    }
}

fn several(target: &str, found: &[&(LeafPath, PathBuf)]) -> GenerateError {
    let places: Vec<String> =
        found.iter().map(|(path, file)| format!("`{path}` in {}", file.display())).collect();
    GenerateError::Set(format!(
        "`{target}` comes from several values, by cell: {}; set one of them by its path",
        places.join(" and ")
    ))
}

/// Returns the file that sets a path, or the innermost map around it, and the value if there is one.
fn owner(entries: &[PartialEntry], path: &[String]) -> (Option<String>, Option<Value>) {
    let Some((first, rest)) = path.split_first() else { return (None, None) };
    let Some(entry) = entries.iter().find(|it| it.key == *first) else { return (None, None) };
    let own = entry.place.as_ref().map(|place| place.file.to_string());
    if rest.is_empty() {
        return (own, entry.value.to_json());
    }
    let PartialValue::Map(inner) = &entry.value else { return (own, None) };
    let (file, value) = owner(inner, rest);
    (file.or(own), value)
}

/// Returns a value as source: data and expressions as they are, anything else as a text. A text stays
/// a text.
fn source(written: &str, old: Option<&Value>) -> String {
    let starts_expression = written.starts_with(['{', '[', '"', '\'']) || written == "Undefined";
    let is_text = old.is_some_and(Value::is_string);
    match (serde_json::from_str::<Value>(written), starts_expression) {
        (_, true) => written.to_owned(),
        (Ok(_), _) if is_text => quoted(written),
        (Ok(Value::Bool(flag)), _) => if flag { "True" } else { "False" }.to_owned(),
        (Ok(Value::Null), _) => "None".to_owned(),
        // A sign alone would make it a text.
        (Ok(_), _) if written.starts_with('-') => format!("({written})"),
        (Ok(_), _) => written.to_owned(),
        (Err(_), _) if matches!(written, "True" | "False" | "None") => written.to_owned(),
        (Err(_), _) => quoted(written),
    }
}
