//! Source locations of attributes.

use crate::cells::layer_of_label;
use crate::shapes::Draft;
use kcl_driver::{LeafPlace, PathStep as Step, Places};
use kusion_model::{FieldPath, Origin, OriginTable, PathStep, ResourceId};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The location of a value in the source.
#[derive(Clone, Debug)]
pub(crate) enum SourceLocation {
    /// In the output of a program, at a path.
    Output(Arc<Output>, FieldPath),
    /// In a file that was read as it is.
    File(Origin),
}

/// The output of a program, with the origins of its leaves.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) places: Arc<Places>,
    /// The folder that files are shown relative to.
    pub(crate) work_dir: PathBuf,
}

impl SourceLocation {
    /// Returns what set the value at a path.
    pub(crate) fn find(&self, path: &FieldPath) -> Option<Origin> {
        match self {
            Self::Output(output, at) => output.find(at, path),
            // The parts of a file are not told apart.
            Self::File(origin) => Some(origin.clone()),
        }
    }
}

impl Default for SourceLocation {
    fn default() -> Self {
        Self::Output(Arc::default(), FieldPath::default())
    }
}

impl Output {
    fn find(&self, at: &FieldPath, path: &FieldPath) -> Option<Origin> {
        let steps = || {
            at.0.iter().chain(&path.0).map(|step| match step {
                PathStep::Key(key) => Step::Key(key),
                PathStep::Index(index) => Step::Index(*index),
            })
        };
        let mut origin = self.origin(self.places.find(steps())?);
        let inputs = self.places.inputs(steps());
        origin.inputs = inputs.into_iter().map(|input| self.origin(input)).collect();
        Some(origin)
    }

    fn origin(&self, place: LeafPlace<'_>) -> Origin {
        match place {
            LeafPlace::Text { file, at } => {
                let file = shown(&self.work_dir, Path::new(file));
                Origin::new(file.to_string_lossy(), at.line, at.col)
            }
            LeafPlace::Override(label) => match layer_of_label(label) {
                Some(layer) => layer,
                None => Origin::new(format!("-O {label}"), 0, 0),
            },
        }
    }
}

/// The origins of the resources of a stack.
pub(crate) struct Table(FxHashMap<ResourceId, Located>);

/// Where the attributes of a resource come from.
struct Located {
    written: SourceLocation,
    /// What project and stack added.
    added: Vec<(FieldPath, Origin)>,
}

impl Table {
    /// Creates the table of resources and the drafts that they were created from.
    pub(crate) fn new<'r>(
        ids: impl IntoIterator<Item = &'r ResourceId>,
        drafts: Vec<Draft>,
    ) -> Self {
        let located = drafts.into_iter().map(|it| Located { written: it.written, added: it.added });
        Self(ids.into_iter().cloned().zip(located).collect())
    }
}

impl OriginTable for Table {
    fn find(&self, id: &ResourceId, path: &FieldPath) -> Option<Origin> {
        let located = self.0.get(id)?;
        let added = || located.added.iter().find(|(at, _)| path.is_prefix_of(at));
        located.written.find(path).or_else(|| added().map(|(_, origin)| origin.clone()))
    }
}

/// Returns a path as messages show it: relative to the working folder if it is inside it.
pub(crate) fn shown<'p>(work_dir: &Path, path: &'p Path) -> &'p Path {
    match path.strip_prefix(work_dir) {
        Ok(inner) if inner.as_os_str().is_empty() => Path::new("."),
        Ok(inner) => inner,
        Err(_) => path,
    }
}
