//! `dims.k`: the axes of a repository.

use super::wrong;
use crate::GenerateError;
use base_system::{System, root_of};
use kcl_driver::{EvalOptions, Format, RunOptions, run};
use kusion_cells::{Axes, Axis, Cell, PathPattern};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The name of the file that declares axes.
const FILE: &str = "dims.k";

/// The axes of the stacks below a folder.
#[derive(Debug)]
pub struct Dims {
    /// The folder of `dims.k`.
    pub folder: PathBuf,
    /// The axes.
    pub axes: Axes,
    /// The clusters that are listed, by name.
    pub clusters: Vec<ListedCluster>,
    /// Places of the axes whose values come from labels of the clusters.
    labelled: Vec<usize>,
}

/// A cluster that `dims.k` lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedCluster {
    /// The name.
    pub name: String,
    /// The context, or `sandbox/NAME`.
    pub context: String,
    /// Its values on the axes that take theirs from labels, as places of axes and values.
    coordinates: Vec<(usize, usize)>,
}

/// The label that every cluster has: its name.
const NAME_LABEL: &str = "cluster";
/// The largest number of clusters.
const MAX_CLUSTERS: usize = 4096;

/// What `dims.k` may set.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    axes: Vec<DeclaredAxis>,
    #[serde(default)]
    order: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    sets: Vec<String>,
    #[serde(default)]
    keys: BTreeMap<String, String>,
    #[serde(default)]
    clusters: BTreeMap<String, DeclaredCluster>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredCluster {
    #[serde(default)]
    labels: BTreeMap<String, String>,
    context: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredAxis {
    name: String,
    from: Option<String>,
    label: Option<String>,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    groups: BTreeMap<String, Vec<String>>,
}

impl Dims {
    /// Returns the nearest folder with a `dims.k`, at or above a folder. Folders above the root of
    /// the repository are not searched: others may write there.
    ///
    /// # Errors
    ///
    /// If there is none: what to do.
    pub(crate) fn folder_of(
        system: &dyn System,
        folder: &Path,
        work_dir: &Path,
    ) -> Result<PathBuf, String> {
        let root = root_of(system, folder, &["kcl.mod", "project.yaml"], work_dir);
        let has_file = |folder: &&Path| system.is_file(&folder.join(FILE));
        let Some(found) = folder.ancestors().find(has_file) else {
            return Err("`cells` needs a dims.k, in this folder or above it".to_owned());
        };
        if found.starts_with(&root) {
            return Ok(found.to_path_buf());
        }
        let above = found.join(FILE);
        let mut message = format!(
            "`cells` needs a dims.k in the repository: {} is above its root {}, and does not count",
            above.display(),
            root.display()
        );
        if !system.exists(&root.join(".git")) {
            message.push_str("; if it belongs to the repository, put a kcl.mod beside it");
        }
        Err(message)
    }

    /// Reads the `dims.k` of a folder. The program uses neither files nor the environment.
    pub(crate) fn read(system: &(dyn System + Sync), folder: &Path) -> Result<Self, GenerateError> {
        let path = folder.join(FILE);
        let options = RunOptions {
            work_dir: Some(folder.to_owned()),
            ignore_default_settings: true,
            format: Some(Format::Json),
            eval: EvalOptions { no_io: true, ..EvalOptions::default() },
            use_cache: true,
            ..RunOptions::files([path.display().to_string()])
        };
        let output = run(system, &options).map_err(|error| GenerateError::Program {
            stack: folder.to_owned(),
            findings: error.into_findings(),
        })?;
        let declared: Declared = serde_json::from_str(&output.result).map_err(|error| {
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(&*message, |(start, _)| start);
            wrong(&path, None, message)
        })?;
        Self::new(folder, declared).map_err(|message| wrong(&path, None, message))
    }

    fn new(folder: &Path, mut declared: Declared) -> Result<Self, String> {
        if declared.clusters.len() > MAX_CLUSTERS {
            return Err(format!("`clusters` lists more than {MAX_CLUSTERS} clusters"));
        }
        for (name, cluster) in &mut declared.clusters {
            cluster.labels.entry(NAME_LABEL.to_owned()).or_insert_with(|| name.clone());
        }
        let mut labelled = Vec::new();
        for (at, axis) in declared.axes.iter_mut().enumerate() {
            if let Some(label) = label_of(axis)? {
                axis.values = label_values(axis, &label, &declared.clusters)?;
                labelled.push((at, label));
            }
        }
        let listed = std::mem::take(&mut declared.clusters);
        let axes = axes(declared)?;
        let mut clusters = Vec::with_capacity(listed.len());
        for (name, cluster) in listed {
            let coordinates = labelled.iter().filter_map(|(at, label)| {
                let value = cluster.labels.get(label)?;
                Some((*at, axes.axes()[*at].values.iter().position(|it| it == value)?))
            });
            let coordinates = coordinates.collect();
            let context = cluster.context.unwrap_or_else(|| name.clone());
            clusters.push(ListedCluster { name, context, coordinates });
        }
        let labelled = labelled.into_iter().map(|(at, _)| at).collect();
        Ok(Self { folder: folder.to_owned(), axes, clusters, labelled })
    }

    /// Whether the values of an axis come from labels of clusters.
    pub(super) fn is_labelled(&self, axis: usize) -> bool {
        self.labelled.contains(&axis)
    }

    /// Returns the listed clusters that have the values of a cell; `None` if no axis takes its values
    /// from clusters.
    pub(super) fn clusters_of(&self, cell: &Cell) -> Option<Vec<&ListedCluster>> {
        let has_values = |cluster: &&ListedCluster| {
            cluster.coordinates.iter().all(|(axis, value)| cell.place(*axis) == *value)
        };
        (!self.labelled.is_empty()).then(|| self.clusters.iter().filter(has_values).collect())
    }
}

/// Returns the label of clusters that an axis takes its values from.
fn label_of(axis: &DeclaredAxis) -> Result<Option<String>, String> {
    let name = &axis.name;
    match axis.from.as_deref() {
        None if axis.label.is_some() => {
            Err(format!("the axis `{name}` has `label`, but not `from = \"labels\"`"))
        }
        None => Ok(None),
        Some("labels") if axis.values.is_empty() => {
            Ok(Some(axis.label.clone().unwrap_or_else(|| name.clone())))
        }
        Some("labels") => {
            Err(format!("the axis `{name}` has `values`, and takes its values from labels"))
        }
        Some(other) => {
            Err(format!("the axis `{name}` has `from = \"{other}\"`: expected `labels`"))
        }
    }
}

/// Returns the values of a label, in their order.
fn label_values(
    axis: &DeclaredAxis,
    label: &str,
    clusters: &BTreeMap<String, DeclaredCluster>,
) -> Result<Vec<String>, String> {
    let mut values = BTreeSet::new();
    for (name, cluster) in clusters {
        let Some(value) = cluster.labels.get(label) else {
            return Err(format!(
                "the cluster `{name}` has no label `{label}`, from which the axis `{}` takes its \
                 values",
                axis.name
            ));
        };
        values.insert(value.clone());
    }
    Ok(values.into_iter().collect())
}

fn axes(declared: Declared) -> Result<Axes, String> {
    let axis = |it: DeclaredAxis| Axis { name: it.name, values: it.values, groups: it.groups };
    let axes = declared.axes.into_iter().map(axis).collect();
    let mut axes = Axes::new(axes).map_err(|error| error.to_string())?;
    let pattern = |text: &str| text.parse::<PathPattern>().map_err(|error| error.to_string());
    for (text, order) in &declared.order {
        axes = axes.with_order(pattern(text)?, order).map_err(|error| error.to_string())?;
    }
    for text in &declared.sets {
        axes = axes.with_set(pattern(text)?);
    }
    for (text, key) in declared.keys {
        axes = axes.with_keyed(pattern(&text)?, key);
    }
    Ok(axes)
}
