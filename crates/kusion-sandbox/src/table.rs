//! Tables for `kubectl get`: columns and cells per kind.

mod config;
pub(crate) mod custom;
mod duration;
mod network;
mod pods;
mod storage;
mod words;
mod workloads;

use crate::cluster::Cluster;
use crate::http::Rows;
use crate::object;
use crate::registry::Served;
use serde_json::{Value, json};

/// How a kind is shown: its columns after the name, and what stands in them.
///
/// A column is its name, then `*` when only wide output shows it, then `:` and its type when it
/// is not a string. The name comes first by itself; a blank after it says that the cells hold it.
struct Layout {
    columns: &'static [&'static str],
    cells: fn(&Value) -> Vec<Value>,
}

/// Returns objects as a table.
pub(crate) fn table(
    _cluster: &Cluster,
    served: &Served,
    version: &str,
    carried: Rows,
    objects: &[&Value],
) -> Value {
    let api_version = format!("meta.k8s.io/{version}");
    let (columns, cells): (Vec<Value>, Vec<Vec<Value>>) = if let Some(custom) = &served.custom {
        custom::table(&custom.columns, objects)
    } else {
        let layout = layout(&served.resource.group, &served.kind);
        let cells = objects.iter().map(|object| row(&layout, object)).collect();
        (layout.columns.iter().map(|column| definition(column)).collect(), cells)
    };
    let rows: Vec<Value> = objects
        .iter()
        .zip(cells)
        .map(|(object, cells)| {
            let object = match carried {
                Rows::Nothing => Value::Null,
                Rows::Object => (*object).clone(),
                Rows::Metadata => json!({
                    "kind": "PartialObjectMetadata",
                    "apiVersion": api_version,
                    "metadata": object["metadata"],
                }),
            };
            json!({"cells": cells, "object": object})
        })
        .collect();
    json!({
        "kind": "Table",
        "apiVersion": api_version,
        "metadata": {},
        "columnDefinitions": columns,
        "rows": rows,
    })
}

fn row(layout: &Layout, object: &Value) -> Vec<Value> {
    let mut cells = (layout.cells)(object);
    if layout.columns.first() == Some(&"Name") {
        cells.insert(0, object::name(object).into());
    }
    cells
}

fn definition(column: &str) -> Value {
    let column = column.trim_end();
    let (name, kind) = column.split_once(':').unwrap_or((column, "string"));
    let (name, priority) = name.strip_suffix('*').map_or((name, 0), |name| (name, 1));
    let format = if name == "Name" { "name" } else { "" };
    json!({"name": name, "type": kind, "format": format, "description": "", "priority": priority})
}

fn layout(group: &str, kind: &str) -> Layout {
    workloads::layout(group, kind)
        .or_else(|| pods::layout(group, kind))
        .or_else(|| network::layout(group, kind))
        .or_else(|| storage::layout(group, kind))
        .or_else(|| config::layout(group, kind))
        .unwrap_or(Layout {
            columns: &["Name", "Created At:date"],
            cells: |object| vec![object["metadata"]["creationTimestamp"].clone()],
        })
}
