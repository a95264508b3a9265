//! The layers of folders.

use super::kcl::Shown;
use super::yaml::{self, Data, Item};
use super::{Dims, MAX_BYTES, wrong};
use crate::GenerateError;
use crate::compile::Work;
use crate::find::unreadable;
use crate::origins::shown;
use base_system::System;
use kcl_driver::partial_entries;
use kcl_driver::{
    Confinement, EvalOptions, PartialEntry, PartialValue, RunError, RunOptions, Session,
};
use kusion_cells::{Layer, Node, Origin, Selector};
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Reads layers, each once.
pub struct LayerReader<'s> {
    pub(super) system: &'s (dyn System + Sync),
    pub(super) session: &'s Session,
    pub(super) confinement: &'s Confinement,
    /// The folder that files are shown relative to.
    pub(super) work_dir: &'s Path,
    folders: Mutex<FxHashMap<PathBuf, Arc<Mutex<Option<FolderLayers>>>>>,
    n_layer_files: AtomicUsize,
    n_partial_programs: AtomicUsize,
}

/// The layers of a folder.
type FolderLayers = Arc<Vec<Layer>>;

/// What a layer has beside its values.
#[derive(Default)]
struct Facts {
    when: Option<Value>,
    lock: Vec<String>,
    owner: Option<String>,
    why: Option<String>,
    expires: Option<String>,
}

const KEYS: [&str; 6] = ["when", "set", "lock", "owner", "why", "expires"];

impl<'s> LayerReader<'s> {
    /// Creates a reader that has read nothing.
    pub fn new(
        system: &'s (dyn System + Sync),
        session: &'s Session,
        confinement: &'s Confinement,
        work_dir: &'s Path,
    ) -> Self {
        let (n_layer_files, n_partial_programs) = Default::default();
        let folders = Mutex::default();
        Self { system, session, confinement, work_dir, folders, n_layer_files, n_partial_programs }
    }

    /// Returns what was evaluated so far.
    pub(crate) fn work(&self) -> Work {
        Work {
            n_layer_files: self.n_layer_files.load(Ordering::Relaxed),
            n_partial_programs: self.n_partial_programs.load(Ordering::Relaxed),
            n_programs: 0,
        }
    }

    /// Returns what a program sets, by variable.
    pub(crate) fn program_entries(
        &self,
        options: &RunOptions,
    ) -> Result<Vec<PartialEntry>, Box<RunError>> {
        self.n_partial_programs.fetch_add(1, Ordering::Relaxed);
        partial_entries(self.session, self.system, options)
    }

    /// Returns the layers of a folder, with scope 0.
    pub(super) fn layers(
        &self,
        dims: &Dims,
        folder: &Path,
    ) -> Result<Arc<Vec<Layer>>, GenerateError> {
        let slot = {
            let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(folders.entry(folder.to_owned()).or_default())
        };
        // Other threads wait for the one that reads the folder.
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layers) = &*slot {
            return Ok(Arc::clone(layers));
        }
        let layers = Arc::new(self.read_folder(dims, folder)?);
        Ok(Arc::clone(slot.insert(layers)))
    }

    fn read_folder(&self, dims: &Dims, folder: &Path) -> Result<Vec<Layer>, GenerateError> {
        let mut layers = Vec::new();
        for path in self.system.read_dir(folder).map_err(unreadable(folder))? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if let Some(name) = name.strip_prefix('@').and_then(|it| it.strip_suffix(".k")) {
                self.read_kcl(dims, &path, name, &mut layers)?;
            }
        }
        let inner = folder.join("layers");
        if self.system.is_dir(&inner) {
            for path in self.system.read_dir(&inner).map_err(unreadable(&inner))? {
                let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
                if matches!(ending, "yaml" | "yml") {
                    self.read_yaml(dims, &path, &mut layers)?;
                }
            }
        }
        Ok(layers)
    }

    /// Reads `@env=prod.k`, or `@name.k` with a list of layers.
    fn read_kcl(
        &self,
        dims: &Dims,
        path: &Path,
        name: &str,
        layers: &mut Vec<Layer>,
    ) -> Result<(), GenerateError> {
        let shown_path = shown(self.work_dir, path);
        let origin = self.origin(path, 1, 1);
        let selector = name.contains('=').then(|| Selector::parse(&dims.axes, name)).transpose();
        let selector = selector.map_err(|error| wrong(shown_path, None, error.to_string()))?;
        let entries = self.entries(path)?;
        let shower = Shown { work_dir: self.work_dir, fallback: &origin };
        let fail = |message: String| wrong(shown_path, None, message);
        if let Some(when) = selector {
            let mut facts = Facts::default();
            for entry in &entries {
                if let Some(key) = entry.key.strip_prefix('_').filter(|key| KEYS.contains(key)) {
                    let value = entry.value.to_json().unwrap_or(Value::Null);
                    facts.set(key, &value).map_err(fail)?;
                }
            }
            let nodes = shower.nodes(&entries).map_err(fail)?;
            layers.push(facts.layer(when, nodes, origin).map_err(fail)?);
            return Ok(());
        }
        let list = entries.iter().find(|entry| entry.key == "layers");
        let Some(PartialValue::List(items)) = list.map(|entry| &entry.value) else {
            return Err(fail(
                "expected the variable `layers`, a list; a file for one selector is named \
                 `@env=prod.k`"
                    .to_owned(),
            ));
        };
        for item in items {
            layers.push(listed(dims, &shower, item).map_err(fail)?);
        }
        Ok(())
    }

    fn entries(&self, path: &Path) -> Result<Vec<PartialEntry>, GenerateError> {
        let mut options = RunOptions {
            work_dir: path.parent().map(Path::to_path_buf),
            ignore_default_settings: true,
            eval: EvalOptions::default(),
            ..RunOptions::files([path.display().to_string()])
        };
        self.confinement.apply(&mut options);
        options.eval.no_io = true;
        options.output.show_hidden = true;
        self.n_layer_files.fetch_add(1, Ordering::Relaxed);
        let entries = partial_entries(self.session, self.system, &options);
        entries.map_err(|error| GenerateError::Program {
            stack: shown(self.work_dir, path).to_owned(),
            findings: error.into_findings(),
        })
    }

    fn read_yaml(
        &self,
        dims: &Dims,
        path: &Path,
        layers: &mut Vec<Layer>,
    ) -> Result<(), GenerateError> {
        let shown_path = shown(self.work_dir, path);
        let text = self.system.read_to_string(path).map_err(unreadable(path))?;
        if text.len() > MAX_BYTES {
            let message = format!("the file has more than {MAX_BYTES} bytes");
            return Err(wrong(shown_path, None, message));
        }
        let fail = |(line, message): yaml::Wrong| wrong(shown_path, line, message);
        for document in yaml::read(&text).map_err(fail)? {
            if matches!(document.data, Data::Scalar(Value::Null)) {
                continue;
            }
            let origin = self.origin(path, document.line, document.column);
            layers.push(written(dims, &document, origin).map_err(fail)?);
        }
        Ok(())
    }

    pub(super) fn origin(&self, path: &Path, line: u32, column: u32) -> Origin {
        let file = shown(self.work_dir, path).to_string_lossy().into();
        Origin { file, line, column }
    }
}

/// Reads a layer of a YAML document.
fn written(dims: &Dims, document: &Item, origin: Origin) -> Result<Layer, yaml::Wrong> {
    let at = Some(document.line);
    let Data::Map(entries) = &document.data else {
        return Err((at, "expected a map with the keys `when` and `set`".to_owned()));
    };
    let mut facts = Facts::default();
    let mut nodes = None;
    for (key, item) in entries {
        if key == "set" {
            let node = item.node(&origin.file)?;
            let Node::Map { entries, .. } = node else {
                return Err((Some(item.line), "`set` must be a map".to_owned()));
            };
            nodes = Some(entries);
        } else {
            facts.set(key, &item.to_json()).map_err(|message| (Some(item.line), message))?;
        }
    }
    let when = facts.selector(dims).map_err(|message| (at, message))?;
    let nodes = nodes.ok_or((at, "the layer has no `set`".to_owned()))?;
    facts.layer(when, nodes, origin).map_err(|message| (at, message))
}

/// Reads a layer of a list in KCL.
fn listed(dims: &Dims, shower: &Shown<'_>, item: &PartialValue) -> Result<Layer, String> {
    let PartialValue::Map(entries) = item else {
        return Err("every item of `layers` must be a layer with `when` and `set`".to_owned());
    };
    let mut facts = Facts::default();
    let mut nodes = None;
    let first = entries.iter().find_map(|entry| entry.place.as_ref());
    for entry in entries {
        if entry.key == "set" {
            let PartialValue::Map(entries) = &entry.value else {
                return Err("`set` must be a map".to_owned());
            };
            nodes = Some(shower.nodes(entries)?);
        } else {
            facts.set(&entry.key, &entry.value.to_json().unwrap_or(Value::Null))?;
        }
    }
    let origin = shower.origin(first);
    let when = facts.selector(dims).map_err(|message| format!("{message} ({origin})"))?;
    let nodes = nodes.ok_or_else(|| format!("the layer has no `set` ({origin})"))?;
    facts.layer(when, nodes, origin)
}

impl Facts {
    fn set(&mut self, key: &str, value: &Value) -> Result<(), String> {
        let text = || match value {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text.clone())),
            _ => Err(format!("`{key}` must be a string")),
        };
        match key {
            "when" => self.when = Some(value.clone()),
            "lock" => self.lock = strings(value).ok_or("`lock` must be a list of paths")?,
            "owner" => self.owner = text()?,
            "why" => self.why = text()?,
            "expires" => self.expires = text()?,
            _ => {
                let hint = base_text::nearest(key, KEYS);
                let hint = hint.map_or(String::new(), |it| format!(" (did you mean `{it}`?)"));
                return Err(format!("unknown key `{key}` of a layer{hint}"));
            }
        }
        Ok(())
    }

    fn selector(&self, dims: &Dims) -> Result<Selector, String> {
        let empty = Value::Object(serde_json::Map::new());
        let Value::Object(when) = self.when.as_ref().unwrap_or(&empty) else {
            return Err("`when` must be a map of axes to values".to_owned());
        };
        let mut terms: Vec<(&str, Vec<String>)> = Vec::new();
        for (axis, values) in when {
            let values = match values {
                Value::String(value) => vec![value.clone()],
                other => strings(other).ok_or_else(|| {
                    format!("the values of axis `{axis}` must be a string or a list of strings")
                })?,
            };
            terms.push((axis, values));
        }
        let terms: Vec<(&str, Vec<&str>)> = terms
            .iter()
            .map(|(axis, values)| (*axis, values.iter().map(String::as_str).collect()))
            .collect();
        Selector::from_terms(&dims.axes, &terms).map_err(|error| error.to_string())
    }

    fn layer(
        self,
        when: Selector,
        entries: BTreeMap<String, Node>,
        origin: Origin,
    ) -> Result<Layer, String> {
        let mut layer = Layer::new(when, entries, origin);
        for pattern in &self.lock {
            layer.lock.push(pattern.parse().map_err(|error| format!("`lock`: {error}"))?);
        }
        if let Some(date) = &self.expires {
            let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            let parts: Vec<&str> = date.split('-').collect();
            let is_date = parts.iter().map(|it| it.len()).eq([4, 2, 2])
                && parts.iter().all(|part| digits(part));
            if !is_date {
                let message =
                    format!("invalid date `{date}`: expected a form such as `2026-12-01`");
                return Err(format!("`expires`: {message}"));
            }
        }
        layer.owner = self.owner;
        layer.why = self.why;
        layer.expires = self.expires;
        Ok(layer)
    }
}

fn strings(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array()?;
    items.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}
