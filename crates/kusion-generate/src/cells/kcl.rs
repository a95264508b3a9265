//! Layers in KCL files.

use kcl_driver::{PartialEntry, PartialOp, PartialPlace, PartialValue};
use kusion_cells::{Node, Origin};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Shows the files of places.
pub(super) struct Shown<'a> {
    /// The folder that files are shown relative to.
    pub(super) work_dir: &'a Path,
    /// Where a value is that no expression set.
    pub(super) fallback: &'a Origin,
}

impl Shown<'_> {
    pub(super) fn origin(&self, place: Option<&PartialPlace>) -> Origin {
        let Some(place) = place else { return self.fallback.clone() };
        let file = crate::origins::shown(self.work_dir, Path::new(&*place.file));
        Origin { file: file.to_string_lossy().into(), line: place.line, column: place.column }
    }

    /// Returns what the entries at the top of a layer say, by variable. Private names are left out.
    /// A map is always merged there: nobody means to replace a whole variable.
    pub(super) fn nodes(&self, entries: &[PartialEntry]) -> Result<BTreeMap<String, Node>, String> {
        let is_shown = |entry: &&PartialEntry| !entry.key.starts_with('_');
        let node = |entry: &PartialEntry| {
            let mut node = self.node(entry)?;
            if let Node::Map { replaces, .. } = &mut node {
                *replaces = false;
            }
            Ok((entry.key.clone(), node))
        };
        entries.iter().filter(is_shown).map(node).collect()
    }

    fn node(&self, entry: &PartialEntry) -> Result<Node, String> {
        let origin = self.origin(entry.place.as_ref());
        Ok(match (&entry.value, entry.op) {
            (PartialValue::Undefined, _) => Node::Unset(origin),
            (PartialValue::List(items), PartialOp::Append) => {
                Node::Append(items.iter().filter_map(PartialValue::to_json).collect(), origin)
            }
            (_, PartialOp::Append) => {
                return Err(format!("`{} +=` needs a list ({origin})", entry.key));
            }
            (PartialValue::Map(entries), op) => Node::Map {
                entries: self.all_nodes(entries)?,
                replaces: op == PartialOp::Replace,
                origin,
            },
            (value, _) => Node::Leaf(value.to_json().unwrap_or(Value::Null), origin),
        })
    }

    fn all_nodes(&self, entries: &[PartialEntry]) -> Result<BTreeMap<String, Node>, String> {
        entries.iter().map(|entry| Ok((entry.key.clone(), self.node(entry)?))).collect()
    }
}
