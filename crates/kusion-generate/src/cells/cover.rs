//! Which cells a stack covers, and on which clusters they are.

use super::{Dims, MAX_CELLS};
use crate::files::StackFile;
use kusion_cells::{Axis, Cell, Layer, LeafPath, Node, Origin, Resolver, Selector};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The values of a stack on one axis.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a value, a group, or a list of them")]
pub enum CellSetting {
    /// One value or group.
    One(String),
    /// Several.
    Several(Vec<String>),
}

/// One cell of a stack.
#[derive(Clone, Debug)]
pub struct StackCell {
    /// The name: its values on the axes that the stack names, `zone=gz00a,env=prod`.
    pub name: String,
    /// The cell.
    pub cell: Cell,
    /// The axes.
    pub dims: Arc<Dims>,
    /// All cells of the stack that are looked for.
    pub covers: Arc<Selector>,
    /// The context or sandbox (`sandbox/NAME`) that it is deployed to, by `clusters`.
    pub cluster: Option<String>,
}

impl PartialEq for StackCell {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.cluster == other.cluster
    }
}

impl StackFile {
    /// Returns the cells that the stack covers, as a selector.
    fn covered(&self, dims: &Dims) -> Result<Selector, String> {
        let settings = self.cells.clone().unwrap_or_default();
        for (at, axis) in dims.axes.axes().iter().enumerate() {
            let must_name = axis.values.len() > 1 && !dims.is_labelled(at);
            if must_name && !settings.contains_key(&axis.name) {
                return Err(format!(
                    "`cells` does not name the axis `{}`; it has several values, such as `{}`",
                    axis.name, axis.values[0]
                ));
            }
        }
        let terms: Vec<(&str, Vec<&str>)> = settings
            .iter()
            .map(|(axis, setting)| {
                let values = match setting {
                    CellSetting::One(value) => vec![value.as_str()],
                    CellSetting::Several(values) => values.iter().map(String::as_str).collect(),
                };
                (axis.as_str(), values)
            })
            .collect();
        let covered = Selector::from_terms(&dims.axes, &terms).map_err(|it| it.to_string())?;
        if covered.n_cells() > MAX_CELLS {
            let count = covered.n_cells();
            return Err(format!("`cells` covers {count} cells, at most {MAX_CELLS} are allowed"));
        }
        Ok(covered)
    }

    /// Returns the cells of the stack that a selector of the user has; all without one.
    pub(crate) fn cells_of(
        &self,
        dims: &Arc<Dims>,
        chosen: Option<&str>,
    ) -> Result<Vec<StackCell>, String> {
        let covered = self.covered(dims)?;
        let chosen = match chosen {
            Some(text) => Selector::parse(&dims.axes, text).map_err(|it| it.to_string())?,
            None => Selector::all(&dims.axes),
        };
        let clusters = self.cluster_layers(dims)?;
        let Some(cells) = covered.intersection(&chosen) else { return Ok(Vec::new()) };
        let cells = Arc::new(cells);
        // Of cells on axes of clusters, those exist for which there is a cluster.
        let exists = |cell: &Cell| dims.clusters_of(cell).is_none_or(|found| !found.is_empty());
        let existing = cells.cells().filter(exists);
        existing.map(|cell| self.cell(dims, &cells, &clusters, cell)).collect()
    }

    fn cell(
        &self,
        dims: &Arc<Dims>,
        covers: &Arc<Selector>,
        clusters: &[Arc<Layer>],
        cell: Cell,
    ) -> Result<StackCell, String> {
        let named = |at: usize, axis: &Axis| {
            self.cells.as_ref().is_some_and(|it| it.contains_key(&axis.name))
                || dims.is_labelled(at) && axis.values.len() > 1
        };
        let axes = dims.axes.axes().iter().enumerate();
        let parts: Vec<String> = axes
            .filter(|(at, axis)| named(*at, axis))
            .map(|(at, axis)| format!("{}={}", axis.name, dims.axes.value_of(&cell, at)))
            .collect();
        let name = parts.join(",");
        let resolved = Resolver::new(&dims.axes, clusters).resolve(&cell);
        if let Some(problem) = resolved.problems.first() {
            let says: Vec<&str> = problem.sides.iter().map(|it| it.says.as_str()).collect();
            let says = says.join(" and ");
            return Err(format!(
                "`clusters` names {says} for the cell `{name}`, and neither selector is more specific"
            ));
        }
        let cluster = resolved.leaves.into_iter().find_map(|leaf| leaf.value);
        let cluster = cluster.and_then(|it| it.as_str().map(str::to_owned));
        let cluster = cluster.or_else(|| match dims.clusters_of(&cell)?.as_slice() {
            [only] => Some(only.context.clone()),
            _ => None,
        });
        let (dims, covers) = (Arc::clone(dims), Arc::clone(covers));
        Ok(StackCell { name, cell, dims, covers, cluster })
    }

    /// Returns the rules of `clusters` as layers, of which the most specific one counts.
    fn cluster_layers(&self, dims: &Dims) -> Result<Vec<Arc<Layer>>, String> {
        let origin = Origin { file: "stack.yaml".into(), line: 0, column: 0 };
        let key = LeafPath(vec!["cluster".to_owned()]).to_string();
        let mut layers = Vec::new();
        for (selector, cluster) in &self.clusters {
            let when = Selector::parse(&dims.axes, selector)
                .map_err(|error| format!("`clusters`: {error}"))?;
            let value = Node::Leaf(cluster.clone().into(), origin.clone());
            let entries = BTreeMap::from([(key.clone(), value)]);
            layers.push(Arc::new(Layer::new(when, entries, origin.clone())));
        }
        Ok(layers)
    }
}
